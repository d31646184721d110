#include <gmock/gmock.h>

#include <atomic>

#include "bench.hpp"
#include "deck/words.hpp"
#include "lanes/graphs.hpp"
#include "measure/measure.hpp"

namespace overlap {
namespace {

using deck::Order;
using deck::Stage;

deck::Deck custom_deck(std::vector<deck::CustomTask> tasks) {
  deck::Deck deck;
  deck.path = "test.yaml";
  deck.workload.kind = deck::WorkloadKind::custom;
  deck.workload.tasks = std::move(tasks);
  deck.issue.orders = {Order::sequential, Order::custom};
  deck.chunks.count = 1;
  return deck;
}

/// A copy, a kernel of a few steps, or whatever else the stage is.
deck::CustomTask task(const std::string& name, Stage stage, int lane, std::vector<int> after = {},
                      int chunk = 0) {
  const bool copies = schedule::is_copy(stage);
  const bool on_data = copies || stage == Stage::kernel;
  return {.name = name,
          .stage = stage,
          .lane = lane,
          .bytes = copies ? 40000 + 4 * lane : 0,
          .duration_s = copies || stage == Stage::query ? 0.0 : 20.0,
          .after = std::move(after),
          .chunk = chunk > 0 ? chunk
                   : on_data ? lane
                             : 0};
}

// The shapes of Rennich's examples, and one with everything.

std::vector<deck::CustomTask> blocked_queue() {
  return {task("DH2", Stage::d2h, 2), task("HDa1", Stage::h2d, 1), task("HDb1", Stage::h2d, 1),
          task("K1", Stage::kernel, 1), task("DH1", Stage::d2h, 1)};
}

std::vector<deck::CustomTask> kernels() {
  std::vector<deck::CustomTask> tasks = {
      task("Ka1", Stage::kernel, 1), task("Kc2", Stage::kernel, 2), task("Kd2", Stage::kernel, 2),
      task("Kb1", Stage::kernel, 1)};
  for (auto& task : tasks) task.sms = 0.5;
  return tasks;
}

std::vector<deck::CustomTask> three_streams() {
  std::vector<deck::CustomTask> tasks;
  for (int lane = 1; lane <= 3; ++lane) {
    tasks.push_back(task("HD" + std::to_string(lane), Stage::h2d, lane));
    tasks.push_back(task("K" + std::to_string(lane), Stage::kernel, lane));
    tasks.push_back(task("Q" + std::to_string(lane), Stage::query, lane));
    tasks.push_back(task("DH" + std::to_string(lane), Stage::d2h, lane));
  }
  return tasks;
}

std::vector<deck::CustomTask> everything() {
  return {task("HDa", Stage::h2d, 1),
          task("HDb", Stage::h2d, 2, {}, 1),
          task("Ka", Stage::kernel, 3, {0, 1}, 1),
          task("DHa", Stage::d2h, 1, {2}),
          task("Kb", Stage::kernel, 3, {3}, 1),
          task("DHb", Stage::d2h, 2, {4}, 1),
          task("Z", Stage::default_stream, 0),
          task("Kc", Stage::kernel, 1),
          task("DHc", Stage::d2h, 1),
          task("C", Stage::host, 0, {8}),
          task("Kd", Stage::kernel, 2, {9}, 1),
          task("Ke", Stage::kernel, 4)};
}

void expect_right(const std::vector<deck::CustomTask>& tasks) {
  const deck::Deck deck = custom_deck(tasks);
  const auto costs = schedule::costs(deck.workload, 1);
  int tried = 0;
  for (const Order order : deck::orders_of(deck.workload.kind)) {
    if (schedule::misplaced(costs, order)) continue;
    for (const bool fenced : {false, true}) {
      TestBench bench(deck, order, 1, fenced ? lanes::make_fenced_lanes(6, 1) : nullptr);
      for (std::uint32_t repetition = 1; repetition < 4; ++repetition) {
        const auto result = bench.run(repetition);
        EXPECT_FALSE(result.mismatch) << to_string(order) << ": " << result.mismatch->array
                                      << " at " << result.mismatch->index;
        EXPECT_EQ(result.max_error, 0);
      }
      ++tried;
    }
  }
  EXPECT_GE(tried, 4);
}

TEST(CustomTest, RennichsExamplesAreRightInEveryOrder) {
  expect_right(blocked_queue());
  expect_right(kernels());
  expect_right(three_streams());
}

TEST(CustomTest, EveryStageAndDependencyIsRight) { expect_right(everything()); }

TEST(CustomTest, TasksWithoutDataAreRight) {
  expect_right({task("C", Stage::host, 0)});
  expect_right({task("Q", Stage::query, 1), task("Z", Stage::default_stream, 0)});
}

TEST(CustomGraphs, HoldTasksOfTheDeviceWithNoneOfTheHostBeforeThem) {
  const auto is_capturable = [](const std::vector<Stage>& stages) {
    schedule::Schedule schedule;
    for (const Stage stage : stages) schedule.tasks.push_back({.stage = stage});
    return lanes::is_capturable(schedule);
  };
  EXPECT_TRUE(is_capturable({Stage::default_stream}));
  EXPECT_TRUE(is_capturable({Stage::kernel, Stage::d2h, Stage::host, Stage::host}));
  EXPECT_FALSE(is_capturable({Stage::kernel, Stage::host, Stage::d2h}));
  EXPECT_FALSE(is_capturable({Stage::kernel, Stage::query}));
  EXPECT_FALSE(is_capturable({Stage::host}));
}

TEST(CustomTest, GraphsNeedNoData) {
  if (workload::is_host) GTEST_SKIP() << "only GPUs have graphs";
  const auto host = task("C", Stage::host, 0);
  const auto barrier = task("Z", Stage::default_stream, 0);
  for (const auto& [tasks, graph] :
       {std::pair(std::vector{barrier}, true), std::pair(std::vector{barrier, host}, true),
        std::pair(std::vector{host}, false),
        std::pair(std::vector{task("Q", Stage::query, 1), barrier}, false)}) {
    deck::Deck deck = custom_deck(tasks);
    deck.issue.mechanism = deck::Mechanism::graph;
    TestBench bench(deck, Order::custom, 1);
    for (std::uint32_t repetition = 1; repetition < 3; ++repetition) {
      EXPECT_FALSE(bench.run(repetition).mismatch);
    }
    EXPECT_EQ(bench.executor->lanes().graph_costs().has_value(), graph);
  }
}

TEST(CustomTest, SmallAndOddSizesAreRight) {
  for (const std::int64_t bytes : {4, 8, 4092, 4096, 4100, 8188}) {
    auto tasks = blocked_queue();
    for (auto& task : tasks) {
      if (schedule::is_copy(task.stage)) task.bytes = bytes;
    }
    expect_right(tasks);
  }
}

// Faults that verification must catch, whoever let them through.

template <class Fault>
workload::Verification with_fault(const std::vector<deck::CustomTask>& tasks, const Fault& fault) {
  TestBench bench(custom_deck(tasks), Order::custom, 1);
  EXPECT_FALSE(bench.run(1).mismatch);
  fault(bench.schedule);
  return bench.run(2);
}

TEST(CustomTest, VerificationCatchesEveryDroppedTask) {
  for (const auto& tasks : {blocked_queue(), kernels(), three_streams(), everything()}) {
    for (std::size_t dropped = 0; dropped < tasks.size(); ++dropped) {
      if (!schedule::is_copy(tasks[dropped].stage) && tasks[dropped].stage != Stage::kernel)
        continue;
      const auto result = with_fault(tasks, [&](schedule::Schedule& s) {
        // What others wait for stays in its place, but does nothing.
        s.tasks[dropped].stage = Stage::default_stream;
      });
      ASSERT_TRUE(result.mismatch) << tasks[dropped].name;
      EXPECT_EQ(result.mismatch->chunk, tasks[dropped].chunk) << tasks[dropped].name;
    }
  }
}

TEST(CustomTest, VerificationCatchesSwappedKernels) {
  const auto result = with_fault(
      kernels(), [](schedule::Schedule& s) { std::swap(s.tasks[0].number, s.tasks[3].number); });
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->chunk, 1);
  EXPECT_EQ(result.mismatch->array, "chunk 1 on the device");
}

TEST(CustomTest, VerificationCatchesARepeatedKernel) {
  const auto result = with_fault(three_streams(), [](schedule::Schedule& s) {
    s.tasks[6] = s.tasks[5];  // the query of lane 2
    s.tasks[6].after.clear();
  });
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->array, "DH2");
}

