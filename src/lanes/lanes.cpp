#include "lanes/lanes.hpp"

#include <cstring>

#include "deck/words.hpp"
#include "lanes/api.hpp"
#include "schedule/hazard.hpp"

namespace overlap::lanes {
namespace {

using workload::Byte;
using workload::Space;

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
