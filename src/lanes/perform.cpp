#include <cstring>
#include <type_traits>

#include "lanes/api.hpp"
#include "lanes/lanes.hpp"

namespace overlap::lanes {
namespace {

using workload::Byte;

/// A copy of several lines around Kokkos, which (5.2) copies between views of different layouts
/// element by element, on a GPU with a kernel instead of the copy engines. Returns whether the
/// back end has one.
template <class Space>
bool copy_lines(const Space& instance, const workload::HostArray& host, Byte* device,
                bool to_device, const schedule::Region& region, CopyCalls copies) {
  if constexpr (workload::is_host<Space>) {
    const auto parts = static_cast<std::size_t>(instance.concurrency());
    const auto copy_part = [=, begin = host.data()](std::size_t part) {
      const std::size_t bytes = region.bytes();
      schedule::for_lines(region, bytes * part / parts, bytes * (part + 1) / parts,
                          [&](std::size_t place, std::size_t position, std::size_t count) {
                            Byte* const line = begin + place;
                            Byte* const packed = device + position;
                            std::memcpy(to_device ? packed : line, to_device ? line : packed,
                                        count);
                          });
    };
    Kokkos::parallel_for("overlap::copy_lines",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>(
                             instance, 0, parts, Kokkos::ChunkSize(1)),
                         copy_part);
    return true;
  } else if constexpr (has_api<Space>) {
    using Api = typename ApiOf<Space>::type;
    if (copies == CopyCalls::kokkos || region.pitch > Api::longest_pitch) return false;
    Api::copy_lines(Api::stream_of(instance), host.data(), device, region,
                    to_device ? Api::to_device : Api::to_host);
    return true;
  }
  return false;
}

/// Enqueues the move of the pages of contiguous managed memory. Kokkos (5.2) has no prefetch.
void prefetch(const workload::InstanceRef& instance, const workload::HostArray& host,
              const schedule::Region& region, bool to_device) {
  instance.with([&]<class Space>(const Space& space) {
    if constexpr (has_api<Space>) {
      using Api = typename ApiOf<Space>::type;
      Api::prefetch(Api::stream_of(space), host.data() + region.begin, region.bytes(), to_device);
    }
  });
}

}  // namespace

void copy(const workload::InstanceRef& instance, const workload::Workload& workload,
          std::size_t array, bool to_device, const schedule::Region& region,
          std::size_t device_offset, CopyCalls copies) {
  const workload::HostArray& host = workload.host[array];
  Byte* const device = workload.device[array].data() + device_offset;
  const bool copied = region.all_lines() > 1 && instance.with([&](const auto& space) {
    return copy_lines(space, host, device, to_device, region, copies);
  });
  if (!copied) host.copy(instance, region, device_offset, to_device);
}

void perform(const workload::InstanceRef& instance, const workload::Workload& workload,
             const schedule::Schedule& schedule, const schedule::Task& task, CopyCalls copies) {
  if (!schedule::is_kernel(task.stage)) {
    const schedule::Operand& copied = task.operands.front();
    const auto array = static_cast<std::size_t>(copied.array);
    const bool to_device = task.stage == schedule::Stage::h2d;
    const schedule::Region region = schedule::merged(copied.host);
    if (schedule.transfer == deck::Transfer::prefetch) {
      return prefetch(instance, workload.host[array], region, to_device);
    }
    return copy(instance, workload, array, to_device, region,
                schedule::device_offset(schedule, copied), copies);
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
  workload.launch(instance, call);
}

void wait_for(const workload::InstanceRef& instance, const std::string& label) {
  instance.with([&]<class Space>(const Space& space) {
    if constexpr (has_api<Space>) {
      using Api = typename ApiOf<Space>::type;
      try {
        Api::synchronize(Api::stream_of(space));
      } catch (const base::Error& error) {
        throw DeviceLost(base::Error(error.code(), label + ": " + error.what()));
      }
    } else {
      space.fence("overlap::" + label);
    }
  });
}

void require_not_lost(workload::SpaceId space, const std::string& label) {
  std::visit([&]<class Space>(std::type_identity<Space>) { wait_for(Space(), label); }, space);
}

}  // namespace overlap::lanes
