#pragma once

#include "lanes/api/common.hpp"
#include "workload/space.hpp"

// The stream API of the execution space: Api, such as CudaApi. Without one OVERLAP_GPU is not
// defined.
#if defined(KOKKOS_ENABLE_CUDA)
#include "lanes/api/cuda.hpp"
#elif defined(KOKKOS_ENABLE_HIP)
#include "lanes/api/hip.hpp"
#endif
