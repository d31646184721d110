#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

/// The arithmetic of custom workloads and of the host's own work: words that depend on position,
/// repetition and array, and chains of steps on them.
namespace overlap::workload::custom {

using Word = std::uint32_t;

/// The word that an array holds before the run.
KOKKOS_INLINE_FUNCTION Word initial(std::int64_t position, std::uint32_t repetition, int array) {
  std::uint64_t x =
      static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15U +
      (std::uint64_t{repetition} << 24 ^ static_cast<std::uint64_t>(array)) * 0xd1b54a32d192ed03U;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
  return static_cast<Word>(x >> 32);
}

/// One step of a chain: its words neither repeat soon nor can be had without the steps before.
KOKKOS_INLINE_FUNCTION Word step(Word x) { return (x ^ x >> 15) * 0x2c1b3c6dU + 0x297a2d39U; }

KOKKOS_INLINE_FUNCTION Word chain(std::int64_t steps, Word x = 0x12345678U) {
  for (std::int64_t i = 0; i < steps; ++i) x = step(x);
  return x;
}

}  // namespace overlap::workload::custom
