#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>

#include "bench.hpp"
#include "changed_lanes.hpp"
#include "deck/words.hpp"
#include "lanes/api.hpp"
#include "measure/measure.hpp"
#include "schedule/build.hpp"
#include "signals.hpp"

namespace overlap {
namespace {

using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;
using lanes::Lanes;
using testing::HasSubstr;

/// A slow host: it sleeps a random while before it issues a task.
class DelayedLanes final : public ChangedLanes {
 public:
  using ChangedLanes::ChangedLanes;
  void issue(schedule::TaskId task) override {
    const int delay = std::uniform_int_distribution(-40, 40)(random_);
    if (delay > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay));
    ChangedLanes::issue(task);
  }

 private:
  std::mt19937 random_{7};
};

TEST(LanesTest, EveryOrderOfEveryWorkloadIsRight) {
  for (const WorkloadKind kind : schedule::chunked_kinds()) {
    for (const Order order : deck::orders_of(kind)) {
      for (const int lanes : {1, 2, 5}) {
        SCOPED_TRACE(std::string(to_string(kind)) + " " + std::string(to_string(order)));
        TestBench bench(test_deck(kind, 1003, 7, deck::row_of(kind).type), order, lanes);
        for (std::uint32_t repetition = 1; repetition < 4; ++repetition) {
          const auto result = bench.run(repetition);
          EXPECT_FALSE(result.mismatch);
          EXPECT_LE(result.max_error, result.tolerance);
        }
      }
    }
  }
}

TEST(LanesTest, OutOfCoreIsRight) {
  for (const WorkloadKind kind : schedule::chunked_kinds()) {
    for (const Order order : deck::orders_of(kind)) {
      deck::Deck deck = test_deck(kind, 1000, 10, ElementType::float32);
      const auto costs = schedule::costs(deck.workload, 1);
      std::size_t unit = 0;
      for (const auto& array : costs.arrays) unit += array.unit_bytes;
      deck.memory.device_limit = static_cast<std::int64_t>(unit) * 350;  // 3 of 10 chunks
      TestBench bench(deck, order, 4);
      EXPECT_EQ(bench.schedule.slots, 3);
      EXPECT_FALSE(bench.run(1).mismatch) << to_string(kind) << " " << to_string(order);
    }
  }
}

TEST(LanesTest, FencesServeWhereThereIsNothingBetter) {
  for (const Order order : deck::orders_of(WorkloadKind::pipeline)) {
    TestBench bench(test_deck(WorkloadKind::pipeline, 1000, 4, ElementType::float64), order, 4,
                    lanes::make_fenced_lanes(6, 1));
    EXPECT_FALSE(bench.run(1).mismatch) << to_string(order);
  }
}

TEST(LanesTest, PipelineStaysRightOverManyIterationsOfASlowHost) {
  deck::Deck deck = test_deck(WorkloadKind::pipeline, 500, 1, ElementType::float32);
  deck.workload.iterations = 1000;
  for (const Order order : {Order::by_engine, Order::depth_first}) {
    auto slow = std::make_unique<DelayedLanes>(6);
    TestBench bench(deck, order, 6, std::move(slow));
    EXPECT_FALSE(bench.run(1).mismatch) << deck::to_string(order);
  }
}

// Several threads issue.

/// A deck that is issued by this many threads.
deck::Deck issued_by(int threads, WorkloadKind kind = WorkloadKind::increment) {
  deck::Deck deck = test_deck(kind, 1003, 7, ElementType::float32);
  deck.issue.threads = threads;
  return deck;
}

/// Whether the space can be used by several threads.
constexpr bool has_threads = !workload::is_host || lanes::has_concurrent_instances;

TEST(LanesTest, EveryOrderIsRightWhoeverIssuesIt) {
  if (!has_threads) GTEST_SKIP() << "launches from one thread only";
  for (const auto mechanism : {deck::Mechanism::streams, deck::Mechanism::portable}) {
    for (const WorkloadKind kind : schedule::chunked_kinds()) {
      for (const Order order : deck::orders_of(kind)) {
        SCOPED_TRACE(std::string(to_string(kind)) + " " + std::string(to_string(order)));
        deck::Deck deck = issued_by(3, kind);
        deck.issue.mechanism = mechanism;
        deck.workload.iterations = 20;
        TestBench bench(deck, order, 5);
        EXPECT_EQ(bench.schedule.threads, order == Order::sequential ? 1 : 3);
        for (std::uint32_t repetition = 1; repetition < 5; ++repetition) {
          EXPECT_FALSE(bench.run(repetition).mismatch);
        }
        bench.executor->lanes().trace(true);
        const auto traced = bench.executor->run_traced(bench.schedule, bench.workload);
        EXPECT_GE(traced.complete_s, traced.issued_s);
      }
    }
  }
}

TEST(LanesTest, DefaultStreamsOfThreadsAreSeveral) {
  if (workload::is_host) GTEST_SKIP() << "only GPUs have default streams";
  deck::Deck deck = issued_by(3, WorkloadKind::pipeline);
  deck.issue.streams = deck::Streams::per_thread_default;
  for (const Order order : {Order::depth_first, Order::by_engine}) {
    TestBench bench(deck, order, 6);
    EXPECT_EQ(bench.schedule.lanes, 3);
    for (std::uint32_t repetition = 1; repetition < 5; ++repetition) {
      EXPECT_FALSE(bench.run(repetition).mismatch);
    }
  }
}

/// Once they shall meet, all threads must be in the issue of a task before one of them goes on.
class MeetingLanes final : public ChangedLanes {
 public:
  MeetingLanes(int threads, int& met) : ChangedLanes(threads), threads_(threads), met_(met) {}

