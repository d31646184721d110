#include "schedule/tiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "deck/words.hpp"
#include "experiment/run.hpp"
#include "schedule/hazard.hpp"
#include "schedules.hpp"

namespace overlap::schedule {
namespace {

using testing::ElementsAre;

Tiling square(int tiles, std::int64_t k = 64) {
  return {.m = 100 * tiles, .n = 100 * tiles, .k = k, .tile_m = 100, .tile_n = 100};
}

std::vector<int> order_of(const TilePlan& plan) {
  std::vector<int> order;
  for (const auto& [a, b, c] : plan.turns) order.push_back(c.piece);
  return order;
}

std::size_t loads(const TilePlan& plan) {
  std::size_t count = 0;
  for (const auto& [a, b, c] : plan.turns) {
    count += static_cast<std::size_t>(a.loads) + static_cast<std::size_t>(b.loads);
  }
  return count;
}

/// Every tile has its turn once; its panels are in its slots then.
void expect_right(const Tiling& tiling, const TilePlan& plan) {
  std::set<int> seen;
  std::array<std::vector<int>, 2> held;  // panels of A and B, by slot
  for (std::size_t i = 0; i < 2; ++i) held[i].assign(static_cast<std::size_t>(plan.slots[i]), -1);
  for (const auto& turn : plan.turns) {
    const int tile = turn[2].piece;
    EXPECT_TRUE(seen.insert(tile).second);
    EXPECT_EQ(turn[0].piece, tiling.row(tile));
    EXPECT_EQ(turn[1].piece, tiling.column(tile));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(turn[i].array, static_cast<int>(i));
      int& panel = held[i].at(static_cast<std::size_t>(turn[i].slot));
      if (turn[i].loads) panel = turn[i].piece;
      EXPECT_EQ(panel, turn[i].piece);
    }
    EXPECT_EQ(turn[2].array, 2);
    EXPECT_LT(turn[2].slot, plan.slots[2]);
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
  EXPECT_THAT(slot_bytes(tiling), ElementsAre(8U * 100 * 10, 8U * 100 * 10, 8U * 100 * 100));
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

TEST(TilePlan, AGroupLeavesASlotFreeWhereThatLoadsNoMore) {
  // All panels of B fit: a row at a time, so that the next panel of A can come early.
  const Tiling tiling{.m = 24, .n = 40, .k = 4, .tile_m = 6, .tile_n = 10};
  std::vector<int> order = order_of(plan_tiles(tiling, TileSlots{2, 4, 1}));
  order.resize(8);
  EXPECT_THAT(order, ElementsAre(0, 4, 8, 12, 13, 9, 5, 1));
  // Groups as large as the slots load less here.
  EXPECT_EQ(loads(plan_tiles(square(4), TileSlots{2, 1, 1})), 11U);
  EXPECT_EQ(loads(plan_tiles(square(5), TileSlots{2, 2, 1})), 16U);
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
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bytes += static_cast<std::size_t>(plan.slots[i]) * slot_bytes(tiling)[i];
    }
    EXPECT_LE(bytes, limit);
    EXPECT_LE(plan.loaded_bytes, before);  // more memory, fewer loads
    before = plan.loaded_bytes;
  }
  EXPECT_EQ(before, 8U * 300 * (1000 + 700));
  EXPECT_TRUE(plan_tiles(tiling, std::size_t{8 * 128 * 300}).turns.empty());
}

TEST(TilePlan, HoldsAllWhereThatJustFits) {
  const Tiling tiling = square(3);
  const std::size_t all = 3 * 8 * 100 * 64 + 3 * 8 * 64 * 100 + 9 * 8 * 100 * 100;
  EXPECT_EQ(plan_tiles(tiling, all).slots, (TileSlots{3, 3, 9}));
  EXPECT_EQ(plan_tiles(tiling, all - 1).slots, (TileSlots{3, 3, 8}));
}

/// The product's arrays; C goes to the device where beta is not 0.
Costs costs_of(const Tiling& tiling, bool reads_c) {
  Costs costs;
  costs.kernel = "dgemm";
  costs.arrays = {{.name = "A", .to_device = true, .to_host = false},
                  {.name = "B", .to_device = true, .to_host = false},
                  {.name = "C", .to_device = reads_c, .to_host = true}};
  costs.units = tiling.tiles();
  costs.tiling = tiling;
  return costs;
}

Schedule schedule_of(const Tiling& tiling, const TileSlots& slots, Order order, int lanes,
                     bool reads_c = true) {
  Layout layout;
  layout.tiles = plan_tiles(tiling, slots);
  layout.out_of_core = slots[0] < tiling.rows() || slots[1] < tiling.columns();
  return build(costs_of(tiling, reads_c), layout, order, lanes);
}

const Tiling uneven{.m = 250, .n = 350, .k = 30, .tile_m = 100, .tile_n = 100};

TEST(TileSchedule, IsSafeAndNotWithoutItsDependencies) {
  for (const TileSlots slots : {TileSlots{3, 4, 12}, TileSlots{3, 4, 2}, TileSlots{2, 1, 1},
                                TileSlots{2, 2, 5}, TileSlots{1, 4, 3}}) {
    for (const Order order : deck::orders_of(deck::WorkloadKind::dgemm)) {
      for (const bool reads_c : {true, false}) {
        SCOPED_TRACE(testing::Message()
                     << deck::to_string(order) << " " << slots[2] << " " << reads_c);
        const Schedule schedule = schedule_of(uneven, slots, order, 3, reads_c);
        const auto hazards = find_hazards(schedule);
        ASSERT_TRUE(hazards.empty()) << hazards.front().message;
        Schedule faulty = schedule;
        for (Task& task : faulty.tasks) task.after.clear();
        EXPECT_EQ(find_hazards(faulty).empty(), schedule.lanes == 1);
      }
    }
  }
}

/// Stages in the order of issue, with their lanes: "H0" is a copy to the device on lane 0, then
/// K(ernel), D(2H) and C(omputed by the host).
std::string issued(const Schedule& schedule) {
  std::string text;
  for (const Task& task : schedule.tasks) {
    const char letter = task.stage == Stage::h2d      ? 'H'
                        : task.stage == Stage::kernel ? 'K'
                        : task.stage == Stage::d2h    ? 'D'
                                                      : 'C';
    text += letter + std::to_string(task.lane) + (&task == &schedule.tasks.back() ? "" : " ");
  }
  return text;
}

TEST(TileSchedule, WaysAreAmountsOfConcurrency) {
  const Tiling row{.m = 100, .n = 300, .k = 30, .tile_m = 100, .tile_n = 100};  // 3 tiles
  const TileSlots all = all_slots(row);
  const auto way = [&](Order order, int lanes = 2) {
    return issued(schedule_of(row, all, order, lanes, false));
  };
  EXPECT_EQ(way(Order::sequential), "H0 H0 K0 D0");
  EXPECT_EQ(way(Order::two_way), "H0 H0 H0 H0 K0 D1 K0 D1 K0 D1");
  EXPECT_EQ(way(Order::three_way), "H0 H0 K1 D2 H0 K1 D2 H0 K1 D2");
  EXPECT_EQ(way(Order::four_way), way(Order::three_way));  // no tile is the host's
  EXPECT_EQ(way(Order::four_plus), "H0 H0 K1 D3 H0 K2 D3 H0 K1 D3");
  EXPECT_EQ(way(Order::four_plus, 1), way(Order::three_way));
  // Through a single slot of B, all copies of a window are those of one tile.
  EXPECT_EQ(issued(schedule_of(row, {1, 1, 1}, Order::two_way, 2, false)),
            "H0 H0 K0 D1 H0 K0 D1 H0 K0 D1");

  Layout layout;
  layout.tiles = plan_tiles(row, all);
  Costs costs = costs_of(row, true);
  costs.host_tiles = 2;
  const Schedule shared = build(costs, layout, Order::four_way, 2);
  EXPECT_EQ(issued(shared), "H0 H0 H0 K1 D2 C0 C0");
  EXPECT_TRUE(find_hazards(shared).empty());
  // A tile that the host and the device compute, and one that neither does.
  Schedule faulty = shared;
  take_piece(faulty.tasks.back().operands[2], faulty.tasks[3].operands[2]);
  EXPECT_FALSE(find_hazards(faulty).empty());
  faulty = shared;
  faulty.tasks.pop_back();
  EXPECT_FALSE(find_hazards(faulty).empty());
  // A tile that the device copies back into while the host computes it, which waits for no lane.
  faulty = shared;
  faulty.tasks.back().operands = faulty.tasks[3].operands;
  for (Operand& operand : faulty.tasks.back().operands) operand.slot = -1;
  faulty.tasks.back().chunk = faulty.tasks[3].chunk;
  EXPECT_EQ(find_hazards(faulty).front().kind, Hazard::Kind::raw);
  faulty.tasks.back().after = {4};
  EXPECT_EQ(find_hazards(faulty).front().kind, Hazard::Kind::missing);  // the other tile
}

TEST(TileSchedule, MovesEveryByteOnce) {
  const double a = 8.0 * 250 * 30, b = 8.0 * 30 * 350, c = 8.0 * 250 * 350;
  for (const bool reads_c : {true, false}) {
    const Traffic moved = traffic(schedule_of(uneven, {3, 4, 2}, Order::three_way, 3, reads_c));
    EXPECT_EQ(static_cast<double>(moved.h2d), a + b + (reads_c ? c : 0));
    EXPECT_EQ(static_cast<double>(moved.d2h), c);
  }
  EXPECT_EQ(static_cast<double>(plan_tiles(uneven, TileSlots{3, 4, 2}).loaded_bytes), a + b);
  double flops = 0;
  for (const Task& task : schedule_of(uneven, {3, 4, 2}, Order::three_way, 3).tasks) {
    flops += task.flops;
  }
  EXPECT_EQ(flops, 2.0 * 250 * 350 * 30);
}

TEST(TileSchedule, ProductsFindTheirMatricesOnBothSides) {
  Schedule s = schedule_of(uneven, {2, 2, 2}, Order::three_way, 3);
  EXPECT_EQ(experiment::product_flops(s), 2.0 * 250 * 350 * 30);
  EXPECT_EQ(experiment::host_tiles(s), 0);
  std::set<std::size_t> places;
  for (const Task& task : s.tasks) {
    const auto on_device = product(s, task);
    ASSERT_EQ(on_device.has_value(), task.stage == Stage::kernel);
    if (!on_device) continue;
    Task mapped = task;
    for (Operand& operand : mapped.operands) operand.slot = -1;
    const auto on_host = product(s, mapped);
    ASSERT_TRUE(on_host);
    const auto& used = task.operands;
    EXPECT_EQ(on_device->m, used[0].piece == 2 ? 50 : 100);
    EXPECT_EQ(on_device->n, used[1].piece == 3 ? 50 : 100);
    EXPECT_EQ(on_device->k, 30);
    const std::array<std::size_t, 3> held = slot_bytes(uneven);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(on_device->matrices[i].begin, static_cast<std::size_t>(used[i].slot) * held[i]);
      EXPECT_EQ(on_device->matrices[i].stride, i == 1 ? 30 : on_device->m);
      EXPECT_EQ(on_host->matrices[i].stride, i == 1 ? 30 : 250);
      places.insert(on_device->matrices[i].begin);
    }
    EXPECT_EQ(on_host->matrices[2].begin, used[2].host.begin);
    EXPECT_EQ(chunk_of(s, static_cast<std::int64_t>(on_host->matrices[2].begin / 8)), task.chunk);
  }
  EXPECT_THAT(places, ElementsAre(0, 8U * 100 * 30, 8U * 100 * 100));
  // Tasks without data have none.
  const int last = chunk_of(s, 250 * 350 - 1);
  s.tasks.insert(s.tasks.begin(), {.stage = Stage::query});
  EXPECT_EQ(product(s, s.tasks[0]), std::nullopt);
  EXPECT_EQ(chunk_of(s, 250 * 350 - 1), last);
}

