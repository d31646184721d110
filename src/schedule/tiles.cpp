#include "schedule/tiles.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace overlap::schedule {
namespace {

using TileOrder = std::vector<int>;

/// Takes in the panel next that makes the most tiles possible for its bytes, then those tiles.
TileOrder in_shells(const Tiling& tiling) {
  TileOrder order;
  int a = 1;
  int b = 1;
  order.push_back(tiling.tile(0, 0));
  while (a < tiling.rows() || b < tiling.columns()) {
    const auto gain_a = static_cast<double>(b) / static_cast<double>(tiling.tile_m);
    const auto gain_b = static_cast<double>(a) / static_cast<double>(tiling.tile_n);
    if (b == tiling.columns() || (a < tiling.rows() && gain_a >= gain_b)) {
      for (int column = 0; column < b; ++column) order.push_back(tiling.tile(a, column));
      ++a;
    } else {
      for (int row = 0; row < a; ++row) order.push_back(tiling.tile(row, b));
      ++b;
    }
  }
  return order;
}

/// Groups of rows, each with all columns, there and back.
TileOrder by_row_groups(const Tiling& tiling, int group) {
  TileOrder order;
  bool back = false;
  for (int first = 0; first < tiling.rows(); first += group) {
    for (int i = 0; i < tiling.columns(); ++i) {
      const int column = back ? tiling.columns() - 1 - i : i;
      for (int row = first; row < std::min(first + group, tiling.rows()); ++row) {
        order.push_back(tiling.tile(row, column));
      }
    }
    back = !back;
  }
  return order;
}

/// Groups of columns, each with all rows, there and back.
TileOrder by_column_groups(const Tiling& tiling, int group) {
  TileOrder order;
  bool back = false;
  for (int first = 0; first < tiling.columns(); first += group) {
    for (int i = 0; i < tiling.rows(); ++i) {
      const int row = back ? tiling.rows() - 1 - i : i;
      for (int column = first; column < std::min(first + group, tiling.columns()); ++column) {
        order.push_back(tiling.tile(row, column));
      }
    }
    back = !back;
  }
  return order;
}

/// Slots for panels of one matrix. What leaves is what is needed last again (Belady), of what is
/// not needed again what was needed longest ago.
class Cache {
 public:
  Cache(int slots, const std::vector<int>& panels) : slots_(static_cast<std::size_t>(slots)) {
    next_.resize(panels.size(), never);
    std::vector<std::size_t> last(
        static_cast<std::size_t>(*std::max_element(panels.begin(), panels.end())) + 1, never);
    for (std::size_t turn = panels.size(); turn-- > 0;) {
      std::size_t& later = last[static_cast<std::size_t>(panels[turn])];
      next_[turn] = later;
      later = turn;
    }
  }

  /// The panel's slot in a turn, and whether it has to be loaded.
  std::pair<int, bool> take(int panel, std::size_t turn) {
    auto slot =
        std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.panel == panel; });
    const bool loads = slot == slots_.end();
    if (loads) {
      slot = std::max_element(slots_.begin(), slots_.end(), [](const Slot& x, const Slot& y) {
        return x.needed != y.needed ? x.needed < y.needed : x.used > y.used;
      });
    }
    *slot = {panel, next_[turn], turn + 1};
    return {static_cast<int>(slot - slots_.begin()), loads};
  }

 private:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  struct Slot {
    int panel = -1;
    std::size_t needed = never;  ///< the turn in which it is needed next
    std::size_t used = 0;        ///< and the one behind that in which it was needed last
  };
  std::vector<Slot> slots_;
  std::vector<std::size_t> next_;  ///< for each turn, when its panel is needed again
};

TilePlan plan_of(const Tiling& tiling, const TileSlots& slots, const TileOrder& order) {
  std::vector<int> rows, columns;
  for (const int tile : order) {
    rows.push_back(tiling.row(tile));
    columns.push_back(tiling.column(tile));
  }
  Cache a(slots.a, rows);
  Cache b(slots.b, columns);
  TilePlan plan{.slots = slots, .turns = {}, .loaded_bytes = 0};
  // The last panel may be smaller.
  const auto panel_bytes = [&](std::int64_t lines, std::int64_t all, int panel) {
    return static_cast<std::size_t>(std::min(lines, all - panel * lines) * tiling.k) *
           tiling.element_bytes;
  };
  for (std::size_t turn = 0; turn < order.size(); ++turn) {
    const auto [slot_a, loads_a] = a.take(rows[turn], turn);
    const auto [slot_b, loads_b] = b.take(columns[turn], turn);
    plan.turns.push_back({.tile = order[turn],
                          .slot_a = slot_a,
                          .slot_b = slot_b,
                          .slot_c = static_cast<int>(turn) % slots.c,
                          .loads_a = loads_a,
                          .loads_b = loads_b});
    if (loads_a) plan.loaded_bytes += panel_bytes(tiling.tile_m, tiling.m, rows[turn]);
    if (loads_b) plan.loaded_bytes += panel_bytes(tiling.tile_n, tiling.n, columns[turn]);
  }
  return plan;
}

