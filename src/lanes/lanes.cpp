#include "lanes/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "deck/words.hpp"
#include "lanes/api.hpp"
#include "lanes/stream_lanes.hpp"
#include "schedule/hazard.hpp"

// Lanes copy views from several threads.
#if defined(KOKKOS_ENABLE_ATOMICS_BYPASS)
#error "Kokkos was built with KOKKOS_ENABLE_ATOMICS_BYPASS: view reference counts are no atomics"
#endif

namespace overlap::lanes {
namespace {

using workload::Byte;
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

// Around Kokkos, which (5.2) has no prefetch, and copies several lines, between views of different
// layouts, element by element, on a GPU with a kernel instead of the copy engines.
#if defined(OVERLAP_GPU)

/// Copies several lines; returns false if the deck or the runtime leaves that to Kokkos.
bool copy_lines(const Space& instance, const workload::HostArray& host, Byte* device,
                bool to_device, const schedule::Region& region, CopyCalls copies) {
  if (copies == CopyCalls::kokkos || region.pitch > Api::longest_pitch) return false;
  Api::copy_lines(Api::stream_of(instance), host.data(), device, region,
                  to_device ? Api::to_device : Api::to_host);
  return true;
}

/// Enqueues the move of the pages of contiguous managed memory.
void prefetch(const Space& instance, const workload::HostArray& host,
              const schedule::Region& region, bool to_device) {
  Api::prefetch(Api::stream_of(instance), host.data() + region.begin, region.bytes(), to_device);
}

#else

bool copy_lines(const Space& instance, const workload::HostArray& host, Byte* device,
                bool to_device, const schedule::Region& region, CopyCalls) {
  if (!workload::is_host) return false;
  const std::int64_t parts = instance.concurrency();
  const auto copy_part = [=, begin = host.data()](std::int64_t part) {
    const std::size_t bytes = region.bytes();
    const auto until = [&](std::int64_t end) {
      return bytes * static_cast<std::size_t>(end) / static_cast<std::size_t>(parts);
    };
    schedule::for_lines(region, until(part), until(part + 1),
                        [&](std::size_t place, std::size_t position, std::size_t count) {
                          Byte* const line = begin + place;
                          Byte* const packed = device + position;
                          std::memcpy(to_device ? packed : line, to_device ? line : packed, count);
                        });
  };
  Kokkos::parallel_for("overlap::copy_lines",
                       workload::RangePolicy(instance, 0, parts, Kokkos::ChunkSize(1)), copy_part);
  return true;
}

void prefetch(const Space&, const workload::HostArray&, const schedule::Region&, bool) {}

#endif

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

base::Error lane_error(const schedule::Schedule& schedule, schedule::TaskId task,
                       const std::string& reason) {
  return base::Error(base::ExitCode::runtime_error, std::string(deck::to_string(schedule.order)) +
                                                        ": " + schedule::describe(schedule, task) +
                                                        " failed: " + reason);
}

void copy(const Space& instance, const workload::Workload& workload, std::size_t array,
          bool to_device, const schedule::Region& region, std::size_t device_offset,
          CopyCalls copies) {
  const workload::HostArray& host = workload.host[array];
  Byte* const device = workload.device[array].data() + device_offset;
  const bool copied =
      region.all_lines() > 1 && copy_lines(instance, host, device, to_device, region, copies);
  if (!copied) host.copy(instance, region, device_offset, to_device);
}

void Lanes::perform(schedule::TaskId id, CopyCalls copies) const {
  const schedule::Schedule& schedule = *schedule_;
  const workload::Workload& workload = *workload_;
  const schedule::Task& task = schedule.tasks[id];
  const Space& lane = instance(task.lane);
  if (!schedule::is_kernel(task.stage)) {
    const schedule::Operand& copied = task.operands.front();
    const auto array = static_cast<std::size_t>(copied.array);
    const bool to_device = task.stage == schedule::Stage::h2d;
    const schedule::Region region = schedule::merged(copied.host);
    if (schedule.transfer == deck::Transfer::prefetch) {
      return prefetch(lane, workload.host[array], region, to_device);
    }
    return copy(lane, workload, array, to_device, region, schedule::device_offset(schedule, copied),
                copies);
  }
  workload::Call call{.op = task.stage == schedule::Stage::kernel ? task.op : -1,
                      .repeats = task.duration_s > 0
                                     ? workload::steps(task.duration_s, workload.repeats)
                                     : workload.repeats,
                      .mapped = schedule.transfer != deck::Transfer::staged,
                      .number = task.number,
                      .share = task.share,
                      .product = schedule::product(schedule, task)};
  if (!task.operands.empty()) {
    const schedule::Operand& chunk = task.operands.front();
    call.begin = chunk.begin;
    call.size = chunk.size();
    call.device_begin = chunk.device_begin;
  }
  workload.launch(lane, call);
}

void wait_for(const Space& instance, const std::string& label) {
#if defined(OVERLAP_GPU)
  try {
    Api::synchronize(Api::stream_of(instance));
  } catch (const base::Error& error) {
    throw DeviceLost(base::Error(error.code(), label + ": " + error.what()));
  }
#else
  instance.fence("overlap::" + label);
#endif
}

}  // namespace overlap::lanes
