#include "model/bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "experiment/judge.hpp"
#include "hand_schedule.hpp"

/// Bounds by hand: the totals of the stages are the rates, a byte takes a second.
namespace overlap::model {
namespace {

/// n chunks of so many seconds a stage, each on a lane of its own.
Schedule chunks(int n, std::size_t up, double kernel_s, std::size_t down) {
  std::vector<Task> tasks;
  for (int lane = 0; lane < n; ++lane) {
    for (Task task : {h2d(lane, up), kernel(lane, kernel_s), d2h(lane, down)}) {
      task.chunk = lane;
      tasks.push_back(std::move(task));
    }
  }
  Schedule schedule = schedule_of(std::move(tasks));
  schedule.chunks = n;
  return schedule;
}

model::Rates rates(double h2d_s, double kernel_s, double d2h_s, double both_s) {
  return {.h2d_s = h2d_s, .d2h_s = d2h_s, .both_s = both_s, .kernel_s = kernel_s};
}

TEST(Bounds, OfTwoCopyEngines) {
  // 4 chunks of 2, 1 and 2; both directions at once take 10 instead of 8.
  const auto four = rates(8, 4, 8, 10);
  const auto b = bounds(chunks(4, 2, 1, 2), four, four, {.copy_engines = 2});
  EXPECT_DOUBLE_EQ(b.serial_s, 20);
  EXPECT_DOUBLE_EQ(b.one_engine_s, 16);
  EXPECT_DOUBLE_EQ(b.two_engines_s, 10);
  EXPECT_DOUBLE_EQ(b.bound_s, 10);
  EXPECT_EQ(b.limit, "H2D and D2H");
  // The first copy and its kernel take 3 alone, and so do the last kernel and copy; between them
  // both directions slow each other down by 1.25.
  EXPECT_GT(b.schedule_bound_s, 11);
  EXPECT_LT(b.schedule_bound_s, 14);
}

TEST(Bounds, ScheduleBoundHasFillAndDrain) {
  // Directions that do not slow each other: H 0-8, the last kernel 8-9, the last copy back 9-11.
  const auto four = rates(8, 4, 8, 8);
  EXPECT_NEAR(bounds(chunks(4, 2, 1, 2), four, four, {}).schedule_bound_s, 11, 1e-9);
  EXPECT_DOUBLE_EQ(bounds(chunks(4, 2, 1, 2), four, four, {}).bound_s, 8);
}

TEST(Bounds, DirectionsSlowEachOtherByWhatBothTook) {
  // A copy each way at once; only their own rates limit them.
  const auto ideal_s = [](double h2d_s, double d2h_s, double both_s) {
    const auto both = schedule_of({h2d(0, 4), d2h(1, 4)});
    return bounds(both, rates(h2d_s, 0, d2h_s, both_s), {}, {}).schedule_bound_s;
  };
  EXPECT_NEAR(ideal_s(2, 2, 3), 3, 1e-9);
  EXPECT_NEAR(ideal_s(2, 2, 1), 2, 1e-9);  // at least as long as alone
  EXPECT_NEAR(ideal_s(2, 2, 6), 4, 1e-9);  // at most twice as long
  EXPECT_NEAR(ideal_s(4, 2, 5), 5, 1e-9);  // the rest of the longer one alone
  EXPECT_NEAR(ideal_s(2, 4, 5), 5, 1e-9);
  EXPECT_NEAR(ideal_s(4, 0, 4), 4, 1e-9);
  EXPECT_NEAR(ideal_s(0, 4, 4), 4, 1e-9);
  EXPECT_NEAR(ideal_s(0.5, 0.5, 0.75), 0.75, 1e-9);
}

TEST(Bounds, KernelsOfPartsOfTheDeviceRunTogether) {
  // Two of a quarter of a second in the list and half of the device took 8.
  Schedule halves = chunks(2, 1, 0.25, 1);
  for (Task& task : halves.tasks) task.share /= 2;
  const auto slow = rates(2, 8, 2, 2);
  const auto b = bounds(halves, slow, slow, {});
  EXPECT_DOUBLE_EQ(b.serial_s, 12);
  EXPECT_DOUBLE_EQ(b.bound_s, 4);
  EXPECT_EQ(b.limit, "SM");
  EXPECT_NEAR(b.schedule_bound_s, 7, 1e-9);  // K 1-5, 2-6, D 5-6, 6-7
}

TEST(Bounds, KernelsByTheirRateRunOneByOne) {
  Schedule by_rate = chunks(2, 2, 0, 2);
  for (Task& task : by_rate.tasks) {
    if (task.stage == Stage::kernel) task.bytes = 3;
  }
  const auto slow = rates(4, 20, 4, 4);
  const auto b = bounds(by_rate, slow, slow, {});
  EXPECT_DOUBLE_EQ(b.bound_s, 20);
  EXPECT_EQ(b.limit, "SM");
  EXPECT_NEAR(b.schedule_bound_s, 24, 1e-9);  // H 0-2, K 2-12, 12-22, D 22-24
}

TEST(Bounds, NameWhatLimits) {
  const auto limit = [](const model::Rates& r, int engines) {
    return bounds(chunks(2, 1, 1, 1), r, r, {.copy_engines = engines}).limit;
  };
  EXPECT_EQ(limit(rates(8, 1, 2, 8), 2), "H2D");
  EXPECT_EQ(limit(rates(2, 1, 8, 8), 2), "D2H");
  EXPECT_EQ(limit(rates(20, 1, 18.9, 20), 2), "H2D");
  EXPECT_EQ(limit(rates(20, 1, 19.02, 20), 2), "H2D and D2H");
  EXPECT_EQ(limit(rates(19.02, 1, 20, 20), 2), "H2D and D2H");
  EXPECT_EQ(limit(rates(8, 1, 2, 10), 1), "copy");
  EXPECT_EQ(limit(rates(8, 20, 8, 10), 2), "SM");
}

TEST(Bounds, OfOneCopyEngine) {
  const auto four = rates(8, 4, 8, 16);
  const auto b = bounds(chunks(4, 2, 1, 2), four, four, {.copy_engines = 1});
  EXPECT_DOUBLE_EQ(b.bound_s, 16);
  EXPECT_DOUBLE_EQ(b.two_engines_s, 0);
}

TEST(Bounds, AreTheLeastOfAllChunks) {
  // Small chunks are copied more slowly; the bound is that of large ones, whatever the chunks.
  const auto b = bounds(chunks(4, 2, 1, 2), rates(12, 6, 12, 14), rates(8, 4, 8, 10), {});
  EXPECT_DOUBLE_EQ(b.bound_s, 10);
  EXPECT_GT(b.schedule_bound_s, 14);
}

/// The runs of such schedules, with what was measured of each.
std::vector<results::Run> judged(const std::vector<std::pair<Schedule, model::Rates>>& measured,
                                 const timeline::Engines& engines = {}) {
  experiment::Plan plan;
  experiment::Samples samples;
  samples.conditions.engines = engines;
  for (const auto& [schedule, rates] : measured) {
    experiment::Case& planned = plan.cases.emplace_back();
    planned.run.order = schedule.order;
    set_schedule(planned, schedule);
    samples.cases.push_back(planned);
    samples.cases.back().run.rates = rates;
  }
  return experiment::judge(plan, samples).runs;
}

TEST(Bounds, AreNotThoseOfAnOrderThatLeavesTilesToTheHost) {
  Schedule shared = chunks(3, 2, 1, 2);
  shared.tasks.push_back(host(6));
  shared.tasks.back().operands = {{.array = 2, .piece = 3}};
  ASSERT_EQ(experiment::host_tiles(shared), 1);
  auto runs = judged({{chunks(4, 2, 1, 2), rates(8, 4, 8, 10)},
                      {shared, rates(6, 3, 6, 7)},
                      {chunks(4, 2, 1, 2), rates(9, 4, 9, 11)}});
  EXPECT_DOUBLE_EQ(runs[0].bounds->bound_s, 10);
  EXPECT_DOUBLE_EQ(runs[1].bounds->bound_s, 7);
  EXPECT_DOUBLE_EQ(runs[1].bounds->serial_s, 21);  // with the host's tile
  EXPECT_DOUBLE_EQ(runs[2].bounds->bound_s, 10);
  // Alone it has its own, and the host can be what limits it.
  shared.tasks.back().duration_s = 9;
  runs = judged({{shared, rates(6, 3, 6, 7)}});
  EXPECT_DOUBLE_EQ(runs[0].bounds->bound_s, 9);
  EXPECT_EQ(runs[0].bounds->limit, "host");
}

/// Two orders of which the second keeps to 0.95 of what the link gives, while a neighbour takes a
/// quarter of the link in the last third of the rounds. Only rounds that are divisible by `stride`
/// measured all rates, the others what limits.
std::vector<experiment::Case> beside_a_neighbour(int stride = 1) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr int rounds = 24;
  std::vector<experiment::Case> cases(2);
  for (experiment::Case& one : cases) set_schedule(one, chunks(4, 2, 1, 2));
  cases[0].run.order = deck::Order::sequential;
  cases[1].run.order = deck::Order::depth_first;
  for (int round = 0; round < rounds; ++round) {
    const double bound_s = round < 16 ? 10 : 12.5;
    const bool all = round % stride == 0;
    cases[0].run.samples_s.push_back(2 * bound_s);
    cases[1].run.samples_s.push_back(bound_s / 0.95);
    cases[0].round_rates.push_back(all ? rates(8, 4, 8, bound_s)
                                       : rates(none, none, none, bound_s));
    cases[1].round_rates.push_back(all ? rates(9, 4, 9, 13) : rates(none, none, none, none));
  }
  for (experiment::Case& one : cases) one.run.rates = median(one.round_rates);
  return cases;
}

TEST(Bounds, AreThoseOfTheRoundWhereACriterionJudgesThem) {
  for (const int stride : {1, 4}) {
    experiment::Plan plan;
    plan.point.deck.acceptance = {{.metric = deck::Metric::bound_fraction, .min = 0.9}};
    experiment::Samples samples;
    samples.conditions.engines = {.copy_engines = 2};
    samples.cases = beside_a_neighbour(stride);
    samples.rates_s = 0.25;
    const results::Point part = experiment::judge(plan, samples);
    const results::Run& run = part.runs[1];
    EXPECT_DOUBLE_EQ(run.bounds->bound_s, 10);
    ASSERT_EQ(run.bound_samples_s.size(), 24U);
    EXPECT_DOUBLE_EQ(run.bound_samples_s.back(), 12.5);
    const base::Summary fraction = run.value(deck::Metric::bound_fraction).value();
    EXPECT_NEAR(fraction.lo, 0.95, 1e-9);
    EXPECT_NEAR(fraction.hi, 0.95, 1e-9);
    EXPECT_EQ(part.checks.at(1).verdict, results::Verdict::pass);
    const auto schedule_fraction = run.value(deck::Metric::schedule_bound_fraction);
    EXPECT_NEAR(schedule_fraction->hi / schedule_fraction->lo, 1, 1e-9);
    EXPECT_NEAR(run.value(deck::Metric::overlap_efficiency)->lo, (2 - 1 / 0.95) / (2 - 1), 1e-9);
    EXPECT_THAT(part.notes, testing::ElementsAre(testing::Pair(
                                "bounds", "measured after every round, which took 250.0 ms")));
  }
}

TEST(Bounds, KernelsGivenByTheirDurationLastAsMeasured) {
  // The list says 1 a kernel, the device took 2.
  const auto slow = rates(8, 8, 8, 8);
  const auto b = bounds(chunks(4, 2, 1, 2), slow, slow, {});
  EXPECT_DOUBLE_EQ(b.serial_s, 24);
  EXPECT_NEAR(b.schedule_bound_s, 12, 1e-9);  // H 0-8, K 8-10, D 10-12
  const auto fast = rates(0.5, 0.5, 0.5, 0.5);
  EXPECT_NEAR(bounds(chunks(1, 2, 2, 2), fast, fast, {}).schedule_bound_s, 1.5, 1e-9);
}

TEST(Bounds, OnlyKernelsLastAsMeasured) {
  // The host works for 6, whatever the device took for its kernels; without kernels, too.
  const auto with_host = [](Schedule schedule) {
    schedule.tasks.push_back(host(6));
    return schedule;
  };
  const auto slow = rates(2, 4, 2, 2);
  EXPECT_NEAR(bounds(with_host(chunks(1, 2, 2, 2)), slow, slow, {}).schedule_bound_s, 8, 1e-9);
  const auto copies = rates(2, 1, 2, 2);
  EXPECT_NEAR(bounds(with_host(chunks(1, 2, 0, 2)), copies, copies, {}).schedule_bound_s, 6, 1e-9);
}

TEST(Bounds, KernelsOfWhichNothingWasMeasuredLastAsListed) {
  const auto copies = rates(2, 0, 2, 2);
  EXPECT_NEAR(bounds(chunks(1, 2, 2, 2), copies, copies, {}).schedule_bound_s, 6, 1e-9);
}

TEST(Bounds, AQueryHasNone) {
  const Schedule queries = schedule_of({query(0)});
  for (const timeline::Engines engines : {timeline::Engines(), timeline::Engines{.workers = 2}}) {
    EXPECT_FALSE(judged({{queries, rates(0, 0, 0, 0)}}, engines)[0].bounds);
  }
  experiment::Plan plan;
  set_schedule(plan.cases.emplace_back(), queries);
  predict(plan, device_of(Queues::engine));
  EXPECT_EQ(plan.cases[0].run.predicted_s, std::nullopt);
}

TEST(Bounds, OfWorkers) {
  const auto four = rates(8, 4, 8, 0);
  // 20 of work on two of four lanes' cores.
  EXPECT_DOUBLE_EQ(bounds(chunks(4, 2, 1, 2), four, four, {.workers = 2}).bound_s, 10);
  EXPECT_DOUBLE_EQ(bounds(chunks(4, 2, 1, 2), four, four, {.workers = 8}).bound_s, 5);
  // One chunk is a chain of 20, however many cores there are.
  const auto one = bounds(chunks(1, 8, 4, 8), four, four, {.workers = 8});
  EXPECT_DOUBLE_EQ(one.bound_s, 20);
  EXPECT_DOUBLE_EQ(one.schedule_bound_s, 20);
  EXPECT_EQ(one.limit, "workers");
  // The host's own work, beside them.
  Schedule with_host = chunks(1, 8, 4, 8);
  with_host.tasks.push_back(host(21));
  const auto longer = bounds(with_host, four, four, {.workers = 8});
  EXPECT_DOUBLE_EQ(longer.serial_s, 41);
  EXPECT_DOUBLE_EQ(longer.bound_s, 21);
  EXPECT_EQ(longer.limit, "host");
}

TEST(Bounds, OneWorkerHasOneTaskAtATime) {
  const auto b = bounds(chunks(2, 2, 1, 2), rates(8, 4, 8, 0), rates(4, 2, 4, 0), {.workers = 1});
  EXPECT_DOUBLE_EQ(b.bound_s, 10);
  EXPECT_DOUBLE_EQ(b.schedule_bound_s, 20);
  EXPECT_EQ(b.limit, "workers");
}

TEST(Bounds, OfWorkersAreThoseOfTasksThatNeedEachOther) {
  // Two operations of a chunk are two chains.
  Schedule schedule = chunks(2, 2, 1, 2);
  for (Task& task : schedule.tasks) {
    task.op = task.chunk;
    task.chunk = 0;
  }
  schedule.chunks = 1;
  const auto two = rates(4, 2, 4, 0);
  EXPECT_DOUBLE_EQ(bounds(schedule, two, two, {.workers = 2}).bound_s, 5);
  // In a list those that come after each other, whatever their lanes.
  schedule = schedule_of({kernel(0, 3), kernel(1, 4), kernel(1, 2), kernel(2, 1, 1, {0, 1})});
  schedule.names.assign(4, "K");
  const auto listed = rates(0, 10, 0, 0);
  EXPECT_DOUBLE_EQ(bounds(schedule, listed, listed, {.workers = 3}).bound_s, 5);
  schedule.tasks[2].after = {1};
  EXPECT_DOUBLE_EQ(bounds(schedule, listed, listed, {.workers = 3}).bound_s, 6);
}

}  // namespace
}  // namespace overlap::model
