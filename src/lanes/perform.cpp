#include "lanes/perform.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lanes/api.hpp"
#include "lanes/lanes.hpp"

namespace overlap::lanes {
namespace {

using workload::Byte;

/// Kokkos::deep_copy in either direction.
template <class Space>
void copy_views(const Space& instance, const auto& host, const auto& device, bool to_device) {
  if (to_device) {
    Kokkos::deep_copy(instance, device, host);
  } else {
    Kokkos::deep_copy(instance, host, device);
  }
}

using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

/// Copies lines of page-locked memory as elements of type Unit; returns false if they are not
/// aligned to it. Kokkos copies views of different layouts with a kernel on the instance.
template <class Unit, class Space>
bool copy_words(const Space& instance, Byte* host, Byte* device, bool to_device,
                const schedule::Region& region) {
  const auto misfit = reinterpret_cast<std::uintptr_t>(host + region.begin) |
                      reinterpret_cast<std::uintptr_t>(device) | region.line_bytes | region.pitch |
                      region.plane_pitch;
  if (misfit % sizeof(Unit) != 0) return false;
  const std::size_t words = region.line_bytes / sizeof(Unit);
  using HostView =
      Kokkos::View<Unit***, Kokkos::LayoutStride, workload::PinnedSpace<Space>, Unmanaged>;
  using DeviceView =
      Kokkos::View<Unit***, Kokkos::LayoutRight, typename Space::memory_space, Unmanaged>;
  const Kokkos::LayoutStride layout(region.planes, region.plane_pitch / sizeof(Unit), region.lines,
                                    region.pitch / sizeof(Unit), words, 1);
  copy_views(instance, HostView(reinterpret_cast<Unit*>(host + region.begin), layout),
             DeviceView(reinterpret_cast<Unit*>(device), region.planes, region.lines, words),
             to_device);
  return true;
}

template <class Space>
void copy_on(const Space& instance, const workload::HostArray& host, Byte* device, bool to_device,
             const schedule::Region& region, [[maybe_unused]] CopyCalls copies) {
  if constexpr (workload::is_host<Space>) {
    // Kokkos::deep_copy between host views would use the threads of the default instance.
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
    Kokkos::parallel_for("overlap::copy",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>(
                             instance, 0, parts, Kokkos::ChunkSize(1)),
                         copy_part);
  } else {
    if constexpr (has_api<Space>) {
      using Api = typename ApiOf<Space>::type;
      if (copies == CopyCalls::native && region.all_lines() > 1 &&
          region.pitch <= Api::longest_pitch) {
        Api::copy_lines(Api::stream_of(instance), host.data(), device, region,
                        to_device ? Api::to_device : Api::to_host);
        return;
      }
    }
    const bool locked = deck::page_locked(host.memory);
    if (region.all_lines() > 1 && locked &&
        (copy_words<std::uint64_t>(instance, host.data(), device, to_device, region) ||
         copy_words<std::uint32_t>(instance, host.data(), device, to_device, region))) {
      return;
    }
    const auto copy_line = [&](std::size_t place, std::size_t position, std::size_t bytes) {
      const Kokkos::View<Byte*, typename Space::memory_space, Unmanaged> line(device + position,
                                                                              bytes);
      const auto copy_in = [&]<class Memory>(std::type_identity<Memory>) {
        const Kokkos::View<Byte*, Memory, Unmanaged> mirror(host.data() + place, bytes);
        copy_views(instance, mirror, line, to_device);
      };
      if (locked) {
        copy_in(std::type_identity<workload::PinnedSpace<Space>>());
      } else {
        copy_in(std::type_identity<Kokkos::HostSpace>());
      }
    };
    schedule::for_lines(region, 0, region.bytes(), copy_line);
  }
}

}  // namespace

void copy(const workload::InstanceRef& instance, const workload::Workload& workload,
          std::size_t array, bool to_device, const schedule::Region& region,
          std::size_t device_offset, CopyCalls copies) {
  Byte* const device = workload.device[array].data() + device_offset;
  instance.with([&](const auto& space) {
    copy_on(space, workload.host[array], device, to_device, region, copies);
  });
}

void perform(const workload::InstanceRef& instance, const workload::Workload& workload,
             const schedule::Schedule& schedule, const schedule::Task& task, CopyCalls copies) {
  const auto used = schedule::uses(schedule, task);
  if (!schedule::is_kernel(task.stage)) {
    copy(instance, workload, static_cast<std::size_t>(used.front().array),
         task.stage == schedule::Stage::h2d, schedule::host_region(schedule, task),
         schedule::device_begin(schedule, task), copies);
    return;
  }
  workload::Call call{.op = task.stage == schedule::Stage::kernel ? task.op : -1,
                      .repeats = task.duration_s > 0
                                     ? workload::steps(task.duration_s, workload.repeats)
                                     : workload.repeats,
                      .mapped = schedule.transfer == deck::Transfer::zero_copy,
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
