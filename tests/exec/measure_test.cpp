#include <gmock/gmock.h>

#include "bench.hpp"
#include "changed_lanes.hpp"
#include "deck/words.hpp"
#include "measure/calibration.hpp"
#include "model/predict.hpp"
#include "schedule/build.hpp"
#include "signals.hpp"

/// The measuring loop, the host's own work, samples and balance.
namespace overlap {
namespace {

using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;

TEST(MeasureTest, MeasureTakesTurnsAndVerifies) {
  const deck::Deck deck = test_deck(WorkloadKind::increment, 10000, 4, ElementType::float32);
  TestBench bench(deck, Order::depth_first, 4);
  const auto costs = schedule::costs(deck.workload, 1);
  const auto sequential =
      schedule::build(costs, schedule::layout(deck, costs, std::nullopt), Order::sequential, 1);
  for (const auto& [verify, verified] :
       {std::pair(deck::Verify::every, 10), {deck::Verify::ends, 4}}) {
    std::vector<int> done;
    int begun = 0;
    int rounds = 0;
    std::vector<experiment::Case> cases = {case_of(Order::sequential, sequential),
                                           case_of(Order::depth_first, bench.schedule)};
    const experiment::Samples samples = measure::run_rounds(
        *bench.executor, cases, bench.workload, {.warmup = 2, .repetitions = 5, .verify = verify},
        {.progress = [&](int at, int, const std::string&) { done.push_back(at); },
         .before_sample = [&] { ++begun; }},
        {}, {}, [&](auto&, bool) { ++rounds; });
    EXPECT_EQ(rounds, 5);
    ASSERT_EQ(cases.size(), 2U);
    EXPECT_EQ(cases[0].run.order, Order::sequential);
    EXPECT_EQ(cases[1].run.samples_s.size(), 5U);
    EXPECT_EQ(cases[1].run.bytes(), 80000);
    EXPECT_TRUE(cases[1].run.verified);
    EXPECT_FALSE(cases[1].run.wrong);
    EXPECT_EQ(samples.verified_runs, verified);
    EXPECT_EQ(done.back(), 14);
    EXPECT_EQ(begun, 14);
  }
}

TEST(MeasureTest, PrecisionEndsTheRepetitions) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32),
                  Order::depth_first, 4);
  std::vector<experiment::Case> cases = {case_of(Order::depth_first, bench.schedule)};
  // As wide as intervals may be: two looks are enough. Each of them may be the last repetition.
  const experiment::Samples samples =
      measure::run_rounds(*bench.executor, cases, bench.workload,
                          {.warmup = 0, .precision = 1e6, .verify = deck::Verify::ends});
  ASSERT_TRUE(samples.stopped);
  EXPECT_EQ(samples.stopped->reason, experiment::StopReason::precision);
  EXPECT_EQ(samples.stopped->repetitions, 30);
  EXPECT_EQ(cases[0].run.samples_s.size(), 30U);
  EXPECT_EQ(samples.verified_runs, 3);
}

TEST(MeasureTest, SoaksLastAndVerifyEveryRepetition) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32),
                  Order::depth_first, 4);
  std::vector<experiment::Case> cases(2, case_of(Order::depth_first, bench.schedule));
  int most = 0;
  const auto show = [&](int done, int total, const std::string&) {
    EXPECT_EQ(total, 200);  // ms
    EXPECT_GE(done, most);
    most = done;
  };
  const experiment::Samples samples =
      measure::run_rounds(*bench.executor, cases, bench.workload, {.warmup = 1, .duration_s = 0.2},
                          {.progress = show, .before_sample = {}});
  ASSERT_TRUE(samples.stopped);
  EXPECT_EQ(samples.stopped->reason, experiment::StopReason::duration);
  EXPECT_GE(samples.stopped->elapsed_s, 0.2);
  EXPECT_EQ(most, 200);
  EXPECT_EQ(samples.verified_runs, 2 * samples.stopped->repetitions);
  for (const experiment::Case& one : cases) {
    EXPECT_EQ(one.run.repetitions, samples.stopped->repetitions);
    EXPECT_LE(one.run.samples_s.size(), 4096U);
    EXPECT_EQ(one.run.samples_s.size(), one.issue_s.size());
  }
}

