// As for CUDA. The architecture is defined on the command line.
#include_next <KokkosCore_config.h>

#undef KOKKOS_ENABLE_OPENMP
#define KOKKOS_ENABLE_SERIAL
#define KOKKOS_ENABLE_HIP
#define KOKKOS_ARCH_AMD_GPU "AMD"
