#include "experiment/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "base/interrupt.hpp"
#include "hand_schedule.hpp"

namespace overlap::experiment {
namespace {

using model::Device;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// The host issues a copy in 1 s and a kernel in 2 s.
Device device() {
  Device device = device_of(model::Queues::connection);
  device.path = "here.yaml";
  device.host = {.copy_s = 1, .kernel_s = 2};
  device.spread = {.copies = 0, .kernels = 0, .calls = 0.5};
  return device;
}

/// Costs of so many seconds, give or take a quarter.
base::Summary about(double seconds, int n = 6) {
  return {.n = n, .median = seconds, .lo = 0.75 * seconds, .hi = 1.25 * seconds};
}

/// A kernel of 2 s and a copy of 4 s, predicted for that device, where issuing two copies and a
/// kernel took `chunk_s`.
Run run_with(std::optional<base::Summary> chunk_s) {
  Run run;
  run.order = deck::Order::depth_first;
  set_schedule(run, model::schedule_of({model::kernel(0, 2), model::h2d(0, 4)}));
  predict(run, device());
  run.chunk_issue_s = chunk_s;
  return run;
}

results::Point judged(std::vector<Run> runs, bool on_current_device = true) {
  Plan plan;
  if (on_current_device) plan.current_device = device();
  Samples samples;
  samples.runs = std::move(runs);
  return judge(std::move(plan), std::move(samples));
}

results::Point judged(std::optional<base::Summary> chunk_s, bool on_current_device = true) {
  return judged(std::vector{run_with(chunk_s)}, on_current_device);
}

double predicted_s(const results::Point& part) { return part.runs.at(0).predicted_s.value(); }

TEST(Judge, PredictsWithTheHostCostsBetweenTheRuns) {
  EXPECT_DOUBLE_EQ(predicted_s(judged(std::optional<base::Summary>())), 2 + 2 + 4);
  const results::Point slow = judged(about(12));   // instead of 4
  EXPECT_DOUBLE_EQ(predicted_s(slow), 6 + 3 + 4);  // the kernel is complete before that
  EXPECT_DOUBLE_EQ(slow.runs[0].predicted_lo_s.value(), 0.92 * (4.5 + 2.25 + 4));
  EXPECT_DOUBLE_EQ(judged(about(12, 7)).runs[0].predicted_lo_s.value(),
                   slow.runs[0].predicted_lo_s.value());
  EXPECT_DOUBLE_EQ(slow.runs[0].chunk_issue_s.value().median, 12);
  EXPECT_THAT(slow.notes,
              ElementsAre(Pair("issuing",
                               "12.00 s of host time per chunk between the runs; 4.000 s in "
                               "here.yaml")));
}

TEST(Judge, AnInterruptLosesNothingThatWasMeasured) {
  const std::vector runs = {run_with(about(12))};
  const auto in_child = [&] {
    base::catch_interrupts();
    std::raise(SIGTERM);
    std::_Exit(predicted_s(judged(runs)) == 6 + 3 + 4 ? 0 : 1);
  };
  EXPECT_EXIT(in_child(), testing::ExitedWithCode(0), "");
}

/// The baseline, and an order that does not overlap and got `got_s` of 2 s of CPU time.
results::Point judged_on_host(deck::Metric metric, double limit, double cores, double got_s) {
  Plan plan;
  deck::Criterion& criterion = plan.deck.acceptance.emplace_back();
  criterion.metric = metric;
  (metric == deck::Metric::time ? criterion.max : criterion.min) = limit;
  Samples samples;
  samples.conditions = {.engines = {.workers = 2}, .cores = cores};
  for (const deck::Order order : {deck::Order::sequential, deck::Order::depth_first}) {
    Run& run = samples.runs.emplace_back();
    run.order = order;
    set_schedule(run, model::schedule_of({model::h2d(0, 1), model::kernel(0, 1), model::h2d(1, 1),
                                          model::kernel(1, 1)}));
    run.schedule.lanes = order == deck::Order::sequential ? 1 : 2;
    for (schedule::Task& task : run.schedule.tasks) {
      task.chunk = task.lane;
      task.lane %= run.schedule.lanes;
    }
    run.samples_s.assign(10, 4);
    run.rates = {.h2d_s = 2, .kernel_s = 2};
    run.cpu_s = got_s;
    run.wanted_s = 2;
  }
  return judge(std::move(plan), std::move(samples));
}

TEST(Judge, AnOrderThatLacksCoresIsNotToBlame) {
  using deck::Metric;
  EXPECT_EQ(judged_on_host(Metric::speedup, 1.3, 2, 1.9).checks.at(0).verdict, Verdict::fail);
  const results::Point few = judged_on_host(Metric::speedup, 1.3, 1, 2);
  EXPECT_EQ(few.outcome->exit_code, base::ExitCode::inconclusive);
  EXPECT_THAT(few.checks.at(0).text,
              testing::HasSubstr("inconclusive: few cores: 1 core for 2 workers"));
  const results::Point busy = judged_on_host(Metric::speedup, 1.3, 2, 1);
  EXPECT_EQ(busy.outcome->exit_code, base::ExitCode::inconclusive);
  EXPECT_THAT(busy.checks.at(0).reason,
              testing::HasSubstr("busy cores: the workers got 1.0 of 2 cores"));
  EXPECT_EQ(judged_on_host(Metric::time, 1, 1, 1).checks.at(0).verdict, Verdict::fail);
  EXPECT_EQ(judged_on_host(Metric::speedup, 0.9, 1, 1).outcome->exit_code, base::ExitCode::pass);
}

TEST(Judge, EachRunHasItsOwnHostCosts) {
  const results::Point part = judged({run_with(about(12)), run_with(about(8)), run_with({})});
  std::vector<double> predicted_s;
  for (const auto& run : part.runs) predicted_s.push_back(run.predicted_s.value());
  EXPECT_THAT(predicted_s, ElementsAre(6 + 3 + 4, 4 + 2 + 4, 2 + 2 + 4));
  EXPECT_THAT(part.notes, ElementsAre(Pair(
                              "issuing",
                              "8.000 s to 12.00 s of host time per chunk between the runs; 4.000 s "
                              "in here.yaml")));
}

TEST(Judge, FewHostCostsHaveTheSpreadOfTheDevice) {
  EXPECT_DOUBLE_EQ(judged(about(12, 5)).runs.at(0).predicted_lo_s.value(), 0.92 * (3 + 2 + 4));
}

TEST(Judge, KeepsPredictionsForOtherDevicesAndOnesWithoutHostCosts) {
  for (const results::Point& same :
       {judged(about(12), false), judged(std::optional<base::Summary>())}) {
    EXPECT_DOUBLE_EQ(predicted_s(same), 8);
    EXPECT_THAT(same.notes, IsEmpty());
  }
}

}  // namespace
}  // namespace overlap::experiment
