#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <type_traits>

/// Input data that depend on position and repetition, so that a lost, swapped or stale chunk shows.
namespace overlap::workload {

/// 64 well-mixed bits of a position, a repetition and an array number.
KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::int64_t position, std::uint32_t repetition,
                                         int array) {
  const std::uint64_t set = (std::uint64_t{repetition} << 8) + static_cast<std::uint64_t>(array);
  std::uint64_t x =
      static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15U + set * 0xd1b54a32d192ed03U;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
  return x ^ x >> 32;
}

/// A whole number of so many random bits, from -2^(bits-1) to 2^(bits-1) - 1.
KOKKOS_INLINE_FUNCTION std::int64_t whole_value(int bits, std::int64_t position,
                                                std::uint32_t repetition, int array) {
  return static_cast<std::int64_t>(mix(position, repetition, array) >> (64 - bits)) -
         (std::int64_t{1} << (bits - 1));
}

/// How many random bits an element of type T carries: few enough that it is exact in T and that
/// sums of many do not leave 64 bits.
template <class T>
inline constexpr int data_bits = std::is_same_v<T, std::int32_t>   ? 16
                                 : std::is_same_v<T, std::int64_t> ? 40
                                                                   : 20;

/// The element as a whole number. Sums of these are exact, whatever T is.
template <class T>
std::int64_t whole_value(std::int64_t position, std::uint32_t repetition, int array) {
  return whole_value(data_bits<T>, position, repetition, array);
}

/// What turns whole_value into the element: 1 for integers; for floating-point types the elements
/// lie in [-1/2, 1/2) and are exact.
template <class T>
inline constexpr double data_scale = std::is_integral_v<T> ? 1.0 : 0x1p-20;

template <class T>
T value(std::int64_t position, std::uint32_t repetition, int array) {
  return static_cast<T>(static_cast<T>(whole_value<T>(position, repetition, array)) *
                        static_cast<T>(data_scale<T>));
}

/// The data of custom workloads and of the host's own work.
using Word = std::uint32_t;

KOKKOS_INLINE_FUNCTION Word word(std::int64_t position, std::uint32_t repetition, int array) {
  return static_cast<Word>(mix(position, repetition, array) >> 32);
}

}  // namespace overlap::workload