  void bind(const schedule::Schedule& s, const workload::Workload& w) override {
    ChangedLanes::bind(s, w);
    arrived_ = 0;
    ++runs_;
  }
  void issue(schedule::TaskId task) override {
    if (runs_ > 1) {  // one thread issues the first run
      ++arrived_;
      const auto start = lanes::Clock::now();
      while (arrived_ < threads_ && lanes::seconds_since(start) < 30) std::this_thread::yield();
      if (arrived_ >= threads_) met_ = runs_;
    }
    const std::scoped_lock lock(mutex_);
    ChangedLanes::issue(task);
  }

 private:
  int threads_;
  int runs_ = 0;
  std::atomic<int> arrived_ = 0;
  std::atomic_ref<int> met_;
  std::mutex mutex_;
};

TEST(LanesTest, ThreadsIssueAtOnce) {
  if (!has_threads) GTEST_SKIP() << "launches from one thread only";
  int met = 0;
  TestBench bench(issued_by(4), Order::depth_first, 4, std::make_unique<MeetingLanes>(4, met));
  for (const std::uint32_t run : {1U, 2U, 3U}) {
    EXPECT_FALSE(bench.run(run).mismatch);
    EXPECT_EQ(met, run == 1 ? 0 : static_cast<int>(run));
  }
}

/// Fails to issue the last task while it shall.
class RefusingLanes final : public ChangedLanes {
 public:
  using ChangedLanes::ChangedLanes;
  void bind(const schedule::Schedule& s, const workload::Workload& w) override {
    ChangedLanes::bind(s, w);
    refused_ = ++runs_ == 2 ? s.tasks.size() / 2 : s.tasks.size();
  }
  void issue(schedule::TaskId task) override {
    if (task == refused_) throw base::Error(base::ExitCode::runtime_error, "refused");
    ChangedLanes::issue(task);
  }

 private:
  int runs_ = 0;
  std::size_t refused_ = 0;
};

TEST(LanesTest, AFailureOfAThreadEndsTheRunOfAll) {
  if (!has_threads) GTEST_SKIP() << "launches from one thread only";
  for (const Order order : {Order::depth_first, Order::by_engine}) {
    TestBench bench(issued_by(3, WorkloadKind::pipeline), order, 6,
                    std::make_unique<RefusingLanes>(6));
    EXPECT_FALSE(bench.run(1).mismatch);
    try {
      bench.run(2);
      ADD_FAILURE();
    } catch (const base::Error& error) {
      EXPECT_STREQ(error.what(), "refused");
    }
    EXPECT_FALSE(bench.run(3).mismatch);
  }
}

TEST(LanesTest, OneThreadMustLaunchWhatOnlyItCan) {
  if (has_threads) GTEST_SKIP() << "launches from any thread";
  deck::Issue options;
  options.threads = 2;
  EXPECT_THROW(lanes::make_lanes(4, options), base::Error);
}

// A copy runs during another chunk's kernel: the kernel of chunk 0 says that it has begun and ends
// only when chunk 2's kernel has run, which comes after two copies in another lane, which come
// after a kernel that waits for the beginning. Where lanes block each other the wait runs out.

struct Signals {
  int* begun;
  int* copied;
  int* seen;  ///< by chunk: the wait ended in time
};

struct Rendezvous {
  Signals signals;
  int chunk;

