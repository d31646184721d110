#include "schedule/tiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace overlap::schedule {
namespace {

using testing::ElementsAre;

Tiling square(int tiles, std::int64_t k = 64) {
  return {.m = 100 * tiles, .n = 100 * tiles, .k = k, .tile_m = 100, .tile_n = 100};
}

std::vector<int> order_of(const TilePlan& plan) {
  std::vector<int> order;
  for (const TileTurn& turn : plan.turns) order.push_back(turn.tile);
  return order;
}

std::size_t loads(const TilePlan& plan) {
  std::size_t count = 0;
  for (const TileTurn& turn : plan.turns) {
    count += static_cast<std::size_t>(turn.loads_a) + static_cast<std::size_t>(turn.loads_b);
  }
  return count;
}

/// Every tile has its turn once; its panels are in its slots then.
void expect_right(const Tiling& tiling, const TilePlan& plan) {
  std::set<int> seen;
  std::vector<int> a(static_cast<std::size_t>(plan.slots.a), -1);
  std::vector<int> b(static_cast<std::size_t>(plan.slots.b), -1);
  for (const TileTurn& turn : plan.turns) {
    EXPECT_TRUE(seen.insert(turn.tile).second);
    if (turn.loads_a) a.at(static_cast<std::size_t>(turn.slot_a)) = tiling.row(turn.tile);
    if (turn.loads_b) b.at(static_cast<std::size_t>(turn.slot_b)) = tiling.column(turn.tile);
    EXPECT_EQ(a.at(static_cast<std::size_t>(turn.slot_a)), tiling.row(turn.tile));
    EXPECT_EQ(b.at(static_cast<std::size_t>(turn.slot_b)), tiling.column(turn.tile));
    EXPECT_LT(turn.slot_c, plan.slots.c);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(tiling.tiles()));
}

TEST(Tiles, AreNumberedColumnByColumnAndCoverTheEdges) {
  const Tiling tiling{.m = 250, .n = 301, .k = 10, .tile_m = 100, .tile_n = 100};
  EXPECT_EQ(tiling.rows(), 3);
  EXPECT_EQ(tiling.columns(), 4);
  EXPECT_EQ(tiling.tile(1, 2), 7);
  EXPECT_EQ(tiling.row(7), 1);
  EXPECT_EQ(tiling.column(7), 2);
  EXPECT_EQ(tiling.panel_a_bytes(), 8U * 100 * 10);
  EXPECT_EQ(tiling.tile_bytes(), 8U * 100 * 100);
}

TEST(TilePlan, TakesShellsWhereAllPanelsFit) {
  const Tiling tiling = square(3);
  const TilePlan plan = plan_tiles(tiling, TileSlots{3, 3, 2});
  // Rows and columns of tiles:         (0,0) (1,0) (0,1) (1,1) ...
  EXPECT_THAT(order_of(plan), ElementsAre(0, 1, 3, 4, 2, 5, 6, 7, 8));
  EXPECT_EQ(loads(plan), 6U);
  expect_right(tiling, plan);
}

TEST(TilePlan, LoadsTheSmallerPanelsFirst) {
  // Panels of B are four times as large as those of A.
  const Tiling tiling{.m = 400, .n = 800, .k = 64, .tile_m = 100, .tile_n = 400};
  EXPECT_THAT(order_of(plan_tiles(tiling, TileSlots{4, 2, 2})),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(TilePlan, LoadsEachPanelOnceWhereOneMatrixFits) {
  const Tiling tiling = square(6);
  for (const TileSlots slots : {TileSlots{6, 1, 2}, TileSlots{1, 6, 2}, TileSlots{6, 2, 3}}) {
    const TilePlan plan = plan_tiles(tiling, slots);
    EXPECT_EQ(loads(plan), 12U);
    expect_right(tiling, plan);
  }
}

TEST(TilePlan, LoadsLittleMoreWhereNoneFits) {
  const Tiling tiling = square(6);
  const TilePlan plan = plan_tiles(tiling, TileSlots{3, 2, 2});
  // Two groups of three rows: each panel of A once, those of B twice but for the one or two at the
  // turn.
  EXPECT_LE(loads(plan), 6U + 6 + 5);
  expect_right(tiling, plan);
  const TilePlan least = plan_tiles(tiling, TileSlots{1, 1, 1});
  EXPECT_EQ(loads(least), 6U + 31);  // one stays while the others pass, there and back
  expect_right(tiling, least);
}

TEST(TilePlan, FitsTheDevice) {
  const Tiling tiling{.m = 1000, .n = 700, .k = 300, .tile_m = 128, .tile_n = 96};
  const std::size_t whole = 8 * (1024 * 300 + 768 * 300 + 1024 * 768);
  std::size_t before = std::numeric_limits<std::size_t>::max();
  for (const double part : {0.15, 0.2, 0.3, 0.5, 0.8, 1.0}) {
    SCOPED_TRACE(part);
    const auto limit = static_cast<std::size_t>(part * static_cast<double>(whole));
    const TilePlan plan = plan_tiles(tiling, limit);
    expect_right(tiling, plan);
    EXPECT_LE(static_cast<std::size_t>(plan.slots.a) * tiling.panel_a_bytes() +
                  static_cast<std::size_t>(plan.slots.b) * tiling.panel_b_bytes() +
                  static_cast<std::size_t>(plan.slots.c) * tiling.tile_bytes(),
              limit);
    EXPECT_LE(plan.loaded_bytes, before);  // more memory, fewer loads
    before = plan.loaded_bytes;
  }
  EXPECT_EQ(before, 8 * tiling.panel_a_bytes() + 8 * tiling.panel_b_bytes());
  EXPECT_TRUE(plan_tiles(tiling, std::size_t{8 * 128 * 300}).turns.empty());
}

TEST(TilePlan, IsQuickForManyTiles) {
  const Tiling tiling = square(64);
  const TilePlan plan = plan_tiles(tiling, 8 * std::size_t{100} * (64 * 40 + 1000));
  expect_right(tiling, plan);
}

}  // namespace
}  // namespace overlap::schedule
