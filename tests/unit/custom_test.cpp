#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "deck_file.hpp"
#include "schedule/build.hpp"
#include "schedule/hazard.hpp"

/// The custom workload: its deck, its schedules in each order, and their hazards.
namespace overlap::schedule {
namespace {

using Kind = Hazard::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

deck::Deck custom(const std::vector<std::string>& tasks, const std::string& rest = "") {
  std::string text = "workload:\n  kind: custom\n  tasks:\n";
  for (const std::string& task : tasks) text += "    - {" + task + "}\n";
  return load(DeckFile(text + rest).path());
}

Schedule build(const deck::Deck& deck, Order order) {
  const Costs costs = schedule::costs(deck.workload, 1);
  EXPECT_EQ(misplaced(costs, order), std::nullopt);
  return schedule::build(costs, layout(deck, costs, std::nullopt), order, deck.issue.lanes);
}

std::optional<std::string> misplaced(const deck::Deck& deck, Order order) {
  return schedule::misplaced(schedule::costs(deck.workload, 1), order);
}

/// "K1 L0 < HD1 Z !": name, lane (none for the host's work), what it comes after, "!" for a task
/// that blocks the host.
std::vector<std::string> text(const Schedule& schedule) {
  std::vector<std::string> lines;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    std::string line = schedule.names[id];
    if (task.stage != Stage::host) line += fmt::format(" L{}", task.lane);
    std::vector<std::string> after;
    for (const TaskId other : task.after) after.push_back(schedule.names[other]);
    if (!after.empty()) line += fmt::format(" < {}", fmt::join(after, " "));
    if (task.blocking) line += " !";
    lines.push_back(line);
  }
  return lines;
}

/// Two lanes, host work and a query.
deck::Deck two_lanes() {
  return custom({"name: DH2, stage: d2h, lane: 2, bytes: 8 KiB",
                 "name: HDa1, stage: h2d, lane: 1, bytes: 4 KiB",
                 "name: HDb1, stage: h2d, lane: 1, bytes: 8 KiB",
                 "name: K1, stage: kernel, lane: 1, duration: 1 ms, sms: 0.5",
                 "name: Q, stage: query, lane: 2", "name: DH1, stage: d2h, lane: 1, duration: 1 ms",
                 "name: C, stage: host, duration: 3 ms, after: [DH1, DH2]"});
}

// The deck.

TEST(CustomDeck, SaysEverythingThatWasGivenAndTheDefaults) {
  const deck::Deck deck = two_lanes();
  ASSERT_EQ(deck.workload.tasks.size(), 7U);
  EXPECT_THAT(deck.issue.orders, ElementsAre(Order::sequential, Order::custom));
  EXPECT_EQ(deck.issue.lanes, 2);
  EXPECT_EQ(deck.chunks.count, 1);
  const deck::CustomTask& kernel = deck.workload.tasks[3];
  EXPECT_EQ(kernel.name, "K1");
  EXPECT_EQ(kernel.stage, Stage::kernel);
  EXPECT_EQ(kernel.lane, 1);
  EXPECT_EQ(kernel.duration_s, 0.001);
  EXPECT_EQ(kernel.sms, 0.5);
  EXPECT_EQ(kernel.chunk, 1);
  EXPECT_EQ(deck.workload.tasks[0].bytes, 8192);
  EXPECT_EQ(deck.workload.tasks[0].chunk, 2);
  EXPECT_EQ(deck.workload.tasks[5].bytes, 0);
  EXPECT_THAT(deck.workload.tasks[6].after, ElementsAre(5, 0));
  EXPECT_EQ(deck.workload.tasks[6].chunk, 0);
}

TEST(CustomDeck, WhatItResolvesToIsADeckOfItsOwn) {
  const describe::Json tasks = describe::write(two_lanes().workload)["tasks"];
  ASSERT_EQ(tasks.size(), 7U);
  EXPECT_EQ(describe::spell(tasks[6]),
            "{name: C, stage: host, duration: 0.003, after: [DH1, DH2]}");
}

TEST(CustomDeck, EveryOrderIsSafe) {
  std::vector<std::string> tasks;
  for (int lane = 1; lane <= 3; ++lane) {
    tasks.push_back(fmt::format("name: HD{0}, stage: h2d, lane: {0}, bytes: 4 KiB", lane));
    tasks.push_back(fmt::format("name: K{0}, stage: kernel, lane: {0}, duration: 1 ms", lane));
    tasks.push_back(fmt::format("name: DH{0}, stage: d2h, lane: {0}, bytes: 4 KiB", lane));
  }
  const deck::Deck deck = custom(tasks);
  for (const Order order : deck::orders_of(deck.workload.kind)) {
    EXPECT_THAT(find_hazards(build(deck, order)), IsEmpty()) << deck::to_string(order);
  }
}

// The orders.

TEST(CustomOrders, CustomIsTheList) {
  EXPECT_THAT(
      text(build(two_lanes(), Order::custom)),
      ElementsAre("DH2 L1", "HDa1 L0", "HDb1 L0", "K1 L0", "Q L1", "DH1 L0", "C < DH2 DH1"));
}

TEST(CustomOrders, SequentialIsTheListOnOneLaneAndBlocks) {
  const Schedule s = build(two_lanes(), Order::sequential);
  EXPECT_EQ(s.lanes, 1);
  EXPECT_THAT(text(s), ElementsAre("DH2 L0 !", "HDa1 L0 !", "HDb1 L0 !", "K1 L0 !", "Q L0",
                                   "DH1 L0 !", "C < DH1"));
}

deck::Deck six_kernels() {
  return custom(
      {"name: Ka7, stage: kernel, lane: 7, duration: 1 ms",
       "name: Kb7, stage: kernel, lane: 7, duration: 1 ms", "name: C7, stage: host, duration: 1 ms",
       "name: Ka3, stage: kernel, lane: 3, duration: 1 ms", "name: Q3, stage: query, lane: 3",
       "name: Kb3, stage: kernel, lane: 3, duration: 1 ms"});
}

TEST(CustomOrders, DepthFirstGoesLaneByLane) {
  // Host work goes with the task before it.
  EXPECT_THAT(text(build(six_kernels(), Order::depth_first)),
              ElementsAre("Ka3 L0", "Q3 L0", "Kb3 L0", "Ka7 L1", "Kb7 L1", "C7"));
}

TEST(CustomOrders, BreadthFirstTakesTheLanesInTurn) {
  EXPECT_THAT(text(build(six_kernels(), Order::breadth_first)),
              ElementsAre("Ka3 L0", "Ka7 L1", "Q3 L0", "Kb7 L1", "Kb3 L0", "C7"));
}

TEST(CustomOrders, HostWorkInFrontGoesWithTheFirstLaneOfTheList) {
  const deck::Deck deck = custom({"name: C, stage: host, duration: 1 ms",
                                  "name: K7, stage: kernel, lane: 7, duration: 1 ms",
                                  "name: K3, stage: kernel, lane: 3, duration: 1 ms"});
  EXPECT_THAT(text(build(deck, Order::depth_first)), ElementsAre("K3 L0", "C", "K7 L1"));
  EXPECT_THAT(text(build(deck, Order::breadth_first)), ElementsAre("K3 L0", "C", "K7 L1"));
  const deck::Deck of_lane_1 = custom({"name: C, stage: host, duration: 1 ms",
                                       "name: K1, stage: kernel, lane: 1, duration: 1 ms",
                                       "name: K2, stage: kernel, lane: 2, duration: 1 ms"});
  EXPECT_THAT(text(build(of_lane_1, Order::depth_first)), ElementsAre("C", "K1 L0", "K2 L1"));
  EXPECT_THAT(text(build(of_lane_1, Order::breadth_first)), ElementsAre("C", "K2 L1", "K1 L0"));
}

TEST(CustomOrders, WhatTheHostHasDoneNeedsNoWait) {
  const deck::Deck deck = custom({"name: C, stage: host, duration: 1 ms",
                                  "name: K, stage: kernel, lane: 1, duration: 1 ms, after: [C]"});
  EXPECT_THAT(text(build(deck, Order::custom)), ElementsAre("C", "K L0"));
}

TEST(CustomOrders, KeepWhatTheModelNeeds) {
  const Schedule s = build(two_lanes(), Order::custom);
  EXPECT_EQ(s.kernel, "custom");
  EXPECT_EQ(s.lanes, 2);
  EXPECT_EQ(s.tasks[0].bytes, 8192U);
  EXPECT_EQ(s.tasks[0].share, 0);
  EXPECT_EQ(s.tasks[3].duration_s, 0.001);
  EXPECT_EQ(s.tasks[3].share, 0.5);
  EXPECT_EQ(s.tasks[3].number, 3);
  EXPECT_EQ(s.tasks[6].duration_s, 0.003);
  EXPECT_EQ(describe(s, 3), "task 3 (K1, kernel)");
  EXPECT_EQ(traffic(s).h2d, 12288U);
}

TEST(CustomOrders, CopiesByDurationMoveWhatTheRatesSay) {
  const deck::Workload sized = size_copies(two_lanes().workload, [](Stage stage, double s) {
    return s * (stage == Stage::h2d ? 4.096e9 : 8.192e9);
  });
  EXPECT_EQ(sized.tasks[0].bytes, 8192);  // as given
  EXPECT_EQ(sized.tasks[5].bytes, 8192000);
  EXPECT_TRUE(has_timed_copies(two_lanes().workload));
  EXPECT_FALSE(has_timed_copies(sized));
}

TEST(CustomOrders, CopiesByDurationMoveWholePages) {
  const deck::Workload asked = custom({"name: HD, stage: h2d, lane: 1, duration: 1 s"}).workload;
  for (const auto& [bytes, pages] :
       {std::pair(1.0, 1.0), {6143.0, 1.0}, {6145.0, 2.0}, {0x1p60, 0x1p48}}) {
    const auto sized = size_copies(asked, [&](Stage, double) { return bytes; });
    EXPECT_EQ(static_cast<double>(sized.tasks[0].bytes), 4096 * pages);
  }
  deck::Workload given = asked;
  given.tasks[0].bytes = 1;
  EXPECT_EQ(size_copies(given, [](Stage, double) { return 4096; }).tasks[0].bytes, 1);
}

TEST(CustomOrders, CopiesByDurationThatAreTooLargeAreRefused) {
  for (const double bytes_per_s : {1e18, 1e24, std::numeric_limits<double>::infinity()}) {
    try {
      size_copies(custom({"name: HD, stage: h2d, lane: 1, duration: 100 s"}).workload,
                  [&](Stage, double seconds) { return seconds * bytes_per_s; });
      FAIL() << bytes_per_s;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("found 100.0 s for the copy HD"));
    }
  }
}

