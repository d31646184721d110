#pragma once

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

namespace overlap {

/// The execution spaces that Kokkos was built with; a list must begin somewhere.
template <class, class... Enabled>
struct AsTypes {
  using type = testing::Types<Enabled...>;
};

using Spaces = AsTypes<void
#define OVERLAP_SPACE(space) , space
#include "workload/spaces.def"
#undef OVERLAP_SPACE
                       >::type;

}  // namespace overlap
