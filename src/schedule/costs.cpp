#include "schedule/costs.hpp"

#include <array>
#include <utility>

#include "deck/words.hpp"

namespace overlap::schedule {

namespace {

/// One function per kind; a kind without a specialization does not link.
constexpr auto costs_of_kinds = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{&costs_of<deck::words<deck::WorkloadKind>[I].value>...};
}(std::make_index_sequence<deck::words<deck::WorkloadKind>.size()>());

}  // namespace

Costs costs(const deck::Workload& workload, std::int64_t repeats) {
  Costs costs = costs_of_kinds[static_cast<std::size_t>(workload.kind)](workload, repeats);
  for (Array& array : costs.arrays) {
    Region& host = array.host;
    if (host.line_bytes == 0) host = adjacent(array.unit_bytes, 0);
    if (!costs.tiling) host.planes = static_cast<std::size_t>(costs.units * costs.iterations);
    if (array.host_bytes == 0) array.host_bytes = host.planes * host.plane_pitch;
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
