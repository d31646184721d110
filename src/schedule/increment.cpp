#include "schedule/costs.hpp"

namespace overlap::schedule {

Costs increment_costs(const deck::Workload& workload, std::int64_t repeats) {
  // A repeat is sine, cosine, two squares, a sum, a root and the accumulation: seven operations if
  // the two transcendental ones and the root count as one each.
  return {.arrays = {{.name = "a",
                      .op = 0,
                      .unit_bytes = size_of(workload.type),
                      .to_device = true,
                      .to_host = true}},
          .ops = 1,
          .units = workload.elements,
          .iterations = 1,
          .flops_per_unit = repeats == 0 ? 1.0 : 7.0 * static_cast<double>(repeats)};
}

}  // namespace overlap::schedule
