#include "schedule/tiles.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace overlap::schedule {
namespace {

using TileOrder = std::vector<int>;

/// Shape of a matrix, and of a slot for one of its panels or tiles.
struct Shape {
  std::int64_t rows, columns, slot_rows, slot_columns;
};

std::array<Shape, 3> shapes(const Tiling& t) {
  return {{{t.m, t.k, t.tile_m, t.k}, {t.k, t.n, t.k, t.tile_n}, {t.m, t.n, t.tile_m, t.tile_n}}};
}

/// Loads next the panel that enables the most tiles per byte, then processes those tiles.
TileOrder in_shells(const Tiling& tiling) {
  TileOrder order;
  int a = 1;
  int b = 1;
  order.push_back(tiling.tile(0, 0));
  while (a < tiling.rows() || b < tiling.columns()) {
    const bool rows_gain_more = b * tiling.tile_n >= a * tiling.tile_m;
    if (b == tiling.columns() || (a < tiling.rows() && rows_gain_more)) {
      for (int column = 0; column < b; ++column) order.push_back(tiling.tile(a, column));
      ++a;
    } else {
      for (int row = 0; row < a; ++row) order.push_back(tiling.tile(row, b));
      ++b;
    }
  }
  return order;
}

/// Tiles in groups of rows, each across all columns in alternating direction. Panels of A are
/// loaded once, those of B for each group, but for those that are held at its end, where the next
/// begins.
struct Groups {
  int size = 1;  ///< rows
  std::size_t loaded_bytes = 0;
};

Groups groups_of(const Tiling& tiling, const TileSlots& slots) {
  const std::array<std::size_t, 3> bytes = slot_bytes(tiling);
  const auto with_size = [&](int size) {
    const int more = (tiling.rows() - 1) / size;  // groups after the first
    const auto loads =
        static_cast<std::size_t>(tiling.columns() + more * (tiling.columns() - slots[1]));
    return Groups{size, static_cast<std::size_t>(tiling.rows()) * bytes[0] + loads * bytes[1]};
  };
  // A group smaller by one slot leaves room to load the first panel of the next group early.
  const Groups full = with_size(slots[0]), smaller = with_size(std::max(1, slots[0] - 1));
  return smaller.loaded_bytes <= full.loaded_bytes ? smaller : full;
}

TileOrder in_groups(const Tiling& tiling, int size) {
  TileOrder order;
  bool back = false;
  for (int first = 0; first < tiling.rows(); first += size, back = !back) {
    for (int i = 0; i < tiling.columns(); ++i) {
      const int column = back ? tiling.columns() - 1 - i : i;
      for (int row = first; row < std::min(first + size, tiling.rows()); ++row) {
        order.push_back(tiling.tile(row, column));
      }
    }
  }
  return order;
}

}  // namespace

std::array<std::size_t, 3> slot_bytes(const Tiling& tiling) {
  const auto bytes = [&](const Shape& shape) {
    return tiling.bytes(shape.slot_rows) * static_cast<std::size_t>(shape.slot_columns);
  };
  const auto [a, b, c] = shapes(tiling);
  return {bytes(a), bytes(b), bytes(c)};
}

TilePlan plan_tiles(const Tiling& tiling, const TileSlots& slots) {
  const bool all_fit = slots[0] == tiling.rows() && slots[1] == tiling.columns();
  TilePlan plan{.tiling = tiling, .slots = slots};
  std::array<std::vector<int>, 2> held;  // panel by slot
  for (std::size_t i = 0; i < 2; ++i) held[i].assign(static_cast<std::size_t>(slots[i]), -1);
  // Panels pass in sequence, there and back: the one that is a round of slots away is not needed.
  const auto take = [&](std::size_t matrix, int panel, std::int64_t lines, std::int64_t end) {
    const int slot = panel % slots[matrix];
    int& held_panel = held[matrix][static_cast<std::size_t>(slot)];
    const bool loads = std::exchange(held_panel, panel) != panel;
    if (loads) {  // the last panel may be smaller
      plan.loaded_bytes +=
          tiling.bytes(std::min(lines, end - panel * lines)) * static_cast<std::size_t>(tiling.k);
    }
    return Operand{static_cast<int>(matrix), panel, slot, loads};
  };
  for (const int tile :
       all_fit ? in_shells(tiling) : in_groups(tiling, groups_of(tiling, slots).size)) {
    const int slot = static_cast<int>(plan.turns.size()) % slots[2];
    plan.turns.push_back({take(0, tiling.row(tile), tiling.tile_m, tiling.m),
                          take(1, tiling.column(tile), tiling.tile_n, tiling.n),
                          Operand{2, tile, slot}});
  }
  return plan;
}

