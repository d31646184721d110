#include "lanes/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "lanes/api.hpp"
#include "lanes/fenced_lanes.hpp"
#include "lanes/host_lanes.hpp"
#include "lanes/stream_lanes.hpp"
#include "schedule/hazard.hpp"

// Lanes copy views from several threads.
#if defined(KOKKOS_ENABLE_ATOMICS_BYPASS)
#error "Kokkos was built with KOKKOS_ENABLE_ATOMICS_BYPASS: view reference counts are no atomics"
#endif

namespace overlap::lanes {
namespace {

base::Error needs_streams(workload::SpaceId space, const std::string& key, std::string_view word) {
  return workload::no_gpu(space, fmt::format("{}: {} needs streams of a GPU", key, word));
}

/// Throws if the options require GPU streams.
template <class Space>
void require_no_streams(const deck::Issue& options, const deck::Memory& memory) {
  const workload::SpaceId space = workload::id_of<Space>;
  const auto refuse = [&](bool requested, const char* key, auto value) {
    if (requested) throw needs_streams(space, key, deck::to_string(value));
  };
  refuse(options.mechanism != deck::Mechanism::streams, "issue.mechanism", options.mechanism);
  refuse(options.streams != deck::Streams::own, "issue.streams", options.streams);
  refuse(options.sync == deck::Sync::event || options.sync == deck::Sync::event_query, "issue.sync",
         options.sync);
  refuse(memory.host != deck::HostMemory::pinned && memory.host != deck::HostMemory::pageable,
         "memory.host", memory.host);
  refuse(options.sync == deck::Sync::query && !has_concurrent_instances<Space>, "issue.sync",
         options.sync);
}

/// Throws if the space launches only from the thread that initialized it.
template <class Space>
void require_threads(const deck::Issue& options) {
  if (options.threads == 1 || has_concurrent_instances<Space> || !workload::is_host<Space>) return;
  throw base::Error(base::ExitCode::skipped,
                    fmt::format("issue.threads: {} needs a back end that launches from any thread; "
                                "{} does only from the one that initialized it",
                                options.threads, Space::name()));
}

template <class Space>
std::unique_ptr<Lanes> make(int lanes, const deck::Issue& options, const deck::Memory& memory) {
  require_threads<Space>(options);
  if (options.mechanism == deck::Mechanism::portable) {
    return std::make_unique<FencedLanes<Space>>(lanes, options.threads);
  }
  if constexpr (has_api<Space>) {
    return std::make_unique<StreamLanes<typename ApiOf<Space>::type>>(lanes, options, memory);
  } else {
    require_no_streams<Space>(options, memory);
    if constexpr (has_concurrent_instances<Space>) {
      return std::make_unique<HostLanes<Space>>(lanes, options.sync == deck::Sync::query);
    } else {
      return std::make_unique<FencedLanes<Space>>(lanes);
    }
  }
}

base::Error no_disturbance(workload::SpaceId space, deck::Disturbance call) {
  return needs_streams(space, "disturb.operation", deck::to_string(call));
}

}  // namespace

void Lanes::disturb(const schedule::Task& task) {
  throw no_disturbance(instance(0).space(), task.call);
}

void require_options(workload::SpaceId space, const deck::Deck& deck) {
  const auto require = [&]<class Space>(std::type_identity<Space>) {
    require_threads<Space>(deck.issue);
    if (has_api<Space> || deck.issue.mechanism == deck::Mechanism::portable) return;
    require_no_streams<Space>(deck.issue, deck.memory);
    if (deck.disturb) throw no_disturbance(space, deck.disturb->operation);
  };
  std::visit(require, space);
}

std::unique_ptr<Lanes> make_lanes(workload::SpaceId space, int lanes, const deck::Issue& options,
                                  const deck::Memory& memory) {
  try {
    return std::visit(
        [&]<class Space>(std::type_identity<Space>) { return make<Space>(lanes, options, memory); },
        space);
  } catch (const base::Error&) {
    throw;
  } catch (const std::exception& error) {  // no memory for an instance, no thread for a worker
    throw base::Error(base::ExitCode::precondition,
                      fmt::format("cannot create {}: {}", base::counted(lanes, "lane"),
                                  base::error_of(error).what()));
  }
}

int max_concurrent_lanes(workload::SpaceId space) {
  const int cores = base::usable_cpus();
  const auto count = [&]<class Space>(std::type_identity<Space>) {
    return is_serial<Space> ? cores : std::min(workload::concurrency(space), cores);
  };
  return std::visit(count, space);
}

base::Error lane_error(const schedule::Schedule& schedule, schedule::TaskId task,
                       const std::string& reason) {
  return base::Error(base::ExitCode::runtime_error, std::string(deck::to_string(schedule.order)) +
                                                        ": " + schedule::describe(schedule, task) +
                                                        " failed: " + reason);
}

}  // namespace overlap::lanes
