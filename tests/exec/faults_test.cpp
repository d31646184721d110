#include <gmock/gmock.h>

#include <thread>

#include "bench.hpp"
#include "deck/words.hpp"
#include "measure/measure.hpp"
#include "measure/platform.hpp"
#include "signals.hpp"

/// Faults planted into schedules and workloads that are right without them: each must be caught, by
/// the hazard checker, by verification, or by a criterion.
namespace overlap {
namespace {

using base::ExitCode;
using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;
using schedule::Schedule;
using schedule::Stage;
using schedule::Task;
using schedule::TaskId;
using Kind = schedule::Hazard::Kind;

TaskId id_of(const Schedule& schedule, Stage stage, int chunk) {
  const auto found =
      std::find_if(schedule.tasks.begin(), schedule.tasks.end(),
                   [&](const Task& task) { return task.stage == stage && task.chunk == chunk; });
  return static_cast<TaskId>(found - schedule.tasks.begin());
}

Task& task_of(Schedule& schedule, Stage stage, int chunk) {
  return schedule.tasks[id_of(schedule, stage, chunk)];
}

/// Nothing waits for the task any more.
void drop(Schedule& schedule, TaskId dropped) {
  schedule.tasks.erase(schedule.tasks.begin() + dropped);
  for (Task& task : schedule.tasks) {
    std::erase(task.after, dropped);
    for (TaskId& other : task.after) other -= other > dropped ? 1 : 0;
  }
}

void insert_before(Schedule& schedule, TaskId next, const Task& inserted) {
  for (Task& task : schedule.tasks) {
    for (TaskId& other : task.after) other += other >= next ? 1 : 0;
  }
  schedule.tasks.insert(schedule.tasks.begin() + next, inserted);
}

/// What the hazard checker says first; empty where it finds nothing.
std::optional<Kind> hazard(const Schedule& schedule) {
  const auto hazards = schedule::find_hazards(schedule, 1);
  return hazards.empty() ? std::nullopt : std::optional(hazards.front().kind);
}

void expect_right(const TestBench& bench) {
  EXPECT_EQ(hazard(bench.schedule), std::nullopt);
  EXPECT_EQ(exit_code(measured(bench)), ExitCode::pass);
}

void expect_wrong(const TestBench& bench, int chunk) {
  const results::Run run = measured(bench);
  EXPECT_EQ(exit_code(run), ExitCode::wrong_data);
  ASSERT_TRUE(run.wrong);
  EXPECT_EQ(run.wrong->chunk, chunk);
}

// Faults that leave wrong data.

TEST(FaultsTest, ADroppedCopyToTheDevice) {
  for (const WorkloadKind kind : schedule::chunked_kinds()) {
    for (const Order order : {Order::depth_first, Order::breadth_first, Order::by_engine}) {
      SCOPED_TRACE(std::string(to_string(kind)) + " " + std::string(to_string(order)));
      TestBench bench(test_deck(kind, 999, 3, ElementType::float32), order, 3);
      expect_right(bench);
      drop(bench.schedule, id_of(bench.schedule, Stage::h2d, 1));
      EXPECT_EQ(hazard(bench.schedule), Kind::stale);
      expect_wrong(bench, 1);
    }
  }
}

TEST(FaultsTest, ADroppedKernelOrCopyBack) {
  for (const WorkloadKind kind : schedule::chunked_kinds()) {
    for (const Stage stage : {Stage::kernel, Stage::d2h}) {
      SCOPED_TRACE(std::string(to_string(kind)) + " " + schedule::to_string(stage));
      TestBench bench(test_deck(kind, 999, 3, ElementType::float32), Order::depth_first, 3);
      expect_right(bench);
      drop(bench.schedule, id_of(bench.schedule, stage, 1));
      EXPECT_EQ(hazard(bench.schedule), stage == Stage::kernel ? Kind::stale : Kind::missing);
      expect_wrong(bench, 1);
    }
  }
}

TEST(FaultsTest, CopiesOfTwoChunksThatTakeEachOthersTurn) {
  for (const Stage stage : {Stage::h2d, Stage::d2h}) {
    TestBench bench(test_deck(WorkloadKind::rowsum, 900, 3, ElementType::int64), Order::depth_first,
                    1);
    expect_right(bench);
    std::swap(task_of(bench.schedule, stage, 1), task_of(bench.schedule, stage, 2));
    EXPECT_EQ(hazard(bench.schedule), Kind::stale);
    expect_wrong(bench, stage == Stage::h2d ? 1 : 2);
  }
}

TEST(FaultsTest, CopiesOfTwoChunksThatTakeEachOthersSlot) {
  for (const Stage stage : {Stage::h2d, Stage::d2h}) {
    TestBench bench(test_deck(WorkloadKind::rowsum, 900, 3, ElementType::int64), Order::depth_first,
                    1);
    expect_right(bench);
    // For these copies alone: kernels and the other copies keep their slots.
    schedule::Operand& first = task_of(bench.schedule, stage, 1).operands[0];
    schedule::Operand& second = task_of(bench.schedule, stage, 2).operands[0];
    std::swap(first.slot, second.slot);
    std::swap(first.device_begin, second.device_begin);
    EXPECT_EQ(hazard(bench.schedule), Kind::stale);
    expect_wrong(bench, 1);
  }
}

// Races, lost by force: a copy is held back in its lane until a kernel that should wait for it has
// run. In the schedule without the fault that kernel waits, and the hold comes to its end.

struct Hold {
  int* kernel_ran;
  int* seen;
  int looks;