TEST(CustomTest, VerificationCatchesAKernelOnAnotherChunk) {
  const auto result = with_fault(three_streams(), [](schedule::Schedule& s) {
    s.tasks[1].op = 1;
    for (schedule::Task& task :
         s.tasks) {  // in one lane: it must not race with that chunk's copies
      task.lane = 0;
      task.after.clear();
    }
  });
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->chunk, 1);
}

TEST(CustomTest, VerificationCatchesAKernelBeforeItsCopy) {
  const auto result =
      with_fault(three_streams(), [](schedule::Schedule& s) { std::swap(s.tasks[0], s.tasks[1]); });
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->array, "DH1");
}

TEST(CustomTest, VerificationCatchesAKernelThatSkipsItsWork) {
  const auto result =
      with_fault(three_streams(), [](schedule::Schedule& s) { s.tasks[1].duration_s /= 2; });
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->array, "DH1");
}

// A query while the lane's kernel is held: it must come back, and say no.

struct Hold {
  int* released;
  int* seen;

  KOKKOS_FUNCTION void operator()(int) const {
    for (std::int64_t i = 0; i < 2000000000; ++i) {
      KOKKOS_IF_ON_HOST((if (std::atomic_ref(*released).load() != 0) {
        *seen = 1;
        return;
      }))
      KOKKOS_IF_ON_DEVICE((if (Kokkos::atomic_load(released) != 0) {
        *seen = 1;
        return;
      }))
    }
  }
};

