#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "schedule/build.hpp"
#include "schedule/hazard.hpp"
#include "schedules.hpp"

namespace overlap::schedule {
namespace {

using deck::WorkloadKind;
using testing::ElementsAre;
using testing::HasSubstr;

deck::Deck increment(std::int64_t chunks, std::int64_t units = 1200) {
  return small_deck(WorkloadKind::increment, units, chunks);
}
deck::Deck rowsum(std::int64_t chunks) { return small_deck(WorkloadKind::rowsum, 1200, chunks); }
deck::Deck pipeline(std::int64_t iterations) {
  deck::Deck deck = small_deck(WorkloadKind::pipeline, 1200, 1);
  deck.workload.iterations = iterations;
  return deck;
}

// Exact task lists: what the seeds' loops issue, written down by hand.

TEST(Sequential, CopiesTheWholeDataAtOnceInCore) {
  const Schedule s = small_schedule(increment(4), Order::sequential, 4);
  EXPECT_THAT(text(s), ElementsAre("h2d 0 L0 !", "kernel 0 L0 !", "d2h 0 L0 !"));
  EXPECT_EQ(s.chunks, 1);
  EXPECT_EQ(s.tasks[0].bytes, 4800U);
  EXPECT_EQ(s.arrays[0].device_units, 1200);
}

TEST(Sequential, GoesSlotBySlotOutOfCore) {
  const Schedule s = small_schedule(rowsum(3), Order::sequential, 4, 2);
  EXPECT_THAT(text(s), ElementsAre("h2d 0 L0 !", "kernel 0 L0 !", "d2h 0 L0 !",  //
                                   "h2d 1 L0 !", "kernel 1 L0 !", "d2h 1 L0 !",  //
                                   "h2d 2 L0 !", "kernel 2 L0 !", "d2h 2 L0 !"));
  EXPECT_EQ(s.tasks[6].operands[0].slot, 0);
  EXPECT_EQ(s.arrays[0].device_units, 800);
}

TEST(Sequential, IsNoGraph) {
  using deck::Mechanism;
  deck::Deck deck = increment(4);
  for (const auto& [asked, baseline] : {std::pair(Mechanism::streams, Mechanism::streams),
                                        {Mechanism::graph, Mechanism::streams},
                                        {Mechanism::portable, Mechanism::portable}}) {
    deck.issue.mechanism = asked;
    EXPECT_EQ(small_schedule(deck, Order::sequential, 1).mechanism, baseline);
    EXPECT_EQ(small_schedule(deck, Order::depth_first, 1).mechanism, asked);
  }
}

TEST(DepthFirst, IssuesAllStagesOfAChunkOnItsLane) {
  EXPECT_THAT(text(small_schedule(increment(3), Order::depth_first, 2)),
              ElementsAre("h2d 0 L0", "kernel 0 L0", "d2h 0 L0",  //
                          "h2d 1 L1", "kernel 1 L1", "d2h 1 L1",  //
                          "h2d 2 L0", "kernel 2 L0", "d2h 2 L0"));
}

TEST(DepthFirst, ReusesASlotWhenItsChunkIsDone) {
  // Chunk 2 takes slot 0 on lane 2. In place, the slot is free after the copy back of chunk 0 (2).
  EXPECT_THAT(text(small_schedule(increment(3), Order::depth_first, 3, 2)),
              ElementsAre("h2d 0 L0", "kernel 0 L0", "d2h 0 L0",  //
                          "h2d 1 L1", "kernel 1 L1", "d2h 1 L1",  //
                          "h2d 2 L2 < 2", "kernel 2 L2", "d2h 2 L2"));
  // Row sums free the input slot after the kernel (1), the slot of the sums after the copy back
  // (2).
  EXPECT_THAT(text(small_schedule(rowsum(3), Order::depth_first, 3, 2)),
              ElementsAre("h2d 0 L0", "kernel 0 L0", "d2h 0 L0",  //
                          "h2d 1 L1", "kernel 1 L1", "d2h 1 L1",  //
                          "h2d 2 L2 < 1", "kernel 2 L2 < 2", "d2h 2 L2"));
}

TEST(DepthFirst, NeedsNoDependencyWhereTheLaneOrdersTheReuse) {
  for (const Task& task : small_schedule(increment(12), Order::depth_first, 2, 4).tasks) {
    EXPECT_TRUE(task.after.empty());
  }
}

TEST(BreadthFirst, IssuesStageByStage) {
  EXPECT_THAT(text(small_schedule(increment(3), Order::breadth_first, 3)),
              ElementsAre("h2d 0 L0", "h2d 1 L1", "h2d 2 L2",           //
                          "kernel 0 L0", "kernel 1 L1", "kernel 2 L2",  //
                          "d2h 0 L0", "d2h 1 L1", "d2h 2 L2"));
}

TEST(BreadthFirst, GoesInWindowsOfTheChunksThatFit) {
  EXPECT_THAT(text(small_schedule(increment(5), Order::breadth_first, 3, 2)),
              ElementsAre("h2d 0 L0", "h2d 1 L1", "kernel 0 L0", "kernel 1 L1",  //
                          "d2h 0 L0", "d2h 1 L1",                                //
                          "h2d 2 L2 < 4", "h2d 3 L0 < 5", "kernel 2 L2", "kernel 3 L0", "d2h 2 L2",
                          "d2h 3 L0",  //
                          "h2d 4 L1 < 10", "kernel 4 L1", "d2h 4 L1"));
}

TEST(ByEngine, TakesALaneForEachEngine) {
  const Schedule s = small_schedule(increment(2), Order::by_engine, 8);
  EXPECT_THAT(text(s), ElementsAre("h2d 0 L0", "kernel 0 L1 < 0", "d2h 0 L2 < 1",  //
                                   "h2d 1 L0", "kernel 1 L1 < 3", "d2h 1 L2 < 4"));
  EXPECT_EQ(s.lanes, 3);
}

TEST(ByEngine, IsTheSixStreamsOfTheTwoOperationArticle) {
  // Two inputs each, then both operations, then both outputs; from the second iteration on the
  // inputs wait for the kernel that reads what they overwrite (the published loop lacks this), and
  // the kernel for the copy back of what it overwrites.
  const Schedule s = small_schedule(pipeline(2), Order::by_engine, 1);
  EXPECT_EQ(s.lanes, 6);
  EXPECT_THAT(text(s),
              ElementsAre("h2d 0.1 L0", "h2d 0.1 L0", "h2d 0.2 L3", "h2d 0.2 L3",          // 0-3
                          "kernel 0.1 L1 < 1", "kernel 0.2 L4 < 3",                        // 4, 5
                          "d2h 0.1 L2 < 4", "d2h 0.2 L5 < 5",                              // 6, 7
                          "h2d 1.1 L0 < 4", "h2d 1.1 L0", "h2d 1.2 L3 < 5", "h2d 1.2 L3",  // 8-11
                          "kernel 1.1 L1 < 6 9", "kernel 1.2 L4 < 7 11",                   //
                          "d2h 1.1 L2 < 12", "d2h 1.2 L5 < 13"));
}

TEST(Pipeline, RunsEachIterationOnDataOfItsOwnInTheSameBuffers) {
  const Schedule s = small_schedule(pipeline(3), Order::depth_first, 2);
  EXPECT_EQ(s.slots, 1);
  EXPECT_EQ(s.arrays[0].host.planes, 3600U);
  EXPECT_EQ(s.arrays[0].device_units, 1200);
  const Operand& last = s.tasks.back().operands[0];
  EXPECT_EQ(last.begin, 2400);
  EXPECT_EQ(last.device_begin, 0);
  EXPECT_FALSE(s.out_of_core);
}

// The layout.

TEST(Layout, CutsUnitsEvenly) {
  const Schedule s = small_schedule(increment(4, 10), Order::depth_first, 4);
  std::vector<std::int64_t> sizes;
  for (const Task& task : s.tasks) {
    if (task.stage == Stage::kernel) sizes.push_back(task.operands[0].size());
  }
  EXPECT_THAT(sizes, ElementsAre(2, 3, 2, 3));
  EXPECT_EQ(s.tasks.back().operands[0].begin, 7);
}

TEST(Layout, EveryUnitHasItsChunk) {
  const Schedule s = small_schedule(increment(4, 10), Order::depth_first, 4);  // 2, 3, 2 and 3
  std::vector<int> chunks;
  for (std::int64_t unit = 0; unit < 10; ++unit) chunks.push_back(chunk_of(s, unit));
  EXPECT_THAT(chunks, ElementsAre(0, 0, 1, 1, 1, 2, 2, 3, 3, 3));
}

TEST(Layout, DeviceArraysHoldTheUnitsOrTheSlotsOfTiles) {
  const auto bytes = [](const deck::Deck& deck, std::int64_t units) {
    const Costs costs = schedule::costs(deck.workload, 1);
    return device_bytes(costs, layout(deck, costs, std::nullopt), units);
  };
  EXPECT_THAT(bytes(increment(4, 10), 7), ElementsAre(28));
  deck::Deck product;
  product.workload.kind = deck::WorkloadKind::dgemm;
  product.workload.type = deck::ElementType::float64;
  product.workload.m = product.workload.n = 20;
  product.workload.k = 3;
  product.workload.tile_m = product.workload.tile_n = 10;
  // Two panels of A and of B with 10 x 3 elements each, four tiles of C with 10 x 10.
  EXPECT_THAT(bytes(product, 1), ElementsAre(480, 480, 3200));
}

TEST(Layout, MakesChunksOfAtMostTheGivenBytes) {
  deck::Deck deck = increment(1);
  deck.chunks.count.reset();
  deck.chunks.bytes = 1000;  // 250 floats of 1200: five chunks of 240
  for (const std::int64_t bytes : {1000, 960}) {
    deck.chunks.bytes = bytes;
    const Schedule s = small_schedule(deck, Order::depth_first, 4);
    EXPECT_EQ(s.chunks, 5);
    for (const Task& task : s.tasks) EXPECT_EQ(task.operands[0].size(), 240);
  }
}

TEST(Layout, TheSmallerOfDeckAndDeviceDecides) {
  deck::Deck deck = increment(4);
  deck.memory.device_limit = 3 * 1200;  // bytes; a chunk has 1200
  const Costs costs = schedule::costs(deck.workload, 1);
  EXPECT_EQ(layout(deck, costs, std::nullopt).slots, 3);
  EXPECT_EQ(layout(deck, costs, 2 * 1200).slots, 2);
  EXPECT_EQ(layout(deck, costs, 100000).slots, 3);
  deck.memory.device_limit = 4 * 1200;
  EXPECT_FALSE(layout(deck, costs, std::nullopt).out_of_core);
}

TEST(Layout, ADeviceThatJustHoldsAllHoldsUnevenChunks) {
  const deck::Deck deck = increment(4, 10);  // 2, 3, 2 and 3; a slot has 12 bytes
  const Costs costs = schedule::costs(deck.workload, 1);
  EXPECT_EQ(layout(deck, costs, 40).slots, 4);
  EXPECT_EQ(layout(deck, costs, 39).slots, 3);
}

void expect_error(const deck::Deck& deck, std::optional<std::int64_t> free, base::ExitCode code,
                  const std::string& message) {
  try {
    layout(deck, schedule::costs(deck.workload, 1), free);
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_STREQ(error.what(), message.c_str());
  }
}

TEST(Layout, RefusesMoreChunksThanUnits) {
  expect_error(increment(1201), std::nullopt, base::ExitCode::usage,
               "test.yaml: chunks.count: found 1201; allowed: at most 1200, one per unit of "
               "the data");
}

TEST(Layout, RefusesMoreChunksThanAScheduleHolds) {
  deck::Deck deck = pipeline(4);
  deck.workload.elements = deck.chunks.count.emplace(1 << 18);
  EXPECT_EQ(layout(deck, schedule::costs(deck.workload, 1), {}).slots, 1 << 18);
  deck.workload.elements = ++*deck.chunks.count;
  expect_error(
      deck, std::nullopt, base::ExitCode::usage,
      "test.yaml: chunks.count: found 262145, which makes 1048580 chunks; allowed: at most "
      "1048576 in all iterations");
}

TEST(Layout, RefusesChunksBelowAUnit) {
  deck::Deck deck = rowsum(1);
  deck.chunks.count.reset();
  deck.chunks.bytes = 23;
  expect_error(deck, std::nullopt, base::ExitCode::usage,
               "test.yaml: chunks.bytes: found 23 B; allowed: at least 24 B, one unit of the data");
}

TEST(Layout, RefusesALimitBelowAChunk) {
  deck::Deck deck = increment(4);
  deck.memory.device_limit = 1199;
  expect_error(
      deck, std::nullopt, base::ExitCode::usage,
      "test.yaml: memory.device_limit: found 1.2 KiB; a chunk needs 1.2 KiB on the device; "
      "use more chunks");
  deck = increment(1200);
  deck.memory.device_limit = 3;
  expect_error(deck, std::nullopt, base::ExitCode::usage,
               "test.yaml: memory.device_limit: found 3 B; a chunk needs 4 B on the device");
  deck.workload.kind = WorkloadKind::dgemm;
  deck.workload.m = deck.workload.n = deck.workload.k = 32;
  deck.workload.tile_m = deck.workload.tile_n = 16;
  deck.memory.device_limit = 6143;
  for (const std::int64_t n : {32, 16}) {
    deck.workload.n = n;
    expect_error(deck, std::nullopt, base::ExitCode::usage,
                 "test.yaml: memory.device_limit: found 6.0 KiB; a panel of A and of B and two "
                 "tiles of C need 6 KiB on the device; use smaller tiles");
  }
  deck.workload.m = 16;
  deck.memory.device_limit = 5119;
  expect_error(deck, std::nullopt, base::ExitCode::usage,
               "test.yaml: memory.device_limit: found 5.0 KiB; a panel of A and of B and the tile "
               "of C need 5 KiB on the device; use smaller tiles");
}

TEST(Layout, ADeviceWithoutRoomForAChunkIsAPrecondition) {
  deck::Deck deck = increment(4);
  for (int limit = 0; limit < 2; ++limit) {
    expect_error(deck, 1000, base::ExitCode::precondition,
                 "test.yaml: the device has 1000 B free and a chunk needs 1.2 KiB on the device; "
                 "use more chunks");
    deck.memory.device_limit = 1100;  // too little, too, but the device has less
  }
}

// Costs.

TEST(Costs, CountBytesAndOperations) {
  const Schedule s = small_schedule(rowsum(4), Order::depth_first, 4);
  EXPECT_EQ(s.tasks[0].bytes, 300U * 24);            // h2d
  EXPECT_EQ(s.tasks[1].bytes, 300U * 24 + 300 * 4);  // kernel: lines read, sums written
  EXPECT_EQ(s.tasks[1].flops, 300.0 * 6);
  EXPECT_EQ(s.tasks[2].bytes, 300U * 4);  // d2h
  EXPECT_EQ(traffic(s).h2d, 28800U);
  EXPECT_EQ(traffic(s).d2h, 4800U);
}

TEST(Costs, OfAKernelsUnit) {
  deck::Deck deck = rowsum(1);
  EXPECT_EQ(kernel_bytes_per_unit(costs(deck.workload, 1)), 6 * 4 + 4);
  deck.workload = {.kind = deck::WorkloadKind::increment, .type = deck::ElementType::float64};
  EXPECT_EQ(kernel_bytes_per_unit(costs(deck.workload, 1)), 2 * 8);  // read and written
  EXPECT_EQ(costs(deck.workload, 0).flops_per_unit, 1);
  EXPECT_EQ(costs(deck.workload, 3).flops_per_unit, 7 * 3);
  deck.workload.kind = deck::WorkloadKind::pipeline;
  EXPECT_EQ(costs(deck.workload, 0).flops_per_unit, 1);
  EXPECT_EQ(costs(deck.workload, 3).flops_per_unit, 2 + 7 * 3);
}

TEST(Costs, OfAProductCopyCToTheDeviceUnlessItsFactorIsZero) {
  deck::Workload product{.kind = WorkloadKind::dgemm};
  for (const auto& [beta, copied] : {std::pair(0, false), {1, true}}) {
    product.beta = beta;
    EXPECT_EQ(costs(product, 1).arrays[2].to_device, copied) << beta;
  }
}

TEST(Costs, OfAProductHaveTheHostsShareOfTheTiles) {
  deck::Workload product{.kind = WorkloadKind::dgemm, .type = deck::ElementType::float64};
  product.m = product.n = 20;
  product.k = 3;
  product.tile_m = product.tile_n = 10;
  EXPECT_EQ(costs(product, 1).host_tiles, 0);
  for (const auto& [share, tiles] : {std::pair(0.0, 0), {0.5, 2}, {0.6, 2}, {0.7, 3}, {1.0, 4}}) {
    product.host_share = share;
    EXPECT_EQ(costs(product, 1).host_tiles, tiles) << share;
  }
}

TEST(Costs, SumsAlongColumnsAreLinesOfRows) {
  deck::Deck deck = rowsum(2);
  deck.workload.axis = deck::SumAxis::columns;
  deck.workload.sum_type = deck::SumType::int64;
  const Schedule s = small_schedule(deck, Order::depth_first, 2);
  EXPECT_EQ(s.arrays[0].host.planes, 6U);
  EXPECT_EQ(s.arrays[0].unit_bytes, 4800U);
  EXPECT_EQ(s.arrays[1].unit_bytes, 8U);
}

TEST(Disturbed, HasTheCallsBetweenTheTasksAndTheSameDependencies) {
  const Schedule plain =
      small_schedule(small_deck(WorkloadKind::increment, 12, 4), Order::by_engine, 3);
  for (const double at : {0.0, 0.3, 0.5, 1.0}) {
    SCOPED_TRACE(at);
    const Schedule s =
        disturbed(plain, {.operation = deck::Disturbance::malloc, .at = at, .times = 3});
    ASSERT_EQ(s.tasks.size(), plain.tasks.size() + 3);
    EXPECT_TRUE(find_hazards(s).empty());
    const auto place = static_cast<std::size_t>(std::lround(at * 12));
    std::vector<Task> others;
    for (std::size_t id = 0; id < s.tasks.size(); ++id) {
      const bool call = id >= place && id < place + 3;
      EXPECT_EQ(s.tasks[id].stage == Stage::disturbance, call) << id;
      if (call) {
        const Task& next = plain.tasks[std::min(place, plain.tasks.size() - 1)];
        EXPECT_EQ(s.tasks[id].call, deck::Disturbance::malloc);
        EXPECT_EQ(s.tasks[id].chunk, next.chunk);
        EXPECT_EQ(s.tasks[id].lane, next.lane);
        continue;
      }
      others.push_back(s.tasks[id]);
      for (TaskId& other : others.back().after) {
        if (other >= place) other -= 3;
      }
    }
    EXPECT_EQ(others, plain.tasks);
  }
}

/// The stages of all tasks: "HK*D" with a star for work of the host.
std::string stages(const Schedule& schedule) {
  std::string text;
  for (const Task& task : schedule.tasks) {
    text += task.stage == Stage::h2d      ? 'H'
            : task.stage == Stage::kernel ? 'K'
            : task.stage == Stage::d2h    ? 'D'
            : task.stage == Stage::host   ? '*'
                                          : '?';
  }
  return text;
}

double host_s(const Schedule& schedule) {
  double sum = 0;
  for (const Task& task : schedule.tasks) sum += task.duration_s;
  return sum;
}

TEST(HostWork, IsBehindTheLastTaskAndInTheBaselineBesideTheKernel) {
  const deck::Deck deck = small_deck(WorkloadKind::increment, 12, 3);
  for (const Order order : {Order::depth_first, Order::breadth_first, Order::by_engine}) {
    const Schedule plain = small_schedule(deck, order, 3);
    const Schedule s = with_host_work(plain, 0.5, 3);
    EXPECT_EQ(stages(s), stages(plain) + "***");
    EXPECT_DOUBLE_EQ(host_s(s), 1.5);
    EXPECT_TRUE(find_hazards(s).empty());
  }
  const Schedule plain = small_schedule(deck, Order::sequential, 1);
  const Schedule s = with_host_work(plain, 0.5, 3);
  EXPECT_EQ(stages(s), "HK*D");
  EXPECT_DOUBLE_EQ(host_s(s), 1.5);
  EXPECT_TRUE(plain.tasks[1].blocking);
  EXPECT_FALSE(s.tasks[1].blocking);
  EXPECT_TRUE(s.tasks[3].blocking);
  EXPECT_TRUE(find_hazards(s).empty());
}

TEST(HostWork, OfTheBaselineIsBesideEachChunksLastKernel) {
  deck::Deck deck = small_deck(WorkloadKind::pipeline, 12, 2);
  deck.workload.iterations = 2;
  const Schedule s = with_host_work(small_schedule(deck, Order::sequential, 1), 0.5, 4);
  EXPECT_EQ(s.chunks, 2);
  EXPECT_EQ(stages(s).size(), small_schedule(deck, Order::sequential, 1).tasks.size() + 2);
  EXPECT_DOUBLE_EQ(host_s(s), 2);
  for (std::size_t id = 1; id < s.tasks.size(); ++id) {
    if (s.tasks[id].stage == Stage::kernel) {
      EXPECT_EQ(s.tasks[id].blocking, s.tasks[id].op == 0);
    }
    if (s.tasks[id].stage != Stage::host) continue;
    EXPECT_EQ(s.tasks[id - 1].stage, Stage::kernel);
    EXPECT_EQ(s.tasks[id - 1].op, 1);
    EXPECT_EQ(s.tasks[id + 1].stage, Stage::d2h);
  }
  EXPECT_TRUE(find_hazards(s).empty());
}

TEST(Build, ZeroCopyHasKernelsOnHostMemoryAlone) {
  deck::Deck deck = small_deck(WorkloadKind::pipeline, 12, 3);
  deck.workload.iterations = 2;
  deck.memory.transfer = deck::Transfer::zero_copy;
  const Schedule s = small_schedule(deck, Order::depth_first, 4, 1);
  EXPECT_EQ(s.transfer, deck::Transfer::zero_copy);
  EXPECT_FALSE(s.out_of_core);
  ASSERT_EQ(s.tasks.size(), 2U * 3 * 2);
  for (const Task& task : s.tasks) {
    EXPECT_EQ(task.stage, Stage::kernel);
    EXPECT_TRUE(task.after.empty());  // no two touch the same data
    for (const Operand& operand : task.operands) EXPECT_EQ(operand.slot, -1);  // on the host
  }
  const Schedule staged = small_schedule(deck, Order::sequential, 1);
  EXPECT_EQ(staged.transfer, deck::Transfer::staged);  // the baseline stays what it is
  EXPECT_EQ(traffic(s).h2d, traffic(staged).h2d);
  EXPECT_EQ(traffic(s).d2h, traffic(staged).d2h);
}

// Every schedule that can be built is free of hazards, and every dependency in it is needed: the
// hazard checker, which knows nothing of the builder, objects as soon as one is taken away.
TEST(Property, SchedulesAreSafeAndEveryDependencyIsNeeded) {
  std::mt19937 random(20130607);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution(lo, hi)(random); };
  const std::vector<WorkloadKind> kinds = chunked_kinds();
  int dependencies = 0;
  for (int round = 0; round < 600; ++round) {
    const auto kind = kinds[static_cast<std::size_t>(pick(0, static_cast<int>(kinds.size()) - 1))];
    const auto order = deck::words<Order>[static_cast<std::size_t>(pick(0, 3))].value;
    const int chunks = pick(1, 9);
    deck::Deck deck = small_deck(kind, pick(9, 50), chunks);
    deck.workload.iterations = pick(1, 4);
    if (pick(0, 3) == 0) deck.memory.transfer = deck::Transfer::zero_copy;
    const int lanes = pick(1, 7);
    const int slots = pick(0, chunks);
    const Schedule schedule = small_schedule(deck, order, lanes, slots);
    SCOPED_TRACE(fmt::format("{} {} {} chunks {} lanes {} slots", deck::to_string(kind),
                             deck::to_string(order), chunks, lanes, slots));
    const auto hazards = find_hazards(schedule);
    ASSERT_TRUE(hazards.empty()) << hazards.front().message;
    for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
      for (std::size_t k = 0; k < schedule.tasks[id].after.size(); ++k) {
        Schedule broken = schedule;
        broken.tasks[id].after.erase(broken.tasks[id].after.begin() + static_cast<long>(k));
        ASSERT_FALSE(find_hazards(broken).empty())
            << describe(schedule, static_cast<TaskId>(id)) << " need not wait for "
            << schedule.tasks[id].after[k];
        ++dependencies;
      }
    }
  }
  EXPECT_GT(dependencies, 3000);
}

}  // namespace
}  // namespace overlap::schedule
