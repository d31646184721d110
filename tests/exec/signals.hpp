#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <chrono>
#include <thread>

/// Signals between kernels of different lanes, to force an order in which they run.
namespace overlap {

// Kokkos' atomics on Serial are not what ThreadSanitizer knows as such, and those on a device need
// not see what the host writes.
KOKKOS_INLINE_FUNCTION void give(int* signal) {
  KOKKOS_IF_ON_HOST((std::atomic_ref(*signal).store(1);))
  KOKKOS_IF_ON_DEVICE((*static_cast<volatile int*>(signal) = 1;))
}

KOKKOS_INLINE_FUNCTION bool given(int* signal) {
  KOKKOS_IF_ON_HOST((return std::atomic_ref(*signal).load() != 0;))
  KOKKOS_IF_ON_DEVICE((return *static_cast<volatile int*>(signal) != 0;))
}

/// Looks that take longer than any kernel that is free to run needs to begin. On the host a look
/// counts as a microsecond: what other processes leave of a core may be little.
inline constexpr int many_looks = 2000000;

inline bool host_waits_for(int* signal, int looks) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(looks);
  do {
    if (given(signal)) return true;
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

KOKKOS_INLINE_FUNCTION bool device_waits_for(int* signal, int looks) {
  for (int i = 0; i < looks; ++i) {
    if (given(signal)) return true;
  }
  return false;
}

/// Whether the signal was given before so many looks at it had passed.
KOKKOS_INLINE_FUNCTION bool wait_for(int* signal, int looks = many_looks) {
  KOKKOS_IF_ON_HOST((return host_waits_for(signal, looks);))
  KOKKOS_IF_ON_DEVICE((return device_waits_for(signal, looks);))
}

}  // namespace overlap