TEST(TileSchedule, OfTheBaselineIsOneTile) {
  const Schedule s = schedule_of(uneven, {3, 4, 2}, Order::sequential, 1);
  ASSERT_EQ(s.tasks.size(), 5U);
  EXPECT_EQ(s.tasks[0].operands[0].host.bytes(), 8U * 250 * 30);
  EXPECT_EQ(s.tasks[3].stage, Stage::kernel);
  EXPECT_EQ(s.tasks[4].bytes, 8U * 250 * 350);
  // What does not fit comes tile by tile.
  EXPECT_EQ(schedule_of(uneven, {2, 1, 1}, Order::sequential, 1).chunks, 12);
}

TEST(TileSchedule, FaultsAreFound) {
  const Schedule good = schedule_of(uneven, {3, 4, 2}, Order::three_way, 3);
  const auto kind = [](const Schedule& schedule) {
    const auto hazards = find_hazards(schedule);
    return hazards.empty() ? "none" : to_string(hazards.front().kind);
  };
  const auto first = [&](Stage stage) {
    return static_cast<std::size_t>(
        std::find_if(good.tasks.begin(), good.tasks.end(),
                     [&](const Task& task) { return task.stage == stage; }) -
        good.tasks.begin());
  };
  Schedule s = good;
  const auto last = [&](Stage stage) {
    return *std::find_if(good.tasks.rbegin(), good.tasks.rend(),
                         [&](const Task& task) { return task.stage == stage; });
  };
  take_piece(s.tasks[first(Stage::kernel)].operands[0],
             last(Stage::kernel).operands[0]);  // another panel
  EXPECT_STREQ(kind(s), "stale");
  s = good;
  s.tasks[first(Stage::h2d)].operands[0].begin = 7;
  EXPECT_STREQ(kind(s), "malformed");
  s = good;
  take_piece(s.tasks[first(Stage::kernel)].operands[2],
             last(Stage::kernel).operands[2]);  // another tile's place in C
  EXPECT_STREQ(kind(s), "stale");
  s = good;
  s.tasks[first(Stage::d2h)].operands[0].piece = 1;
  EXPECT_STREQ(kind(s), "stale");
  s = good;
  s.tasks.pop_back();
  EXPECT_STREQ(kind(s), "missing");
  s = good;
  s.tasks[first(Stage::d2h)].bytes -= 8;
  EXPECT_STREQ(kind(s), "malformed");
  s = good;
  for (Task& task : s.tasks) {
    for (Operand& operand : task.operands) {
      if (operand.array != 2 || operand.piece != 1) continue;
      operand.host.begin -= 8;  // into the tile above
      operand.host.line_bytes += 8;
      if (is_copy(task.stage)) task.bytes = operand.host.bytes();
    }
  }
  EXPECT_STREQ(kind(s), "malformed");
  s = good;
  s.tasks[first(Stage::kernel)].operands.pop_back();  // without C
  EXPECT_STREQ(kind(s), "malformed");
}

