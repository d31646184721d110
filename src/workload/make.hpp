#pragma once

#include "workload/workload.hpp"

namespace overlap::workload {

/// Why this program cannot run a kind of workload; empty: it can.
std::optional<std::string> unavailable(deck::WorkloadKind kind);

/// The deck's workload with its buffers, on the device of so many bytes for each array, and
/// `repeats` of the arithmetic. Throws base::Error{skipped} where unavailable().
template <class Space>
Workload<Space> make(const deck::Deck& deck, const schedule::Costs& costs,
                     const std::vector<std::size_t>& device_bytes, std::int64_t repeats);

// Kernels take long to compile: once for all who use them.
#define OVERLAP_SPACE(space)                                                             \
  extern template Workload<space> make<space>(const deck::Deck&, const schedule::Costs&, \
                                              const std::vector<std::size_t>&, std::int64_t);
#include "workload/spaces.def"
#undef OVERLAP_SPACE

}  // namespace overlap::workload
