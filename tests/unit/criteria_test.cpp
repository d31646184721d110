#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "experiment/judge.hpp"
#include "report/writers.hpp"
#include "results.hpp"

/// Criteria, verdicts and exit codes.
namespace overlap::experiment {
namespace {

using base::ExitCode;
using deck::Metric;
using deck::Order;
using results::evaluate;
using results::judge;
using testing::ElementsAre;
using testing::HasSubstr;
using Runs = std::vector<results::Run>;

/// The checks of criteria, with the metrics of the runs.
std::vector<Check> judged(const std::vector<deck::Criterion>& criteria, Runs runs,
                          const DeviceSamples& device = {}, bool on_gpu = true) {
  evaluate(runs);
  return judge_all(criteria, runs, device, {}, on_gpu);
}

deck::Criterion at_most(Metric metric, double max) {
  return {.metric = metric, .order = {}, .min = {}, .max = max};
}
deck::Criterion at_least(Metric metric, double min, std::optional<Order> order = {}) {
  return {.metric = metric, .order = order, .min = min, .max = {}};
}

ExitCode exit_code(const Runs& runs, const std::vector<Check>& checks) {
  return result_of(point_of(runs, checks)).code;
}

base::Summary interval(double lo, double median, double hi) {
  return {.n = 10, .median = median, .min = lo, .max = hi, .lo = lo, .hi = hi};
}

TEST(Judge, WholeIntervalDecides) {
  EXPECT_EQ(judge(interval(1.4, 1.5, 1.6), true, 1.3), Verdict::pass);
  EXPECT_EQ(judge(interval(1.1, 1.2, 1.25), true, 1.3), Verdict::fail);
  EXPECT_EQ(judge(interval(1.2, 1.4, 1.6), true, 1.3), Verdict::inconclusive);
  EXPECT_EQ(judge(interval(1.4, 1.5, 1.6), false, 1.3), Verdict::fail);
  EXPECT_EQ(judge(interval(1.1, 1.2, 1.25), false, 1.3), Verdict::pass);
  EXPECT_EQ(judge(interval(1.2, 1.4, 1.6), false, 1.3), Verdict::inconclusive);
}

TEST(Judge, TheLimitItselfKeepsIt) {
  EXPECT_EQ(judge(interval(1.3, 1.3, 1.3), true, 1.3), Verdict::pass);
  EXPECT_EQ(judge(interval(0, 0, 0), false, 0), Verdict::pass);
}

const Runs two_runs = {run_of(Order::sequential, std::vector<double>(6, 2)),
                       run_of(Order::depth_first, std::vector<double>(6, 1))};

TEST(JudgeAll, ACriterionWithoutOrderHoldsForEveryOrder) {
  const auto checks = judged({at_most(Metric::time, 1.5)}, two_runs);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].verdict, Verdict::fail);
  EXPECT_EQ(checks[1].verdict, Verdict::pass);
  EXPECT_EQ(exit_code(two_runs, checks), ExitCode::performance);
}

TEST(JudgeAll, ACriterionWithAnOrderHoldsForItAlone) {
  for (const Order order : {Order::sequential, Order::depth_first}) {
    const auto checks =
        judged({{.metric = Metric::time, .order = order, .min = {}, .max = 3}}, two_runs);
    ASSERT_EQ(checks.size(), 1U);
    EXPECT_EQ(checks[0].key.order, order);
  }
}

/// The two runs, where the bound is so many seconds.
Runs with_bound(double bound_s) {
  Runs runs = two_runs;
  for (results::Run& r : runs) r.bounds = {.bound_s = bound_s, .schedule_bound_s = 0.8};
  return runs;
}

TEST(JudgeAll, EfficiencyAndFractionsCompareWithTheBound) {
  // 1 of the 1.6 s that could be hidden; the bound is 0.4 of 1 s.
  const auto runs = with_bound(0.4);
  const auto value = [&](Metric metric) {
    const auto checks = judged({at_least(metric, 0.1, Order::depth_first)}, runs);
    return checks.size() == 1 ? checks[0].value.median : -1;
  };
  EXPECT_DOUBLE_EQ(value(Metric::overlap_efficiency), 0.625);
  EXPECT_DOUBLE_EQ(value(Metric::bound_fraction), 0.4);
  EXPECT_DOUBLE_EQ(value(Metric::schedule_bound_fraction), 0.8);
}

