#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "workload/data.hpp"

/// Arithmetic of kernels: that of the seeds for workloads with variable intensity, and steps for
/// custom workloads and host work.
namespace overlap::workload {

/// Number of repeats, if known at compile time: common kernels are shorter without the loop.
enum class Repeats { none, one, many };

/// Mean over `repeats` of sqrt(sin(x)^2 + cos(x)^2) = 1: the increment of seeds 000 and 002 with
/// variable intensity; exactly 1 without repeats.
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

/// Calls body(std::integral_constant<Repeats, ...>) for the number of repeats.
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

/// Error bound of unit(): with sine and cosine accurate to 2 ulp the root is within 2 epsilon; each
/// accumulation adds half an epsilon relative to the sum so far, and the division another half.
template <class T>
double unit_tolerance(std::int64_t repeats) {
  return std::numeric_limits<T>::epsilon() * (2.5 + 0.5 * static_cast<double>(repeats));
}

/// One step of a chain of words, which has a long period and cannot be computed without the
/// previous steps.
KOKKOS_INLINE_FUNCTION Word step(Word x) { return (x ^ x >> 15) * 0x2c1b3c6dU + 0x297a2d39U; }

KOKKOS_INLINE_FUNCTION Word chain(std::int64_t steps, Word x = 0x12345678U) {
  for (std::int64_t i = 0; i < steps; ++i) x = step(x);
  return x;
}

}  // namespace overlap::workload
