#pragma once

#include <algorithm>

#include "workload/workload.hpp"

/// Common parts of the workload files: kernel launches, and the function that each file implements.
namespace overlap::workload {

/// Enqueues a kernel. Functors must be smaller than 512 bytes: CUDA back ends before Kokkos 5 copy
/// larger ones to constant memory, which blocks the host.
template <class Policy, class Functor>
void enqueue(const char* label, const Policy& policy, const Functor& functor) {
  static_assert(sizeof(Functor) < 512);
  Kokkos::parallel_for(label, policy, functor);
}

/// Enqueues a kernel over `count` elements, or several: Kokkos before 4.6 computes strides of CUDA
/// and HIP grids in 32 bits.
template <class Functor>
void enqueue(const char* label, const InstanceRef& instance, std::int64_t count,
             const Functor& functor) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  instance.with([&]<class Space>(const Space& space) {
    using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
    for (std::int64_t begin = 0; begin < count; begin += most) {
      enqueue(label, Range(space, begin, std::min(count, begin + most)), functor);
    }
  });
}

/// Returns a function that maps a Call to the first element of its data in an array of T; a unit
/// has `length` elements.
template <class T>
auto operand(const Workload& workload, std::size_t array, std::int64_t length = 1) {
  return [device = reinterpret_cast<T*>(workload.device[array].data()),
          host = reinterpret_cast<T*>(workload.host[array].data()), length](const Call& call) {
    return call.mapped ? host + call.begin * length : device + call.device_begin * length;
  };
}

/// Calls body with a value of the element type, float or double.
template <class Body>
void with_float(deck::ElementType type, const Body& body) {
  type == deck::ElementType::float32 ? body(float()) : body(double());
}

/// Sets the functions of a workload whose buffers are allocated, for make(); one specialization per
/// kind.
template <deck::WorkloadKind>
void set_up(Workload& workload, const deck::Workload& deck);

}  // namespace overlap::workload