  KOKKOS_FUNCTION void operator()(int) const {
    if (chunk == 0) {
      give(signals.begun);
      signals.seen[0] = wait_for(signals.copied);
    } else if (chunk == 1) {
      signals.seen[1] = wait_for(signals.begun);
    } else {
      give(signals.copied);
    }
  }
};

/// Runs the rendezvous on the lanes and returns whether both waits ended in time. The copies are in
/// the other lane than the kernel that is held, or `behind` it in its own: then the host must issue
/// what releases the kernel, and time runs out where a copy blocks the host.
bool copies_during_a_kernel(std::unique_ptr<Lanes> lanes, bool behind = false,
                            deck::Deck deck = test_deck(WorkloadKind::increment, 3000, 3,
                                                        ElementType::float32)) {
  TestBench bench(deck, Order::depth_first, 2, std::move(lanes));
  Kokkos::View<int*, Space::memory_space> memory("test::signals", 4);
  Kokkos::fence();
  int* const at = memory.data();
  const auto chunk_units = bench.schedule.chunk_units;
  bench.workload.launch = [=](const Space& instance, const workload::Call& call) {
    const int chunk = static_cast<int>(call.begin / chunk_units);
    Kokkos::parallel_for("test::rendezvous", Kokkos::RangePolicy<Space>(instance, 0, 1),
                         Rendezvous{{at, at + 1, at + 2}, chunk});
  };
  bench.workload.generate(1);
  const auto host = Kokkos::create_mirror_view(memory);
  const auto set_signals = [&](int value) {
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = value;
    Kokkos::deep_copy(memory, host);
  };
  set_signals(1);  // for the warm-up all are given already
  bench.executor->run(bench.schedule, bench.workload);
  const auto task = [&](schedule::Stage stage, int chunk, int lane) {
    return schedule::Task{
        .stage = stage,
        .chunk = chunk,
        .lane = lane,
        .bytes = 4000,
        .operands = bench.schedule.tasks[3 * static_cast<std::size_t>(chunk)].operands};
  };
  using schedule::Stage;
  const int copies = behind ? 0 : 1;
  schedule::Schedule schedule = bench.schedule;
  schedule.tasks = {task(Stage::kernel, 0, 0), task(Stage::kernel, 1, 1),
                    task(Stage::h2d, 2, copies), task(Stage::d2h, 2, copies),
                    task(Stage::kernel, 2, 1)};
  schedule.lanes = 2;
  set_signals(0);
  bench.executor->run(schedule, bench.workload);
  Kokkos::deep_copy(host, memory);
  return host(2) == 1 && host(3) == 1;
}

TEST(LanesTest, CopiesRunDuringAnotherChunksKernel) {
  if (!can_overlap()) GTEST_SKIP() << "a single core";
  EXPECT_TRUE(copies_during_a_kernel(lanes::make_lanes(2)));
  // With fences alone it depends on the space: the launches of host spaces block, and this test
  // must see that.
  EXPECT_EQ(copies_during_a_kernel(lanes::make_fenced_lanes(2, 1)), !workload::is_host);
}

/// A box in three chunks, each of which is 4 planes of lines that are not adjacent.
deck::Deck box_deck() {
  deck::Deck deck = test_deck(WorkloadKind::increment, 12 * 4 * 60, 3, ElementType::float32);
  deck.workload.box = {{12, 4, 60}, {14, 6, 64}, {1, 1, 2}};
  return deck;
}

TEST(LanesTest, CopiesBehindAHeldKernelDoNotBlockTheHost) {
  if (!can_overlap()) GTEST_SKIP() << "a single core";
  const deck::Deck adjacent = test_deck(WorkloadKind::increment, 3000, 3, ElementType::float32);
  for (const deck::Deck& deck : {adjacent, box_deck()}) {
    EXPECT_TRUE(copies_during_a_kernel(lanes::make_lanes(2), true, deck));
    EXPECT_EQ(copies_during_a_kernel(lanes::make_fenced_lanes(2, 1), true, deck),
              !workload::is_host);
  }
}

// Errors.

TEST(LanesTest, AnErrorInALaneNamesTaskAndLaneAndHangsNothing) {
  for (const bool fenced : {false, true}) {
    TestBench bench(test_deck(WorkloadKind::increment, 1000, 8, ElementType::float32),
                    Order::by_engine, 3, fenced ? lanes::make_fenced_lanes(3, 1) : nullptr);
    const auto launch = bench.workload.launch;
    bench.workload.launch = [&](const Space& instance, const workload::Call& call) {
      if (call.begin == 250) throw std::runtime_error("planted\nsecond line");
      launch(instance, call);
    };
    bench.workload.generate(1);
    try {
      bench.executor->run(bench.schedule, bench.workload);
      FAIL() << "no error";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::runtime_error);
      EXPECT_STREQ(error.what(), "by_engine: task 7 (kernel of chunk 2 on lane 1) failed: planted");
    }
    bench.workload.launch = launch;
    EXPECT_FALSE(bench.run(2).mismatch) << "the lanes are usable after an error";
  }
}

