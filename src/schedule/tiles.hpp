#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Tiles of a matrix product and the places on the device that their operands take in turn.
namespace overlap::schedule {

/// C (m x n) <- alpha A (m x k) B (k x n) + beta C, in tiles of C. A tile needs a panel of A, its
/// rows, and a panel of B, its columns; those at the edges may be smaller.
struct Tiling {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t tile_m = 1, tile_n = 1;
  std::size_t element_bytes = 8;

  int rows() const { return static_cast<int>((m + tile_m - 1) / tile_m); }
  int columns() const { return static_cast<int>((n + tile_n - 1) / tile_n); }
  int tiles() const { return rows() * columns(); }
  /// Tiles are numbered column by column, as their elements lie.
  int row(int tile) const { return tile % rows(); }
  int column(int tile) const { return tile / rows(); }
  int tile(int row, int column) const { return column * rows() + row; }
  /// Device memory for any one of them, bytes.
  std::size_t panel_a_bytes() const { return bytes(tile_m, k); }
  std::size_t panel_b_bytes() const { return bytes(k, tile_n); }
  std::size_t tile_bytes() const { return bytes(tile_m, tile_n); }
  /// The same by matrix: A, B, C.
  std::array<std::size_t, 3> slot_bytes() const {
    return {panel_a_bytes(), panel_b_bytes(), tile_bytes()};
  }

 private:
  std::size_t bytes(std::int64_t a, std::int64_t b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * element_bytes;
  }
};

/// How many panels of A and of B and tiles of C the device holds at once.
struct TileSlots {
  int a = 1, b = 1, c = 1;
  std::array<int, 3> counts() const { return {a, b, c}; }
  bool operator==(const TileSlots&) const = default;
};

/// As many as there are.
inline TileSlots all_slots(const Tiling& t) { return {t.rows(), t.columns(), t.tiles()}; }

/// A tile's turn: the slots of its panels, and whether they must be copied there first.
struct TileTurn {
  int tile = 0;
  int slot_a = 0, slot_b = 0, slot_c = 0;
  bool loads_a = false, loads_b = false;
};

/// All tiles in the order of their turns.
struct TilePlan {
  TileSlots slots;
  std::vector<TileTurn> turns;
  std::size_t loaded_bytes = 0;  ///< panels copied to the device, those copied again included
};

/// A plan for these slots: of several orders of the tiles the one that loads least; where all
/// panels fit, each is loaded once, and tiles come in shells around the corner, so that few loads
/// make many tiles possible from the start. A panel that must leave is the one needed last again.
TilePlan plan_tiles(const Tiling& tiling, const TileSlots& slots);

/// The plan that loads least within so many bytes on the device. Empty turns: not even one panel of
/// each and two tiles fit.
TilePlan plan_tiles(const Tiling& tiling, std::size_t device_bytes);

}  // namespace overlap::schedule
