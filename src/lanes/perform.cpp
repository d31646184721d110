#include <cstring>

#include "lanes/api.hpp"
#include "lanes/lanes.hpp"

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

void copy(const Space& instance, const workload::Workload& workload, std::size_t array,
          bool to_device, const schedule::Region& region, std::size_t device_offset,
          CopyCalls copies) {
  const workload::HostArray& host = workload.host[array];
  Byte* const device = workload.device[array].data() + device_offset;
  const bool copied =
      region.all_lines() > 1 && copy_lines(instance, host, device, to_device, region, copies);
  if (!copied) host.copy(instance, region, device_offset, to_device);
}

void perform(const Space& instance, const workload::Workload& workload,
             const schedule::Schedule& schedule, const schedule::Task& task, CopyCalls copies) {
  const auto used = schedule::uses(schedule, task);
  if (!schedule::is_kernel(task.stage)) {
    const auto array = static_cast<std::size_t>(used.front().array);
    const bool to_device = task.stage == schedule::Stage::h2d;
    const schedule::Region region = schedule::host_region(schedule, task);
    if (schedule.transfer == deck::Transfer::prefetch) {
      return prefetch(instance, workload.host[array], region, to_device);
    }
    return copy(instance, workload, array, to_device, region,
                schedule::device_offset(schedule, task), copies);
  }
  workload::Call call{.op = task.stage == schedule::Stage::kernel ? task.op : -1,
                      .repeats = task.duration_s > 0
                                     ? workload::steps(task.duration_s, workload.repeats)
                                     : workload.repeats,
                      .mapped = schedule.transfer != deck::Transfer::staged,
                      .number = task.number,
                      .share = task.share,
                      .product = schedule::product(schedule, task)};
  if (!used.empty()) {
    const schedule::Piece& piece = schedule::piece_of(schedule, used.front());
    call.begin = piece.begin;
    call.size = piece.size();
    if (!call.mapped) call.device_begin = schedule::slot_begin(schedule, used.front());
  }
  workload.launch(instance, call);
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