/// The block of `rows` x `columns` elements of a matrix of so many rows, column major.
Region block(std::int64_t all_rows, std::int64_t row, std::int64_t column, std::int64_t rows,
             std::int64_t columns, std::size_t element) {
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * element;
  };
  return {.begin = bytes(column * all_rows + row),
          .line_bytes = bytes(rows),
          .lines = static_cast<std::size_t>(columns),
          .planes = 1,
          .pitch = bytes(all_rows),
          .plane_pitch = bytes(all_rows * columns)};
}

}  // namespace

std::vector<Region> pieces_of_a(const Tiling& t) {
  std::vector<Region> pieces;
  for (std::int64_t row = 0; row < t.m; row += t.tile_m) {
    pieces.push_back(block(t.m, row, 0, std::min(t.tile_m, t.m - row), t.k, t.element_bytes));
  }
  return pieces;
}

std::vector<Region> pieces_of_b(const Tiling& t) {
  std::vector<Region> pieces;
  for (std::int64_t column = 0; column < t.n; column += t.tile_n) {
    pieces.push_back(block(t.k, 0, column, t.k, std::min(t.tile_n, t.n - column), t.element_bytes));
  }
  return pieces;
}

std::vector<Region> pieces_of_c(const Tiling& t) {
  std::vector<Region> pieces;
  for (std::int64_t column = 0; column < t.n; column += t.tile_n) {
    for (std::int64_t row = 0; row < t.m; row += t.tile_m) {
      pieces.push_back(block(t.m, row, column, std::min(t.tile_m, t.m - row),
                             std::min(t.tile_n, t.n - column), t.element_bytes));
    }
  }
  return pieces;
}

TilePlan plan_tiles(const Tiling& tiling, const TileSlots& slots) {
  TilePlan best = plan_of(tiling, slots, in_shells(tiling));
  const auto consider = [&](const TileOrder& order) {
    TilePlan plan = plan_of(tiling, slots, order);
    if (plan.loaded_bytes < best.loaded_bytes) best = std::move(plan);
  };
  // A slot less for the group leaves one into which the next group's first panel can come early.
  for (const int spare : {1, 0}) {
    consider(by_row_groups(tiling, std::max(1, slots.a - spare)));
    consider(by_column_groups(tiling, std::max(1, slots.b - spare)));
  }
  return best;
}

TilePlan plan_tiles(const Tiling& tiling, std::size_t device_bytes) {
  constexpr int least_tiles = 2;  // one is computed while the other is copied
  constexpr int most_tiles = 4;
  const std::size_t a_bytes = tiling.panel_a_bytes();
  const std::size_t b_bytes = tiling.panel_b_bytes();
  const std::size_t c_bytes = tiling.tile_bytes();
  const auto fits = [&](int a, int b, int c) {
    return static_cast<std::size_t>(a) * a_bytes + static_cast<std::size_t>(b) * b_bytes +
               static_cast<std::size_t>(c) * c_bytes <=
           device_bytes;
  };
  const TileSlots all = all_slots(tiling);
  if (fits(all.a, all.b, all.c)) return plan_tiles(tiling, all);
  // Of many panels not every number is worth a look, but the largest is.
  const int step = std::max(1, tiling.rows() / 16);
  std::optional<TilePlan> best;
  for (int c = std::min(most_tiles, tiling.tiles()); c >= 1; --c) {
    if (c < std::min(least_tiles, tiling.tiles())) break;
    int most = 0;
    while (most < tiling.rows() && fits(most + 1, 1, c)) ++most;
    for (int a = most; a >= 1; a -= step) {
      int b = 1;
      while (b < tiling.columns() && fits(a, b + 1, c)) ++b;
      TilePlan plan = plan_tiles(tiling, TileSlots{a, b, c});
      if (!best || plan.loaded_bytes < best->loaded_bytes) best = std::move(plan);
    }
  }
  if (!best) return {};
  // Tiles of C take what is left.
  int c = best->slots.c;
  while (c < tiling.tiles() && fits(best->slots.a, best->slots.b, c + 1)) ++c;
  return plan_tiles(tiling, TileSlots{best->slots.a, best->slots.b, c});
}

}  // namespace overlap::schedule
