#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Input data that depend on position and repetition, so that a lost, swapped or stale chunk is
/// detected. Arithmetic of kernels: that of the seeds for workloads with variable intensity, and
/// steps for custom workloads and host work.
namespace overlap::workload {

/// A 64-bit hash of position, repetition and array number.
KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::int64_t position, std::uint32_t repetition,
                                         int array) {
  const std::uint64_t set = (std::uint64_t{repetition} << 8) + static_cast<std::uint64_t>(array);
  std::uint64_t x =
      static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15U + set * 0xd1b54a32d192ed03U;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
  return x ^ x >> 32;
}

/// An integer of `bits` random bits, in [-2^(bits-1), 2^(bits-1)).
KOKKOS_INLINE_FUNCTION std::int64_t integer_value(int bits, std::int64_t position,
                                                  std::uint32_t repetition, int array) {
  return static_cast<std::int64_t>(mix(position, repetition, array) >> (64 - bits)) -
         (std::int64_t{1} << (bits - 1));
}

/// Random bits per element of type T: few enough to be exact in T and for large sums to fit into 64
/// bits.
template <class T>
inline constexpr int data_bits = std::is_same_v<T, std::int32_t>   ? 16
                                 : std::is_same_v<T, std::int64_t> ? 40
                                                                   : 20;

/// The element as an integer. Sums of these are exact for all T.
template <class T>
std::int64_t integer_value(std::int64_t position, std::uint32_t repetition, int array) {
  return integer_value(data_bits<T>, position, repetition, array);
}

/// Factor from integer_value to the element: 1 for integers; floating-point elements lie in [-1/2,
/// 1/2) and are exact.
template <class T>
inline constexpr double data_scale = std::is_integral_v<T> ? 1.0 : 0x1p-20;

template <class T>
T value(std::int64_t position, std::uint32_t repetition, int array) {
  return static_cast<T>(static_cast<T>(integer_value<T>(position, repetition, array)) *
                        static_cast<T>(data_scale<T>));
}

/// Data type of custom workloads and host work.
using Word = std::uint32_t;

KOKKOS_INLINE_FUNCTION Word word(std::int64_t position, std::uint32_t repetition, int array) {
  return static_cast<Word>(mix(position, repetition, array) >> 32);
}

/// Mean over `repeats` of sqrt(sin(x)^2 + cos(x)^2) = 1: the increment of seeds 000 and 002 with
/// variable intensity; exactly 1 without repeats.
template <class T>
KOKKOS_INLINE_FUNCTION T sin_cos_one(T x, int repeats) {
  if (repeats == 0) return T(1);
  T sum = 0;
  for (int k = 0; k < repeats; ++k) {
    const T s = Kokkos::sin(x + static_cast<T>(k));
    const T c = Kokkos::cos(x + static_cast<T>(k));
    sum += Kokkos::sqrt(s * s + c * c);
  }
  return sum / static_cast<T>(repeats);
}

/// Error bound of sin_cos_one(): with sine and cosine accurate to 2 ulp the root is within 2
/// epsilon; each accumulation adds half an epsilon relative to the sum so far, and the division
/// another half.
template <class T>
double sin_cos_one_tolerance(std::int64_t repeats) {
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
