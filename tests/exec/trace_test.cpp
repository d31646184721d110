#include <gmock/gmock.h>

#include <thread>

#include "base/parallel.hpp"
#include "bench.hpp"
#include "changed_lanes.hpp"
#include "deck/words.hpp"
#include "measure/measure.hpp"

/// Times of tasks, and of stages alone.
namespace overlap {
namespace {

using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;
using schedule::Stage;

/// Events of a device have a resolution of half a microsecond.
constexpr double resolution_s = workload::is_host ? 0 : 1e-6;

void expect_in_order(const schedule::Schedule& schedule, const timeline::Timeline& timeline) {
  ASSERT_EQ(timeline.spans.size(), schedule.tasks.size());
  std::vector<double> until(static_cast<std::size_t>(schedule.lanes));
  for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const timeline::Span& span = timeline.spans[id];
    EXPECT_GE(span.start_s, 0) << id;
    EXPECT_GE(span.stop_s, span.start_s) << id;
    EXPECT_LE(span.stop_s, timeline.complete_s + resolution_s) << id;
    double& last_s = until[static_cast<std::size_t>(task.lane)];
    EXPECT_GE(span.start_s, last_s - resolution_s) << id << " began before its lane's last";
    last_s = span.stop_s;
    for (const schedule::TaskId other : task.after) {
      EXPECT_GE(span.start_s, timeline.spans[other].stop_s - resolution_s)
          << id << " began before " << other;
    }
  }
  EXPECT_LE(timeline.issued_s, timeline.complete_s);
}

TEST(TraceTest, TasksComeAfterWhatTheyWaitFor) {
  for (const WorkloadKind kind : schedule::chunked_kinds()) {
    for (const Order order : deck::orders_of(kind)) {
      SCOPED_TRACE(deck::to_string(kind));
      SCOPED_TRACE(deck::to_string(order));
      TestBench bench(test_deck(kind, 30000, 5, ElementType::float32), order, 3);
      bench.workload.generate(1);
      ASSERT_NE(bench.executor->lanes().trace(true), "");
      expect_in_order(bench.schedule, bench.executor->run_traced(bench.schedule, bench.workload));
      bench.executor->lanes().trace(false);
    }
  }
}

TEST(TraceTest, LeavesTheSameData) {
  TestBench bench(test_deck(WorkloadKind::increment, 30000, 5, ElementType::float32),
                  Order::by_engine, 3);
  measure::reset(bench.executor->lanes().instance(0), bench.workload, 1);
  bench.executor->lanes().trace(true);
  bench.executor->run_traced(bench.schedule, bench.workload);
  bench.executor->lanes().trace(false);
  EXPECT_FALSE(bench.workload.verify(1, bench.workload.repeats).mismatch);
  EXPECT_FALSE(bench.run(2).mismatch);  // and the next run is an ordinary one
}

TEST(TraceTest, LanesOfFencesAloneTellWhereTheVendorDoes) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 2, ElementType::float32),
                  Order::depth_first, 2, lanes::make_fenced_lanes(2, 1));
  EXPECT_EQ(bench.executor->lanes().trace(true).empty(), workload::is_host);
}

/// A kernel that takes as long as told; the host's launches wait for it.
void launch_sleepers(workload::Workload& workload, double seconds) {
  workload.launch = [=](const Space&, const workload::Call&) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
}

TEST(TraceTest, KernelsTakeTheirTime) {
  if constexpr (workload::is_host) {
    TestBench bench(test_deck(WorkloadKind::increment, 3000, 3, ElementType::float32),
                    Order::depth_first, 3);
    launch_sleepers(bench.workload, 3e-3);
    bench.workload.generate(1);
    bench.executor->lanes().trace(true);
    const auto seconds = [](const timeline::Span& span) { return span.stop_s - span.start_s; };
    const auto right = [&](const timeline::Timeline& traced) {
      for (schedule::TaskId id = 0; id < bench.schedule.tasks.size(); ++id) {
        const bool kernel = bench.schedule.tasks[id].stage == Stage::kernel;
        if ((seconds(traced.spans[id]) >= 3e-3) != kernel) return false;
      }
      return true;
    };
    EXPECT_TRUE(right(first_that(
        right, [&] { return bench.executor->run_traced(bench.schedule, bench.workload); })));
  }
}

TEST(TraceTest, WorkersAreNoMoreThanThreadsAndCores) {
  const int workers = measure::engines_of({}, 64).workers;
  if constexpr (workload::is_host) {
    // Lanes of Serial have threads of their own.
    const int threads = workload::is_serial ? 64 : Space().concurrency();
    EXPECT_EQ(workers, std::min(threads, base::usable_cpus()));
  } else {
    EXPECT_EQ(workers, 0);
  }
}