#if defined(OVERLAP_GPU)
TEST(LanesTest, AFailedCallIsNamedAndForgotten) {
  using lanes::Api;
  try {
    Api::copy_and_wait(nullptr, nullptr, 8, Api::to_device);
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::MatchesRegex(".*Memcpy.*: .* at lanes_test.cpp:[0-9]+"));
  }
  EXPECT_FALSE(Api::take_last_error());
  try {
    const auto memory = Api::allocate(std::size_t{1} << 50);
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::precondition);
  }
  EXPECT_FALSE(Api::take_last_error());
}
#endif

TEST(LanesTest, WhatABackEndCannotDoIsRefusedBeforeAnythingIsMeasured) {
  const auto code = [&](const auto& change) {
    deck::Deck deck = test_deck(WorkloadKind::increment, 1000, 2, ElementType::float32);
    change(deck);
    try {
      lanes::require_options(deck);
    } catch (const base::Error& error) {
      return error.code();
    }
    return base::ExitCode::pass;
  };
  const auto of_streams = workload::is_host ? base::ExitCode::skipped : base::ExitCode::pass;
  EXPECT_EQ(code([](deck::Deck&) {}), base::ExitCode::pass);
  EXPECT_EQ(code([](auto& deck) { deck.issue.mechanism = deck::Mechanism::portable; }),
            base::ExitCode::pass);
  EXPECT_EQ(code([](auto& deck) { deck.issue.mechanism = deck::Mechanism::graph; }), of_streams);
  EXPECT_EQ(code([](auto& deck) { deck.issue.sync = deck::Sync::event; }), of_streams);
  EXPECT_EQ(code([](auto& deck) { deck.issue.streams = deck::Streams::blocking; }), of_streams);
  EXPECT_EQ(code([](auto& deck) { deck.memory.host = deck::HostMemory::registered; }), of_streams);
  EXPECT_EQ(code([](auto& deck) { deck.disturb.emplace(); }), of_streams);
}

/// Runs every workload in every order with these, several repetitions; returns whether the back end
/// has them.
bool right_with(const deck::Issue& issue, const deck::Memory& memory = {}) {
  for (const WorkloadKind kind : schedule::chunked_kinds()) {
    for (const Order order :
         {Order::sequential, Order::depth_first, Order::breadth_first, Order::by_engine}) {
      SCOPED_TRACE(std::string(to_string(kind)) + " " + std::string(to_string(order)));
      deck::Deck deck = test_deck(kind, 10000, 5, ElementType::float32);
      deck.issue = issue;
      deck.memory = memory;
      std::optional<TestBench> bench;
      try {
        bench.emplace(deck, order, 3);
      } catch (const base::Error& error) {
        EXPECT_EQ(error.code(), base::ExitCode::skipped) << error.what();
        return false;
      }
      for (std::uint32_t repetition = 1; repetition <= 3; ++repetition) {
        EXPECT_FALSE(bench->run(repetition).mismatch);
        measure::require_host_kind(bench->schedule, bench->workload);
      }
      const bool graph = issue.mechanism == deck::Mechanism::graph && order != Order::sequential;
      EXPECT_EQ(bench->executor->lanes().graph_costs().has_value(), graph);
    }
  }
  return true;
}

