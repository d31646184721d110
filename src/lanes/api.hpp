#pragma once

#include <type_traits>

#include "workload/spaces.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include "lanes/api/cuda.hpp"
#endif

/// Which back ends' streams the lanes can use.
namespace overlap::lanes {

/// The API of a space's streams, a struct like CudaApi; void: the lanes know none.
template <class Space>
struct ApiOf {
  using type = void;
};

#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct ApiOf<Kokkos::Cuda> {
  using type = CudaApi;
};
#endif

template <class Space>
inline constexpr bool has_api = !std::is_void_v<typename ApiOf<Space>::type>;

}  // namespace overlap::lanes
