#pragma once

#include <variant>

#include "workload/workload.hpp"

namespace overlap::workload {

/// Why this program cannot run a kind of workload; empty: it can.
std::optional<std::string> unavailable(deck::WorkloadKind kind);

/// A workload on any of the spaces that Kokkos was built with.
using AnyWorkload = std::variant<std::monostate
#define OVERLAP_SPACE(space) , Workload<space>*
#include "workload/spaces.def"
#undef OVERLAP_SPACE
                                 >;

/// Gives a workload with buffers its kernels, data and check. Each kind specializes this in a file
/// of its own, with to_each() where a template does it for every space.
template <deck::WorkloadKind>
void set_up(const AnyWorkload& workload, const deck::Workload& deck);

/// Calls `f` with the workload, whatever its space.
void to_each(const AnyWorkload& workload, auto f) {
  std::visit(
      [&](auto any) {
        if constexpr (!std::is_same_v<decltype(any), std::monostate>) f(*any);
      },
      workload);
}

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