TEST(LanesTest, WaysOfWaitingGiveTheSameData) {
  for (const auto& word : deck::words<deck::Sync>) {
    SCOPED_TRACE(word.name);
    const bool runs = right_with({.sync = word.value});
    const bool of_events = word.value == deck::Sync::event || word.value == deck::Sync::event_query;
    EXPECT_EQ(runs, !workload::is_host || !of_events);
  }
}

TEST(LanesTest, KindsOfStreamsGiveTheSameData) {
  for (const auto& word : deck::words<deck::Streams>) {
    SCOPED_TRACE(word.name);
    const bool runs = right_with({.streams = word.value});
    EXPECT_EQ(runs, !workload::is_host || word.value == deck::Streams::own);
  }
}

TEST(LanesTest, GraphsGiveTheSameData) {
  EXPECT_EQ(right_with({.mechanism = deck::Mechanism::graph}), !workload::is_host);
}

TEST(LanesTest, WhoWaitsForALaneOfAGraphWaitsForAllOfIt) {
  if (workload::is_host) GTEST_SKIP() << "only GPUs have graphs";
  deck::Deck deck = test_deck(WorkloadKind::increment, 1 << 25, 6, ElementType::float32);
  deck.issue.mechanism = deck::Mechanism::graph;
  TestBench bench(deck, Order::depth_first, 3);
  bench.workload.generate(1);
  bench.executor->run(bench.schedule, bench.workload);
  lanes::Lanes& lanes = bench.executor->lanes();
  lanes.bind(bench.schedule, bench.workload);
  ASSERT_TRUE(lanes.launch_graph());
  lanes.wait(2);
  EXPECT_TRUE(lanes.query(0));
}

TEST(LanesTest, KokkosAloneGivesTheSameData) {
  for (const auto memory : {deck::HostMemory::pinned, deck::HostMemory::pageable}) {
    for (const auto transfer : {deck::Transfer::staged, deck::Transfer::zero_copy}) {
      if (transfer == deck::Transfer::zero_copy && !deck::page_locked(memory)) continue;
      EXPECT_TRUE(right_with({.mechanism = deck::Mechanism::portable},
                             {.host = memory, .transfer = transfer}));
    }
  }
}

std::vector<std::string>& calls() {
  static std::vector<std::string> calls;
  return calls;
}

TEST(LanesTest, KokkosAloneFencesAsTheScheduleSays) {
  for (const Order order : deck::orders_of(WorkloadKind::pipeline)) {
    deck::Deck deck = test_deck(WorkloadKind::pipeline, 1000, 2, ElementType::float32);
    deck.issue.mechanism = deck::Mechanism::portable;
    TestBench bench(deck, order, 4);
    // The tasks, each with its fences: of the lanes that it depends on, as far as the host has not
    // seen what it waits for, and of its own where it blocks.
    std::vector<std::string> expected;
    std::vector<schedule::TaskId> issued(static_cast<std::size_t>(bench.schedule.lanes));
    std::vector<schedule::TaskId> seen = issued;
    for (schedule::TaskId id = 0; id < bench.schedule.tasks.size(); ++id) {
      const schedule::Task& task = bench.schedule.tasks[id];
      const auto wait_for = [&](int lane) {
        const auto index = static_cast<std::size_t>(lane);
        expected.emplace_back("wait for a lane");
        seen[index] = issued[index];
      };
      expected.emplace_back(to_string(task.stage));
      for (const schedule::TaskId other : task.after) {
        const int lane = bench.schedule.tasks[other].lane;
        if (other >= seen[static_cast<std::size_t>(lane)]) wait_for(lane);
      }
      issued[static_cast<std::size_t>(task.lane)] = id + 1;
      if (task.blocking) wait_for(task.lane);
    }
    calls().clear();
    Kokkos::Tools::Experimental::set_push_region_callback(
        [](const char* name) { calls().emplace_back(name); });
    Kokkos::Tools::Experimental::set_begin_fence_callback(
        [](const char* name, std::uint32_t, std::uint64_t*) {
          if (name == std::string("overlap::wait")) calls().emplace_back("wait for a lane");
        });
    bench.executor->run(bench.schedule, bench.workload);
    Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
    Kokkos::Tools::Experimental::set_begin_fence_callback(nullptr);
    calls().erase(std::ranges::find(calls(), "wait"), calls().end());
    EXPECT_EQ(calls(), expected) << to_string(order);
  }
}

