#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "workload/workload.hpp"

/// Arrays of a workload as typed Kokkos views, one in device memory and its mirror on the host.
namespace overlap::workload {

/// An array on the host, for code that fills and checks it.
template <class T>
struct HostData {
  Kokkos::View<T*, Kokkos::HostSpace> memory;  ///< including padding between lines
  schedule::Region region = {};                ///< the array within this memory, bytes
  std::string name = {};
  int number = 0;  ///< among the arrays of the workload
};

/// An array on the device and on the host, in both of which it consists of units.
template <class Space, class T>
struct Mirror {
  Kokkos::View<T*, Space> device;
  HostData<T> host;
  std::int64_t unit_elements;  ///< elements per unit

  /// The elements that a kernel works on: a chunk on the device; with zero copy, on the host, where
  /// kernels reach page-locked memory at the same address.
  Kokkos::View<T*, Space> chunk(const Call& call) const {
    const Kokkos::View<T*, Space> on_host(host.memory.data(), host.memory.size());
    const std::int64_t begin = (call.mapped ? call.begin : call.device_begin) * unit_elements;
    return Kokkos::subview(call.mapped ? on_host : device,
                           std::pair(begin, begin + call.size * unit_elements));
  }
  /// Position of the first of these elements in the whole array.
  std::int64_t first(const Call& call) const { return call.begin * unit_elements; }
};

/// Enqueues Kokkos::deep_copy between a region of a host array and packed elements of the device
/// array from byte `device_offset` on. Contiguous elements are one copy. Several lines of
/// page-locked memory are one kernel on views of different layouts, because Kokkos (5.2) has no
/// strided copies by copy engines; such lines in pageable memory are one copy per line.
template <class Space, class T, class HostView>
void copy(const Space& instance, const Kokkos::View<T*, Space>& device, const HostView& host,
          const schedule::Region& region, std::size_t device_offset, bool to_device) {
  const auto either_way = [&](const auto& on_device, const auto& on_host) {
    if (to_device) {
      Kokkos::deep_copy(instance, on_device, on_host);
    } else {
      Kokkos::deep_copy(instance, on_host, on_device);
    }
  };
  using Memory = typename HostView::memory_space;
  if constexpr (!std::is_same_v<Memory, Kokkos::HostSpace>) {
    if (region.all_lines() > 1) {
      const std::size_t length = region.line_bytes / sizeof(T);
      const Kokkos::LayoutStride lines(region.planes, region.plane_pitch / sizeof(T), region.lines,
                                       region.pitch / sizeof(T), length, 1);
      return either_way(
          Kokkos::View<T***, Kokkos::LayoutRight, Space>(device.data() + device_offset / sizeof(T),
                                                         region.planes, region.lines, length),
          Kokkos::View<T***, Kokkos::LayoutStride, Memory>(host.data() + region.begin / sizeof(T),
                                                           lines));
    }
  }
  const auto elements = [](std::size_t begin, std::size_t bytes) {
    return std::pair(begin / sizeof(T), (begin + bytes) / sizeof(T));
  };
  schedule::for_lines(
      region, 0, region.bytes(), [&](std::size_t place, std::size_t position, std::size_t bytes) {
        either_way(Kokkos::subview(device, elements(device_offset + position, bytes)),
                   Kokkos::subview(host, elements(place, bytes)));
      });
}

/// What the file of a workload kind sets up, and from what.
struct Setup {
  Workload& workload;
  const deck::Workload& deck;
  deck::HostMemory memory;
  const std::vector<std::size_t>& device_bytes;  ///< per array

  /// Allocates an array in host and device memory, and lets lanes copy between the two. Throws
  /// base::Error{precondition} if memory is short.
  template <class Space, class T>
  Mirror<Space, T> array(std::size_t number) const;

 private:
  /// The error for an array that does not fit.
  base::Error no_memory(const schedule::Array& array, std::size_t device_bytes,
                        const std::exception& error) const;
};

template <class Space, class T>
Mirror<Space, T> Setup::array(std::size_t number) const {
  using Pinned = Kokkos::View<T*, PinnedSpace<Space>>;
  using Pageable = Kokkos::View<T*, Kokkos::HostSpace>;
  const schedule::Array& array = workload.arrays[number];
  HostArray& on_host = workload.host[number];
  Mirror<Space, T> mirror;
  mirror.unit_elements = static_cast<std::int64_t>(array.unit_bytes / sizeof(T));
  try {
    const std::size_t elements = array.host_bytes / sizeof(T);
    const std::string label = "overlap::host::" + array.name;
    auto& bytes = static_cast<Bytes&>(on_host);
    if (memory == deck::HostMemory::managed) {
      bytes = Bytes(aligned<T, Kokkos::SharedSpace>(label, elements));
    } else if (memory == deck::HostMemory::pinned) {
      bytes = Bytes(aligned<T, PinnedSpace<Space>>(label, elements));
    } else {
      bytes = Bytes(aligned<T, Kokkos::HostSpace>(label, elements));
    }
    if (memory == deck::HostMemory::managed) {  // the same array for both
      T* const shared = static_cast<T*>(static_cast<void*>(bytes.data()));
      mirror.device = Kokkos::View<T*, Space>(shared, elements);
    } else {
      mirror.device = aligned<T, typename Space::memory_space>("overlap::device::" + array.name,
                                                               device_bytes[number] / sizeof(T));
    }
  } catch (const std::exception& error) {
    throw no_memory(array, device_bytes[number], error);
  }
  workload.device[number] = Bytes(mirror.device);
  on_host.memory = memory;
  on_host.region = schedule::merged(array.host);
  T* const data = static_cast<T*>(static_cast<void*>(on_host.data()));
  mirror.host = {Pageable(data, array.host_bytes / sizeof(T)), on_host.region, array.name,
                 static_cast<int>(number)};
  // To Kokkos, page-locked memory is a memory space of its own, with asynchronous copies.
  on_host.copy = [device = mirror.device, host = mirror.host.memory,
                  locked = deck::page_locked(memory)](const InstanceRef& instance,
                                                      const schedule::Region& region,
                                                      std::size_t device_offset, bool to_device) {
    const Space& space = instance;
    if (locked) {
      copy(space, device, Pinned(host.data(), host.size()), region, device_offset, to_device);
    } else {
      copy(space, device, host, region, device_offset, to_device);
    }
  };
  return mirror;
}

}  // namespace overlap::workload
