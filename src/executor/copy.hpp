#pragma once

#include <Kokkos_Core.hpp>
#include <cstring>

#include "executor/detail/section_copy.hpp"
#include "workload/workload.hpp"

namespace overlap::executor {

/// Copies a region of a host array to packed memory or back on an instance of a host space, its
/// threads sharing the bytes. (Kokkos::deep_copy between host views would use the default
/// instance's threads.)
template <class Space>
struct CopyParts {
  workload::Byte* host;
  workload::Byte* packed;
  schedule::Region region;
  bool to_packed;
  std::size_t parts;

  void operator()(std::size_t part) const {
    const std::size_t bytes = region.bytes();
    schedule::for_lines(region, bytes * part / parts, bytes * (part + 1) / parts,
                        [&](std::size_t place, std::size_t position, std::size_t count) {
                          workload::Byte* const line = host + place;
                          workload::Byte* const copy = packed + position;
                          std::memcpy(to_packed ? copy : line, to_packed ? line : copy, count);
                        });
  }
};

/// Enqueues one copy task on the instance, between a region of the host array and as many bytes of
/// the device array from `device_offset` on: on CUDA exactly one asynchronous copy, no fence;
/// other GPUs get one for each line.
template <class Space>
void copy(const Space& instance, const workload::Workload<Space>& workload, std::size_t array,
          bool to_device, const schedule::Region& region, std::size_t device_offset) {
  using workload::Byte;
  const workload::HostArray<Space>& host = workload.host[array];
  Byte* const device_data = workload.device[array].data() + device_offset;
  if constexpr (workload::is_host<Space>) {
    const auto parts = static_cast<std::size_t>(instance.concurrency());
    Kokkos::parallel_for("overlap::copy",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>(
                             instance, 0, parts, Kokkos::ChunkSize(1)),
                         CopyParts<Space>{host.data(), device_data, region, to_device, parts});
  } else {
    if (region.all_lines() > 1 &&
        detail::copy_lines(instance, host.data(), device_data, region, to_device)) {
      return;
    }
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const auto copy_line = [&](std::size_t place, std::size_t position, std::size_t bytes) {
      Byte* const host_data = host.data() + place;
      const Kokkos::View<Byte*, typename Space::memory_space, Unmanaged> device(
          device_data + position, bytes);
      const auto copy_with = [&](const auto& mirror) {
        if (to_device) {
          Kokkos::deep_copy(instance, device, mirror);
        } else {
          Kokkos::deep_copy(instance, mirror, device);
        }
      };
      if (deck::page_locked(host.memory)) {
        copy_with(Kokkos::View<Byte*, workload::PinnedSpace<Space>, Unmanaged>(host_data, bytes));
      } else {
        copy_with(Kokkos::View<Byte*, Kokkos::HostSpace, Unmanaged>(host_data, bytes));
      }
    };
    schedule::for_lines(region, 0, region.bytes(), copy_line);
  }
}

/// Where a copy's bytes lie.
struct CopyPlaces {
  workload::Byte* host;
  workload::Byte* device;
};

template <class Space>
CopyPlaces places_of(const schedule::Schedule& schedule, const workload::Workload<Space>& workload,
                     const schedule::Task& task) {
  const auto array = static_cast<std::size_t>(schedule::uses(schedule, task).front().array);
  return {workload.host[array].data() + schedule::host_region(schedule, task).begin,
          workload.device[array].data() + schedule::device_begin(schedule, task)};
}

/// Enqueues a task of a schedule on the instance.
template <class Space>
void perform(const Space& instance, const workload::Workload<Space>& workload,
             const schedule::Schedule& schedule, const schedule::Task& task) {
  const auto used = schedule::uses(schedule, task);
  if (schedule::is_kernel(task.stage)) {
    workload::Call call{
        .op = task.stage == schedule::Stage::kernel ? task.op : -1,
        .repeats = task.duration_s > 0 ? workload::steps(task.duration_s, workload.repeats)
                                       : workload.repeats,
        .mapped = schedule.transfer == deck::Transfer::zero_copy,
        .number = task.number,
        .share = task.share,
        .product = schedule::product(schedule, task, schedule::Access::Side::device)};
    if (!used.empty()) {
      const schedule::Piece& piece = schedule::piece_of(schedule, used.front());
      call.begin = piece.begin;
      call.size = piece.size();
      if (!call.mapped) call.device_begin = schedule::slot_begin(schedule, used.front());
    }
    return workload.launch(instance, call);
  }
  copy(instance, workload, static_cast<std::size_t>(used.front().array),
       task.stage == schedule::Stage::h2d, schedule::host_region(schedule, task),
       schedule::device_begin(schedule, task));
}

}  // namespace overlap::executor