TEST(LanesTest, KindsOfHostMemoryGiveTheSameData) {
  for (const auto& word : deck::words<deck::HostMemory>) {
    SCOPED_TRACE(word.name);
    const bool runs =
        right_with({}, {.host = word.value, .transfer = deck::copying_transfer(word.value)});
    const bool anywhere =
        word.value == deck::HostMemory::pinned || word.value == deck::HostMemory::pageable;
    EXPECT_EQ(runs, anywhere || !workload::is_host);
  }
}

TEST(LanesTest, ZeroCopyGivesTheSameData) {
  EXPECT_TRUE(right_with({}, {.transfer = deck::Transfer::zero_copy}));
  EXPECT_EQ(
      right_with({}, {.host = deck::HostMemory::managed, .transfer = deck::Transfer::on_demand}),
      !workload::is_host);
}

TEST(LanesTest, DisturbancesLeaveTheDataRight) {
  for (const auto& word : deck::words<deck::Disturbance>) {
    SCOPED_TRACE(word.name);
    deck::Deck deck = test_deck(WorkloadKind::increment, 10000, 5, ElementType::float32);
    deck.issue.streams = workload::is_host ? deck::Streams::own : deck::Streams::blocking;
    TestBench bench(deck, Order::depth_first, 3);
    bench.schedule = schedule::disturbed(bench.schedule, {.operation = word.value, .times = 3});
    for (std::uint32_t repetition = 1; repetition <= 2; ++repetition) {
      if constexpr (workload::is_host) {
        try {
          bench.run(repetition);
          ADD_FAILURE() << "only streams of a GPU have such calls";
        } catch (const base::Error& error) {
          EXPECT_EQ(error.code(), base::ExitCode::skipped);
        }
      } else {
        EXPECT_FALSE(bench.run(repetition).mismatch);
      }
    }
  }
}

TEST(LanesTest, ZeroCopyLeavesTheDeviceArraysAlone) {
  deck::Deck deck = test_deck(WorkloadKind::increment, 1000, 4, ElementType::int32);
  deck.workload.type = ElementType::float32;
  deck.memory.transfer = deck::Transfer::zero_copy;
  TestBench bench(deck, Order::depth_first, 2);
  for (const schedule::Task& task : bench.schedule.tasks) {
    EXPECT_EQ(task.stage, schedule::Stage::kernel);
  }
  EXPECT_FALSE(bench.run(1).mismatch);
  const auto mirror = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(),
      Kokkos::View<workload::Byte*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          bench.workload.device[0].data(), 4000));
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(mirror(i), 0xff) << i;  // still poisoned
}

std::vector<std::string>& regions() {
  static std::vector<std::string> regions;
  return regions;
}

TEST(LanesTest, ProfilersSeeTheDecksWords) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 1, ElementType::float32),
                  Order::depth_first, 1);
  bench.workload.generate(1);
  regions().clear();
  Kokkos::Tools::Experimental::set_push_region_callback(
      [](const char* name) { regions().emplace_back(name); });
  Kokkos::Tools::Experimental::set_pop_region_callback([] { regions().emplace_back("end"); });
  bench.executor->run(bench.schedule, bench.workload);
  Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
  Kokkos::Tools::Experimental::set_pop_region_callback(nullptr);
  EXPECT_THAT(regions(),
              testing::ElementsAre("h2d", "end", "kernel", "end", "d2h", "end", "wait", "end"));
}

}  // namespace
}  // namespace overlap
