#include "hip_on_cuda.hpp"
// (the names of Kokkos first)
#include "../exec/lanes_test.cpp"
