#pragma once

#include <gtest/gtest.h>

#include "workload/spaces.hpp"

namespace overlap {

template <class>
struct AsTypes;
template <class... Space>
struct AsTypes<workload::SpaceList<Space...>> {
  using type = testing::Types<Space...>;
};

/// The execution spaces that Kokkos was built with.
using Spaces = AsTypes<workload::Spaces>::type;

}  // namespace overlap
