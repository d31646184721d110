#include "schedule/costs.hpp"

namespace overlap::schedule {

template <>
Costs costs_of<deck::WorkloadKind::pipeline>(const deck::Workload& workload, std::int64_t repeats) {
  Costs costs;
  costs.ops = 2;
  costs.units = workload.elements;
  costs.iterations = workload.iterations;
  costs.flops_per_unit = repeats == 0 ? 1.0 : 2.0 + 7.0 * static_cast<double>(repeats);
  for (int op = 0; op < costs.ops; ++op) {
    for (const char* name : {"a", "b", "c"}) {
      const bool output = name[0] == 'c';
      costs.arrays.push_back({.name = std::to_string(op + 1) + "_" + name,
                              .op = op,
                              .unit_bytes = size_of(workload.type),
                              .to_device = !output,
                              .to_host = output});
    }
  }
  return costs;
}

}  // namespace overlap::schedule