TEST(Tiles, LieInColumnMajorMatrices) {
  Schedule s{.arrays = std::vector<Array>(3)};
  std::map<std::pair<int, int>, Region> regions;  // by array and piece
  for (const Operand& operand : cut_into_tiles(s, plan_tiles(uneven, all_slots(uneven)))) {
    regions[{operand.array, operand.piece}] = operand.host;
  }
  const auto region = [&](int array, int piece) { return regions.at({array, piece}); };
  EXPECT_EQ(regions.size(), 3U + 4 + 12);
  EXPECT_EQ(region(0, 2).begin, 8U * 200);
  EXPECT_EQ(region(0, 2).line_bytes, 8U * 50);
  EXPECT_EQ(region(0, 2).all_lines(), 30U);
  EXPECT_EQ(region(0, 2).plane_pitch, 8U * 250);
  EXPECT_EQ(merged(region(1, 3)).line_bytes, 8U * 30 * 50);  // columns are adjacent
  EXPECT_EQ(region(1, 3).begin, 8U * 30 * 300);
  EXPECT_EQ(region(2, 7).begin, 8U * (200 * 250 + 100));
  std::size_t bytes = 0;
  for (int tile = 0; tile < 12; ++tile) bytes += region(2, tile).bytes();
  EXPECT_EQ(bytes, 8U * 250 * 350);
}

TEST(TilePlan, IsQuickForManyTiles) {
  const Tiling tiling = square(64);
  const TilePlan plan = plan_tiles(tiling, 8 * std::size_t{100} * (64 * 40 + 1000));
  expect_right(tiling, plan);
}

}  // namespace
}  // namespace overlap::schedule
