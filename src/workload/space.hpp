#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

#include "base/error.hpp"

/// The execution space of this build, on whose instances tasks run.
namespace overlap::workload {

using Space = Kokkos::DefaultExecutionSpace;
using RangePolicy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

/// Whether kernels run on the host, and work on its memory.
inline constexpr bool is_host = std::is_same_v<Space::memory_space, Kokkos::HostSpace>;

#if defined(KOKKOS_ENABLE_SERIAL)
inline constexpr bool is_serial = std::is_same_v<Space, Kokkos::Serial>;
#else
inline constexpr bool is_serial = false;
#endif

#if defined(KOKKOS_ENABLE_OPENMP)
template <class AnySpace>
inline constexpr bool is_open_mp = std::is_same_v<AnySpace, Kokkos::OpenMP>;
#else
template <class>
inline constexpr bool is_open_mp = false;
#endif

/// The error of a deck that needs a GPU, in a build without a GPU back end; `why`: what needs it.
inline base::Error no_gpu(const std::string& why) {
  return {base::ExitCode::skipped,
          why + "; this build (" + Space::name() + ") has no GPU back end"};
}

}  // namespace overlap::workload
