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

/// The outcome of a kernel of 2 s and a copy of 4 s on that device, where issuing two copies and a
/// kernel took `chunk_s`.
Outcome judged(std::optional<base::Summary> chunk_s, bool present = true,
               std::optional<deck::Disturbance> disturbance = {}) {
  Case one{.order = deck::Order::depth_first, .disturbance = disturbance};
  one.schedule = model::schedule_of({model::kernel(0, 2), model::h2d(0, 4)});
  predict(one, device());
  Plan plan;
  plan.cases = {one};
  if (present) plan.present = device();
  Samples samples;
  samples.runs = {{one}};
  samples.runs[0].chunk_issue_s = chunk_s;
  return judge(std::move(plan), std::move(samples));
}

double predicted_s(const Outcome& outcome) { return outcome.runs.at(0).predicted->complete_s; }

TEST(Judge, PredictsWithTheHostCostsBetweenTheRuns) {
  EXPECT_DOUBLE_EQ(predicted_s(judged(std::nullopt)), 2 + 2 + 4);
  const Outcome slow = judged(about(12));          // instead of 4
  EXPECT_DOUBLE_EQ(predicted_s(slow), 6 + 3 + 4);  // the kernel is complete before that
  EXPECT_DOUBLE_EQ(slow.runs[0].expected->lo_s, 0.92 * (4.5 + 2.25 + 4));
  EXPECT_DOUBLE_EQ(judged(about(12, 7)).runs[0].expected->lo_s, slow.runs[0].expected->lo_s);
  EXPECT_DOUBLE_EQ(slow.runs[0].chunk_issue_s.value().median, 12);
  EXPECT_THAT(slow.choices,
              ElementsAre(Pair("issuing",
                               "12.00 s of host time per chunk between the runs; 4.000 s in "
                               "here.yaml")));
}

TEST(Judge, AnInterruptLosesNothingThatWasMeasured) {
  Plan plan;
  plan.present = device();
  Samples samples;
  auto& run = samples.runs.emplace_back();
  run.schedule = model::schedule_of({model::kernel(0, 2), model::h2d(0, 4)});
  predict(run, device());
  run.chunk_issue_s = about(12);
  const auto in_child = [&] {
    base::catch_interrupts();
    std::raise(SIGTERM);
    std::_Exit(predicted_s(judge(std::move(plan), std::move(samples))) == 6 + 3 + 4 ? 0 : 1);
  };
  EXPECT_EXIT(in_child(), testing::ExitedWithCode(0), "");
}

TEST(Judge, EachRunHasItsOwnHostCosts) {
  Plan plan;
  plan.present = device();
  Samples samples;
  for (const double chunk_s : {12.0, 8.0, 0.0}) {
    auto& run = samples.runs.emplace_back();
    run.schedule = model::schedule_of({model::kernel(0, 2), model::h2d(0, 4)});
    predict(run, device());
    if (chunk_s > 0) run.chunk_issue_s = about(chunk_s);
  }
  const Outcome outcome = judge(std::move(plan), std::move(samples));
  std::vector<double> predicted_s;
  for (const auto& run : outcome.runs) predicted_s.push_back(run.predicted->complete_s);
  EXPECT_THAT(predicted_s, ElementsAre(6 + 3 + 4, 4 + 2 + 4, 2 + 2 + 4));
  EXPECT_THAT(
      outcome.choices,
      ElementsAre(Pair("issuing",
                       "8.000 s to 12.00 s of host time per chunk between the runs; 4.000 s "
                       "in here.yaml")));
}

TEST(Judge, FewHostCostsHaveTheSpreadOfTheDevice) {
  EXPECT_DOUBLE_EQ(judged(about(12, 5)).runs.at(0).expected->lo_s, 0.92 * (3 + 2 + 4));
}

TEST(Judge, KeepsPredictionsForOtherDevicesAndOnesWithoutHostCosts) {
  for (const Outcome& same : {judged(about(12), false), judged(std::nullopt)}) {
    EXPECT_DOUBLE_EQ(predicted_s(same), 8);
    EXPECT_THAT(same.choices, IsEmpty());
  }
}

TEST(Judge, PredictsNoRunsDisturbedByCallsThatTheModelDoesNotCover) {
  EXPECT_FALSE(judged(about(12), true, deck::Disturbance::malloc).runs.at(0).predicted);
  EXPECT_TRUE(judged(about(12), true, deck::Disturbance::memset).runs.at(0).predicted);
}

}  // namespace
}  // namespace overlap::experiment
