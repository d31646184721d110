#include <gmock/gmock.h>

#include <random>
#include <thread>

#include "bench.hpp"
#include "deck/words.hpp"
#include "lanes/copy_pool.hpp"
#include "lanes/fenced_lanes.hpp"
#include "measure/host_worker.hpp"
#include "measure/trials.hpp"
#include "schedule/additions.hpp"
#include "signals.hpp"
#include "spaces.hpp"

namespace overlap {
namespace {

using deck::Order;
using deck::Type;
using deck::WorkloadKind;
using lanes::FencedLanes;
using lanes::Lanes;
using testing::HasSubstr;

template <class Space>
class LanesTest : public testing::Test {};
TYPED_TEST_SUITE(LanesTest, Spaces);

/// The back end's lanes, for tests to change a call of.
template <class Space>
class ChangedLanes : public Lanes {
 public:
  explicit ChangedLanes(int lanes) : lanes_(lanes::make_lanes(workload::id_of<Space>, lanes)) {}
  void bind(const schedule::Schedule& s, const workload::Workload& w) override {
    lanes_->bind(s, w);
  }
  void issue(schedule::TaskId task) override { lanes_->issue(task); }
  void wait(int lane) override { lanes_->wait(lane); }
  bool query(int lane) override { return lanes_->query(lane); }
  workload::InstanceRef instance(int lane) const override { return lanes_->instance(lane); }

 private:
  std::unique_ptr<Lanes> lanes_;
};

/// A slow host: it sleeps a random while before it issues a task.
template <class Space>
class DelayedLanes final : public ChangedLanes<Space> {
 public:
  using ChangedLanes<Space>::ChangedLanes;
  void issue(schedule::TaskId task) override {
    const int delay = std::uniform_int_distribution(-40, 40)(random_);
    if (delay > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay));
    ChangedLanes<Space>::issue(task);
  }

 private:
  std::mt19937 random_{7};
};

/// A query gives a signal.
template <class Space>
class SignallingLanes final : public ChangedLanes<Space> {
 public:
  SignallingLanes(int lanes, int* signal) : ChangedLanes<Space>(lanes), signal_(signal) {}
  bool query(int lane) override {
    give(signal_);
    return ChangedLanes<Space>::query(lane);
  }

