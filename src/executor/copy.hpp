#pragma once

#include <Kokkos_Core.hpp>
#include <cstring>

#include "workload/workload.hpp"

namespace overlap::executor {

/// Copies `bytes` between two places in memory on an instance of a host space, its threads sharing
/// the range. (Kokkos::deep_copy between host views would use the default instance's threads.)
template <class Space>
struct CopyParts {
  workload::Byte* to;
  const workload::Byte* from;
  std::size_t bytes;
  std::size_t parts;

  void operator()(std::size_t part) const {
    const std::size_t begin = bytes * part / parts;
    const std::size_t end = bytes * (part + 1) / parts;
    std::memcpy(to + begin, from + begin, end - begin);
  }
};

/// Enqueues one copy task on the instance: on CUDA exactly one asynchronous copy, no fence.
template <class Space>
void copy(const Space& instance, const workload::Workload<Space>& workload, std::size_t array,
          bool to_device, std::size_t host_offset, std::size_t device_offset, std::size_t bytes) {
  using workload::Byte;
  const workload::HostArray<Space>& host = workload.host[array];
  Byte* const host_data = host.data() + host_offset;
  Byte* const device_data = workload.device[array].data() + device_offset;
  if constexpr (workload::is_host<Space>) {
    const auto parts = static_cast<std::size_t>(instance.concurrency());
    Kokkos::parallel_for("overlap::copy",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>(
                             instance, 0, parts, Kokkos::ChunkSize(1)),
                         CopyParts<Space>{to_device ? device_data : host_data,
                                          to_device ? host_data : device_data, bytes, parts});
  } else {
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const Kokkos::View<Byte*, typename Space::memory_space, Unmanaged> device(device_data, bytes);
    const auto copy_with = [&](const auto& mirror) {
      if (to_device) {
        Kokkos::deep_copy(instance, device, mirror);
      } else {
        Kokkos::deep_copy(instance, mirror, device);
      }
    };
    if (host.memory == deck::HostMemory::pinned || host.memory == deck::HostMemory::registered) {
      copy_with(Kokkos::View<Byte*, workload::PinnedSpace<Space>, Unmanaged>(host_data, bytes));
    } else {
      copy_with(Kokkos::View<Byte*, Kokkos::HostSpace, Unmanaged>(host_data, bytes));
    }
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
  const schedule::Chunk& chunk = schedule.chunks[static_cast<std::size_t>(task.chunk)];
  const auto array = static_cast<std::size_t>(task.array);
  const std::size_t unit = schedule.arrays[array].unit_bytes;
  return {workload.host[array].data() + static_cast<std::size_t>(chunk.begin) * unit,
          workload.device[array].data() + static_cast<std::size_t>(chunk.device_begin) * unit};
}

/// Enqueues a task of a schedule on the instance.
template <class Space>
void perform(const Space& instance, const workload::Workload<Space>& workload,
             const schedule::Schedule& schedule, const schedule::Task& task) {
  const schedule::Chunk& chunk = schedule.chunks[static_cast<std::size_t>(task.chunk)];
  if (schedule::is_kernel(task.stage)) {
    workload.launch(instance, {.op = task.stage == schedule::Stage::kernel ? task.op : -1,
                               .begin = chunk.begin,
                               .device_begin = chunk.device_begin,
                               .size = chunk.size(),
                               .repeats = task.duration_s > 0
                                              ? workload::steps(task.duration_s, workload.repeats)
                                              : workload.repeats,
                               .mapped = schedule.transfer == deck::Transfer::zero_copy,
                               .number = task.number,
                               .share = task.share});
    return;
  }
  const auto array = static_cast<std::size_t>(task.array);
  const std::size_t unit = schedule.arrays[array].unit_bytes;
  copy(instance, workload, array, task.stage == schedule::Stage::h2d,
       static_cast<std::size_t>(chunk.begin) * unit,
       static_cast<std::size_t>(chunk.device_begin) * unit, task.bytes);
}

}  // namespace overlap::executor
