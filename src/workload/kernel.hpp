#pragma once

#include <algorithm>

#include "workload/mirror.hpp"

/// Common parts of the workload files: kernel launches, and the function that each file implements.
namespace overlap::workload {

/// Kokkos::parallel_for on an instance, without a fence. Functors must be smaller than 512 bytes:
/// CUDA back ends before Kokkos 5 copy larger ones to constant memory, which blocks the host.
template <class Policy, class Functor>
void enqueue(const char* label, const Policy& policy, const Functor& functor) {
  static_assert(sizeof(Functor) < 512);
  Kokkos::parallel_for(label, policy, functor);
}

/// The same over the range [0, count), or several ranges: Kokkos before 4.6 computes strides of
/// CUDA and HIP grids in 32 bits.
template <class Space, class Functor>
void enqueue(const char* label, const Space& instance, std::int64_t count, const Functor& functor) {
  constexpr std::int64_t most_iterations = std::int64_t{1} << 31;
  using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  for (std::int64_t begin = 0; begin < count; begin += most_iterations) {
    enqueue(label, Range(instance, begin, std::min(count, begin + most_iterations)), functor);
  }
}

/// Calls body<Space>() with the space of the workload.
template <class Body>
void with_space(const Setup& setup, const Body& body) {
  std::visit([&]<class Space>(std::type_identity<Space>) { body.template operator()<Space>(); },
             setup.workload.space);
}

/// Calls body<Space, T>() with the space of the workload and the element type of the deck, float or
/// double.
template <class Body>
void with_float(const Setup& setup, const Body& body) {
  with_space(setup, [&]<class Space>() {
    setup.deck.type == deck::ElementType::float32 ? body.template operator()<Space, float>()
                                                  : body.template operator()<Space, double>();
  });
}

/// Allocates the arrays of a workload and sets its functions, for make(); one specialization per
/// kind.
template <deck::WorkloadKind>
void set_up(const Setup& setup);

}  // namespace overlap::workload