TEST(MeasureTest, TheRoundInWhichTimeRunsOutIsTheLast) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32),
                  Order::depth_first, 4);
  std::vector<experiment::Case> cases = {case_of(Order::depth_first, bench.schedule)};
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  const experiment::Samples samples =
      measure::run_rounds(*bench.executor, cases, bench.workload, {.warmup = 0, .duration_s = 0.01},
                          {.progress = {}, .before_sample = nap});
  EXPECT_EQ(samples.stopped->repetitions, 1);
}

TEST(LinkTest, CopiesAsTheLargestChunk) {
  experiment::Case baseline, chunked;
  baseline.schedule.tasks = {{.stage = schedule::Stage::h2d, .bytes = 400 << 20}};
  chunked.run.order = Order::depth_first;
  chunked.schedule.tasks = {{.stage = schedule::Stage::h2d, .bytes = 100 << 20},
                            {.stage = schedule::Stage::kernel, .bytes = 500 << 20},
                            {.stage = schedule::Stage::d2h, .bytes = 200 << 20}};
  EXPECT_EQ(measure::link_bytes({baseline, chunked}), 200 << 20);
  EXPECT_EQ(measure::link_bytes({baseline}), 400 << 20);
  chunked.schedule.tasks.resize(1);
  chunked.schedule.tasks[0].bytes = 1000;
  EXPECT_EQ(measure::link_bytes({chunked}), 64 << 20);
}

TEST(MeasureTest, MeasureKeepsTheFirstWrongElement) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32),
                  Order::depth_first, 4);
  bench.schedule.tasks.erase(bench.schedule.tasks.begin() + 8);  // the copy back of chunk 2
  std::vector<experiment::Case> cases = {case_of(Order::depth_first, bench.schedule)};
  measure::run_rounds(*bench.executor, cases, bench.workload, {.warmup = 0, .repetitions = 2});
  ASSERT_TRUE(cases[0].run.wrong);
  EXPECT_EQ(cases[0].run.wrong->chunk, 2);
  EXPECT_EQ(cases[0].run.wrong->array, "a");
  EXPECT_EQ(cases[0].run.wrong->index, 500);
}

/// A query gives a signal.
class SignallingLanes final : public ChangedLanes {
 public:
  SignallingLanes(int lanes, int* signal) : ChangedLanes(lanes), signal_(signal) {}
  bool query(int lane) override {
    give(signal_);
    return ChangedLanes::query(lane);
  }

 private:
  int* signal_;
};

/// A schedule with work of the host.
struct HostWorkBench : TestBench {
  HostWorkBench(Order order, deck::Mechanism mechanism = deck::Mechanism::streams)
      : TestBench(deck_of(mechanism), order, 2) {
    this->schedule = schedule::with_host_work(this->schedule, 1e-4, 6);
    measure::calibrate_host_steps(this->workload);
  }

  static deck::Deck deck_of(deck::Mechanism mechanism) {
    deck::Deck deck = test_deck(WorkloadKind::increment, 10000, 6, ElementType::float32);
    deck.issue.mechanism = mechanism;
    return deck;
  }
};

// Kernels that end when the host has done its work, which a query behind that tells: they would
// wait in vain if the host did it behind them.

struct AwaitsHostWork {
  int* done;
  int* seen;

  KOKKOS_FUNCTION void operator()(int) const {
    if (wait_for(done)) give(seen);
  }
};

