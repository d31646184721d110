#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "workload/workload.hpp"

/// The arrays of a workload as typed Kokkos views on the device and on the host, the copies between
/// the two, and the function that the file of each kind of workload implements.
namespace overlap::workload {

/// An array on the host, for code that fills and checks it.
template <class T>
struct HostData {
  Kokkos::View<T*, Kokkos::HostSpace> memory = {};  ///< including padding between lines
  schedule::Region region = {};                     ///< the array within this memory, bytes
  std::string name = {};
  int number = 0;  ///< among the arrays of the workload
};

/// An array on the device and on the host, in both of which it consists of units.
template <class T>
struct Buffers {
  /// Managed memory is one array for both sides.
  Kokkos::View<T*, Space> device = {};
  HostData<T> host = {};
  /// The same host memory as page-locked, which registered memory only becomes: not owned then.
  /// Empty: pageable or managed.
  Kokkos::View<T*, Kokkos::SharedHostPinnedSpace> pinned = {};
  /// The same host memory for kernels, which reach page-locked memory at the same address: not
  /// owned. For zero copy.
  Kokkos::View<T*, Space, Kokkos::MemoryUnmanaged> mapped = {};
  std::int64_t unit_elements = 1;  ///< elements per unit

  /// The elements that a kernel works on.
  Kokkos::View<T*, Space> chunk(const Call& call) const {
    const std::int64_t begin = (call.mapped ? call.begin : call.device_begin) * unit_elements;
    const std::pair part(begin, begin + call.size * unit_elements);
    if (call.mapped) return Kokkos::subview(mapped, part);
    return Kokkos::subview(device, part);
  }
  /// Position of the first of these elements in the whole array.
  std::int64_t first(const Call& call) const { return call.begin * unit_elements; }

  /// Enqueues Kokkos::deep_copy between a region of the host array and packed elements of the
  /// device array from byte `device_offset` on.
  void copy(const Space& instance, const schedule::Region& region, std::size_t device_offset,
            bool to_device) const {
    if (pinned.data() != nullptr) {
      copy_lines(instance, pinned, region, device_offset, to_device);
    } else {
      copy_lines(instance, host.memory, region, device_offset, to_device);
    }
  }

 private:
  /// Contiguous elements are one copy. Several lines of page-locked memory are one kernel on views
  /// of different layouts, because Kokkos (5.2) has no strided copies by copy engines; such lines
  /// in pageable memory are one copy per line.
  template <class HostView>
  void copy_lines(const Space& instance, const HostView& on_host, const schedule::Region& region,
                  std::size_t device_offset, bool to_device) const {
    const auto copy_part = [&](const auto& device_part, const auto& host_part) {
      if (to_device) {
        Kokkos::deep_copy(instance, device_part, host_part);
      } else {
        Kokkos::deep_copy(instance, host_part, device_part);
      }
    };
    using Memory = typename HostView::memory_space;
    if constexpr (!std::is_same_v<Memory, Kokkos::HostSpace>) {
      if (region.all_lines() > 1) {
        const std::size_t length = region.line_bytes / sizeof(T);
        const Kokkos::LayoutStride lines(region.planes, region.plane_pitch / sizeof(T),
                                         region.lines, region.pitch / sizeof(T), length, 1);
        return copy_part(
            Kokkos::View<T***, Kokkos::LayoutRight, Space>(
                device.data() + device_offset / sizeof(T), region.planes, region.lines, length),
            Kokkos::View<T***, Kokkos::LayoutStride, Memory>(
                on_host.data() + region.begin / sizeof(T), lines));
      }
    }
    const auto elements = [](std::size_t begin, std::size_t bytes) {
      return std::pair(begin / sizeof(T), (begin + bytes) / sizeof(T));
    };
    schedule::for_lines(
        region, 0, region.bytes(), [&](std::size_t place, std::size_t position, std::size_t bytes) {
          copy_part(Kokkos::subview(device, elements(device_offset + position, bytes)),
                    Kokkos::subview(on_host, elements(place, bytes)));
        });
  }
};

/// Uninitialized elements in a Kokkos memory space from a multiple of 4096 bytes on: Kokkos
/// allocations begin 128 bytes after one, where concurrent transfers in both directions are slower
/// (0.7 % on an H200).
template <class T, class MemorySpace>
Kokkos::View<T*, MemorySpace> aligned(const std::string& label, std::size_t count) {
  constexpr std::size_t alignment = 4096;
  const Kokkos::View<T*, MemorySpace> memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                             count + alignment / sizeof(T));
  void* begin = memory.data();
  std::size_t space = memory.size() * sizeof(T);
  std::align(alignment, count * sizeof(T), begin, space);
  const auto first = static_cast<std::size_t>(static_cast<T*>(begin) - memory.data());
  return Kokkos::subview(memory, std::pair(first, first + count));
}

