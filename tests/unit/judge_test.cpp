#include "experiment/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hand_schedule.hpp"

namespace overlap::experiment {
namespace {

/// The baseline, and an order that does not overlap and got `got_s` of 2 s of CPU time.
results::Point judged_on_host(deck::Metric metric, double limit, double cores, double got_s) {
  Plan plan;
  deck::Criterion& criterion = plan.point.deck.acceptance.emplace_back();
  criterion.metric = metric;
  (metric == deck::Metric::time ? criterion.max : criterion.min) = limit;
  Samples samples;
  samples.conditions = {.engines = {.workers = 2}, .cores = cores};
  for (const deck::Order order : {deck::Order::sequential, deck::Order::depth_first}) {
    Case& one = samples.cases.emplace_back();
    one.run.order = order;
    set_schedule(one, model::schedule_of({model::h2d(0, 1), model::kernel(0, 1), model::h2d(1, 1),
                                          model::kernel(1, 1)}));
    one.schedule.lanes = order == deck::Order::sequential ? 1 : 2;
    for (schedule::Task& task : one.schedule.tasks) {
      task.chunk = task.lane;
      task.lane %= one.schedule.lanes;
    }
    one.run.samples_s.assign(10, 4);
    one.run.rates = {.h2d_s = 2, .kernel_s = 2};
    one.cpu_s = got_s;
    one.wanted_s = 2;
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

}  // namespace
}  // namespace overlap::experiment
