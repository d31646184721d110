#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "workload/data.hpp"

/// The arithmetic that keeps kernels busy: the seeds', for workloads whose intensity can be set,
/// and the steps of custom workloads and of the host's own work.
namespace overlap::workload {

/// How often a kernel repeats the arithmetic, where the compiler can know it: without the loop the
/// common kernels are shorter.
enum class Repeats { none, one, many };

/// Mean over `repeats` of sqrt(sin(x)^2 + cos(x)^2), which is 1: the increment of NVIDIA's async
/// example (seeds 000 and 002), made as long as wanted. Without repeats a plain 1.
template <Repeats known, class T>
KOKKOS_INLINE_FUNCTION T unit(T x, [[maybe_unused]] int repeats) {
  if constexpr (known == Repeats::none) return T(1);
  if constexpr (known == Repeats::one) {
    const T s = Kokkos::sin(x);
    const T c = Kokkos::cos(x);
    return Kokkos::sqrt(s * s + c * c);
  }
  T sum = 0;
  for (int k = 0; k < repeats; ++k) sum += unit<Repeats::one>(x + static_cast<T>(k), 1);
  return sum / static_cast<T>(repeats);
}

/// Calls body(std::integral_constant<Repeats, ...>) with what is known of the repeats.
template <class Body>
void with_known(std::int64_t repeats, const Body& body) {
  if (repeats == 0) {
    body(std::integral_constant<Repeats, Repeats::none>());
  } else if (repeats == 1) {
    body(std::integral_constant<Repeats, Repeats::one>());
  } else {
    body(std::integral_constant<Repeats, Repeats::many>());
  }
}

/// How far the mean above may be from 1. Sine and cosine within 2 units in the last place put the
/// root within 2 epsilon; each accumulation adds half an epsilon relative to the sum so far, the
/// division another half.
template <class T>
double unit_tolerance(std::int64_t repeats) {
  return std::numeric_limits<T>::epsilon() * (2.5 + 0.5 * static_cast<double>(repeats));
}

/// One step of a chain: its words neither repeat soon nor can be had without the steps before.
KOKKOS_INLINE_FUNCTION Word step(Word x) { return (x ^ x >> 15) * 0x2c1b3c6dU + 0x297a2d39U; }

KOKKOS_INLINE_FUNCTION Word chain(std::int64_t steps, Word x = 0x12345678U) {
  for (std::int64_t i = 0; i < steps; ++i) x = step(x);
  return x;
}

}  // namespace overlap::workload