/// What the file of a workload kind sets up, and from what.
struct Setup {
  Workload& workload;
  const deck::Workload& deck;
  deck::HostMemory memory;
  const std::vector<std::size_t>& device_bytes;  ///< per array

  /// Allocates an array in host and device memory, and lets lanes copy between the two. Throws
  /// base::Error{precondition} if memory is short.
  template <class T>
  Buffers<T> array(std::size_t number) const;

 private:
  template <class T>
  Buffers<T> allocate(std::size_t number) const;
  /// The error for an array that does not fit.
  base::Error no_memory(std::size_t number, const std::exception& error) const;
};

template <class T>
Buffers<T> Setup::allocate(std::size_t number) const {
  const schedule::Array& array = workload.arrays[number];
  const std::size_t elements = array.host_bytes / sizeof(T);
  const std::string label = "overlap::host::" + array.name;
  using Pinned = Kokkos::View<T*, Kokkos::SharedHostPinnedSpace>;
  using Pageable = Kokkos::View<T*, Kokkos::HostSpace>;
  Buffers<T> a;
  if (memory == deck::HostMemory::managed) {
    const Kokkos::View<T*, Kokkos::SharedSpace> both =
        aligned<T, Kokkos::SharedSpace>(label, elements);
    a.device = both;
    a.host.memory = Pageable(both.data(), elements);
  } else {
    if (memory == deck::HostMemory::pinned) {
      a.host.memory = a.pinned = aligned<T, Kokkos::SharedHostPinnedSpace>(label, elements);
    } else {
      a.host.memory = aligned<T, Kokkos::HostSpace>(label, elements);
    }
    a.device = aligned<T, Space::memory_space>("overlap::device::" + array.name,
                                               device_bytes[number] / sizeof(T));
  }
  if (memory == deck::HostMemory::registered) a.pinned = Pinned(a.host.memory.data(), elements);
  a.mapped = decltype(a.mapped)(a.host.memory.data(), elements);
  return a;
}

template <class T>
Buffers<T> Setup::array(std::size_t number) const {
  const schedule::Array& array = workload.arrays[number];
  Buffers<T> a;
  try {
    a = allocate<T>(number);
  } catch (const std::exception& error) {
    throw no_memory(number, error);
  }
  a.unit_elements = static_cast<std::int64_t>(array.unit_bytes / sizeof(T));
  a.host.region = schedule::merged(array.host);
  a.host.name = array.name;
  a.host.number = static_cast<int>(number);
  const auto bytes = [](const auto& view) {
    return std::span(static_cast<Byte*>(static_cast<void*>(view.data())), view.size() * sizeof(T));
  };
  workload.device[number] = bytes(a.device);
  workload.host[number] = {bytes(a.host.memory), std::bind_front(&Buffers<T>::copy, a)};
  return a;
}

/// Calls body(begin, end) for all of [0, count), or for parts of it: sizes of leagues are int, and
/// Kokkos before 4.6 computes strides of CUDA and HIP grids in 32 bits.
template <class Body>
void for_parts(std::int64_t count, const Body& body) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  for (std::int64_t begin = 0; begin < count; begin += most) {
    body(begin, std::min(count, begin + most));
  }
}

/// Allocates the arrays of a workload and sets its functions, for make(); one specialization per
/// kind. Functors must be smaller than 512 bytes: CUDA back ends before Kokkos 5 copy larger ones
/// to constant memory, which blocks the host.
template <deck::WorkloadKind>
void set_up(const Setup& setup);

}  // namespace overlap::workload