 private:
  int* signal_;
};

/// All but the ones that list their tasks or have tiles.
std::vector<WorkloadKind> chunked_kinds() {
  std::vector<WorkloadKind> kinds;
  for (const auto& word : deck::words<WorkloadKind>) {
    if (word.value == WorkloadKind::custom || word.value == WorkloadKind::dgemm) continue;
    kinds.push_back(word.value);
  }
  return kinds;
}

TYPED_TEST(LanesTest, EveryOrderOfEveryWorkloadIsRight) {
  for (const WorkloadKind kind : chunked_kinds()) {
    for (const Order order : deck::orders_of(kind)) {
      if (order == Order::automatic) continue;  // becomes one of the others
      for (const int lanes : {1, 2, 5}) {
        SCOPED_TRACE(std::string(to_string(kind)) + " " + std::string(to_string(order)));
        const Type type = kind == WorkloadKind::rowsum ? Type::int32 : Type::float32;
        TestBench<TypeParam> bench(test_deck(kind, 1003, 7, type), order, lanes);
        for (std::uint32_t repetition = 1; repetition < 4; ++repetition) {
          const auto result = bench.run(repetition);
          EXPECT_FALSE(result.mismatch);
          EXPECT_LE(result.max_error, result.tolerance);
        }
      }
    }
  }
}

TYPED_TEST(LanesTest, OutOfCoreIsRight) {
  for (const WorkloadKind kind : chunked_kinds()) {
    for (const Order order : deck::orders_of(kind)) {
      if (order == Order::automatic) continue;  // becomes one of the others
      deck::Deck deck = test_deck(kind, 1000, 10, Type::float32);
      const auto costs = schedule::costs(deck.workload, 1);
      std::size_t unit = 0;
      for (const auto& array : costs.arrays) unit += array.unit_bytes;
      deck.memory.device_limit = static_cast<std::int64_t>(unit) * 350;  // 3 of 10 chunks
      TestBench<TypeParam> bench(deck, order, 4);
      EXPECT_EQ(bench.schedule.slots, 3);
      EXPECT_FALSE(bench.run(1).mismatch) << to_string(kind) << " " << to_string(order);
    }
  }
}

TYPED_TEST(LanesTest, FencesServeWhereThereIsNothingBetter) {
  for (const Order order : deck::orders_of(WorkloadKind::pipeline)) {
    if (order == Order::automatic) continue;  // becomes one of the others
    TestBench<TypeParam> bench(test_deck(WorkloadKind::pipeline, 1000, 4, Type::float64), order, 4,
                               std::make_unique<FencedLanes<TypeParam>>(6));
    EXPECT_FALSE(bench.run(1).mismatch) << to_string(order);
  }
}

TYPED_TEST(LanesTest, PipelineStaysRightOverManyIterationsOfASlowHost) {
  deck::Deck deck = test_deck(WorkloadKind::pipeline, 500, 1, Type::float32);
  deck.workload.iterations = 1000;
  for (const Order order : {Order::by_engine, Order::depth_first}) {
    auto slow = std::make_unique<DelayedLanes<TypeParam>>(6);
    TestBench<TypeParam> bench(deck, order, 6, std::move(slow));
    EXPECT_FALSE(bench.run(1).mismatch) << deck::to_string(order);
  }
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

/// Runs the rendezvous on the lanes and returns whether both waits ended in time.
template <class Space>
bool copies_during_a_kernel(std::unique_ptr<Lanes> lanes) {
  const deck::Deck deck = test_deck(WorkloadKind::increment, 3000, 3, Type::float32);
  TestBench<Space> bench(deck, Order::depth_first, 2, std::move(lanes));
  Kokkos::View<int*, typename Space::memory_space> memory("test::signals", 4);
  Kokkos::fence();
  int* const at = memory.data();
  bench.workload.launch = [=](const Space& instance, const workload::Call& call) {
    const int chunk = static_cast<int>(call.begin / 1000);
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
  const auto task = [](schedule::Stage stage, int chunk, int lane) {
    return schedule::Task{.stage = stage,
                          .chunk = chunk,
                          .lane = lane,
                          .bytes = 4000,
                          .uses = {static_cast<std::uint32_t>(chunk), 1}};
  };
  using schedule::Stage;
  schedule::Schedule schedule = bench.schedule;
  schedule.tasks = {task(Stage::kernel, 0, 0), task(Stage::kernel, 1, 1), task(Stage::h2d, 2, 1),
                    task(Stage::d2h, 2, 1), task(Stage::kernel, 2, 1)};
  schedule.lanes = 2;
  set_signals(0);
  bench.executor->run(schedule, bench.workload);
  Kokkos::deep_copy(host, memory);
  return host(2) == 1 && host(3) == 1;
}

TYPED_TEST(LanesTest, CopiesRunDuringAnotherChunksKernel) {
  EXPECT_TRUE(copies_during_a_kernel<TypeParam>(lanes::make_lanes(workload::id_of<TypeParam>, 2)));
  // With fences alone it depends on the space: the launches of host spaces block, and this test
  // must see that.
  EXPECT_EQ(copies_during_a_kernel<TypeParam>(std::make_unique<FencedLanes<TypeParam>>(2)),
            !workload::is_host<TypeParam>);
}

// Errors.

TYPED_TEST(LanesTest, AnErrorInALaneNamesTaskAndLaneAndHangsNothing) {
  for (const bool fenced : {false, true}) {
    TestBench<TypeParam> bench(test_deck(WorkloadKind::increment, 1000, 8, Type::float32),
                               Order::by_engine, 3,
                               fenced ? std::make_unique<FencedLanes<TypeParam>>(3) : nullptr);
    const auto launch = bench.workload.launch;
    bench.workload.launch = [&](const TypeParam& instance, const workload::Call& call) {
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

// Measurement.

TYPED_TEST(LanesTest, MeasureTakesTurnsAndVerifies) {
  const deck::Deck deck = test_deck(WorkloadKind::increment, 10000, 4, Type::float32);
  TestBench<TypeParam> bench(deck, Order::depth_first, 4);
  const auto costs = schedule::costs(deck.workload, 1);
  const auto sequential =
      schedule::build(costs, schedule::layout(deck, costs, std::nullopt), Order::sequential, 1);
  for (const auto& [verify, verified] :
       {std::pair(deck::Verify::every, 10), {deck::Verify::ends, 4}}) {
    std::vector<int> done;
    int begun = 0;
    std::vector runs = {experiment::new_run(Order::sequential, sequential),
                        experiment::new_run(Order::depth_first, bench.schedule)};
    const measure::Checking checking = measure::measure(
        *bench.executor, runs, bench.workload, {.warmup = 2, .repetitions = 5, .verify = verify},
        {.progress = [&](int at, int, const std::string&) { done.push_back(at); },
         .before_sample = [&] { ++begun; }});
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0].order, Order::sequential);
    EXPECT_EQ(runs[1].samples_s.size(), 5U);
    EXPECT_EQ(runs[1].bytes, 80000);
    EXPECT_TRUE(runs[1].verified);
    EXPECT_FALSE(runs[1].wrong);
    EXPECT_EQ(checking.runs, verified);
    EXPECT_EQ(done.back(), 14);
    EXPECT_EQ(begun, 14);
  }
}

TYPED_TEST(LanesTest, MeasureKeepsTheFirstWrongElement) {
  TestBench<TypeParam> bench(test_deck(WorkloadKind::increment, 1000, 4, Type::float32),
                             Order::depth_first, 4);
  bench.schedule.tasks.erase(bench.schedule.tasks.begin() + 8);  // the copy back of chunk 2
  std::vector runs = {experiment::new_run(Order::depth_first, bench.schedule)};
  measure::measure(*bench.executor, runs, bench.workload, {.warmup = 0, .repetitions = 2});
  ASSERT_TRUE(runs[0].wrong);
  EXPECT_EQ(runs[0].wrong->chunk, 2);
  EXPECT_EQ(runs[0].wrong->array, "a");
  EXPECT_EQ(runs[0].wrong->index, 500);
}

/// Runs every workload in every order with these, several repetitions; returns whether the back end
/// has them.
template <class Space>
bool right_with(const deck::Issue& issue, const deck::Memory& memory = {}) {
  for (const auto kind : {WorkloadKind::increment, WorkloadKind::rowsum, WorkloadKind::pipeline}) {
    for (const Order order :
         {Order::sequential, Order::depth_first, Order::breadth_first, Order::by_engine}) {
      SCOPED_TRACE(std::string(to_string(kind)) + " " + std::string(to_string(order)));
      deck::Deck deck = test_deck(kind, 10000, 5, Type::float32);
      deck.issue = issue;
      deck.memory = memory;
      std::optional<TestBench<Space>> bench;
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
      EXPECT_EQ(bench->executor->graph_costs().has_value(), graph);
      const bool ring = memory.host == deck::HostMemory::pageable_staged;
      EXPECT_EQ(bench->executor->staging_costs().has_value(), ring);
      if (ring) {
        EXPECT_GT(bench->executor->staging_costs()->fill_s, 0);
      }
    }
  }
  return true;
}

TYPED_TEST(LanesTest, WaysOfWaitingGiveTheSameData) {
  for (const auto& word : deck::words<deck::Sync>) {
    SCOPED_TRACE(word.name);
    const bool runs = right_with<TypeParam>({.sync = word.value});
    EXPECT_EQ(runs, !workload::is_host<TypeParam> || word.value != deck::Sync::event);
  }
}

TYPED_TEST(LanesTest, KindsOfStreamsGiveTheSameData) {
  for (const auto& word : deck::words<deck::Streams>) {
    SCOPED_TRACE(word.name);
    const bool runs = right_with<TypeParam>({.streams = word.value});
    EXPECT_EQ(runs, !workload::is_host<TypeParam> || word.value == deck::Streams::own);
  }
}

TYPED_TEST(LanesTest, GraphsGiveTheSameData) {
  EXPECT_EQ(right_with<TypeParam>({.mechanism = deck::Mechanism::graph}),
            !workload::is_host<TypeParam>);
}

TYPED_TEST(LanesTest, KindsOfHostMemoryGiveTheSameData) {
  for (const auto& word : deck::words<deck::HostMemory>) {
    SCOPED_TRACE(word.name);
    // Pieces of two slots are smaller than a chunk.
    const bool runs =
        right_with<TypeParam>({}, {.host = word.value, .ring_slots = 2, .ring_bytes = 4096});
    const bool anywhere =
        word.value == deck::HostMemory::pinned || word.value == deck::HostMemory::pageable;
    EXPECT_EQ(runs, anywhere || !workload::is_host<TypeParam>);
  }
}

TYPED_TEST(LanesTest, ZeroCopyGivesTheSameData) {
  EXPECT_TRUE(right_with<TypeParam>({}, {.transfer = deck::Transfer::zero_copy}));
}

TYPED_TEST(LanesTest, DisturbancesLeaveTheDataRight) {
  for (const auto& word : deck::words<deck::Disturbance>) {
    SCOPED_TRACE(word.name);
    deck::Deck deck = test_deck(WorkloadKind::increment, 10000, 5, Type::float32);
    deck.issue.streams =
        workload::is_host<TypeParam> ? deck::Streams::own : deck::Streams::blocking;
    TestBench<TypeParam> bench(deck, Order::depth_first, 3);
    bench.schedule = schedule::disturbed(bench.schedule, {.operation = word.value, .times = 3});
    for (std::uint32_t repetition = 1; repetition <= 2; ++repetition) {
      if constexpr (workload::is_host<TypeParam>) {
        try {
          bench.run(repetition);
          ADD_FAILURE() << "no back end but CUDA has such calls";
        } catch (const base::Error& error) {
          EXPECT_EQ(error.code(), base::ExitCode::skipped);
        }
      } else {
        EXPECT_FALSE(bench.run(repetition).mismatch);
      }
    }
  }
}

/// A schedule with work of the host, and what does that work.
template <class Space>
struct HostWorkBench : TestBench<Space> {
  measure::HostWorker work{6, 1e-4};

  HostWorkBench(Order order, deck::Mechanism mechanism = deck::Mechanism::streams)
      : TestBench<Space>(deck_of(mechanism), order, 2) {
    this->schedule = schedule::with_host_work(this->schedule, 1e-4, work.pieces());
    this->executor->set_host_worker(&work);
  }

  static deck::Deck deck_of(deck::Mechanism mechanism) {
    deck::Deck deck = test_deck(WorkloadKind::increment, 10000, 6, Type::float32);
    deck.issue.mechanism = mechanism;
    return deck;
  }

  std::optional<experiment::WrongData> wrong(std::uint32_t repetition) {
    work.begin(repetition);
    EXPECT_FALSE(this->run(repetition).mismatch);
    return work.verify();
  }
};

TYPED_TEST(LanesTest, HostWorkIsDoneOncePerRun) {
  for (const Order order : {Order::sequential, Order::depth_first, Order::by_engine}) {
    SCOPED_TRACE(deck::to_string(order));
    HostWorkBench<TypeParam> bench(order);
    EXPECT_FALSE(bench.wrong(1));
    EXPECT_FALSE(bench.wrong(2));
    // Twice is once too often.
    bench.run(2);
    ASSERT_TRUE(bench.work.verify());
    EXPECT_EQ(bench.work.verify()->chunk, 0);
  }
}

/// Two measured repetitions of the bench's schedule.
template <class Space>
experiment::Run measured(const HostWorkBench<Space>& bench) {
  std::vector runs = {experiment::new_run(bench.schedule.order, bench.schedule)};
  runs[0].host_work = true;
  measure::measure(*bench.executor, runs, bench.workload, {.warmup = 1, .repetitions = 2});
  return runs[0];
}

TYPED_TEST(LanesTest, LostHostWorkShows) {
  HostWorkBench<TypeParam> bench(Order::depth_first);
  EXPECT_FALSE(measured(bench).wrong);
  ASSERT_EQ(bench.schedule.tasks.back().stage, schedule::Stage::host);
  bench.schedule.tasks.pop_back();
  const auto wrong = measured(bench).wrong;
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->chunk, 5);
  EXPECT_EQ(wrong->array, "host work");
  EXPECT_EQ(wrong->found, 0);
}

// Kernels that end when the host has done its work, which a query behind that tells: they would
// wait in vain if the host did it behind them.

struct AwaitsHostWork {
  int* done;
  int* seen;

  KOKKOS_FUNCTION void operator()(int) const {
    if (wait_for(done)) give(seen);
  }
};

TYPED_TEST(LanesTest, HostWorkRunsWhileKernelsAreHeld) {
  for (const Order order : {Order::sequential, Order::depth_first, Order::by_engine}) {
    SCOPED_TRACE(deck::to_string(order));
    HostWorkBench<TypeParam> bench(order);
    const Kokkos::View<int*, workload::PinnedSpace<TypeParam>> signals("signals", 2);
    int* const at = signals.data();
    bench.executor = std::make_unique<measure::Executor>(
        std::make_unique<SignallingLanes<TypeParam>>(bench.schedule.lanes, at));
    bench.executor->set_host_worker(&bench.work);
    auto& tasks = bench.schedule.tasks;
    const auto work = std::find_if(tasks.begin(), tasks.end(), [](const schedule::Task& task) {
      return task.stage == schedule::Stage::host;
    });
    tasks.insert(work + 1, {.stage = schedule::Stage::query});
    bench.workload.launch = [=](const TypeParam& instance, const workload::Call&) {
      Kokkos::parallel_for("test::hold", Kokkos::RangePolicy<TypeParam>(instance, 0, 1),
                           AwaitsHostWork{at, at + 1});
    };
    bench.workload.generate(1);
    give(at);  // already, for the warm-up
    bench.executor->run(bench.schedule, bench.workload);
    signals(0) = signals(1) = 0;
    bench.executor->run(bench.schedule, bench.workload);
    EXPECT_EQ(signals(1), 1);
  }
}

TYPED_TEST(LanesTest, GraphsLeaveHostWorkToTheHost) {
  if (workload::is_host<TypeParam>) GTEST_SKIP() << "only CUDA has graphs";
  HostWorkBench<TypeParam> bench(Order::depth_first, deck::Mechanism::graph);
  EXPECT_FALSE(bench.wrong(1));
  EXPECT_FALSE(bench.wrong(2));
  EXPECT_TRUE(bench.executor->graph_costs());
}

TYPED_TEST(LanesTest, MeasuringTakesTheTimeOfHostWork) {
  const experiment::Run run = measured(HostWorkBench<TypeParam>(Order::depth_first));
  ASSERT_EQ(run.host_work_samples.samples_s.size(), 2U);
  EXPECT_GE(run.host_work_samples.threads, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(run.host_work_samples.samples_s[i], 1e-4);
    EXPECT_LT(run.host_work_samples.samples_s[i], run.samples_s[i]);
  }
}

TYPED_TEST(LanesTest, ZeroCopyLeavesTheDeviceArraysAlone) {
  deck::Deck deck = test_deck(WorkloadKind::increment, 1000, 4, Type::int32);
  deck.workload.type = Type::float32;
  deck.memory.transfer = deck::Transfer::zero_copy;
  TestBench<TypeParam> bench(deck, Order::depth_first, 2);
  for (const schedule::Task& task : bench.schedule.tasks) {
    EXPECT_EQ(task.stage, schedule::Stage::kernel);
  }
  EXPECT_FALSE(bench.run(1).mismatch);
  const auto mirror = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(),
      Kokkos::View<workload::Byte*, typename TypeParam::memory_space,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>(bench.workload.device[0].data(), 4000));
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(mirror(i), 0xff) << i;  // still poisoned
}

std::vector<std::string>& regions() {
  static std::vector<std::string> regions;
  return regions;
}

TYPED_TEST(LanesTest, ProfilersSeeTheDecksWords) {
  TestBench<TypeParam> bench(test_deck(WorkloadKind::increment, 1000, 1, Type::float32),
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

// The slots of a ring, with the test as the device: it takes what threads have put into a slot, and
// gives the slot back. Jobs of the second queue copy it on, each behind the device's turn.
TEST(CopyPool, CopiesWhenItsTurnHasCome) {
  using lanes::Turn;
  constexpr std::size_t piece = 1000;
  constexpr std::size_t slots = 3;
  for (const int threads : {1, 2, 5}) {
    SCOPED_TRACE(threads);
    lanes::CopyPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t pieces : {1, 7, 5000}) {
      std::vector<unsigned char> from(piece * pieces);
      for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<unsigned char>(i % 251 + pieces);
      }
      std::vector<unsigned char> slot(piece * slots), to(piece * pieces);
      std::vector<Turn> filled(slots), taken(slots), drained(pieces);
      std::jthread device([&] {
        for (std::size_t i = 0; i < pieces; ++i) {
          const auto turn = static_cast<Turn>(i / slots + 1);
          while (!lanes::has_reached(filled[i % slots], turn)) std::this_thread::yield();
          std::atomic_ref(taken[i % slots]).store(turn, std::memory_order_release);
          // The slot's next turn is the drain's, below.
          while (!lanes::has_reached(drained[i], 1)) std::this_thread::yield();
        }
      });
      for (std::size_t i = 0; i < pieces; ++i) {
        const auto turn = static_cast<Turn>(i / slots + 1);
        unsigned char* const place = slot.data() + i % slots * piece;
        // A slot may be filled again when it was drained.
        Turn* const free = i < slots ? &taken[i % slots] : &drained[i - slots];
        pool.push(0, {place, from.data() + i * piece, piece, free, i < slots ? 0U : 1U,
                      &filled[i % slots], turn});
        pool.push(1,
                  {to.data() + i * piece, place, piece, &taken[i % slots], turn, &drained[i], 1});
      }
      device.join();
      EXPECT_EQ(to, from);
      EXPECT_GT(pool.seconds(0), 0);
      pool.reset();
      EXPECT_EQ(pool.seconds(0), 0);
    }
  }
}

// Jobs behind one that must wait wait, too; other queues do not.
TEST(CopyPool, KeepsTheOrderOfEachQueue) {
  using lanes::Turn;
  lanes::CopyPool pool(2);
  Turn gate = 0;
  Turn open = 1;
  std::array<Turn, 3> done = {};
  char from = 'x', to[3] = {};
  pool.push(0, {&to[0], &from, 1, &gate, 1, &done[0], 1});
  pool.push(0, {&to[1], &from, 1, &open, 1, &done[1], 1});
  pool.push(1, {&to[2], &from, 1, &open, 1, &done[2], 1});
  while (!lanes::has_reached(done[2], 1)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(lanes::has_reached(done[1], 1));
  std::atomic_ref(gate).store(1, std::memory_order_release);
  for (const std::size_t job : {0, 1}) {
    while (!lanes::has_reached(done[job], 1)) std::this_thread::yield();
  }
}

TEST(CopyPool, ForgetsJobsThatNeverBegan) {
  using lanes::Turn;
  Turn never = 0;
  Turn done = 0;
  char from = 'x', to = 'y';
  lanes::CopyPool pool(2);
  pool.push(0, {&to, &from, 1, &never, 1, &done, 1});
  pool.reset();
  std::atomic_ref(never).store(1);
  Turn other = 0;
  pool.push(0, {&from, &from, 0, &never, 1, &other, 1});
  while (!lanes::has_reached(other, 1)) std::this_thread::yield();
  EXPECT_EQ(to, 'y');
}

// A kernel that takes the host a known time for each repeat: what balancing must find is known,
// too.
TYPED_TEST(LanesTest, BalanceFindsTheRepeats) {
  TestBench<TypeParam> bench(test_deck(WorkloadKind::increment, 1 << 21, 1, Type::float32),
                             Order::depth_first, 1);
  for (const double target : {1.0, 4.0}) {
    double repeat_s = 0;
    bench.workload.launch = [&](const TypeParam&, const workload::Call& call) {
      const auto end = std::chrono::steady_clock::now() +
                       std::chrono::duration<double>(repeat_s * static_cast<double>(call.repeats));
      while (std::chrono::steady_clock::now() < end) continue;
    };
    const auto near = [&](const auto& balance) {
      return balance.repeats > 1 && std::abs(balance.ratio() - target) <= 0.35 * target;
    };
    const auto balance = first_that(near, [&] {
      // With kernels of no length the copy's time shows; a fifth of it is then a repeat's.
      repeat_s = 0;
      repeat_s =
          measure::find_balance(*bench.executor, bench.schedule, bench.workload, 1).copy_s / 5;
      return measure::find_balance(*bench.executor, bench.schedule, bench.workload, target);
    });
    EXPECT_GT(balance.repeats, 1);
    EXPECT_NEAR(balance.ratio(), target, 0.35 * target);
    repeat_s = 20 * balance.copy_s * target;
    EXPECT_EQ(
        measure::find_balance(*bench.executor, bench.schedule, bench.workload, target).repeats, 1);
  }
}

TYPED_TEST(LanesTest, BalanceNeverGoesBelowOneRepeat) {
  deck::Deck deck = test_deck(WorkloadKind::increment, 200000, 4, Type::float32);
  TestBench<TypeParam> bench(deck, Order::depth_first, 4);
  const auto balance = measure::find_balance(*bench.executor, bench.schedule, bench.workload, 4.0);
  EXPECT_GE(balance.repeats, 1);
  EXPECT_GT(balance.copy_s, 0);
  EXPECT_GT(balance.kernel_s, 0);
  EXPECT_EQ(bench.workload.repeats, balance.repeats);
  EXPECT_FALSE(bench.run(1).mismatch);
}

}  // namespace
}  // namespace overlap