TEST(CustomOrders, TheDefaultStreamWaitsForAllAndAllWaitForIt) {
  const deck::Deck deck = custom({"name: Ka1, stage: kernel, lane: 1, duration: 1 ms",
                                  "name: Ka2, stage: kernel, lane: 2, duration: 1 ms",
                                  "name: Kb2, stage: kernel, lane: 2, duration: 1 ms",
                                  "name: Z, stage: default_stream, duration: 1 ms",
                                  "name: Kb1, stage: kernel, lane: 1, duration: 1 ms",
                                  "name: Kc1, stage: kernel, lane: 1, duration: 1 ms",
                                  "name: Y, stage: default_stream, duration: 1 ms",
                                  "name: K3, stage: kernel, lane: 3, duration: 1 ms"});
  const Schedule s = build(deck, Order::custom);
  EXPECT_EQ(s.lanes, 4);
  EXPECT_THAT(text(s), ElementsAre("Ka1 L0", "Ka2 L1", "Kb2 L1", "Z L3 < Ka1 Kb2", "Kb1 L0 < Z",
                                   "Kc1 L0", "Y L3 < Kc1", "K3 L2 < Y"));
  EXPECT_THAT(text(build(deck, Order::sequential)),
              ElementsAre("Ka1 L0 !", "Ka2 L0 !", "Kb2 L0 !", "Z L0 !", "Kb1 L0 !", "Kc1 L0 !",
                          "Y L0 !", "K3 L0 !"));
}

