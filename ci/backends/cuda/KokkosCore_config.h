// The installed Kokkos' own configuration with CUDA switched on, so that nvcc can compile our CUDA
// code where Kokkos was built without CUDA. Compile only: nothing made with this can be linked.
// Version and options come from the installed file, so that this one fits any Kokkos 5.
#include_next <KokkosCore_config.h>

#undef KOKKOS_ENABLE_OPENMP
#define KOKKOS_ENABLE_SERIAL
#define KOKKOS_ENABLE_CUDA
#define KOKKOS_ARCH_HOPPER
#define KOKKOS_ARCH_HOPPER90
