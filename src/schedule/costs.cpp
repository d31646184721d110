#include "schedule/costs.hpp"

#include <array>
#include <utility>

#include "deck/words.hpp"

namespace overlap::schedule {

namespace {

/// The costs of each kind; one without a specialization does not link.
template <std::size_t... kinds>
Costs dispatch(const deck::Workload& workload, std::int64_t repeats,
               std::index_sequence<kinds...>) {
  constexpr std::array of = {&costs_of<deck::words<deck::WorkloadKind>[kinds].value>...};
  return of[static_cast<std::size_t>(workload.kind)](workload, repeats);
}

}  // namespace

Costs costs(const deck::Workload& workload, std::int64_t repeats) {
  constexpr std::size_t kinds = deck::words<deck::WorkloadKind>.size();
  Costs costs = dispatch(workload, repeats, std::make_index_sequence<kinds>());
  for (Array& array : costs.arrays) {
    if (!costs.tiling) array.units = costs.units * costs.iterations;
  }
  costs.kernel = std::string(deck::to_string(workload.kind));
  if (costs.tasks.empty()) costs.kernel += "/" + std::string(deck::to_string(workload.type));
  return costs;
}

double kernel_bytes_per_unit(const Costs& costs) {
  double bytes = 0;
  for (const Array& array : costs.arrays) {
    if (array.op == 0) {
      bytes += static_cast<double>(array.unit_bytes) * (int{array.to_device} + int{array.to_host});
    }
  }
  return bytes;
}

}  // namespace overlap::schedule