TEST(JudgeAll, OverlapIsInconclusiveWhereItCouldSaveLittle) {
  for (const Metric metric : {Metric::speedup, Metric::overlap_efficiency}) {
    const std::vector<deck::Criterion> criteria = {at_least(metric, 0.1, Order::depth_first)};
    EXPECT_EQ(judged(criteria, with_bound(1.7))[0].verdict, Verdict::pass);
    const auto checks = judged(criteria, with_bound(1.9));  // 5 % of 2 s
    ASSERT_EQ(checks.size(), 1U);
    EXPECT_EQ(checks[0].verdict, Verdict::inconclusive);
    EXPECT_THAT(checks[0].reason,
                HasSubstr("at most 5.00 % of the sequential time, less than 10 %"));
    EXPECT_EQ(exit_code(two_runs, checks), ExitCode::inconclusive);
    EXPECT_THAT(judged(criteria, with_bound(2.1))[0].reason, HasSubstr("at most 0.00 %"));
  }
  const auto time = judged({at_most(Metric::time, 3)}, with_bound(1.9));
  EXPECT_EQ(time[0].verdict, Verdict::pass);
}

TEST(Efficiency, IsNotShownWhereItWouldBeNoise) {
  for (const double bound_s : {1.7, 1.9}) {  // of 2 s
    const results::Result result = result_of(point_of(with_bound(bound_s)));
    EXPECT_EQ(shown(result).find("3.333") != std::string::npos, bound_s < 1.8);
    EXPECT_THAT(report::result_lines(result), HasSubstr("metric=overlap_efficiency"));
  }
}

TEST(JudgeAll, SpeedupIsAboutEveryOrderButTheBaseline) {
  const auto checks = judged({at_least(Metric::speedup, 1.9)}, two_runs);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].key.order, Order::depth_first);
  EXPECT_DOUBLE_EQ(checks[0].value.median, 2);
}

TEST(JudgeAll, MinAndMaxAreTwoChecks) {
  const auto checks =
      judged({{.metric = Metric::throughput, .order = Order::depth_first, .min = 0.5, .max = 0.9}},
             two_runs);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].verdict, Verdict::pass);
  EXPECT_EQ(checks[1].verdict, Verdict::fail);
}

TEST(JudgeAll, MetricsOfTheDeviceAreJudgedOnce) {
  const DeviceSamples device{.link = results::LinkSamples{.bytes = 1000000000,
                                                          .h2d_s = {0.1, 0.1, 0.2},
                                                          .d2h_s = {0.2, 0.2, 0.2},
                                                          .duplex_s = {0.25, 0.25, 0.25},
                                                          .duplex_h2d_s = {0.2, 0.2, 0.2},
                                                          .duplex_d2h_s = {0.5, 0.5, 0.5}}};
  const auto check = [&](Metric metric, double min) {
    const auto checks = judged({at_least(metric, min)}, two_runs, device);
    EXPECT_EQ(checks.size(), 1U);
    EXPECT_EQ(results::order_name(checks.at(0).key), "-");
    return std::pair(checks.at(0).value.median, checks.at(0).verdict);
  };
  EXPECT_EQ(check(Metric::h2d_rate, 7), std::pair(10.0, Verdict::inconclusive));
  EXPECT_EQ(check(Metric::d2h_rate, 5), std::pair(5.0, Verdict::pass));
  EXPECT_EQ(check(Metric::duplex_rate, 8.1), std::pair(8.0, Verdict::fail));
  EXPECT_EQ(check(Metric::duplex_h2d_rate, 5), std::pair(5.0, Verdict::pass));
  EXPECT_EQ(check(Metric::duplex_d2h_rate, 5), std::pair(2.0, Verdict::fail));
}