TEST(TraceTest, RunsWithTheSameTasksOnTheDeviceShareTheirRates) {
  TestBench bench(test_deck(WorkloadKind::increment, 3000, 3, ElementType::float32),
                  Order::depth_first, 3);
  std::vector<experiment::Case> cases(2);
  for (experiment::Case& one : cases) one.schedule = bench.schedule;
  cases[1].schedule.tasks.push_back({.stage = Stage::query});
  measure::RatesOfRuns rates(*bench.executor, bench.workload, cases);
  for (int round = 0; round < 3; ++round) rates.add_sample();
  rates.store(cases);
  EXPECT_EQ(cases[0].run.rates->kernel_s, cases[1].run.rates->kernel_s);
  EXPECT_EQ(cases[0].run.rates->h2d_s, cases[1].run.rates->h2d_s);
  EXPECT_GT(cases[0].run.rates->kernel_s, 0);
}

/// Lanes that are interrupted after some runs.
class InterruptedLanes : public ChangedLanes {
 public:
  InterruptedLanes(int lanes, int runs) : ChangedLanes(lanes), runs_(runs) {}
  void bind(const schedule::Schedule& s, const workload::Workload& w) override {
    if (runs_-- == 0) throw base::Error(base::ExitCode::interrupted, "interrupted");
    ChangedLanes::bind(s, w);
  }

 private:
  int runs_;
};

TEST(TraceTest, AnInterruptLeavesTheRatesOfCompleteSamples) {
  for (int complete = 0; complete < 40; ++complete) {
    SCOPED_TRACE(complete);
    TestBench bench(test_deck(WorkloadKind::increment, 3000, 3, ElementType::float32),
                    Order::depth_first, 3);
    measure::Executor executor(std::make_unique<InterruptedLanes>(3, complete), 3);
    std::vector<experiment::Case> cases(1);
    cases[0].schedule = bench.schedule;
    measure::RatesOfRuns rates(executor, bench.workload, cases);
    bool sampled = false;
    try {
      for (;;) {
        rates.add_sample();
        sampled = true;
      }
    } catch (const base::Error& error) {
      EXPECT_STREQ(error.what(), "interrupted");
    }
    rates.store(cases);
    EXPECT_EQ(cases[0].run.rates.has_value(), sampled);
  }
}

TEST(TraceTest, RatesAreOfAllTasksOfAStage) {
  if constexpr (workload::is_host) {
    TestBench bench(test_deck(WorkloadKind::increment, 3000, 3, ElementType::float32),
                    Order::depth_first, 3);
    launch_sleepers(bench.workload, 3e-3);
    bench.workload.generate(1);
    const auto right = [](const model::Rates& rates) {
      return rates.kernel_s >= 9e-3 && rates.kernel_s < 2 * 9e-3 && rates.h2d_s > 0 &&
             rates.h2d_s < 3e-3;
    };
    const model::Rates rates = first_that(
        right, [&] { return rates_of(*bench.executor, bench.workload, bench.schedule); });
    EXPECT_GE(rates.kernel_s, 9e-3);
    EXPECT_LT(rates.kernel_s, 2 * 9e-3);
    EXPECT_GT(rates.h2d_s, 0);
    EXPECT_LT(rates.h2d_s, 3e-3);
    EXPECT_EQ(rates.both_s, 0);
  }
}

/// Two chunks in two lanes: copy, kernel and copy back of 1 ms each, the second 1 ms behind.
struct TwoChunks {
  schedule::Schedule schedule;
  timeline::Timeline timeline;

  TwoChunks() {
    schedule.lanes = 2;
    for (int chunk = 0; chunk < 2; ++chunk) {
      double start_s = chunk * 1e-3;
      for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
        schedule.tasks.push_back({.stage = stage, .chunk = chunk, .lane = chunk});
        timeline.spans.push_back({.start_s = start_s, .stop_s = start_s + 1e-3});
        start_s += 1e-3;
      }
    }
  }
};

