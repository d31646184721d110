#pragma once

#include "workload/workload.hpp"

namespace overlap::workload {

/// The deck's workload with its buffers and `repeats` of the arithmetic.
template <class Space>
Workload<Space> make(const deck::Deck& deck, const schedule::Costs& costs,
                     std::int64_t device_units, std::int64_t repeats);

// Kernels take long to compile: once for all who use them.
#define OVERLAP_SPACE(space)                                                             \
  extern template Workload<space> make<space>(const deck::Deck&, const schedule::Costs&, \
                                              std::int64_t, std::int64_t);
#include "workload/spaces.def"
#undef OVERLAP_SPACE

}  // namespace overlap::workload