TEST(JudgeAll, HealthIsWhatHappenedDuringTheRuns) {
  HealthRecord health{.before = {.pcie_replays = 7, .ecc_corrected = 3, .ecc_uncorrected = 1},
                      .after = {.pcie_replays = 9, .ecc_corrected = 8, .ecc_uncorrected = 2},
                      .throttled = ThrottledTime{.slowed_s = 0.25}};
  const auto check = [&](Metric metric, double max) {
    const auto checks =
        judged({at_most(metric, max)}, two_runs,
               {.link = results::LinkSamples{1, {1}, {1}, {1}, {}, {}}, .health = health});
    EXPECT_EQ(checks.size(), 1U);
    const base::Summary value = checks.at(0).value;
    EXPECT_EQ(std::isnan(value.median), checks.at(0).verdict == Verdict::inconclusive);
    if (!std::isnan(value.median)) {
      EXPECT_EQ(value.lo, value.hi);
    }
    return std::pair(value.median, checks.at(0).verdict);
  };
  EXPECT_EQ(check(Metric::pcie_replays, 2), std::pair(2.0, Verdict::pass));
  EXPECT_EQ(check(Metric::pcie_replays, 1), std::pair(2.0, Verdict::fail));
  EXPECT_EQ(check(Metric::ecc_errors, 5), std::pair(6.0, Verdict::fail));
  EXPECT_EQ(check(Metric::throttled, 0.3), std::pair(0.25, Verdict::pass));
  EXPECT_EQ(check(Metric::throttled, 0), std::pair(0.25, Verdict::fail));
  // What is unknown passes nothing.
  health.after = {.ecc_corrected = 8};
  health.throttled.reset();
  for (const Metric metric : {Metric::pcie_replays, Metric::ecc_errors, Metric::throttled}) {
    EXPECT_EQ(check(metric, 100).second, Verdict::inconclusive) << deck::to_string(metric);
  }
}

TEST(JudgeAll, WhatWasNotMeasuredOfTheDeviceNeverPasses) {
  const auto checks = judged({at_most(Metric::h2d_rate, 100)}, two_runs);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(checks[0].reason, "it was not measured");
  EXPECT_TRUE(std::isnan(checks[0].value.median));
  EXPECT_EQ(checks[0].text, "h2d_rate: unknown, limit <= 100.0; inconclusive: it was not measured");
  EXPECT_EQ(exit_code(two_runs, checks), ExitCode::inconclusive);
}

TEST(JudgeAll, WhatARunLacksNeverPasses) {
  const std::vector<deck::Criterion> criteria = {at_least(Metric::bound_fraction, 0)};
  const auto checks = judged(criteria, two_runs);  // without rates there is no bound
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(exit_code(two_runs, checks), ExitCode::inconclusive);
  auto predicted = two_runs;
  for (results::Run& r : predicted) r.samples_s.clear();
  EXPECT_THAT(judged(criteria, predicted), testing::IsEmpty());
}

/// The runs as predictions for a device.
Runs predicted_for(const std::string& device) {
  auto runs = two_runs;
  for (results::Run& r : runs) {
    r.device = device;
    r.predicted_s = r.samples_s[0];
    r.samples_s.clear();
    r.verified = false;
  }
  return runs;
}

deck::Criterion fast_on(std::vector<std::string> where, double least = 1.9) {
  return {.metric = Metric::speedup,
          .order = Order::depth_first,
          .min = least,
          .max = {},
          .where = std::move(where)};
}

TEST(Where, PredictionsAreJudgedForTheDevicesOfACriterion) {
  const auto runs = predicted_for("c2070");
  const auto checks = judged({fast_on({"c2070"}), fast_on({"gpu", "c2070"}, 2.1)}, runs);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].verdict, Verdict::pass);
  EXPECT_EQ(checks[0].text, "speedup of depth_first on c2070: 2.000, limit >= 1.900");
  EXPECT_EQ(checks[1].verdict, Verdict::fail);
  EXPECT_EQ(exit_code(runs, checks), ExitCode::performance);
  EXPECT_THAT(judged({fast_on({})}, runs), testing::IsEmpty());
}