TEST(CustomOrders, AnOrderThatBreaksADependencySaysSo) {
  const deck::Deck deck = custom({"name: K2, stage: kernel, lane: 2, duration: 1 ms",
                                  "name: K1, stage: kernel, lane: 1, duration: 1 ms, after: [K2]"});
  EXPECT_EQ(misplaced(deck, Order::custom), std::nullopt);
  EXPECT_EQ(misplaced(deck, Order::depth_first),
            "issues task K1 before task K2, on which it depends");
}

TEST(CustomOrders, AnOrderThatBreaksADependencyIsNotBuilt) {
  deck::Deck deck = custom({"name: K2, stage: kernel, lane: 2, duration: 1 ms",
                            "name: K1, stage: kernel, lane: 1, duration: 1 ms, after: [K2]"});
  const Costs costs = schedule::costs(deck.workload, 1);
  EXPECT_THROW(schedule::build(costs, layout(deck, costs, {}), Order::depth_first, 2),
               std::logic_error);
  deck.issue.orders = {Order::custom, Order::depth_first};
  try {
    layout(deck, costs, {});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("issue.orders[1]: found 'depth_first', which issues task "
                                        "K1 before task K2, on which it depends"));
  }
}

TEST(CustomOrders, AnOrderThatWouldLeaveOtherDataSaysSo) {
  const deck::Deck deck = custom({"name: K2, stage: kernel, lane: 2, duration: 1 ms",
                                  "name: K1, stage: kernel, lane: 1, duration: 1 ms, chunk: 2"});
  EXPECT_EQ(
      misplaced(deck, Order::depth_first),
      "issues task K1 before task K2, which is earlier in the list and works on the same chunk");
}

