#include <cmath>

#include "schedule/costs.hpp"
#include "schedule/tiles.hpp"

namespace overlap::schedule {

template <>
Costs costs_of<deck::WorkloadKind::dgemm>(const deck::Workload& workload, std::int64_t) {
  Costs costs;
  costs.tiling = {.m = workload.m,
                  .n = workload.n,
                  .k = workload.k,
                  .tile_m = workload.tile_m,
                  .tile_n = workload.tile_n,
                  .element_bytes = size_of(workload.type)};
  costs.units = costs.tiling->tiles();
  costs.host_tiles = static_cast<int>(
      std::lround(workload.host_share.value_or(0) * static_cast<double>(costs.units)));
  costs.arrays = {{.name = "A", .to_device = true},
                  {.name = "B", .to_device = true},
                  {.name = "C", .to_device = workload.beta != 0, .to_host = true}};
  lay_out_matrices(costs.arrays, *costs.tiling);
  return costs;
}

}  // namespace overlap::schedule