TEST(Where, ElsewhereChecksAreSkippedAndDecideNothing) {
  const auto on_host = [](const std::vector<deck::Criterion>& criteria) {
    return judged(criteria, two_runs, {}, false);
  };
  const auto checks = on_host({fast_on({"c2070", "gpu"}, 2.1), fast_on({})});
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].verdict, Verdict::skipped);
  EXPECT_EQ(checks[0].text,
            "speedup of depth_first: 2.000 (2.000 .. 2.000), limit >= 2.100; skipped: judged only "
            "for --predict c2070 and runs on a GPU");
  EXPECT_EQ(checks[1].verdict, Verdict::pass);
  EXPECT_EQ(exit_code(two_runs, checks), ExitCode::pass);
  EXPECT_EQ(results::run_verdict(two_runs[1], checks), "PASS");
  EXPECT_EQ(exit_code(two_runs, on_host({fast_on({"gpu"}, 2.1), fast_on({}, 2.1)})),
            ExitCode::performance);
  EXPECT_EQ(judged({fast_on({"gpu"}, 2.1)}, two_runs)[0].verdict, Verdict::fail);
  EXPECT_EQ(judged({fast_on({"c2070"}, 2.1)}, two_runs)[0].verdict, Verdict::skipped);
  EXPECT_EQ(judged({fast_on({"c2070", "gpu"}, 2.1)}, predicted_for("h200"))[0].verdict,
            Verdict::skipped);
}

TEST(Where, WhatIsNotPredictedNeverPasses) {
  const deck::Criterion correct = {
      .metric = Metric::max_error, .order = {}, .min = {}, .max = 0, .where = {"c2070"}};
  const auto runs = predicted_for("c2070");
  const auto checks = judged({correct}, runs);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].reason, "it is not predicted");
  EXPECT_EQ(exit_code(runs, checks), ExitCode::inconclusive);
}

TEST(ExitCode, BrokenDataLimitsAreWrongData) {
  auto runs = two_runs;
  set_error(runs[1], 1e-3);
  const auto checks = judged({at_most(Metric::max_error, 1e-6)}, runs);
  EXPECT_EQ(exit_code(runs, checks), ExitCode::wrong_data);
  EXPECT_EQ(result_of(point_of(runs, checks)).verdict, Verdict::fail);
}

TEST(JudgeAll, OneVerifiedRepetitionHasAnError) {
  auto one = run_of(Order::sequential, {1});
  one.verified = true;
  set_error(one, 1e-3);
  const auto checks = judged({at_most(Metric::max_error, 1e-6)}, {one});
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].verdict, Verdict::fail);
}

TEST(ExitCode, WrongDataOutweighEverything) {
  auto runs = two_runs;
  runs[0].wrong = WrongData{};
  const auto checks = judged({at_most(Metric::time, 0.1)}, runs);
  EXPECT_EQ(exit_code(runs, checks), ExitCode::wrong_data);
}

TEST(ExitCode, AStraddledLimitIsInconclusive) {
  const Runs runs = {run_of(Order::sequential, {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6})};
  const auto checks = judged({at_most(Metric::time, 1.3)}, runs);
  EXPECT_EQ(exit_code(runs, checks), ExitCode::inconclusive);
  EXPECT_EQ(result_of(point_of(runs, checks)).verdict, Verdict::inconclusive);
}

TEST(ExitCode, WorstFirst) {
  using base::worst;
  const std::vector order = {ExitCode::usage,         ExitCode::wrong_data,   ExitCode::interrupted,
                             ExitCode::runtime_error, ExitCode::precondition, ExitCode::performance,
                             ExitCode::inconclusive,  ExitCode::skipped,      ExitCode::pass};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i; j < order.size(); ++j) {
      EXPECT_EQ(worst(order[i], order[j]), order[i]);
      EXPECT_EQ(worst(order[j], order[i]), order[i]);
    }
  }
}

auto value(Metric metric, const results::Run& run, const Runs& runs) {
  return results::value(metric, run, runs);
}

auto speedup(const results::Run& run, const Runs& runs) {
  return value(Metric::speedup, run, runs);
}

TEST(Throughput, IsOfRunsThatCopy) {
  for (const int bytes : {0, 1}) {
    results::Run run = two_runs[0];
    run.h2d_bytes = bytes;
    EXPECT_EQ(value(Metric::throughput, run, {run}).has_value(), bytes > 0);
  }
}