TEST(CustomOrders, OfAChunkOnlyCopiesMayChangePlaces) {
  for (const auto& [first, second, allowed] : {std::tuple("h2d", "h2d", true),
                                               {"d2h", "d2h", true},
                                               {"h2d", "d2h", true},
                                               {"h2d", "kernel", false},
                                               {"kernel", "d2h", false},
                                               {"d2h", "kernel", false}}) {
    SCOPED_TRACE(fmt::format("{} {}", first, second));
    const deck::Deck deck =
        custom({fmt::format("name: A, stage: {}, lane: 2, duration: 1 ms", first),
                fmt::format("name: B, stage: {}, lane: 1, duration: 1 ms, chunk: 2", second)});
    EXPECT_EQ(misplaced(deck, Order::custom), std::nullopt);
    const auto reason = misplaced(deck, Order::depth_first);
    if (allowed) {
      EXPECT_EQ(reason, std::nullopt);
    } else {
      EXPECT_EQ(
          reason,
          "issues task B before task A, which is earlier in the list and works on the same chunk");
    }
  }
}

TEST(CustomOrders, HundredThousandTasks) {
  deck::Workload workload;
  workload.kind = deck::WorkloadKind::custom;
  for (int i = 0; i < 100000; ++i) {
    workload.tasks.push_back(
        {.name = fmt::format("K{}", i), .lane = 1 + i % 9, .chunk = 1 + i % 9});
  }
  const Costs costs = schedule::costs(workload, 1);
  EXPECT_EQ(schedule::misplaced(costs, Order::breadth_first), std::nullopt);
  deck::Deck deck;
  deck.chunks.count = 1;
  const Schedule s =
      schedule::build(costs, layout(deck, costs, std::nullopt), Order::breadth_first, 9);
  EXPECT_EQ(s.tasks.size(), 100000U);
  EXPECT_THAT(find_hazards(s), IsEmpty());
}

TEST(CustomOrders, ALaneOfNothing) {
  // Host work needs neither data nor lanes, and a query may ask for a lane that nothing uses.
  const deck::Deck deck = custom({"name: C, stage: host, duration: 1 ms"});
  const Costs costs = schedule::costs(deck.workload, 1);
  EXPECT_FALSE(layout(deck, costs, 1000).out_of_core);
  const Schedule s = build(deck, Order::custom);
  EXPECT_EQ(s.lanes, 1);
  EXPECT_THAT(text(s), ElementsAre("C"));
  EXPECT_THAT(find_hazards(s), IsEmpty());
  EXPECT_THAT(text(build(custom({"name: Q, stage: query, lane: 4"}), Order::custom)),
              ElementsAre("Q L0"));
}

// Hazards.

std::string hazard(const deck::Deck& deck, Kind kind) {
  const auto hazards = find_hazards(build(deck, Order::custom));
  EXPECT_FALSE(hazards.empty());
  if (hazards.empty()) return "";
  EXPECT_EQ(hazards.front().kind, kind);
  return hazards.front().message;
}

