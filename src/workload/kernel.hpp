#pragma once

#include "workload/workload.hpp"

/// What the files of the workloads share: launching kernels, and the function that each offers.
namespace overlap::workload {

/// Enqueues a kernel. Functors stay below 512 bytes: from there on CUDA back ends before Kokkos 5
/// send them through constant memory, and the host waits.
template <class Policy, class Functor>
void enqueue(const char* label, const Policy& policy, const Functor& functor) {
  static_assert(sizeof(Functor) < 512);
  Kokkos::parallel_for(label, policy, functor);
}

/// A kernel that works on `count` elements one by one.
template <class Functor>
void enqueue(const char* label, const InstanceRef& instance, std::int64_t count,
             const Functor& functor) {
  instance.with([&]<class Space>(const Space& space) {
    enqueue(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count),
            functor);
  });
}

/// Finds the first element of an array that a call is about, typed; a unit has `length` elements.
template <class T>
auto operand(const Workload& workload, std::size_t array, std::int64_t length = 1) {
  return [device = reinterpret_cast<T*>(workload.device[array].data()),
          host = reinterpret_cast<T*>(workload.host[array].data()), length](const Call& call) {
    return call.mapped ? host + call.begin * length : device + call.device_begin * length;
  };
}

/// Calls body with a value of the element type.
template <class Body>
void with_float(deck::Type type, const Body& body) {
  type == deck::Type::float32 ? body(float()) : body(double());
}

/// What gives a workload that has its buffers its functions, for make(); one per kind.
template <deck::WorkloadKind>
void set_up(Workload& workload, const deck::Workload& deck);

}  // namespace overlap::workload
