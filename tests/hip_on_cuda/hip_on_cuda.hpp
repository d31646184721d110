#pragma once

// Included before all else where the project's HIP code is compiled for an NVIDIA GPU: Kokkos stays
// the CUDA one and is called HIP from here on. Nothing of Kokkos may be included later.
#include <Kokkos_Core.hpp>

#include "hip/hip_runtime.h"

namespace Kokkos {
using HIP = Cuda;
}
#undef KOKKOS_ENABLE_CUDA
#define KOKKOS_ENABLE_HIP