TEST(Speedup, PairsRepetitions) {
  // The machine slowed down for both orders in the second half: pairs do not see it.
  const Runs runs = {run_of(Order::sequential, {2, 2, 2, 4, 4, 4}),
                     run_of(Order::depth_first, {1, 1, 1, 2, 2, 2})};
  const auto found = speedup(runs[1], runs);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->lo, 2);
  EXPECT_DOUBLE_EQ(found->hi, 2);
  EXPECT_FALSE(speedup(runs[1], {runs[1]}));
}

results::Run beside_host_work(results::Run run, std::vector<double> work_s) {
  run.host_work = results::HostWorkSamples{std::move(work_s)};
  return run;
}

TEST(HostWork, IsHiddenAsFarAsItCostsNoTime) {
  const auto hidden = [](const results::Run& run, const Runs& runs) {
    return value(Metric::host_work_hidden, run, runs);
  };
  const Runs runs = {run_of(Order::sequential, {4, 8, 4}),
                     beside_host_work(run_of(Order::sequential, {6, 10, 6}), {2, 2, 2}),
                     run_of(Order::depth_first, {2, 4, 2}),
                     beside_host_work(run_of(Order::depth_first, {2.5, 4.5, 2.5}), {2, 2, 2})};
  EXPECT_FALSE(hidden(runs[0], runs));
  EXPECT_DOUBLE_EQ(hidden(runs[1], runs)->median, 0);
  EXPECT_FALSE(hidden(runs[2], runs));
  EXPECT_DOUBLE_EQ(hidden(runs[3], runs)->median, 0.75);
  EXPECT_DOUBLE_EQ(hidden(runs[3], runs)->lo, 0.75);
  EXPECT_FALSE(hidden(runs[3], {runs[0], runs[3]}));
  // Speed-up compares runs that do the same.
  EXPECT_DOUBLE_EQ(speedup(runs[2], runs)->median, 2);
  EXPECT_DOUBLE_EQ(speedup(runs[3], runs)->median, 2.4);
  EXPECT_EQ(name(runs[3]), "depth_first + host work");
}

TEST(HostWork, IsJudgedByItsOwnMetricAlone) {
  const Runs runs = {run_of(Order::depth_first, {2, 2, 2}),
                     beside_host_work(run_of(Order::depth_first, {3, 3, 3}), {2, 2, 2})};
  const auto checks =
      judged({at_most(Metric::time, 2.5), at_least(Metric::host_work_hidden, 0.6)}, runs);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].verdict, Verdict::pass);
  EXPECT_EQ(checks[1].key.metric, Metric::host_work_hidden);
  EXPECT_DOUBLE_EQ(checks[1].value.median, 0.5);
  EXPECT_EQ(checks[1].verdict, Verdict::fail);
}

TEST(HostWork, ShowsInTableLinesAndFile) {
  const results::Result result =
      result_of(point_of({run_of(Order::depth_first, {2, 2, 2}),
                          beside_host_work(run_of(Order::depth_first, {3, 3, 3}), {2, 2, 2})}));
  EXPECT_THAT(shown(result), HasSubstr("depth_first + host work  2.000 s  50.0 %"));
  EXPECT_THAT(report::result_lines(result),
              HasSubstr("order=depth_first metric=host_work_hidden value=0.5 unit=1 lo=0.5 hi=0.5 "
                        "n=3 host_work=on\n"));
  const auto json = nlohmann::json::parse(report::json({result}));
  EXPECT_EQ(json["points"][0]["runs"][0]["host_work"], nullptr);
  EXPECT_EQ(json["points"][0]["runs"][1]["host_work_hidden"]["median"], 0.5);
  EXPECT_EQ(json["points"][0]["runs"][1]["host_work"]["time_s"]["median"], 2);
}

TEST(Disturbance, LosesAgainstTheUndisturbedTwin) {
  Runs runs = {run_of(Order::depth_first, {2, 4, 2}), run_of(Order::depth_first, {3, 6, 3})};
  runs[1].disturbance = deck::Disturbance::malloc;
  EXPECT_FALSE(results::disturbance_loss(runs[0], runs));
  EXPECT_DOUBLE_EQ(results::disturbance_loss(runs[1], runs)->median, 0.5);
  EXPECT_DOUBLE_EQ(results::disturbance_loss(runs[1], runs)->hi, 0.5);
  EXPECT_EQ(judged({at_most(Metric::time, 2.5)}, runs).size(), 1U);
}

