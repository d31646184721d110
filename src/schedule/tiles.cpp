#include "schedule/tiles.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
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

/// Groups of rows, each across all columns in alternating direction; or groups of columns across
/// all rows.
TileOrder in_groups(const Tiling& tiling, int group, bool of_rows) {
  const int lines = of_rows ? tiling.rows() : tiling.columns();
  const int across = of_rows ? tiling.columns() : tiling.rows();
  TileOrder order;
  bool back = false;
  for (int first = 0; first < lines; first += group) {
    for (int i = 0; i < across; ++i) {
      const int place = back ? across - 1 - i : i;
      for (int line = first; line < std::min(first + group, lines); ++line) {
        order.push_back(of_rows ? tiling.tile(line, place) : tiling.tile(place, line));
      }
    }
    back = !back;
  }
  return order;
}

/// Slots for panels of one matrix. Evicts the panel whose next use is farthest away (Belady); among
/// panels without further use, the least recently used.
class Cache {
 public:
  Cache(int matrix, int slots) : matrix_(matrix) {
    for (int number = 0; number < slots; ++number) slots_.insert({.number = number});
  }

  /// Announces the next take().
  void expect(int panel) { turns_[panel].push(expected_++); }

  Use take(int panel) {
    std::queue<std::size_t>& turns = turns_[panel];
    turns.pop();
    const auto held = held_.find(panel);
    const bool loads = held == held_.end();
    auto taken = slots_.extract(loads ? slots_.begin() : held->second);
    Slot& slot = taken.value();
    if (loads) held_.erase(slot.panel);
    slot.panel = panel;
    slot.needed = turns.empty() ? never : turns.front();
    slot.used = ++taken_;
    const int number = slot.number;
    held_[panel] = slots_.insert(std::move(taken)).position;
    return {matrix_, panel, number, loads};
  }

 private:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  struct Slot {
    int number = 0;
    int panel = -1;
    std::size_t needed = never;  ///< turn of the next use
    std::size_t used = 0;        ///< one past the turn of the last use

    /// By when they are evicted.
    bool operator<(const Slot& other) const {
      return std::tie(other.needed, used, number) < std::tie(needed, other.used, other.number);
    }
  };
  int matrix_;
  std::set<Slot> slots_;
  std::map<int, std::set<Slot>::iterator> held_;  ///< by panel
  std::map<int, std::queue<std::size_t>> turns_;  ///< remaining turns that need each panel
  std::size_t expected_ = 0;
  std::size_t taken_ = 0;
};

TilePlan plan_of(const Tiling& tiling, const TileSlots& slots, const TileOrder& order) {
  Cache a(0, slots[0]);
  Cache b(1, slots[1]);
  for (const int tile : order) {
    a.expect(tiling.row(tile));
    b.expect(tiling.column(tile));
  }
  TilePlan plan{.tiling = tiling, .slots = slots};
  // The last panel may be smaller.
  const auto load = [&](std::int64_t lines, std::int64_t all, const Use& panel) {
    if (!panel.loads) return;
    plan.loaded_bytes += tiling.bytes(std::min(lines, all - panel.piece * lines)) *
                         static_cast<std::size_t>(tiling.k);
  };
  for (const int tile : order) {
    const int slot = static_cast<int>(plan.turns.size()) % slots[2];
    plan.turns.push_back(
        {a.take(tiling.row(tile)), b.take(tiling.column(tile)), Use{2, tile, slot}});
    load(tiling.tile_m, tiling.m, plan.turns.back()[0]);
    load(tiling.tile_n, tiling.n, plan.turns.back()[1]);
  }
  return plan;
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
  TilePlan best = plan_of(tiling, slots, in_shells(tiling));
  const auto consider = [&](const TileOrder& order) {
    TilePlan plan = plan_of(tiling, slots, order);
    if (plan.loaded_bytes < best.loaded_bytes) best = std::move(plan);
  };
  // A group smaller by one slot leaves room to load the first panel of the next group early.
  for (const int spare : {1, 0}) {
    consider(in_groups(tiling, std::max(1, slots[0] - spare), true));
    consider(in_groups(tiling, std::max(1, slots[1] - spare), false));
  }
  return best;
}

TilePlan plan_tiles(const Tiling& tiling, std::size_t device_bytes) {
  const std::array<std::size_t, 3> bytes = slot_bytes(tiling);
  const auto fits = [&](const TileSlots& slots) {
    return std::inner_product(slots.begin(), slots.end(), bytes.begin(), std::size_t{0}) <=
           device_bytes;
  };
  const TileSlots all = all_slots(tiling);
  if (fits(all)) return plan_tiles(tiling, all);
  // As many slots for one matrix as fit next to the others.
  const auto filled = [&](TileSlots slots, std::size_t matrix) {
    while (slots[matrix] < all[matrix]) {
      TileSlots more = slots;
      ++more[matrix];
      if (!fits(more)) break;
      slots = more;
    }
    return slots;
  };
  const int least_tiles =
      std::min(2, tiling.tiles());  // to copy one during the kernel of the other
  const int most_tiles = std::min(4, tiling.tiles());
  // With many panels tries only every `step`-th number of slots, starting from the largest.
  const int step = std::max(1, tiling.rows() / 16);
  std::optional<TilePlan> best;
  for (int c = most_tiles; c >= least_tiles; --c) {
    for (int a = filled({0, 1, c}, 0)[0]; a >= 1; a -= step) {
      TilePlan plan = plan_tiles(tiling, filled({a, 1, c}, 1));
      if (!best || plan.loaded_bytes < best->loaded_bytes) best = std::move(plan);
    }
  }
  if (!best) return {};
  return plan_tiles(tiling, filled(best->slots, 2));  // tiles of C use the remaining memory
}

void lay_out_matrices(std::vector<Array>& arrays, const Tiling& tiling) {
  for (std::size_t i = 0; i < 3; ++i) {
    const Shape shape = shapes(tiling)[i];
    arrays[i].unit_bytes = tiling.bytes(shape.slot_rows);
    arrays[i].host = adjacent(tiling.bytes(shape.rows), static_cast<std::size_t>(shape.columns));
    arrays[i].cut = static_cast<int>(i);
  }
}

void cut_into_tiles(Schedule& schedule, const TilePlan& plan) {
  const Tiling& tiling = plan.tiling;
  lay_out_matrices(schedule.arrays, tiling);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [rows, columns, slot_rows, slot_columns] = shapes(tiling)[i];
    Cut& cut = schedule.cuts.emplace_back();
    for (std::int64_t column = 0; column < columns; column += slot_columns) {
      for (std::int64_t row = 0; row < rows; row += slot_rows) {
        cut.pieces.push_back({.begin = column,
                              .end = std::min(column + slot_columns, columns),
                              .from = tiling.bytes(row),
                              .length = tiling.bytes(std::min(slot_rows, rows - row))});
      }
    }
    for (int slot = 0; slot < plan.slots[i]; ++slot) cut.slots.push_back(slot * slot_columns);
    cut.device_units = plan.slots[i] * slot_columns;
  }
  for (const auto& turn : plan.turns) {
    schedule.uses.insert(schedule.uses.end(), turn.begin(), turn.end());
  }
  schedule.tiling = tiling;
  schedule.chunks = static_cast<int>(plan.turns.size());
  schedule.slots = plan.slots[2];
}

}  // namespace overlap::schedule