TilePlan plan_tiles(const Tiling& tiling, std::size_t device_bytes) {
  const std::array<std::size_t, 3> bytes = slot_bytes(tiling);
  const TileSlots most_slots = all_slots(tiling);
  // As many slots for one matrix as fit next to the others.
  const auto filled = [&](TileSlots slots, std::size_t matrix) {
    slots[matrix] = 0;
    const std::size_t used =
        std::inner_product(slots.begin(), slots.end(), bytes.begin(), std::size_t{0});
    const std::size_t fit = used < device_bytes ? (device_bytes - used) / bytes[matrix] : 0;
    slots[matrix] = static_cast<int>(std::min(fit, static_cast<std::size_t>(most_slots[matrix])));
    return slots;
  };
  const int least_tiles =
      std::min(2, tiling.tiles());  // to copy one during the kernel of the other
  const int most_tiles = std::min(4, tiling.tiles());
  TileSlots best = {};
  std::size_t least_bytes = std::numeric_limits<std::size_t>::max();
  for (int c = most_tiles; c >= least_tiles; --c) {
    for (int a = filled({0, 1, c}, 0)[0]; a >= 1; --a) {
      const TileSlots slots = filled({a, 1, c}, 1);
      const std::size_t loaded_bytes = groups_of(tiling, slots).loaded_bytes;
      if (loaded_bytes >= least_bytes) continue;
      best = slots;
      least_bytes = loaded_bytes;
    }
  }
  if (best[0] == 0) return {};
  return plan_tiles(tiling, filled(best, 2));  // tiles of C use the remaining memory
}

void lay_out_matrices(std::vector<Array>& arrays, const Tiling& tiling) {
  for (std::size_t i = 0; i < 3; ++i) {
    const Shape shape = shapes(tiling)[i];
    arrays[i].unit_bytes = tiling.bytes(shape.slot_rows);
    arrays[i].host = adjacent(tiling.bytes(shape.rows), static_cast<std::size_t>(shape.columns));
  }
}

std::vector<Operand> cut_into_tiles(Schedule& schedule, const TilePlan& plan) {
  const Tiling& tiling = plan.tiling;
  lay_out_matrices(schedule.arrays, tiling);
  std::vector<Operand> operands;
  for (const auto& turn : plan.turns) {
    for (Operand operand : turn) {
      const auto i = static_cast<std::size_t>(operand.array);
      const auto [rows, columns, slot_rows, slot_columns] = shapes(tiling)[i];
      const std::int64_t in_column = (rows + slot_rows - 1) / slot_rows;  // pieces
      const std::int64_t row = operand.piece % in_column * slot_rows;
      operand.begin = operand.piece / in_column * slot_columns;
      operand.device_begin = operand.slot * slot_columns;
      operand.host = units_of(schedule.arrays[i], operand.begin,
                              std::min(slot_columns, columns - operand.begin));
      operand.host.begin += tiling.bytes(row);
      operand.host.line_bytes = tiling.bytes(std::min(slot_rows, rows - row));
      operands.push_back(operand);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    schedule.arrays[i].device_units = plan.slots[i] * shapes(tiling)[i].slot_columns;
  }
  schedule.tiling = tiling;
  schedule.chunks = static_cast<int>(plan.turns.size());
  schedule.slots = plan.slots[2];
  return operands;
}

}  // namespace overlap::schedule