  KOKKOS_FUNCTION void operator()(int) const { *seen = wait_for(kernel_ran, looks) ? 1 : 0; }
};

struct Tell {
  int* kernel_ran;

  KOKKOS_FUNCTION void operator()(int) const { give(kernel_ran); }
};

/// A bench whose copy of chunk 1 to the device is held back, by a kernel on no data before it.
class HeldBench {
 public:
  TestBench bench;
  /// Where the kernel of chunk 1 runs: by default on its lane's instance.
  std::function<Space(const Space&)> instance_of = [](const Space& lane) { return lane; };

  HeldBench(Order order, int lanes)
      : bench(test_deck(WorkloadKind::increment, 3000, 3, ElementType::float32), order, lanes) {
    Schedule& schedule = bench.schedule;
    const TaskId held = id_of(schedule, Stage::h2d, 1);
    insert_before(schedule, held,
                  {.stage = Stage::default_stream, .chunk = 1, .lane = schedule.tasks[held].lane});
    // So that nothing but the kernel races with the copy.
    Task& back = task_of(schedule, Stage::d2h, 1);
    if (back.lane != schedule.tasks[held + 1].lane) back.after.push_back(held + 1);
    bench.workload.generate = [this, generate = bench.workload.generate](std::uint32_t repetition) {
      Kokkos::deep_copy(signals_, 0);
      generate(repetition);
    };
    bench.workload.launch = [this, launch = bench.workload.launch](const Space& lane,
                                                                   const workload::Call& call) {
      int* const at = signals_.data();
      const Kokkos::RangePolicy<Space> once(lane, 0, 1);
      if (call.op < 0) return Kokkos::parallel_for("test::hold", once, Hold{at, at + 1, looks_});
      if (call.begin != task_of(bench.schedule, Stage::kernel, 1).operands[0].begin)
        return launch(lane, call);
      const Space instance = instance_of(lane);
      launch(instance, call);
      Kokkos::parallel_for("test::tell", Kokkos::RangePolicy<Space>(instance, 0, 1), Tell{at});
    };
  }

