#include "lanes/lanes.hpp"

#include <algorithm>

#include "base/parallel.hpp"
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
  return base::Error(base::ExitCode::skipped, key + ": " + std::string(word) +
                                                  " needs streams of a GPU; this back end is " +
                                                  workload::name(space));
}

/// Throws if the options require GPU streams.
void require_no_streams(workload::SpaceId space, const deck::Issue& options,
                        const deck::Memory& memory, bool polls) {
  const auto refuse = [&](bool wanted, const char* key, auto value) {
    if (wanted) throw needs_streams(space, key, deck::to_string(value));
  };
  refuse(options.mechanism != deck::Mechanism::streams, "issue.mechanism", options.mechanism);
  refuse(options.streams != deck::Streams::own, "issue.streams", options.streams);
  refuse(options.sync == deck::Sync::event, "issue.sync", options.sync);
  refuse(memory.host == deck::HostMemory::pageable_staged ||
             memory.host == deck::HostMemory::registered,
         "memory.host", memory.host);
  refuse(options.sync == deck::Sync::query && !polls, "issue.sync", options.sync);
}

template <class Space>
std::unique_ptr<Lanes> make(int lanes, const deck::Issue& options, const deck::Memory& memory) {
  if (options.mechanism == deck::Mechanism::portable) {
    return std::make_unique<FencedLanes<Space>>(lanes);
  }
  if constexpr (has_api<Space>) {
    return std::make_unique<StreamLanes<typename ApiOf<Space>::type>>(lanes, options, memory);
  } else {
    std::vector<Space> instances = own_instances<Space>(lanes);
    require_no_streams(workload::id_of<Space>, options, memory, !instances.empty());
    if (instances.empty()) return std::make_unique<FencedLanes<Space>>(lanes);
    // At least two, so that lanes can proceed without each other.
    const int workers = std::max(2, cores_of_lanes(workload::id_of<Space>));
    return std::make_unique<HostLanes<Space>>(std::move(instances), workers,
                                              options.sync == deck::Sync::query);
  }
}

}  // namespace

void Lanes::disturb(const schedule::Task& task) {
  throw needs_streams(instance(0).space(), "disturb.operation", deck::to_string(task.call));
}

std::unique_ptr<Lanes> make_lanes(workload::SpaceId space, int lanes, const deck::Issue& options,
                                  const deck::Memory& memory) {
  return std::visit(
      [&]<class Space>(std::type_identity<Space>) { return make<Space>(lanes, options, memory); },
      space);
}

int cores_of_lanes(workload::SpaceId space) {
  const int threads = workload::concurrency(space);
  return threads > 1 ? std::min(threads, base::usable_cpus()) : base::usable_cpus();
}

base::Error lane_error(const schedule::Schedule& schedule, schedule::TaskId task,
                       const std::string& what) {
  return base::Error(base::ExitCode::runtime_error, std::string(deck::to_string(schedule.order)) +
                                                        ": " + schedule::describe(schedule, task) +
                                                        " failed: " + what);
}

}  // namespace overlap::lanes