TEST(Predictions, CompareWithTheBaselineOfTheirOwnDevice) {
  // Two devices, whatever else runs beside an order: 4 s and 1 s, then 9 s and 3 s.
  Runs runs;
  for (const auto& [device, order, seconds] : {std::tuple("a", Order::sequential, 4.0),
                                               {"a", Order::depth_first, 1.0},
                                               {"b", Order::sequential, 9.0},
                                               {"b", Order::depth_first, 3.0}}) {
    runs.push_back(run_of(order, {}));
    runs.back().device = device;
    runs.back().predicted_s = seconds;
  }
  results::Result result = result_of(point_of(runs));
  result.predicted_for = {"a", "b"};
  EXPECT_THAT(shown(result), HasSubstr("sequential   4.000 s      1.00  9.000 s      1.00\n"
                                       "depth_first  1.000 s      4.00  3.000 s      3.00\n"));
}

TEST(ResultLines, AreExact) {
  const Runs runs = {two_runs[1]};
  const auto checks = judged({at_most(Metric::time, 1.5)}, runs);
  results::Result result = result_of(point_of(runs, checks));
  EXPECT_EQ(
      report::result_lines(result),
      "OVERLAP_FOM deck=hand order=depth_first metric=time value=1 unit=s lo=1 hi=1 n=6\n"
      "OVERLAP_FOM deck=hand order=depth_first metric=throughput value=1 unit=GB/s lo=1 hi=1 "
      "n=6\n"
      "OVERLAP_FOM deck=hand order=depth_first metric=max_error value=0 unit=1 lo=0 hi=0 n=1\n"
      "OVERLAP_CHECK metric=time order=depth_first verdict=PASS value=1 limit=1.5\n");
  result.points[0].values = {{"memory.host", "pageable"}, {"title", "a,b:c d"}};
  result.points[0].phase = deck::Phase::together;
  add_point(result, 0, point_of(runs, checks));
  EXPECT_THAT(report::result_lines(result),
              HasSubstr("metric=time value=1 unit=s lo=1 hi=1 n=6 "
                        "point=memory.host:pageable,title:a_b_c_d phase=together\n"));
}

TEST(ResultLines, TheLastIsTheWorstOfTheCall) {
  const results::Result right = result_of(point_of(two_runs)),
                        slow = result_of(
                            point_of(two_runs, judged({at_most(Metric::time, 0)}, two_runs)));
  EXPECT_EQ(report::verdict_line({&right, 1}), "OVERLAP_RESULT verdict=PASS data=OK exit=0\n");
  EXPECT_EQ(report::verdict_line(report::Results{right, slow, right}),
            "OVERLAP_RESULT verdict=FAIL data=OK exit=5\n");
}

TEST(WrongData, ShowsEverywhere) {
  Runs runs = two_runs;
  runs[1].wrong = WrongData{3, "sums", 77, 12, -1};
  runs[1].verified = false;
  const results::Result result = result_of(point_of(runs));
  EXPECT_EQ(report::verdict_line({&result, 1}), "OVERLAP_RESULT verdict=FAIL data=WRONG exit=2\n");
  EXPECT_THAT(shown(result), HasSubstr("WRONG DATA"));
  EXPECT_EQ(report::wrong_data(result.points[0]),
            "wrong data: order depth_first, chunk 3, array sums, index 77: expected 12, found "
            "-1\n");
  const auto json = nlohmann::json::parse(report::json({result}));
  EXPECT_EQ(json["exit_code"], 2);
  EXPECT_EQ(json["verdict"], "FAIL");
  EXPECT_EQ(json["points"][0]["runs"][0]["wrong"], nullptr);
  EXPECT_EQ(
      json["points"][0]["runs"][1]["wrong"],
      (nlohmann::json{
          {"chunk", 3}, {"array", "sums"}, {"index", 77}, {"expected", 12.0}, {"found", -1.0}}));
}

}  // namespace
}  // namespace overlap::experiment
