#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "schedule/schedule.hpp"

/// Order of the tiles of a matrix product, and device slots of its operands. Arrays of three refer
/// to panels of A, panels of B and tiles of C.
namespace overlap::schedule {

using TileSlots = std::array<int, 3>;  ///< slots on the device

/// One slot for each panel and tile.
inline TileSlots all_slots(const Tiling& t) { return {t.rows(), t.columns(), t.tiles()}; }

/// Bytes of one slot of each kind.
std::array<std::size_t, 3> slot_bytes(const Tiling& tiling);

/// All tiles in processing order.
struct TilePlan {
  Tiling tiling = {};
  TileSlots slots = {};
  std::vector<std::array<Operand, 3>> turns = {};  ///< without their places in memory
  std::size_t loaded_bytes = 0;  ///< panels copied to the device, including repeated loads
};

/// The plan for these slots. If all panels fit, tiles proceed in shells around a corner, so that
/// the first loads enable many tiles (8 % less time than row by row where copies limit); else in
/// groups of rows.
TilePlan plan_tiles(const Tiling& tiling, const TileSlots& slots);

/// The plan with the fewest loads within `device_bytes`. `turns` is empty if one panel of A, one of
/// B and two tiles do not fit.
TilePlan plan_tiles(const Tiling& tiling, std::size_t device_bytes);

/// Sets the shapes of arrays A, B and C for a product.
void lay_out_matrices(std::vector<Array>& arrays, const Tiling& tiling);

/// Cuts the arrays of a schedule into panels and tiles. Returns the operands of its chunks.
std::vector<Operand> cut_into_tiles(Schedule& schedule, const TilePlan& plan);

}  // namespace overlap::schedule