TEST(MeasureTest, HostWorkRunsWhileKernelsAreHeld) {
  for (const Order order : {Order::sequential, Order::depth_first, Order::by_engine}) {
    SCOPED_TRACE(deck::to_string(order));
    HostWorkBench bench(order);
    const Kokkos::View<int*, Kokkos::SharedHostPinnedSpace> signals("signals", 2);
    int* const at = signals.data();
    bench.executor = std::make_unique<measure::Executor>(
        std::make_unique<SignallingLanes>(bench.schedule.lanes, at), bench.schedule.lanes);
    auto& tasks = bench.schedule.tasks;
    const auto work = std::find_if(tasks.begin(), tasks.end(), [](const schedule::Task& task) {
      return task.stage == schedule::Stage::host;
    });
    tasks.insert(work + 1, {.stage = schedule::Stage::query});
    bench.workload.launch = [=](const Space& instance, const workload::Call&) {
      Kokkos::parallel_for("test::hold", Kokkos::RangePolicy<Space>(instance, 0, 1),
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

TEST(MeasureTest, GraphsLeaveHostWorkToTheHost) {
  if (workload::is_host) GTEST_SKIP() << "only GPUs have graphs";
  HostWorkBench bench(Order::depth_first, deck::Mechanism::graph);
  EXPECT_FALSE(bench.run(1).mismatch);
  EXPECT_FALSE(bench.run(2).mismatch);
  EXPECT_TRUE(bench.executor->lanes().graph_costs());
}

TEST(MeasureTest, HostWorkLastsAsLongAsAsked) {
  for (const Order order : {Order::sequential, Order::depth_first, Order::by_engine}) {
    SCOPED_TRACE(deck::to_string(order));
    const HostWorkBench bench(order);
    std::vector<experiment::Case> cases = {case_of(order, bench.schedule)};
    cases[0].run.host_work.emplace();
    measure::run_rounds(*bench.executor, cases, bench.workload, {.warmup = 1, .repetitions = 5});
    const std::vector<double>& work_s = cases[0].run.host_work->samples_s;
    ASSERT_EQ(work_s.size(), 5U);
    EXPECT_GT(std::ranges::min(work_s), 0.7 * 6e-4);
    for (std::size_t i = 0; i < work_s.size(); ++i) EXPECT_LT(work_s[i], cases[0].run.samples_s[i]);
  }
}

// A kernel that takes the host a known time for each repeat: what balancing must find is known,
// too.
TEST(MeasureTest, BalanceFindsTheRepeats) {
  TestBench bench(test_deck(WorkloadKind::increment, 1 << 21, 1, ElementType::float32),
                  Order::depth_first, 1);
  for (const double target : {1.0, 4.0}) {
    double repeat_s = 0;
    bench.workload.launch = [&](const Space&, const workload::Call& call) {
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

TEST(MeasureTest, BalanceNeverGoesBelowOneRepeat) {
  deck::Deck deck = test_deck(WorkloadKind::increment, 200000, 4, ElementType::float32);
  TestBench bench(deck, Order::depth_first, 4);
  const auto balance = measure::find_balance(*bench.executor, bench.schedule, bench.workload, 4.0);
  EXPECT_GE(balance.repeats, 1);
  EXPECT_GT(balance.copy_s, 0);
  EXPECT_GT(balance.kernel_s, 0);
  EXPECT_EQ(bench.workload.repeats, balance.repeats);
  EXPECT_FALSE(bench.run(1).mismatch);
}

TEST(MeasureTest, ASchedulesLanesMustExist) {
  TestBench bench(test_deck(WorkloadKind::increment, 3000, 3, ElementType::float32),
                  Order::depth_first, 3);
  bench.executor = std::make_unique<measure::Executor>(2, deck::Issue(), deck::Memory());
  EXPECT_THROW(bench.executor->run(bench.schedule, bench.workload), std::logic_error);
}

TEST(Link, IsMeasuredInTurn) {
  int begun = 0;
  measure::LinkMeter link(64 << 20);
  link.warm_up();
  experiment::DeviceSamples found;
  for (int i = 0; i < 3; ++i) link.add_sample(found, {.before_sample = [&] { ++begun; }});
  EXPECT_EQ(found.link->bytes, 64 << 20);
  EXPECT_EQ(begun, 3 * 3);
  for (const auto* const samples : {&found.link->h2d_s, &found.link->d2h_s, &found.link->duplex_s,
                                    &found.link->duplex_h2d_s, &found.link->duplex_d2h_s}) {
    EXPECT_EQ(samples->size(), 3U);
    // No link moves more than 10 TB/s, and no test runs on one of less than 64 MB/s.
    EXPECT_THAT(*samples, testing::Each(testing::AllOf(testing::Gt(6e-6), testing::Lt(1.0))));
  }
}

/// Lanes on which each copy to the device takes as long as four.
struct SlowToDevice : ChangedLanes {
  explicit SlowToDevice(std::vector<schedule::Traffic>& seen) : ChangedLanes(2), runs(seen) {}
  void bind(const schedule::Schedule& s, const workload::Workload& w) override {
    tasks = &s.tasks;
    runs.push_back(schedule::traffic(s));
    ChangedLanes::bind(s, w);
  }
  void issue(schedule::TaskId task) override {
    const int times = (*tasks)[task].stage == schedule::Stage::h2d ? 4 : 1;
    for (int i = 0; i < times; ++i) ChangedLanes::issue(task);
  }

  const std::vector<schedule::Task>* tasks = nullptr;
  std::vector<schedule::Traffic>& runs;
};

TEST(Link, TheFasterDirectionCopiesUntilTheSlowerOneHasItsSample) {
  std::vector<schedule::Traffic> runs;
  measure::LinkMeter link(64 << 20, 1, measure::Executor(std::make_unique<SlowToDevice>(runs), 2));
  experiment::DeviceSamples found;
  const auto copies_less = [](const schedule::Traffic& run) {
    return static_cast<double>(run.h2d) < 0.7 * static_cast<double>(run.d2h);
  };
  EXPECT_PRED1(copies_less, first_that(copies_less, [&] {
                 link.add_sample(found);
                 return runs.back();
               }));
}

TEST(Sampling, LeavesTheWarmUpOut) {
  int runs = 0;
  int steps = 0;
  const auto samples = measure::sample({.warmup = 2, .samples = 3, .step = [&] { ++steps; }},
                                       [&] { return static_cast<double>(runs++); });
  EXPECT_THAT(samples, testing::ElementsAre(2, 3, 4));
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(measure::median(samples), 3);
  EXPECT_EQ(measure::median(samples, [](double x) { return -x; }), -3);
}

TEST(Sampling, TakesFewSamplesOfWhatIsLong) {
  const auto count = [](double enough_s) {
    return measure::sample({.warmup = 0, .samples = 9, .enough_s = enough_s, .step = {}},
                           [] {
                             const auto end = lanes::Clock::now() + std::chrono::milliseconds(1);
                             while (lanes::Clock::now() < end) continue;
                             return 0;
                           })
        .size();
  };
  EXPECT_EQ(count(1e-3), 3U);
  EXPECT_EQ(count(60), 9U);
}

TEST(HandSchedule, BeginsInTheMiddleOfSmallArrays) {
  const auto workload = measure::resident_workload(measure::plain_deck(4000));  // 1000 elements
  measure::HandSchedule hand(workload);
  hand.cover();
  for (int i = 0; i < 3; ++i) hand.add(schedule::Stage::kernel, 300, 0);
  std::vector<std::int64_t> begins;
  for (const auto& task : hand.schedule().tasks) begins.push_back(task.operands[0].begin);
  EXPECT_THAT(begins, testing::ElementsAre(0, 500, 0, 300));
}

TEST(Link, RanksThatMeasureAtOnceShareTheMemory) {
  try {
    measure::LinkMeter(64 << 20, 1'000'000'000);
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::precondition);
    EXPECT_THAT(error.what(), testing::HasSubstr(" for each of 1000000000 ranks"));
  }
}

}  // namespace
}  // namespace overlap
