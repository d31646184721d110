#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>

/// The seeds' arithmetic, shared by the workloads whose intensity can be set.
namespace overlap::workload {

/// Mean over `repeats` of sqrt(sin(x)^2 + cos(x)^2), which is 1: the increment of NVIDIA's async
/// example (seeds 000 and 002), made as long as wanted.
template <class T>
KOKKOS_INLINE_FUNCTION T unit_by_trigonometry(T x, std::int64_t repeats) {
  T sum = 0;
  for (std::int64_t k = 0; k < repeats; ++k) {
    const T s = Kokkos::sin(x + static_cast<T>(k));
    const T c = Kokkos::cos(x + static_cast<T>(k));
    sum += Kokkos::sqrt(s * s + c * c);
  }
  return sum / static_cast<T>(repeats);
}

/// How far the mean above may be from 1. Sine and cosine within 2 units in the last place put the
/// root within 2 epsilon; each accumulation adds half an epsilon relative to the sum so far, the
/// division another half.
template <class T>
double unit_tolerance(std::int64_t repeats) {
  return std::numeric_limits<T>::epsilon() * (2.5 + 0.5 * static_cast<double>(repeats));
}

}  // namespace overlap::workload
