#include <array>
#include <cmath>

#include "schedule/costs.hpp"

namespace overlap::schedule {

void cut_into_tiles(std::vector<Array>& arrays, const Tiling& tiling) {
  const std::array<std::vector<Region>, 3> pieces = {pieces_of_a(tiling), pieces_of_b(tiling),
                                                     pieces_of_c(tiling)};
  const std::array<std::size_t, 3> slot_bytes = {tiling.panel_a_bytes(), tiling.panel_b_bytes(),
                                                 tiling.tile_bytes()};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    arrays[i].pieces = pieces[i];
    arrays[i].unit_bytes = slot_bytes[i];
  }
}

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
  cut_into_tiles(costs.arrays, *costs.tiling);
  return costs;
}

}  // namespace overlap::schedule
