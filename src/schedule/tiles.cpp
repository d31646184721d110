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

/// Groups of rows, each with all columns there and back; or groups of columns, each with all rows.
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

}  // namespace

TilePlan plan_tiles(const Tiling& tiling, const TileSlots& slots) {
  TilePlan best = plan_of(tiling, slots, in_shells(tiling));
  const auto consider = [&](const TileOrder& order) {
    TilePlan plan = plan_of(tiling, slots, order);
    if (plan.loaded_bytes < best.loaded_bytes) best = std::move(plan);
  };
  // A slot less for the group leaves one into which the next group's first panel can come early.
  for (const int spare : {1, 0}) {
    consider(in_groups(tiling, std::max(1, slots.a - spare), true));
    consider(in_groups(tiling, std::max(1, slots.b - spare), false));
  }
  return best;
}

TilePlan plan_tiles(const Tiling& tiling, std::size_t device_bytes) {
  const int least_tiles = std::min(2, tiling.tiles());  // one is copied during the other's kernel
  const int most_tiles = std::min(4, tiling.tiles());
  const auto [a_bytes, b_bytes, c_bytes] = tiling.slot_bytes();
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
  for (int c = most_tiles; c >= least_tiles; --c) {
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