  /// Expects right data, or, where the kernel did not wait for the copy, wrong ones.
  void expect(bool right) {
    looks_ = right ? many_looks / 10000 : many_looks;
    if (right) {
      expect_right(bench);
    } else {
      expect_wrong(bench, 1);
    }
    const auto signals = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), signals_);
    EXPECT_EQ(signals(1), right ? 0 : 1) << "whether the kernel ran before the copy";
  }

 private:
  Kokkos::View<int*, Space::memory_space> signals_{"test::signals", 2};
  int looks_ = 0;
};

TEST(FaultsTest, AMissingEventBetweenLanes) {
  if (!can_overlap()) GTEST_SKIP() << "a single core";
  HeldBench held(Order::by_engine, 3);
  held.expect(true);
  Schedule& schedule = held.bench.schedule;
  std::erase(task_of(schedule, Stage::kernel, 1).after, id_of(schedule, Stage::h2d, 1));
  EXPECT_EQ(hazard(schedule), Kind::raw);
  held.expect(false);
}

TEST(FaultsTest, AKernelOnTheDefaultInstanceRaces) {
  if constexpr (workload::is_host) {
    GTEST_SKIP() << "launches wait for their kernels: it costs overlap alone";
  } else {
    HeldBench held(Order::depth_first, 3);
    held.expect(true);
    held.instance_of = [](const Space&) { return Space(); };
    held.expect(false);
  }
}

// Faults that leave the data right and cost the overlap.

struct Sleep {
  double seconds;

  KOKKOS_FUNCTION void operator()(int) const {
    KOKKOS_IF_ON_HOST((std::this_thread::sleep_for(std::chrono::duration<double>(seconds));))
  }
};

/// An order that overlaps, beside the baseline. On a device it copies enough to be worth it; on a
/// host its kernels sleep, which takes no core: they overlap however few there are.
class Overlapping {
  static constexpr bool on_host = workload::is_host;
  static constexpr int chunks = on_host ? 4 : 8;
  static constexpr std::int64_t elements = on_host ? 4000 : 16 << 20;
  static constexpr double least_speedup = on_host ? 1.6 : 1.3;  ///< of 4, and of about 1.7
  const deck::Deck deck_ =
      test_deck(WorkloadKind::increment, elements, chunks, ElementType::float32);

 public:
  TestBench bench{deck_, Order::breadth_first, chunks};

  Overlapping() {
    if constexpr (on_host) {
      bench.workload.launch = [launch = bench.workload.launch](const Space& instance,
                                                               const workload::Call& call) {
        constexpr double chunk_s = 8e-3;
        const double part = static_cast<double>(call.size) * chunks / elements;
        Kokkos::parallel_for("test::sleep", Kokkos::RangePolicy<Space>(instance, 0, 1),
                             Sleep{chunk_s * part});
        launch(instance, call);
      };
    }
  }

  /// Expects this verdict on the order's overlap, and this exit code.
  void expect(experiment::Verdict verdict, ExitCode code) {
    // A busy machine leaves a doubt, never the other verdict.
    const auto sure = [](const results::Point& judged) {
      return std::none_of(judged.checks.begin(), judged.checks.end(), [](const auto& check) {
        return check.verdict == experiment::Verdict::inconclusive;
      });
    };
    const results::Point judged = first_that(sure, [&] { return judge(); });
    EXPECT_EQ(judged.checks.size(), 2U);
    for (const experiment::Check& check : judged.checks) {
      EXPECT_EQ(check.verdict, verdict)
          << deck::to_string(check.key.metric) << " " << check.value.lo << " .. " << check.value.hi;
    }
    EXPECT_EQ(results::verdict_of(judged.outcome->exit_code), verdict);
    EXPECT_EQ(judged.outcome->exit_code, code);
  }
  void expect_overlap() { expect(experiment::Verdict::pass, ExitCode::pass); }
  void expect_none() { expect(experiment::Verdict::fail, ExitCode::performance); }