TEST(TraceClocks, NothingOnTheDeviceStopsAfterTheHostHasSeenTheEnd) {
  TwoChunks chunks;
  chunks.schedule.tasks[4].stage = Stage::host;
  const std::vector<timeline::Span> before = chunks.timeline.spans;
  chunks.timeline.complete_s = 4e-3;
  measure::align_clocks(chunks.schedule, chunks.timeline);
  EXPECT_EQ(chunks.timeline.spans[5].stop_s, before[5].stop_s);
  chunks.timeline.complete_s = 3.5e-3;
  measure::align_clocks(chunks.schedule, chunks.timeline);
  EXPECT_DOUBLE_EQ(chunks.timeline.spans[5].stop_s, 3.5e-3);
  EXPECT_DOUBLE_EQ(chunks.timeline.spans[2].start_s, 1.5e-3);
  EXPECT_EQ(chunks.timeline.spans[0].start_s, 0);
  EXPECT_EQ(chunks.timeline.spans[4].start_s, before[4].start_s);  // on the host
}

/// Four chunks, scored in 10 ms, give or take 3, of which the first is undisturbed.
experiment::Case scored_case() {
  experiment::Case one;
  one.run.order = Order::depth_first;
  one.schedule.lanes = 4;
  for (int chunk = 0; chunk < 4; ++chunk) {
    for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
      one.schedule.tasks.push_back({.stage = stage, .chunk = chunk, .lane = chunk});
    }
  }
  one.run.samples_s = {7e-3, 10e-3, 13e-3};
  return one;
}

/// Lanes that take no time.
class IdleLanes final : public lanes::Lanes {
 public:
  void bind(const schedule::Schedule&, const workload::Workload&) override {}
  void issue(schedule::TaskId) override {}
  void wait(int) override {}
  bool query(int) override { return true; }
  std::string trace(bool) override { return "a test"; }
  const Space& instance(int) const override { return instance_; }

 private:
  Space instance_;
};

TEST(TraceRun, IsDoubtfulBeyondTheSpreadOfTheScoredRuns) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32),
                  Order::depth_first, 4, std::make_unique<IdleLanes>());
  for (const double half_width : {0.1, 1.2}) {
    experiment::Case one = scored_case();
    one.schedule = bench.schedule;
    one.run.samples_s = {10 - 10 * half_width, 10, 10 + 10 * half_width};
    measure::trace_run(*bench.executor, one, bench.workload, deck::Verify::ends);
    ASSERT_TRUE(one.run.trace);
    EXPECT_EQ(one.run.trace->source, "a test");
    EXPECT_NEAR(one.run.trace->perturbation, -1, 0.01);
    EXPECT_EQ(one.run.trace->doubtful, half_width < 1);
  }
}

/// Lanes whose traces lack a task.
class LosingLanes final : public lanes::Lanes {
 public:
  void bind(const schedule::Schedule&, const workload::Workload&) override {}
  void issue(schedule::TaskId) override {}
  void wait(int) override {}
  bool query(int) override { return true; }
  std::string trace(bool) override { return "a test"; }
  void collect(std::vector<timeline::Span>&) override {
    throw lanes::TraceLost(base::ExitCode::runtime_error, "lost a task");
  }
  const Space& instance(int) const override { return instance_; }

 private:
  Space instance_;
};

TEST(TraceRun, ALostTaskCostsTheTraceAlone) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32),
                  Order::depth_first, 4, std::make_unique<LosingLanes>());
  experiment::Case one = scored_case();
  one.schedule = bench.schedule;
  measure::trace_run(*bench.executor, one, bench.workload, deck::Verify::ends);
  EXPECT_FALSE(one.run.trace);
  EXPECT_EQ(one.run.untraced, "lost a task");
}

TEST(TraceRun, LeavesOutOnlyWhatWasLaunchedAsAGraph) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32),
                  Order::depth_first, 4, std::make_unique<LosingLanes>());
  experiment::Case one = scored_case();
  one.schedule = bench.schedule;
  one.schedule.mechanism = deck::Mechanism::graph;
  measure::trace_run(*bench.executor, one, bench.workload, deck::Verify::ends);
  EXPECT_EQ(one.run.untraced, "lost a task") << "issued one by one, it can be traced";
  one.run.graph = experiment::GraphCosts{};
  measure::trace_run(*bench.executor, one, bench.workload, deck::Verify::ends);
  EXPECT_EQ(one.run.untraced, "its tasks are launched at once, as a graph");
}

TEST(TraceRun, EachRunIsASignOfLife) {
  TestBench bench(test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32),
                  Order::depth_first, 4, std::make_unique<LosingLanes>());
  experiment::Case one = scored_case();
  one.schedule = bench.schedule;
  struct Sign {};
  EXPECT_THROW(measure::trace_run(*bench.executor, one, bench.workload, deck::Verify::ends, 2,
                                  [] { throw Sign(); }),
               Sign);
}

}  // namespace
}  // namespace overlap
