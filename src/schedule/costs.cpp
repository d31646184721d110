#include "schedule/costs.hpp"

#include "deck/words.hpp"

namespace overlap::schedule {

Costs costs(const deck::Workload& workload, std::int64_t repeats) {
  Costs costs;
  switch (workload.kind) {
#define OVERLAP_WORKLOAD(name, ...)          \
  case deck::WorkloadKind::name:             \
    costs = name##_costs(workload, repeats); \
    break;
#include "deck/workloads.def"
#undef OVERLAP_WORKLOAD
  }
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