TEST(CustomTest, AQueryDoesNotWait) {
  const deck::Deck deck = custom_deck({task("K", Stage::kernel, 1)});
  auto lanes = lanes::make_lanes(1);
  TestBench bench(deck, Order::custom, 1);
  EXPECT_TRUE(lanes->query(0)) << "nothing was issued";
  lanes->bind(bench.schedule, bench.workload);
  Kokkos::View<int*, Kokkos::SharedHostPinnedSpace> flags("test::flags", 2);
  Kokkos::fence();
  int* const at = flags.data();
  bench.workload.launch = [=](const Space& instance, const workload::Call&) {
    Kokkos::parallel_for("test::hold", Kokkos::RangePolicy<Space>(instance, 0, 1),
                         Hold{at, at + 1});
  };
  std::atomic_ref(*at).store(1);  // the first launch on a device copies; nothing is held
  lanes->issue(0);
  lanes->wait(0);
  at[1] = 0;
  std::atomic_ref(*at).store(0);
  lanes->issue(0);
  EXPECT_FALSE(lanes->query(0));
  std::atomic_ref(*at).store(1);
  lanes->wait(0);
  EXPECT_TRUE(lanes->query(0));
  EXPECT_EQ(at[1], 1);
}

// Durations.

TEST(CustomTest, CalibratedKernelsTakeAboutTheirDuration) {
  constexpr double asked_s = 0.001;  // both in less than a slice of time on a busy machine
  auto tasks = std::vector{task("K", Stage::kernel, 1), task("C", Stage::host, 0)};
  for (auto& task : tasks) task.duration_s = asked_s;
  TestBench bench(custom_deck(tasks), Order::sequential, 1);
  const auto about = [&](double s) { return s > 1.6 * asked_s && s < 3 * asked_s; };
  const double best_s = first_that(about, [&] {
    measure::calibrate_steps(*bench.executor, bench.workload);
    double least_s = 1;
    for (int i = 0; i < 5; ++i) {
      least_s = std::min(least_s, bench.executor->run(bench.schedule, bench.workload).complete_s);
    }
    return least_s;
  });
  EXPECT_GT(best_s, 1.6 * asked_s);  // kernel and host work, one after the other
  EXPECT_LT(best_s, 3 * asked_s);
  EXPECT_FALSE(bench.run(1).mismatch);
}

}  // namespace
}  // namespace overlap
