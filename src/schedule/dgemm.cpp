#include <algorithm>
#include <array>
#include <cmath>

#include "schedule/costs.hpp"

namespace overlap::schedule {

void lay_out_matrices(std::vector<Array>& arrays, const Tiling& tiling) {
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * tiling.element_bytes;
  };
  // Lines of a column, columns, and lines of a column of a panel or tile.
  const std::array<std::array<std::int64_t, 3>, 3> shapes = {{{tiling.m, tiling.k, tiling.tile_m},
                                                              {tiling.k, tiling.n, tiling.k},
                                                              {tiling.m, tiling.n, tiling.tile_m}}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [rows, columns, packed_rows] = shapes[i];
    arrays[i].unit_bytes = bytes(packed_rows);
    arrays[i].section = {
        .line_bytes = bytes(rows), .unit_pitch = bytes(rows), .host_bytes = bytes(rows * columns)};
    arrays[i].units = columns;
    arrays[i].cut = static_cast<int>(i);
  }
}

std::vector<Cut> cuts_of(const Tiling& tiling, const TileSlots& slots) {
  std::vector<Cut> cuts(3);
  // Rows [row, row + tile_m) of columns [begin, end).
  const auto band = [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
    const auto rows = static_cast<std::size_t>(std::min(tiling.tile_m, tiling.m - row));
    return Piece{.begin = begin,
                 .end = end,
                 .from = static_cast<std::size_t>(row) * tiling.element_bytes,
                 .length = rows * tiling.element_bytes};
  };
  for (std::int64_t row = 0; row < tiling.m; row += tiling.tile_m) {
    cuts[0].pieces.push_back(band(row, 0, tiling.k));
  }
  for (std::int64_t column = 0; column < tiling.n; column += tiling.tile_n) {
    const std::int64_t end = std::min(column + tiling.tile_n, tiling.n);
    cuts[1].pieces.push_back({.begin = column, .end = end});
    for (std::int64_t row = 0; row < tiling.m; row += tiling.tile_m) {
      cuts[2].pieces.push_back(band(row, column, end));
    }
  }
  const std::array<std::int64_t, 3> slot_units = {tiling.k, tiling.tile_n, tiling.tile_n};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const int count = slots.counts()[i];
    for (int slot = 0; slot < count; ++slot) cuts[i].slots.push_back(slot * slot_units[i]);
    cuts[i].device_units = count * slot_units[i];
  }
  return cuts;
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
  lay_out_matrices(costs.arrays, *costs.tiling);
  return costs;
}

}  // namespace overlap::schedule
