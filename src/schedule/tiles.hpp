#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "schedule/schedule.hpp"

/// Tiles of a matrix product and the places on the device that its operands take in turn. Sizes
/// and numbers by matrix are those of panels of A, panels of B and tiles of C.
namespace overlap::schedule {

using TileSlots = std::array<int, 3>;  ///< how many the device holds at once

/// As many as there are.
inline TileSlots all_slots(const Tiling& t) { return {t.rows(), t.columns(), t.tiles()}; }

/// Device memory for any one of each, bytes.
std::array<std::size_t, 3> slot_bytes(const Tiling& tiling);

/// All tiles in the order of their turns.
struct TilePlan {
  Tiling tiling = {};
  TileSlots slots = {};
  std::vector<std::array<Use, 3>> turns = {};
  std::size_t loaded_bytes = 0;  ///< panels copied to the device, those copied again included
};

/// A plan for these slots: of several orders of the tiles the one that loads least; where all
/// panels fit, each is loaded once, and tiles come in shells around the corner, so that few loads
/// make many tiles possible from the start. A panel that must leave is the one needed last again.
TilePlan plan_tiles(const Tiling& tiling, const TileSlots& slots);

/// The plan that loads least within so many bytes on the device. Empty turns: not even one panel of
/// each and two tiles fit.
TilePlan plan_tiles(const Tiling& tiling, std::size_t device_bytes);

/// Makes arrays A, B and C what a product of this size needs.
void lay_out_matrices(std::vector<Array>& arrays, const Tiling& tiling);

/// Cuts the arrays of a schedule into panels and tiles, and says what the chunks use of them.
void cut_into_tiles(Schedule& schedule, const TilePlan& plan);

}  // namespace overlap::schedule
