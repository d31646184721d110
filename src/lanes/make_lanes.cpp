#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "lanes/api.hpp"
#include "lanes/lanes.hpp"
#include "lanes/stream_lanes.hpp"

// Lanes copy views from several threads.
#if defined(KOKKOS_ENABLE_ATOMICS_BYPASS)
#error "Kokkos was built with KOKKOS_ENABLE_ATOMICS_BYPASS: view reference counts are no atomics"
#endif

namespace overlap::lanes {
namespace {

using workload::Space;

base::Error needs_streams(const std::string& key, std::string_view word) {
  return workload::no_gpu(fmt::format("{}: {} needs streams of a GPU", key, word));
}

/// Throws if the options require GPU streams.
void require_no_streams(const deck::Issue& options, const deck::Memory& memory) {
  const auto refuse = [&](bool requested, const char* key, auto value) {
    if (requested) throw needs_streams(key, deck::to_string(value));
  };
  refuse(options.mechanism != deck::Mechanism::streams, "issue.mechanism", options.mechanism);
  refuse(options.streams != deck::Streams::own, "issue.streams", options.streams);
  refuse(options.sync == deck::Sync::event || options.sync == deck::Sync::event_query, "issue.sync",
         options.sync);
  refuse(memory.host != deck::HostMemory::pinned && memory.host != deck::HostMemory::pageable,
         "memory.host", memory.host);
  refuse(options.sync == deck::Sync::query && !has_concurrent_instances, "issue.sync",
         options.sync);
}

/// Throws if the space launches only from the thread that initialized it.
void require_threads(const deck::Issue& options) {
  if (options.threads == 1 || has_concurrent_instances || !workload::is_host) return;
  throw base::Error(base::ExitCode::skipped,
                    fmt::format("issue.threads: {} needs a back end that launches from any thread; "
                                "{} does only from the one that initialized it",
                                options.threads, Space::name()));
}

std::unique_ptr<Lanes> make(int lanes, const deck::Issue& options, const deck::Memory& memory) {
  require_threads(options);
  if (options.mechanism == deck::Mechanism::portable) {
    return make_fenced_lanes(lanes, options.threads);
  }
#if defined(OVERLAP_GPU)
  return std::make_unique<StreamLanes<Api>>(lanes, options, memory);
#else
  require_no_streams(options, memory);
  if (!has_concurrent_instances) return make_fenced_lanes(lanes, 1);
  return make_host_lanes(lanes, options.sync == deck::Sync::query);
#endif
}

base::Error no_disturbance(deck::Disturbance call) {
  return needs_streams("disturb.operation", deck::to_string(call));
}

}  // namespace

void Lanes::disturb(const schedule::Task& task) { throw no_disturbance(task.call); }

void require_options(const deck::Deck& deck) {
  require_threads(deck.issue);
#if !defined(OVERLAP_GPU)
  if (deck.issue.mechanism == deck::Mechanism::portable) return;
  require_no_streams(deck.issue, deck.memory);
  if (deck.disturb) throw no_disturbance(deck.disturb->operation);
#endif
}

std::unique_ptr<Lanes> make_lanes(int lanes, const deck::Issue& options,
                                  const deck::Memory& memory) {
  try {
    return make(lanes, options, memory);
  } catch (const base::Error&) {
    throw;
  } catch (const std::exception& error) {  // no memory for an instance, no thread for a worker
    throw base::Error(base::ExitCode::precondition,
                      fmt::format("cannot create {}: {}", base::counted(lanes, "lane"),
                                  base::error_of(error).what()));
  }
}

int max_concurrent_lanes() {
  const int cores = base::usable_cpus();
  return workload::is_serial ? cores : std::min(Space().concurrency(), cores);
}

}  // namespace overlap::lanes
