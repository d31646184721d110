#pragma once

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace overlap {

template <class... Spaces>
struct TypeList {};

template <class List, class Space>
struct Append;
template <class... Spaces, class Space>
struct Append<TypeList<Spaces...>, Space> {
  using type = TypeList<Spaces..., Space>;
};

template <class List, class Space>
struct AppendIfAbsent;
template <class... Spaces, class Space>
struct AppendIfAbsent<TypeList<Spaces...>, Space> {
  using type = std::conditional_t<(std::is_same_v<Spaces, Space> || ...), TypeList<Spaces...>,
                                  TypeList<Spaces..., Space>>;
};

/// The execution spaces that Kokkos was built with: those with lanes of their own, and its default,
/// whatever that is.
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

using Spaces =
    AsTypes<AppendIfAbsent<EnabledSpaces::all, Kokkos::DefaultExecutionSpace>::type>::type;

}  // namespace overlap
