// As for CUDA.
#include_next <KokkosCore_config.h>

#undef KOKKOS_ENABLE_OPENMP
#define KOKKOS_ENABLE_SERIAL
#define KOKKOS_ENABLE_THREADS
