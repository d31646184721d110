#pragma once

#include "lanes/api/common.hpp"
#include "workload/spaces.hpp"

// Selects the stream API of the enabled device back end.
#if defined(KOKKOS_ENABLE_CUDA)
#include "lanes/api/cuda.hpp"
#elif defined(KOKKOS_ENABLE_HIP)
#include "lanes/api/hip.hpp"
#endif
