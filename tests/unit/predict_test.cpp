#include "model/predict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deck/words.hpp"
#include "deck_file.hpp"
#include "hand_schedule.hpp"
#include "model/load.hpp"
#include "schedule/build.hpp"

/// The simulator: the makespans of the seeds exactly, then its rules one by one. What random
/// schedules keep is in predict_properties_test.cpp.
namespace overlap::model {
namespace {

using testing::ElementsAre;

// --------------------------------------------------------------------- the makespans of the seeds

/// Units that the deck's order takes on a device whose unit is 1 ms.
double units(const deck::Deck& deck, deck::Order order, const std::string& device) {
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  const Schedule schedule =
      schedule::build(costs, schedule::layout(deck, costs, std::nullopt), order, deck.issue.lanes);
  return predict(schedule, load_device(device)).complete_s / 1e-3;
}

TEST(Makespans, OfTheArticle) {
  deck::Deck deck;
  deck.chunks.count = 4;
  deck.issue.lanes = 4;
  struct Row {
    const char* device;
    double sequential, depth_first, breadth_first;
  };
  // Sequential: the whole array is four chunks, 4 units each for copy, kernel and copy.
  for (const Row& row : {
           // The directions share an engine. Depth first its queue is H0 D0 H1 D1 ...: each D
           // blocks the next H, 4 x 3. Breadth first: H 0-4, then D 4-8, kernels beside the H's.
           Row{"ideal_1copy", 12, 12, 8},
           // Both: H 0-4, K 1-5, D 2-6.
           Row{"ideal_2copy", 12, 6, 6},
           // Breadth first the kernels signal with the last of them, at 5: D 5-9.
           Row{"ideal_2copy_delayed_signal", 12, 6, 9},
           Row{"ideal_hyperq", 12, 6, 6},
       }) {
    SCOPED_TRACE(row.device);
    EXPECT_NEAR(units(deck, deck::Order::sequential, row.device), row.sequential, 1e-9);
    EXPECT_NEAR(units(deck, deck::Order::depth_first, row.device), row.depth_first, 1e-9);
    EXPECT_NEAR(units(deck, deck::Order::breadth_first, row.device), row.breadth_first, 1e-9);
  }
}

TEST(Makespans, OfSeveralIssuingThreads) {
  // A launch takes the host 1 s; kernels of 4 s run beside each other.
  Device device = device_of(Queues::connection);
  device.host.kernel_s = 1;
  Schedule schedule =
      schedule_of({kernel(0, 4, 0.1), kernel(1, 4, 0.1), kernel(2, 4, 0.1), kernel(3, 4, 0.1)});
  struct Row {
    int threads;
    double issued_s, complete_s;
  };
  for (const Row& row : {Row{1, 4, 8}, Row{2, 2, 6}, Row{3, 2, 6}, Row{4, 1, 5}}) {
    SCOPED_TRACE(row.threads);
    schedule.threads = row.threads;
    const timeline::Timeline timeline = predict(schedule, device);
    EXPECT_DOUBLE_EQ(timeline.issued_s, row.issued_s);
    EXPECT_DOUBLE_EQ(timeline.complete_s, row.complete_s);
  }
  // The second thread issues its second kernel only when the first has issued the predecessor.
  schedule = schedule_of(
      {kernel(0, 0.5, 0.1), kernel(1, 0.5, 0.1), kernel(0, 0.5, 0.1), kernel(1, 0.5, 0.1, {2})});
  EXPECT_THAT(text(predict(schedule, device)),
              ElementsAre("SM 1-1.5", "SM 2-2.5", "SM 3-3.5", "SM 4-4.5"));
  schedule.threads = 2;
  EXPECT_THAT(text(predict(schedule, device)),
              ElementsAre("SM 1-1.5", "SM 1-1.5", "SM 2-2.5", "SM 3-3.5"));
}

TEST(Makespans, OfTheSlides) {
  using deck::Order;
  struct Row {
    const char* deck;
    Order order;
    double units;
  };
  // Each operation with its units of time, on the engines H2D | SM | D2H.
  for (const Row& row : {
           // One stream's DH2 stands behind DH1 in the queue of D2H:
           // HDa1 0-1, HDb1 1-2 | K1 2-3 | DH1 3-4, DH2 4-5.
           Row{"blocked_queue", Order::depth_first, 5},
           // DH2 goes first: HDa1 0-1, HDb1 1-2 | K1 2-3 | DH2 0-1, DH1 3-4.
           Row{"blocked_queue", Order::custom, 4},
           // The list again, each after the one before: 5 operations.
           Row{"blocked_queue", Order::sequential, 5},
           // Kernels of half the device. Kb1 waits for Ka1 and blocks Ka2: Ka1 0-1; Kb1, Ka2 1-2;
           // Kb2 2-3.
           Row{"blocked_kernel", Order::depth_first, 3},
           // Ka1, Ka2 0-1; Kb1, Kb2 1-2.
           Row{"blocked_kernel", Order::breadth_first, 2},
           // Halves again. Issued Ka1 Kb1 Kc2 Kd2: Ka1 0-2; Kb1, Kc2 2-3; Kd2 3-5.
           Row{"kernel_sizes", Order::depth_first, 5},
           // Issued Ka1 Kc2 Kb1 Kd2: Ka1 0-2, Kc2 0-1; Kb1 waits for Ka1: 2-3; behind it Kd2 2-4.
           Row{"kernel_sizes", Order::breadth_first, 4},
           // Issued Ka1 Kc2 Kd2 Kb1: Ka1 0-2, Kc2 0-1, Kd2 1-3, Kb1 2-3.
           Row{"kernel_sizes", Order::custom, 3},
           // Copies stand between the kernels: HD1..3 0-3 | K1 1-2, K2 2-3, K3 3-4 | DH1 2-3,
           // DH2 3-4, DH3 4-5.
           Row{"three_streams", Order::depth_first, 5},
           // K1 K2 K3 are a run and signal at 4: HD1..3 0-3 | K1..3 1-4 | DH1..3 4-7.
           Row{"three_streams", Order::breadth_first, 7},
           // The same with queries between the kernels, which keep their signals apart:
           // HD1..3 0-3 | K1..3 1-4 | DH1..3 2-5.
           Row{"three_streams_query", Order::custom, 5},
           // One stream: HD1 K1 DH1 ... DH4, 12 operations.
           Row{"concurrency_1way", Order::custom, 12},
           // HD1..4 0-4 | K1..4 4-8 | DH1..4 5-9.
           Row{"concurrency_2way", Order::custom, 9},
           // HD1..4 0-4 | K1..4 1-5 | DH1..4 2-6.
           Row{"concurrency_3way", Order::custom, 6},
           // HD1..3 0-3 | K1..3 1-4 | DH1..3 2-5; the host has Ca4 0-2, Cb4 2-4.
           Row{"concurrency_4way", Order::custom, 5},
       }) {
    const deck::Deck deck =
        load(std::string(OVERLAP_SOURCE_DIR "/input/rennich/") + row.deck + ".yaml");
    EXPECT_NEAR(units(deck, row.order, "ideal_2copy_delayed_signal"), row.units, 1e-9)
        << row.deck << ", " << deck::to_string(row.order);
  }
}

TEST(Makespans, OfATiledProduct) {
  using deck::Order;
  // A row of three tiles, whose copies and kernels take a unit; each panel has 0.3 of a tile.
  deck::Deck deck;
  deck.workload.kind = deck::WorkloadKind::dgemm;
  deck.workload.type = deck::ElementType::float64;
  deck.workload.m = deck.workload.tile_m = deck.workload.tile_n = 100;
  deck.workload.n = 300;
  deck.workload.k = 30;
  struct Row {
    const char* device;
    int beta;
    double sequential, two_way, three_way, four_plus;
  };
  for (const Row& row : {
           // Sequential: four panels, three units each for kernel and copy back. Two way: panels to
           // 1.2, kernels to 4.2 and the last copy. Three way: A and the first panel of B to 0.6,
           // the same; the second and third panel beside the first kernel.
           Row{"ideal_2copy", 0, 7.2, 5.2, 4.6, 4.6},
           // One engine: two way as before, 1.2 and kernel, 2.2 to 5.2. Three way its queue is
           // A B0 D0 B1 D1 B2 D2: 0.6 and kernel, D0 to 2.6, three times 2.3 but for A.
           Row{"ideal_1copy", 0, 7.2, 5.2, 7.2, 7.2},
           // C goes to the device, too: three units more in a row, at two way before all kernels;
           // three way the first tile is there at 1.6, the last at 4.2.
           Row{"ideal_2copy", 1, 10.2, 8.2, 6.2, 6.2},
       }) {
    SCOPED_TRACE(testing::Message() << row.device << " " << row.beta);
    deck.workload.beta = row.beta;
    EXPECT_NEAR(units(deck, Order::sequential, row.device), row.sequential, 1e-9);
    EXPECT_NEAR(units(deck, Order::two_way, row.device), row.two_way, 1e-9);
    EXPECT_NEAR(units(deck, Order::three_way, row.device), row.three_way, 1e-9);
    EXPECT_NEAR(units(deck, Order::four_plus, row.device), row.four_plus, 1e-9);
  }

  // Tiles that the host computes in 1.5 units each, while the device has the rest: 0.6, two
  // kernels, a copy; 0.6, a kernel, a copy; nothing.
  deck.workload.beta = 0;
  Device device = load_device("ideal_2copy");
  device.host.flops_per_s = 2.0 * 100 * 100 * 30 / 1.5e-3;
  for (const auto& [tiles, makespan] : {std::pair(0, 4.6), {1, 3.6}, {2, 3.0}, {3, 4.5}}) {
    schedule::Costs costs = schedule::costs(deck.workload, 1);
    costs.host_tiles = tiles;
    const Schedule shared = schedule::build(costs, schedule::layout(deck, costs, std::nullopt),
                                            Order::four_way, deck.issue.lanes);
    EXPECT_NEAR(predict(with_effects(shared, device), device).complete_s / 1e-3, makespan, 1e-9)
        << tiles;
  }
}

TEST(Makespans, OfFences) {
  using deck::Mechanism;
  using deck::Order;
  deck::Deck deck;
  deck.chunks.count = 4;
  struct Row {
    const char* device;
    Order order;
    double streams, portable;
  };
  for (const Row& row : {
           // No lane depends on another one: no fences.
           Row{"ideal_2copy", Order::depth_first, 6, 6},
           Row{"ideal_2copy", Order::breadth_first, 6, 6},
           // The host waits for each copy and each kernel before it issues the next stage, so that
           // chunk i+1's copy goes beside chunk i's copy back: H 0, K 1, D H 2, K 3, ... D 8-9.
           Row{"ideal_2copy", Order::by_engine, 6, 9},
           // One engine has the copies in turn. Portable: H 0, K 1, D 2, H 3, K 4, ... D 11-12.
           Row{"ideal_1copy", Order::by_engine, 12, 12},
       }) {
    SCOPED_TRACE(testing::Message() << row.device << " " << deck::to_string(row.order));
    deck.issue.mechanism = Mechanism::streams;
    EXPECT_NEAR(units(deck, row.order, row.device), row.streams, 1e-9);
    deck.issue.mechanism = Mechanism::portable;
    EXPECT_NEAR(units(deck, row.order, row.device), row.portable, 1e-9);
    EXPECT_NEAR(units(deck, Order::sequential, row.device), 12, 1e-9);
  }
}

TEST(Makespans, OfDisturbances) {
  using enum deck::Disturbance;
  using deck::Streams;
  deck::Deck deck;
  deck.chunks.count = 4;
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  const schedule::Schedule plain =
      schedule::build(costs, schedule::layout(deck, costs, std::nullopt), deck::Order::depth_first,
                      deck.issue.lanes);
  struct Row {
    deck::Disturbance call;
    Streams streams;
    const char* device;
    double units;
  };
  for (const Row& row : {
           // Two chunks overlap, H K D in 4 units, then two others.
           Row{synchronize, Streams::own, "ideal_2copy", 8},
           Row{synchronize, Streams::blocking, "ideal_2copy", 8},
           Row{memset, Streams::blocking, "ideal_2copy", 8},
           Row{memset, Streams::own, "ideal_2copy", 6},
           Row{blocking_copy, Streams::blocking, "ideal_hyperq", 8},
           Row{malloc_host, Streams::own, "ideal_2copy", 6},
           Row{stream_query, Streams::own, "ideal_2copy", 6},
           // Nothing overlaps anyway.
           Row{synchronize, Streams::own, "ideal_1copy", 12},
       }) {
    schedule::Schedule schedule = schedule::disturbed(plain, {.operation = row.call});
    schedule.streams = row.streams;
    Device device = load_device(row.device);
    const auto units = [&] {
      return predict(with_effects(schedule, device), device).complete_s / 1e-3;
    };
    SCOPED_TRACE(testing::Message() << row.device << " " << deck::to_string(row.call));
    EXPECT_NEAR(units(), row.units, 1e-9);
    device.calls[row.call] = {.waits_for = Waits::all_lanes, .cost_s = 0.5e-3};
    EXPECT_NEAR(units(), row.device == std::string("ideal_1copy") ? 12.5 : 8.5, 1e-9);
  }
}

// --------------------------------------------------------------------------------------- queues

TEST(QueueRules, ABlockedHeadBlocksAllBehindIt) {
  // The kernel of lane 0 waits for its copy; lane 1 is free.
  const std::vector<Task> tasks = {h2d(0, 2), kernel(0, 1), kernel(1, 1)};
  EXPECT_THAT(predicted(tasks, device_of(Queues::engine)),
              ElementsAre("H2D 0-2", "SM 2-3", "SM 3-4"));
  Device device = device_of(Queues::connection);
  EXPECT_THAT(predicted(tasks, device), ElementsAre("H2D 0-2", "SM 2-3", "SM 0-1"));
  device.connections = 1;
  EXPECT_THAT(predicted(tasks, device), ElementsAre("H2D 0-2", "SM 2-3", "SM 3-4"));
}

TEST(QueueRules, LanesShareConnectionsInTurn) {
  // With two connections lane 2 stands behind lane 0, lane 1 does not.
  const std::vector<Task> tasks = {h2d(0, 4), kernel(0, 1), kernel(1, 1), kernel(2, 1)};
  Device device = device_of(Queues::connection);
  device.connections = 2;
  EXPECT_THAT(predicted(tasks, device), ElementsAre("H2D 0-4", "SM 4-5", "SM 0-1", "SM 5-6"));
}

TEST(QueueRules, CopiesHaveConnectionsOfTheirOwn) {
  // Lane 1's copy waits for a kernel; lane 2's stands behind it where there is one connection.
  const std::vector<Task> tasks = {kernel(1, 3), h2d(1, 1), h2d(2, 1)};
  Device device = device_of(Queues::connection);
  device.connections = 1;
  EXPECT_THAT(predicted(tasks, device), ElementsAre("SM 0-3", "H2D 3-4", "H2D 0-1"));
  device.copy_connections = 1;
  EXPECT_THAT(predicted(tasks, device), ElementsAre("SM 0-3", "H2D 3-4", "H2D 4-5"));
}

TEST(QueueRules, ACopyEngineStaysWithAQueueThatHasMore) {
  const std::vector<Task> tasks = {h2d(0, 1), h2d(1, 1), h2d(0, 1), h2d(1, 1)};
  EXPECT_THAT(predicted(tasks, device_of(Queues::engine)),
              ElementsAre("H2D 0-1", "H2D 1-2", "H2D 2-3", "H2D 3-4"));
  EXPECT_THAT(predicted(tasks, device_of(Queues::connection)),
              ElementsAre("H2D 0-1", "H2D 2-3", "H2D 1-2", "H2D 3-4"));
}

TEST(QueueRules, AfterAnEmptyQueueTheNextOneIsServed) {
  // Lane 0 has nothing ready at 1, for its second copy waits for the kernel: the turn goes to lane
  // 1 for as long as that has copies, then to lane 2, then to lane 0, though it is ready from 2 on.
  const std::vector<Task> tasks = {h2d(0, 1), kernel(0, 1), h2d(0, 1),
                                   h2d(1, 1), h2d(2, 1),    h2d(1, 1)};
  EXPECT_THAT(predicted(tasks, device_of(Queues::connection)),
              ElementsAre("H2D 0-1", "SM 1-2", "H2D 4-5", "H2D 1-2", "H2D 3-4", "H2D 2-3"));
}

TEST(QueueRules, TheSmsServeTheQueuesInTurn) {
  // At 1 all lanes have a kernel ready; the turn is lane 1's, then lane 2's, then lane 0's.
  const std::vector<Task> tasks = {kernel(0, 1), kernel(0, 1), kernel(1, 1), kernel(2, 1),
                                   kernel(1, 1)};
  EXPECT_THAT(predicted(tasks, device_of(Queues::connection)),
              ElementsAre("SM 0-1", "SM 3-4", "SM 1-2", "SM 2-3", "SM 4-5"));
}

TEST(QueueRules, ALaneChangesItsQueueWhenAnotherHasUsedIt) {
  // Lanes 0 and 1 have a queue each; lane 2 joins lane 0, whose next copy therefore goes behind
  // lane 1's.
  Device device = device_of(Queues::connection);
  device.copy_connections = 2;
  const std::vector<Task> tasks = {kernel(3, 5),   kernel(4, 9),   h2d(0, 1),
                                   h2d(1, 1, {1}), h2d(2, 1, {0}), h2d(0, 1)};
  device.concurrent_kernels = 2;
  EXPECT_THAT(predicted(tasks, device),
              ElementsAre("SM 0-5", "SM 5-14", "H2D 0-1", "H2D 14-15", "H2D 5-6", "H2D 15-16"));
  // With the last copy in lane 2, which keeps its queue:
  std::vector<Task> kept = tasks;
  kept.back().lane = 2;
  EXPECT_EQ(predicted(kept, device).back(), "H2D 6-7");
}

TEST(QueueRules, ALaneWithoutAQueueTakesTheOneUnusedForLongest) {
  // Lane 0's copy waits for the kernel; lane 2's stands behind it.
  Device device = device_of(Queues::connection);
  device.copy_connections = 2;
  const std::vector<Task> tasks = {kernel(3, 20), h2d(0, 1, {0}), h2d(1, 1), h2d(2, 1), h2d(1, 1)};
  EXPECT_THAT(predicted(tasks, device),
              ElementsAre("SM 0-20", "H2D 20-21", "H2D 0-1", "H2D 21-22", "H2D 1-2"));
}

TEST(QueueRules, ATaskThatWaitsForALaterOneOfItsLaneNeverStarts) {
  EXPECT_THROW(predicted({kernel(0, 1, 1, {1}), kernel(0, 1)}, device_of(Queues::engine)),
               std::logic_error);
}

TEST(QueueRules, NeighbouringKernelsSignalTogether) {
  const std::vector<Task> tasks = {kernel(0, 1), kernel(1, 1), d2h(0, 1), d2h(1, 1)};
  Device device = device_of(Queues::engine);
  EXPECT_THAT(predicted(tasks, device), ElementsAre("SM 0-1", "SM 1-2", "D2H 1-2", "D2H 2-3"));
  device.delayed_signal = true;
  EXPECT_THAT(predicted(tasks, device), ElementsAre("SM 0-1", "SM 1-2", "D2H 2-3", "D2H 3-4"));
}

TEST(QueueRules, ACopyOrAQueryBetweenKernelsKeepsTheirSignalsApart) {
  Device device = device_of(Queues::engine);
  device.delayed_signal = true;
  const std::vector<Task> queried = {kernel(0, 1), query(0), kernel(1, 1), d2h(0, 1)};
  EXPECT_THAT(predicted(queried, device), ElementsAre("SM 0-1", "host 0-0", "SM 1-2", "D2H 2-3"));
  device.query_releases = true;
  EXPECT_THAT(predicted(queried, device), ElementsAre("SM 0-1", "host 0-0", "SM 1-2", "D2H 1-2"));
  EXPECT_THAT(predicted({kernel(0, 1), h2d(2, 1), kernel(1, 1), d2h(0, 1)}, device),
              ElementsAre("SM 0-1", "H2D 0-1", "SM 1-2", "D2H 1-2"));
}

TEST(QueueRules, ADelayedSignalHoldsNoKernelBack) {
  // Halves of the device. The third kernel comes after the first, as the copy does, but only the
  // copy waits for the run's end.
  Device device = device_of(Queues::engine);
  device.delayed_signal = true;
  EXPECT_THAT(
      predicted({kernel(0, 1, 0.5), kernel(1, 3, 0.5), kernel(2, 1, 0.5, {0}), d2h(3, 1, {0})},
                device),
      ElementsAre("SM 0-1", "SM 0-3", "SM 1-2", "D2H 3-4"));
}

TEST(QueueRules, TheWindowLimitsWhatStandsBetween) {
  // Two between 0 and 3 may stand, three between 0 and 4 may not.
  Device device = device_of(Queues::connection);
  device.window = 2;
  EXPECT_THAT(predicted({h2d(0, 9), kernel(1, 1, 0.1), kernel(2, 1, 0.1), kernel(3, 1, 0.1),
                         kernel(4, 1, 0.1)},
                        device),
              ElementsAre("H2D 0-9", "SM 0-1", "SM 0-1", "SM 0-1", "SM 9-10"));
  device.window = 1;
  EXPECT_THAT(
      predicted({h2d(0, 9), kernel(1, 1, 0.1), kernel(2, 1, 0.1), kernel(3, 1, 0.1)}, device),
      ElementsAre("H2D 0-9", "SM 0-1", "SM 0-1", "SM 9-10"));
  // It moves on to the first task that is still incomplete.
  EXPECT_THAT(predicted({h2d(0, 2), kernel(1, 5, 0.1), kernel(2, 1, 0.1), kernel(3, 1, 0.1),
                         kernel(4, 1, 0.1)},
                        device),
              ElementsAre("H2D 0-2", "SM 0-5", "SM 0-1", "SM 2-3", "SM 5-6"));
  // Fermi: 62.
  std::vector<Task> tasks = {h2d(0, 1000)};
  for (int i = 0; i < 64; ++i) tasks.push_back(kernel(1, 1));
  device.window = 62;
  const auto lines = predicted(tasks, device);
  EXPECT_EQ(lines[63], "SM 62-63");
  EXPECT_EQ(lines[64], "SM 1000-1001");
}

// -------------------------------------------------------------------------------------- engines

constexpr auto portable = deck::Mechanism::portable;

TEST(QueueRules, AFenceHoldsTheHost) {
  // A dependency holds its own task back, a fence all that is issued after it.
  Device device = device_of(Queues::connection);
  const std::vector<Task> chain = {h2d(0, 2), kernel(1, 1, 1, {0}), d2h(2, 1)};
  EXPECT_THAT(predicted(chain, device), ElementsAre("H2D 0-2", "SM 2-3", "D2H 0-1"));
  EXPECT_THAT(predicted(chain, device, portable), ElementsAre("H2D 0-2", "SM 2-3", "D2H 2-3"));
  // It waits for all that was issued to its lanes: 3 s of lane 0, and 4 of lane 1.
  EXPECT_THAT(predicted({h2d(0, 2), kernel(1, 4), h2d(0, 1), d2h(2, 1, {0})}, device, portable),
              ElementsAre("H2D 0-2", "SM 0-4", "H2D 2-3", "D2H 3-4"));
  EXPECT_THAT(predicted({h2d(0, 2), kernel(1, 4), h2d(0, 1), d2h(2, 1, {0, 1})}, device, portable),
              ElementsAre("H2D 0-2", "SM 0-4", "H2D 2-3", "D2H 4-5"));
  // The host needs as long for each wait at least, and notices the end so much later. Lane 0 has
  // been complete for long when the host looks at it again.
  device.host.synchronize_s = 0.25;
  device.latency.notice_s = 0.5;
  EXPECT_THAT(predicted({h2d(0, 2), kernel(1, 1, 1, {0})}, device, portable),
              ElementsAre("H2D 0-2", "SM 2.5-3.5"));
  EXPECT_THAT(predicted({h2d(0, 1), kernel(1, 3), d2h(2, 1, {1, 0})}, device, portable),
              ElementsAre("H2D 0-1", "SM 0-3", "D2H 3.75-4.75"));
  // It has seen the first copy, and need not wait for the second.
  EXPECT_THAT(
      predicted({h2d(0, 2), kernel(1, 1, 1, {0}), h2d(0, 9), d2h(2, 1, {0})}, device, portable),
      ElementsAre("H2D 0-2", "SM 2.5-3.5", "H2D 2.5-11.5", "D2H 2.5-3.5"));
}

TEST(QueueRules, AFenceBetweenKernelsKeepsTheirSignalsApart) {
  Device device = device_of(Queues::engine);
  device.delayed_signal = true;
  EXPECT_THAT(predicted({kernel(0, 1), kernel(1, 2, 1, {0}), d2h(0, 1)}, device, portable),
              ElementsAre("SM 0-1", "SM 1-3", "D2H 1-2"));
}

TEST(EngineRules, ACopyEngineMakesOneCopyAtATime) {
  const std::vector<Task> tasks = {h2d(0, 2), h2d(1, 1), d2h(2, 1)};
  for (const Queues queues : {Queues::engine, Queues::connection}) {
    EXPECT_THAT(predicted(tasks, device_of(queues)), ElementsAre("H2D 0-2", "H2D 2-3", "D2H 0-1"));
    EXPECT_THAT(predicted(tasks, device_of(queues, 1)),
                ElementsAre("copy 0-2", "copy 2-3", "copy 3-4"));
  }
}

TEST(EngineRules, CopiesInBothDirectionsSlowEachOtherDown) {
  // To 4 both are active: back makes 2 of 2 at half its speed, there 4/1.5 = 2.66667 of 6; the
  // other 3.33333 alone.
  Device device = device_of(Queues::engine);
  device.h2d.duplex = slower(device.h2d.pinned, 1.5);
  device.d2h.duplex = slower(device.d2h.pinned, 2);
  EXPECT_THAT(predicted({h2d(0, 6), d2h(1, 2)}, device), ElementsAre("H2D 0-7.33333", "D2H 0-4"));
  EXPECT_THAT(predicted({h2d(0, 6), d2h(0, 2)}, device), ElementsAre("H2D 0-6", "D2H 6-8"));
}

TEST(EngineRules, SmallCopiesCanBeSlowedMoreThanLargeOnes) {
  // 2 bytes take 6 s instead of 2, 100 take 100 either way.
  Device device = device_of(Queues::engine);
  device.h2d.duplex = Curve({{2, 6}, {100, 100}});
  EXPECT_THAT(predicted({h2d(0, 2), d2h(1, 50)}, device), ElementsAre("H2D 0-6", "D2H 0-50"));
  EXPECT_THAT(predicted({h2d(0, 100), d2h(1, 50)}, device), ElementsAre("H2D 0-100", "D2H 0-50"));
}

TEST(EngineRules, KernelsOnHostMemoryMoveTheDataThemselves) {
  const auto seconds = [](bool input, bool output, double bytes_per_s = 1,
                          std::int64_t units = 10) {
    schedule::Costs costs;
    costs.kernel = "k";
    costs.units = units;
    if (input) costs.arrays.push_back({.name = "in", .unit_bytes = 1, .to_device = true});
    if (output) costs.arrays.push_back({.name = "out", .unit_bytes = 1, .to_host = true});
    for (schedule::Array& array : costs.arrays) {
      array.host = schedule::adjacent(1, static_cast<std::size_t>(units));
    }
    const schedule::Layout layout{
        .transfer = deck::Transfer::zero_copy, .borders = {0, units}, .largest_chunk_units = units};
    const Schedule schedule = schedule::build(costs, layout, deck::Order::depth_first, 1);
    Device device = device_of(Queues::connection);
    device.h2d.pinned = device.d2h.pinned = Curve::line(0, bytes_per_s);
    device.h2d.duplex = device.d2h.duplex = Curve::line(0, bytes_per_s / 2);
    device.kernels["k"] = {{{0, Curve::line(0, 100)}}};
    return seconds_alone(schedule, schedule.tasks.at(0), device);
  };
  // A fifth longer than copies, which slow each other down only where both directions have data.
  EXPECT_DOUBLE_EQ(seconds(true, false), 12);
  EXPECT_DOUBLE_EQ(seconds(false, true), 12);
  EXPECT_DOUBLE_EQ(seconds(true, true), 24);
  // The same with times and sizes below 1.
  EXPECT_DOUBLE_EQ(seconds(true, false, 50), 0.24);
  EXPECT_DOUBLE_EQ(seconds(false, true, 50), 0.24);
  EXPECT_DOUBLE_EQ(seconds(true, false, 1, 1), 1.2);
}

TEST(EngineRules, CopiesSlowKernelsDown) {
  Device device = device_of(Queues::engine);
  device.kernels_slowed = 1.25;
  // 2 s beside a copy make 1.6 of 4; the other 2.4 alone.
  EXPECT_THAT(predicted({h2d(0, 2), kernel(1, 4)}, device), ElementsAre("H2D 0-2", "SM 0-4.4"));
  // 1 s beside both directions makes 1/1.5 = 0.66667, 1 s beside one 0.8; 2.53333 alone.
  EXPECT_THAT(predicted({h2d(0, 2), d2h(1, 1), kernel(2, 4)}, device),
              ElementsAre("H2D 0-2", "D2H 0-1", "SM 0-4.53333"));
}

TEST(EngineRules, KernelsShareTheDevice) {
  const Device device = device_of(Queues::engine);
  EXPECT_THAT(predicted({kernel(0, 1, 0.5), kernel(1, 1, 0.5), kernel(2, 1, 0.5)}, device),
              ElementsAre("SM 0-1", "SM 0-1", "SM 1-2"));
  // The second wants 0.7 and gets 0.3: 0.3/0.7 of its work by 1, the other 0.571429 alone.
  EXPECT_THAT(predicted({kernel(0, 1, 0.7), kernel(1, 1, 0.7)}, device),
              ElementsAre("SM 0-1", "SM 0-1.57143"));
  // The third starts with the 0.3 that is left when the first is done and the second has its 0.7.
  EXPECT_THAT(predicted({kernel(0, 1, 0.7), kernel(1, 1, 0.7), kernel(2, 1, 0.3)}, device),
              ElementsAre("SM 0-1", "SM 0-1.57143", "SM 1-2"));
  EXPECT_THAT(predicted({kernel(0, 1), kernel(1, 1)}, device), ElementsAre("SM 0-1", "SM 1-2"));
}

TEST(EngineRules, NoMoreKernelsRunTogetherThanTheDeviceAllows) {
  Device device = device_of(Queues::connection);
  device.concurrent_kernels = 2;
  EXPECT_THAT(predicted({kernel(0, 1, 0.1), kernel(1, 2, 0.1), kernel(2, 1, 0.1)}, device),
              ElementsAre("SM 0-1", "SM 0-2", "SM 1-2"));
}

TEST(EngineRules, SmallKernelsLeaveRoomByTheirRate) {
  // 1 s before the first byte, 1 s for each: a kernel of one byte uses half of the device.
  Device device = device_of(Queues::engine);
  device.kernels["increment"] = {{{0, Curve::line(1, 1)}}};
  std::vector<Task> tasks(3, kernel(0, 0, 0));
  for (int i = 0; i < 3; ++i) {
    tasks[static_cast<std::size_t>(i)].lane = i;
    tasks[static_cast<std::size_t>(i)].bytes = 1;
  }
  Schedule schedule = schedule_of(tasks);
  schedule.kernel = "increment/float32";
  // The first two all but fill it (a millionth is left of each one's half).
  const timeline::Timeline timeline = predict(schedule, device);
  EXPECT_DOUBLE_EQ(timeline.spans[0].stop_s, 2);
  EXPECT_NEAR(timeline.spans[1].stop_s, 2, 1e-5);
}

TEST(EngineRules, ADeviceWithoutTheRateSaysSo) {
  Device device = device_of(Queues::engine);
  device.name = "bare";
  device.kernels["increment"] = {};
  Schedule schedule = schedule_of({kernel(0, 0)});
  schedule.kernel = "rowsum/int32";
  try {
    predict(schedule, device);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    EXPECT_STREQ(
        error.what(),
        "device bare: kernels.rates: no rate for the kernel rowsum/int32; it has: increment");
  }
}

// -------------------------------------------------------------------------------------- workers

TEST(Workers, ShareTheCoresWhenTheyAreMore) {
  Device device = device_of(Queues::worker);
  device.cores = 2;
  // Half a core each until the second ends, then two thirds until the first does.
  EXPECT_THAT(predicted({kernel(0, 2), kernel(1, 1), kernel(2, 3), h2d(3, 3)}, device),
              ElementsAre("worker 0 0-3.5", "worker 1 0-2", "worker 2 0-4.5", "worker 3 0-4.5"));
}

TEST(Workers, ShareTheCoresWithTheHostsWork) {
  Device device = device_of(Queues::worker);
  device.cores = 2;
  // Three on two cores until 1, then a core each: 2/3 are done, 4/3 s are left.
  EXPECT_THAT(predicted({kernel(0, 2), kernel(1, 2), host(1)}, device),
              ElementsAre("worker 0 0-2.33333", "worker 1 0-2.33333", "host 0-1"));
  device.cores = 3;
  EXPECT_THAT(predicted({kernel(0, 2), kernel(1, 2), host(1)}, device),
              ElementsAre("worker 0 0-2", "worker 1 0-2", "host 0-1"));
}

TEST(Workers, AreNoneWhereKokkosAloneIssues) {
  // The call returns when the task is complete.
  Device device = device_of(Queues::worker);
  device.cores = 2;
  device.host.synchronize_s = 0.25;
  EXPECT_THAT(predicted({kernel(0, 1), h2d(1, 2), kernel(1, 1, 1, {0})}, device, portable),
              ElementsAre("worker 0 0-1", "worker 1 1-3", "worker 1 3-4"));
}

TEST(Workers, CanDivideTheCores) {
  Device device = device_of(Queues::worker);
  device.cores = 4;
  device.lanes_divide = true;
  // One lane has all four cores, two have two each.
  EXPECT_THAT(predicted({h2d(0, 4)}, device), ElementsAre("worker 0 0-1"));
  EXPECT_THAT(predicted({h2d(0, 4), h2d(1, 4)}, device),
              ElementsAre("worker 0 0-2", "worker 1 0-2"));
  // A kernel by its duration keeps all of them busy for as long.
  EXPECT_THAT(predicted({kernel(0, 4)}, device), ElementsAre("worker 0 0-4"));
  // One by its rate is as much faster as they are more.
  device.kernels["increment"] = {{{0, Curve::line(0, 1)}}};
  Schedule schedule = schedule_of({kernel(0, 0)});
  schedule.kernel = "increment";
  schedule.tasks[0].bytes = 4;
  EXPECT_THAT(text(predict(schedule, device)), ElementsAre("worker 0 0-1"));
}

TEST(Workers, AreSlowedByACrowd) {
  Device device = device_of(Queues::worker);
  device.cores = 3;
  device.kernels_slowed = 2;
  // 2 beside two others, 1.5 beside one, 1 alone: 1 of each by 2, 2 of two by 3.5, the rest alone.
  EXPECT_THAT(predicted({kernel(0, 1), kernel(1, 2), kernel(2, 3)}, device),
              ElementsAre("worker 0 0-2", "worker 1 0-3.5", "worker 2 0-4.5"));
  device.cores = 1;  // where there never is one
  EXPECT_THAT(predicted({kernel(0, 1), kernel(1, 2)}, device),
              ElementsAre("worker 0 0-2", "worker 1 0-3"));
}

// ----------------------------------------------------------------------------------------- host

TEST(HostRules, CostsAddUp) {
  Device device = device_of(Queues::engine);
  device.host = {
      .copy_s = 1, .kernel_s = 2, .record_s = 4, .wait_s = 8, .query_s = 16, .synchronize_s = 32};
  // Issue the copy and record its end, 5; wait and issue the kernel, 10; query, 16; then both lanes
  // are complete already.
  const timeline::Timeline timeline =
      predict(schedule_of({h2d(0, 1), kernel(1, 1, 1, {0}), query(1)}), device);
  EXPECT_THAT(text(timeline), ElementsAre("H2D 5-6", "SM 15-16", "host 15-31"));
  EXPECT_DOUBLE_EQ(timeline.issued_s, 31);
  EXPECT_DOUBLE_EQ(timeline.complete_s, 31 + 32 + 32);
}

TEST(HostRules, HostWorkNeedsNoEventOfWhatItComesAfter) {
  Device device = device_of(Queues::engine);
  device.host.record_s = 4;
  EXPECT_THAT(predicted({h2d(0, 1), host(1, {0})}, device), ElementsAre("H2D 0-1", "host 1-2"));
}

TEST(HostRules, NoticesTheEndOfWhatItWaitsFor) {
  Device device = device_of(Queues::engine);
  device.host.copy_s = device.host.synchronize_s = 1;
  device.latency.start_s = 0.5;
  device.latency.notice_s = 0.25;
  const timeline::Timeline timeline = predict(schedule_of({h2d(0, 10)}), device);
  EXPECT_THAT(text(timeline), ElementsAre("H2D 1.5-11.5"));
  EXPECT_DOUBLE_EQ(timeline.issued_s, 1);
  EXPECT_DOUBLE_EQ(timeline.complete_s, 11.75);
  // Its call takes as long as it takes.
  device.host.synchronize_s = 100;
  EXPECT_DOUBLE_EQ(predict(schedule_of({h2d(0, 10)}), device).complete_s, 101);
}

TEST(HostRules, SignalsTakeTime) {
  Device device = device_of(Queues::engine);
  device.latency.lane_s = 0.5;
  device.latency.event_s = 0.25;
  // To another engine in the lane, to another lane, and within an engine and a lane: nothing.
  EXPECT_THAT(predicted({h2d(0, 1), kernel(0, 1), d2h(1, 1, {1}), d2h(1, 1)}, device),
              ElementsAre("H2D 0-1", "SM 1.5-2.5", "D2H 2.75-3.75", "D2H 3.75-4.75"));
}

TEST(HostRules, BlockingTasksHoldIt) {
  EXPECT_THAT(predicted({blocking(h2d(0, 2)), kernel(1, 1)}, device_of(Queues::engine)),
              ElementsAre("H2D 0-2", "SM 2-3"));
}

TEST(HostRules, HostWorkWaitsForTheLanesOfWhatItComesAfter) {
  // Not for lane 1. It takes the host's time: what is issued later starts later.
  EXPECT_THAT(
      predicted({h2d(0, 2), kernel(1, 5), host(3, {0}), d2h(2, 1)}, device_of(Queues::engine)),
      ElementsAre("H2D 0-2", "SM 0-5", "host 2-5", "D2H 5-6"));
}

TEST(HostRules, PageableCopiesHoldItUnlessTheyAreSmall) {
  Device device = device_of(Queues::engine);
  device.h2d.pageable = device.d2h.pageable = Curve::line(0, 0.5);
  Schedule schedule = schedule_of({h2d(0, 4), kernel(1, 1)});
  schedule.host_memory = deck::HostMemory::pageable;
  EXPECT_THAT(text(predict(schedule, device)), ElementsAre("H2D 0-8", "SM 8-9"));
  device.host.synchronize_s = 10;  // they are no call that waits
  EXPECT_THAT(text(predict(schedule, device)), ElementsAre("H2D 0-8", "SM 8-9"));
  device.h2d.unblocked_bytes = 4;
  EXPECT_THAT(text(predict(schedule, device)), ElementsAre("H2D 0-8", "SM 0-1"));
  device.h2d.unblocked_bytes = 0;
  device.unit_s = 1;  // a teaching device knows no kinds of memory
  EXPECT_THAT(text(predict(schedule, device)), ElementsAre("H2D 0-1", "SM 0-1"));
}

TEST(HostRules, OnlyPageableCopiesHoldIt) {
  Device device = device_of(Queues::engine);
  device.h2d.pageable = Curve::line(0, 0.5);
  Schedule schedule = schedule_of({h2d(0, 4), kernel(1, 1)});
  for (const auto memory : {deck::HostMemory::pinned, deck::HostMemory::registered}) {
    schedule.host_memory = memory;
    EXPECT_THAT(text(predict(schedule, device)), ElementsAre("H2D 0-4", "SM 0-1"));
  }
}

}  // namespace
}  // namespace overlap::model