const std::string copy_in = "name: HD, stage: h2d, lane: 1, bytes: 4 KiB";
const std::string kernel = "name: K, stage: kernel, lane: 1, duration: 1 ms";

TEST(CustomHazards, ACopyBackThatDoesNotWaitForItsKernelIsRaw) {
  EXPECT_EQ(
      hazard(custom({copy_in, kernel, "name: DH, stage: d2h, lane: 2, bytes: 4 KiB, chunk: 1"}),
             Kind::raw),
      "RAW: task 2 (DH, d2h) reads array DH on the device without waiting for its writer "
      "task 1 (K, kernel)");
  const deck::Deck good = custom(
      {copy_in, kernel, "name: DH, stage: d2h, lane: 2, bytes: 4 KiB, chunk: 1, after: [K]"});
  EXPECT_THAT(find_hazards(build(good, Order::custom)), IsEmpty());
}

TEST(CustomHazards, AKernelThatDoesNotWaitForItsCopyIsRaw) {
  EXPECT_THAT(hazard(custom({copy_in, "name: K, stage: kernel, lane: 2, duration: 1 ms, chunk: 1"}),
                     Kind::raw),
              HasSubstr("(K, kernel) reads array HD on the device"));
}

TEST(CustomHazards, TwoUnorderedKernelsOnAChunkAreWaw) {
  EXPECT_THAT(
      hazard(custom({kernel, "name: L, stage: kernel, lane: 2, duration: 1 ms, chunk: 1"}),
             Kind::waw),
      HasSubstr("(L, kernel) overwrites array chunk 1 on the device without waiting for task 0"));
}

TEST(CustomHazards, AKernelThatOverwritesWhatIsBeingCopiedIsWar) {
  EXPECT_THAT(
      hazard(custom({kernel, "name: DH, stage: d2h, lane: 1, bytes: 4 KiB",
                     "name: L, stage: kernel, lane: 2, duration: 1 ms, chunk: 1, after: [K]"}),
             Kind::war),
      HasSubstr("(L, kernel) overwrites array DH on the device without waiting for task 1"));
}

TEST(CustomHazards, AKernelBeforeItsCopyIsStale) {
  EXPECT_THAT(hazard(custom({kernel, copy_in}), Kind::stale),
              HasSubstr("(K, kernel) reads array HD on the device, which nothing has written"));
}

TEST(CustomHazards, OnlyACopyBackOfAChunkWithoutKernelsFindsItsData) {
  const std::string copy_back = "name: DH, stage: d2h, lane: 1, bytes: 4 KiB";
  EXPECT_THAT(find_hazards(build(custom({copy_back}), Order::custom)), IsEmpty());
  EXPECT_THAT(hazard(custom({copy_back, kernel}), Kind::stale),
              HasSubstr("(DH, d2h) reads array DH on the device, which nothing has written"));
}

TEST(CustomHazards, HostWorkOrdersTheLanesThatItWaitsFor) {
  const auto tasks = [](const std::string& after) {
    return custom({kernel, "name: C, stage: host, duration: 1 ms" + after,
                   "name: DH, stage: d2h, lane: 2, bytes: 4 KiB, chunk: 1"});
  };
  EXPECT_THAT(find_hazards(build(tasks(", after: [K]"), Order::custom)), IsEmpty());
  EXPECT_THAT(hazard(tasks(""), Kind::raw), HasSubstr("(DH, d2h)"));
}

TEST(CustomHazards, AQueryOrdersNothing) {
  EXPECT_THAT(hazard(custom({kernel, "name: Q, stage: query, lane: 1",
                             "name: DH, stage: d2h, lane: 2, bytes: 4 KiB, chunk: 1"}),
                     Kind::raw),
              HasSubstr("(DH, d2h)"));
}

TEST(CustomHazards, TheDefaultStreamOrdersEverything) {
  const deck::Deck deck = custom({kernel, "name: Z, stage: default_stream, duration: 1 ms",
                                  "name: DH, stage: d2h, lane: 2, bytes: 4 KiB, chunk: 1"});
  Schedule s = build(deck, Order::custom);
  EXPECT_THAT(find_hazards(s), IsEmpty());
  s.tasks[1].after.clear();
  EXPECT_THAT(find_hazards(s), testing::SizeIs(1));
}

}  // namespace
}  // namespace overlap::schedule
