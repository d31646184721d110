// The project's HIP code for an NVIDIA GPU: linked before the libraries, it takes the place of
// their CUDA code.
#include "hip_on_cuda.hpp"
// (the names of Kokkos first)
#include "lanes/cupti.cpp"
#include "lanes/fenced_lanes.cpp"
#include "lanes/lanes.cpp"
#include "lanes/make_lanes.cpp"
#include "measure/platform_gpu.cpp"
#include "measure/platform_hip.cpp"
