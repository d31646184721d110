#pragma once

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

namespace overlap {

template <class... Spaces>
struct TypeList {};

template <class List, class Space>
struct Append;
template <class... Spaces, class Space>
struct Append<TypeList<Spaces...>, Space> {
  using type = TypeList<Spaces..., Space>;
};

/// Every execution space that Kokkos was built with.
struct EnabledSpaces {
  using none = TypeList<>;
#if defined(KOKKOS_ENABLE_SERIAL)
  using serial = Append<none, Kokkos::Serial>::type;
#else
  using serial = none;
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  using openmp = Append<serial, Kokkos::OpenMP>::type;
#else
  using openmp = serial;
#endif
#if defined(KOKKOS_ENABLE_CUDA)
  using all = Append<openmp, Kokkos::Cuda>::type;
#else
  using all = openmp;
#endif
};

template <class List>
struct AsTypes;
template <class... Spaces>
struct AsTypes<TypeList<Spaces...>> {
  using type = testing::Types<Spaces...>;
};

using Spaces = AsTypes<EnabledSpaces::all>::type;

}  // namespace overlap