 private:
  /// Measures and judges as the program does.
  results::Point judge() {
    const auto costs = schedule::costs(deck_.workload, 1);
    const auto layout = schedule::layout(deck_, costs, std::nullopt);
    std::vector<experiment::Case> cases = {
        case_of(Order::sequential, schedule::build(costs, layout, Order::sequential, 1)),
        case_of(Order::breadth_first, bench.schedule)};
    measure::run_rounds(*bench.executor, cases, bench.workload,
                        {.warmup = 1, .repetitions = 5, .verify = deck::Verify::ends});
    for (experiment::Case& one : cases) one.wanted_s = 0;  // kernels that sleep want no core
    cases[1].run.rates = rates_of(*bench.executor, bench.workload, cases[1].schedule);
    experiment::Plan plan;
    plan.point.deck.acceptance = {
        {.metric = deck::Metric::speedup, .order = Order::breadth_first, .min = least_speedup},
        {.metric = deck::Metric::overlap_efficiency, .order = Order::breadth_first, .min = 0.5}};
    experiment::Samples samples;
    samples.conditions.engines = {.workers = on_host ? chunks : 0};
    samples.cases = cases;
    return experiment::judge(std::move(plan), std::move(samples));
  }
};

TEST(FaultsTest, AllChunksOnOneLane) {
  if (!can_overlap()) GTEST_SKIP() << "a single core";
  Overlapping overlapping;
  overlapping.expect_overlap();
  for (Task& task : overlapping.bench.schedule.tasks) task.lane = 0;
  overlapping.expect_none();
}

TEST(FaultsTest, KernelsOnTheDefaultInstance) {
  if constexpr (!workload::is_host) {
    GTEST_SKIP() << "they do not wait for their copies: the data show it";
  } else {
    if (!can_overlap()) GTEST_SKIP() << "a single core";
    Overlapping overlapping;
    overlapping.expect_overlap();
    overlapping.bench.workload.launch = [launch = overlapping.bench.workload.launch](
                                            const Space&, const workload::Call& call) {
      launch(Space(), call);
    };
    overlapping.expect_none();
  }
}

TEST(FaultsTest, AFenceInTheTimedRegion) {
  if (!can_overlap()) GTEST_SKIP() << "a single core";
  Overlapping overlapping;
  overlapping.expect_overlap();
  if constexpr (workload::is_host) {
    // Launches are the lanes' own there: only the issuing thread can wait for all of them.
    for (Task& task : overlapping.bench.schedule.tasks) task.blocking = true;
  } else {
    overlapping.bench.workload.launch = [launch = overlapping.bench.workload.launch](
                                            const Space& instance, const workload::Call& call) {
      launch(instance, call);
      Kokkos::fence("test::fence");
    };
  }
  overlapping.expect_none();
}

// A fault that may cost little and must not go unseen.

TEST(FaultsTest, PageableMemoryWherePinnedWasAskedFor) {
  for (const auto asked : {deck::HostMemory::pinned, deck::HostMemory::pageable}) {
    deck::Deck deck = test_deck(WorkloadKind::increment, 1000, 4, ElementType::float32);
    deck.memory.host = asked;
    TestBench bench(deck, Order::depth_first, 4);
    if (workload::is_host || !measure::page_locked(bench.workload.host[0].data())) {
      GTEST_SKIP() << "page locking means nothing here";
    }
    expect_right(bench);
    const bool pinned = asked == deck::HostMemory::pinned;
    deck.memory.host = pinned ? deck::HostMemory::pageable : deck::HostMemory::pinned;
    bench.workload = TestBench(deck, Order::depth_first, 4).workload;
    try {
      measured(bench);
      FAIL() << "no error";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), ExitCode::runtime_error);
      EXPECT_STREQ(error.what(),
                   pinned ? "host memory of array a is pageable, but pinned was asked for"
                          : "host memory of array a is pinned, but pageable was asked for");
    }
  }
}

}  // namespace
}  // namespace overlap
