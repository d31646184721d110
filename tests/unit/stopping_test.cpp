#include "experiment/stopping.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "results/metrics.hpp"

/// When repetitions end, and what that does to the interval: simulated samples with fixed seeds.
namespace overlap::experiment {
namespace {

using deck::Metric;
using deck::Order;
using Random = std::mt19937_64;

deck::Measure precise(double precision) { return {.precision = precision}; }

TEST(Pauses, AreRoundsFarBeyondTheMedian) {
  std::vector<double> rounds_s;
  auto excess = [&, number = 0](double round_s) mutable {
    return excess_s(rounds_s, round_s, number++);
  };
  EXPECT_EQ(excess(30), 0);  // nothing to compare it with
  for (int i = 0; i < 5; ++i) EXPECT_EQ(excess(0.01), 0);
  EXPECT_EQ(excess(0.99), 0);  // a hiccup
  EXPECT_DOUBLE_EQ(excess(15), 14.99);
  EXPECT_DOUBLE_EQ(excess(15), 14.99);  // pauses hardly change the median
  rounds_s.assign(3, 2);
  EXPECT_EQ(excess(20), 0);
  EXPECT_DOUBLE_EQ(excess(20.1), 18.1);
}

/// One order of which every repetition takes no wall-clock time but that of its sample.
std::vector<Case> one_case() {
  std::vector<Case> cases(1);
  cases[0].run.order = Order::depth_first;
  return cases;
}

/// What decides after each repetition; the program's own is Stopping.
using Rule = std::function<std::optional<Stop>(const std::vector<Case>&, int, double)>;

Rule program_rule(const deck::Measure& plan, const std::vector<deck::Criterion>& criteria = {}) {
  return [stopping = Stopping(plan, criteria)](const std::vector<Case>& cases, int number,
                                               double elapsed_s) mutable {
    return stopping.may_end(number, elapsed_s) ? stopping.stop(cases, number, elapsed_s)
                                               : std::nullopt;
  };
}

/// Repeats until the rule ends it; samples[i] are those of repetition i.
Stop repeat(Rule rule, std::vector<Case>& cases,
            const std::function<double(std::size_t run)>& sample, double round_s = 0) {
  for (int number = 1;; ++number) {
    for (std::size_t i = 0; i < cases.size(); ++i) cases[i].run.samples_s.push_back(sample(i));
    if (const auto stop = rule(cases, number, number * round_s)) return *stop;
    if (number > 100000) return {};
  }
}

TEST(Stopping, CountsWithoutPrecision) {
  auto cases = one_case();
  const Stop stop =
      repeat(program_rule({.repetitions = 7}), cases, [](std::size_t) { return 1.0; });
  EXPECT_EQ(stop.reason, StopReason::repetitions);
  EXPECT_EQ(stop.repetitions, 7);
  EXPECT_FALSE(stop.width);
}

TEST(Stopping, NarrowTwiceIsEnough) {
  auto cases = one_case();
  const Stop stop = repeat(program_rule(precise(0.01)), cases, [](std::size_t) { return 1.0; });
  EXPECT_EQ(stop.reason, StopReason::precision);
  EXPECT_EQ(stop.repetitions, 30);  // looks at 20 and 30
  EXPECT_EQ(stop.width, 0);
  EXPECT_EQ(results::stop_text(stop), "precision 0 % reached after 30 repetitions");
}

/// 1.0 and 1.1 in turn.
std::function<double(std::size_t)> wide() {
  return [n = 0](std::size_t) mutable { return n++ % 2 == 0 ? 1.0 : 1.1; };
}

TEST(Stopping, LooksAgainAsUsualWhereOtherRanksContinue) {
  auto cases = one_case();
  cases[0].run.samples_s.assign(45, 1.0);
  Stopping stopping(precise(0.01), {});
  EXPECT_FALSE(stopping.stop(cases, 20, 0));
  EXPECT_TRUE(stopping.stop(cases, 30, 0));
  EXPECT_FALSE(stopping.may_end(44, 0));
  EXPECT_TRUE(stopping.may_end(45, 0));
  EXPECT_TRUE(stopping.stop(cases, 45, 0));
  EXPECT_FALSE(stopping.may_end(67, 0));
}

TEST(Stopping, SaysWhereItDidNotGetThere) {
  auto cases = one_case();
  deck::Measure plan = precise(0.05);
  Stop stop = repeat(program_rule(plan), cases, wide());
  EXPECT_EQ(stop.reason, StopReason::at_most);
  EXPECT_EQ(stop.repetitions, 200);
  EXPECT_NEAR(*stop.width, 0.1 / 1.05, 1e-12);
  EXPECT_EQ(results::stop_text(stop),
            "precision not reached: 9.5 % after 200 repetitions (at_most)");

  plan.budget_s = 10;
  cases = one_case();
  stop = repeat(program_rule(plan), cases, wide(), 0.3);  // between two looks
  EXPECT_EQ(stop.reason, StopReason::budget);
  EXPECT_EQ(stop.repetitions, 34);
  cases = one_case();
  stop = repeat(program_rule(plan), cases, [](std::size_t) { return 1.0; }, 5);
  EXPECT_EQ(stop.reason, StopReason::budget);
  EXPECT_EQ(results::stop_text(stop),
            "precision not reached: unknown after 2 repetitions (budget)");
}

TEST(Stopping, TheWidthItselfIsNarrow) {
  auto cases = one_case();
  const double width = repeat(program_rule(precise(0.05)), cases, wide()).width.value();
  for (const auto& [precision, reason] :
       {std::pair(width, StopReason::precision), {std::nextafter(width, 0), StopReason::at_most}}) {
    cases = one_case();
    EXPECT_EQ(repeat(program_rule(precise(precision)), cases, wide()).reason, reason);
  }
}

TEST(Stopping, KeepsTheLeastNumberThatTheDeckAsksFor) {
  auto cases = one_case();
  deck::Measure plan = precise(0.01);
  plan.repetitions = 100;
  EXPECT_EQ(repeat(program_rule(plan), cases, [](std::size_t) { return 1.0; }).repetitions, 150);
}

TEST(Stopping, SoakEndsWhenItsTimeIsOver) {
  auto cases = one_case();
  const Stop stop =
      repeat(program_rule({.duration_s = 100}), cases, [](std::size_t) { return 1.0; }, 0.5);
  EXPECT_EQ(stop.reason, StopReason::duration);
  EXPECT_EQ(stop.repetitions, 200);
  EXPECT_EQ(results::stop_text(stop), "after 200 repetitions, which took 100.0 s");
}

TEST(Stopping, WidthsHaveTwoDigitsOrAreWholePercent) {
  for (const auto& [width, text] :
       {std::pair(0.0234, "2.3 %"), {0.994, "99 %"}, {0.997, "100 %"}, {12.344, "1234 %"}}) {
    const Stop stop{.reason = StopReason::at_most, .repetitions = 9, .width = width};
    EXPECT_EQ(results::stop_text(stop),
              fmt::format("precision not reached: {} after 9 repetitions (at_most)", text));
  }
}

TEST(Stopping, WaitsForEveryJudgedMetricOfItsOrdersAlone) {
  // The baseline is wide, the other order is not; their ratio is as wide as the baseline.
  const auto stop_with = [&](const std::vector<deck::Criterion>& criteria) {
    std::vector<Case> cases(2);
    cases[0].run.order = Order::sequential;
    cases[1].run.order = Order::depth_first;
    const auto sample = wide();
    return repeat(program_rule(precise(0.05), criteria), cases,
                  [&](std::size_t run) { return run == 0 ? 2 * sample(run) : 1.0; })
        .reason;
  };
  const deck::Criterion time = {.metric = Metric::time, .order = Order::depth_first};
  EXPECT_EQ(stop_with({}), StopReason::at_most);
  EXPECT_EQ(stop_with({time}), StopReason::precision);
  EXPECT_EQ(stop_with({time, {.metric = Metric::speedup, .order = {}}}), StopReason::at_most);
  // Nothing that has a value for each repetition is judged: the time of every order.
  EXPECT_EQ(stop_with({{.metric = Metric::max_error, .order = {}},
                       {.metric = Metric::drift, .order = {}}}),
            StopReason::at_most);
}

TEST(Stopping, WaitsForTheRatioToTheBoundOfEachRound) {
  const auto sample = wide();
  for (const bool follows : {true, false}) {
    auto cases = one_case();
    cases[0].run.bounds = {.bound_s = 1, .schedule_bound_s = 1};
    const Stop stop =
        repeat(program_rule(precise(0.05), {{.metric = Metric::bound_fraction, .order = {}}}),
               cases, [&](std::size_t run) {
                 const double time_s = sample(run);
                 cases[0].run.bound_samples_s.push_back(follows ? 0.9 * time_s : 0.9);
                 return time_s;
               });
    EXPECT_EQ(stop.reason, follows ? StopReason::precision : StopReason::at_most);
  }
}

TEST(Stopping, WaitsForEveryJudgedRateOfTheLink) {
  const auto stop_with = [&](const std::vector<deck::Criterion>& criteria) {
    Stopping stopping(precise(0.05), criteria);
    auto cases = one_case();
    experiment::DeviceSamples device{.link = results::LinkSamples{.bytes = 1}};
    const auto sample = wide();
    for (int number = 1;; ++number) {
      cases[0].run.samples_s.push_back(1);
      device.link->h2d_s.push_back(1);
      device.link->d2h_s.push_back(1);
      device.link->duplex_s.push_back(2 * sample(0));
      if (!stopping.may_end(number, 0)) continue;
      if (const auto stop = stopping.stop(cases, number, 0, device)) return stop->reason;
    }
  };
  EXPECT_EQ(stop_with({{.metric = Metric::h2d_rate, .order = {}}}), StopReason::precision);
  EXPECT_EQ(stop_with({{.metric = Metric::time, .order = {}},
                       {.metric = Metric::duplex_rate, .order = {}}}),
            StopReason::at_most);
}

// No rule may look at the verdict.

std::vector<Check> checks_of(const std::vector<deck::Criterion>& criteria,
                             const std::vector<Case>& cases) {
  std::vector<results::Run> all;
  for (const Case& one : cases) all.push_back(finished(one));
  results::evaluate(all);
  return judge_all(criteria, all);
}

/// A rule that goes on until the first criterion is kept, as people do by hand.
Rule verdict_dependent_rule(const deck::Measure& plan,
                            const std::vector<deck::Criterion>& criteria) {
  return [=](const std::vector<Case>& cases, int number, double) -> std::optional<Stop> {
    const auto checks = checks_of(criteria, cases);
    const bool kept = number >= 20 && checks.front().verdict == Verdict::pass;
    if (!kept && number < plan.at_most) return std::nullopt;
    return Stop{.reason = StopReason::precision, .repetitions = number};
  };
}

/// Whether the same samples end at the same repetition whatever the limit is.
bool ignores_limits(
    const std::function<Rule(const deck::Measure&, const std::vector<deck::Criterion>&)>& make) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::optional<int> first;
    for (const double limit : {0.9, 0.99, 1.0, 1.01, 1.1}) {
      Random random(seed);
      std::normal_distribution<double> normal(1, 0.03);
      auto cases = one_case();
      const Rule rule = make(precise(0.02), {{.metric = Metric::time, .order = {}, .max = limit}});
      const int stop = repeat(rule, cases, [&](std::size_t) { return normal(random); }).repetitions;
      if (first.value_or(stop) != stop) return false;
      first = stop;
    }
  }
  return true;
}

TEST(Stopping, IgnoresTheVerdict) {
  EXPECT_TRUE(ignores_limits(program_rule));
  EXPECT_FALSE(ignores_limits(verdict_dependent_rule));
}

// Coverage of the median by the interval that is left when the rule has stopped.

struct Distribution {
  const char* name;
  std::function<double(Random&)> draw;
  double median;
};

std::vector<Distribution> distributions() {
  const auto normal = [](double mean, double deviation) {
    return [=](Random& random) { return std::normal_distribution(mean, deviation)(random); };
  };
  const auto mixed = [=](double first) {
    return [=](Random& random) {
      const bool slow = std::uniform_real_distribution()(random) >= first;
      return normal(slow ? 1.05 : 1, 0.005)(random);
    };
  };
  const auto lognormal = [](double shift, double scale, double deviation) {
    return [=](Random& random) {
      return shift + scale * std::lognormal_distribution<double>(0, deviation)(random);
    };
  };
  const auto pareto = [](double exponent) {
    return [=](Random& random) {
      return std::pow(1 - std::uniform_real_distribution()(random), -1 / exponent);
    };
  };
  return {
      {"normal", normal(1, 0.02), 1},
      // 0.7 or 0.55 of the distribution function of the fast mode is 1/2
      {"bimodal, 70 % fast", mixed(0.7), 1 + 0.565949 * 0.005},
      {"bimodal, 55 % fast", mixed(0.55), 1 + 1.335178 * 0.005},
      {"lognormal", lognormal(0, 1, 0.5), 1},
      {"lognormal tail on a constant", lognormal(1, 0.02, 1), 1.02},
      {"Pareto without variance", pareto(1.5), std::pow(2, 1 / 1.5)},
      {"Pareto", pareto(20), std::pow(2, 1 / 20.0)},
  };
}

/// How often the interval that is left covers the median, and the samples that it took on average.
std::pair<double, double> coverage(const Distribution& of, const std::function<Rule()>& make,
                                   int trials) {
  Random random(11);
  int covered = 0;
  double samples = 0;
  for (int trial = 0; trial < trials; ++trial) {
    auto cases = one_case();
    repeat(make(), cases, [&](std::size_t) { return of.draw(random); });
    const base::Summary time = results::time_s(cases[0].run);
    EXPECT_GE(time.n, 20);
    samples += time.n;
    if (time.lo <= of.median && of.median <= time.hi) ++covered;
  }
  return {static_cast<double>(covered) / trials, samples / trials};
}

constexpr double least_coverage = 0.93;

TEST(Stopping, KeepsTheCoverageOfTheInterval) {
  for (const Distribution& of : distributions()) {
    // The usual width at 60 samples; with precisions around it the rule stops early and late.
    Random random(3);
    std::vector<double> widths(101);
    for (double& width : widths) {
      std::vector<double> samples(60);
      for (double& sample : samples) sample = of.draw(random);
      const base::Summary summary = base::summarize(std::move(samples));
      width = (summary.hi - summary.lo) / summary.median;
    }
    const double usual = base::summarize(std::move(widths)).median;
    for (const double precision : {0.7 * usual, usual, 1.3 * usual}) {
      const auto make = [&] { return program_rule(precise(precision)); };
      const auto [covered, samples] = coverage(of, make, 1000);
      EXPECT_GE(covered, least_coverage)
          << of.name << ", precision " << precision << ", " << samples << " samples on average";
    }
  }
}

/// A rule that looks after each sample and takes the first narrow interval.
std::optional<Stop> eager_rule(const std::vector<Case>& cases, int number, double) {
  const base::Summary time = results::time_s(cases[0].run);
  if (number < 20 || (time.hi - time.lo > 0.03 && number < 200)) return std::nullopt;
  return Stop{.reason = StopReason::precision, .repetitions = number};
}

TEST(Stopping, AnEagerRuleLosesCoverage) {
  const Distribution bimodal = distributions()[2];
  const auto make = [] { return Rule(eager_rule); };
  EXPECT_LT(coverage(bimodal, make, 1000).first, least_coverage);
}

// Drift.

/// `n` samples of a distribution that grow by `drift` from the first to the last.
Case drifting_case(const Distribution& of, Random& random, int n, double drift) {
  Case one;
  for (int i = 0; i < n; ++i) {
    one.run.samples_s.push_back(of.draw(random) * (1 + drift * i / (n - 1)));
  }
  return one;
}

bool is_found(const Case& one) {
  for (const Finding& finding : diagnose(one, {one}, {})) {
    if (finding.cause == "drifting") return true;
  }
  return false;
}

TEST(Drift, IsReportedWhereThereIsSomeAndSeldomElse) {
  constexpr int trials = 500;
  for (const Distribution& of : distributions()) {
    const bool narrow = of.name == std::string("normal") || of.name == std::string("Pareto");
    Random random(5);
    int found = 0;
    int wrongly = 0;
    for (int trial = 0; trial < trials; ++trial) {
      if (is_found(drifting_case(of, random, 60, 0.2))) ++found;
      if (is_found(drifting_case(of, random, 60, 0))) ++wrongly;
    }
    EXPECT_LE(wrongly, trials / 50) << of.name;
    EXPECT_GE(found, narrow ? trials * 9 / 10 : 0) << of.name;
  }
}

TEST(Contention, ComparesAllRepetitionsOfBothPhases) {
  std::vector<results::Run> together(1), alone(1);
  together[0].samples_s.assign(20, 3.0);
  alone[0].samples_s.assign(10, 1.0);
  alone[0].samples_s.resize(40, 2.0);  // most of them later than the last one together
  results::evaluate(together, alone);
  const auto contention = together[0].value(Metric::contention);
  ASSERT_TRUE(contention);
  EXPECT_EQ(contention->n, 20);
  EXPECT_NEAR(contention->median, 1.5, 1e-12);
  EXPECT_EQ(together[0].value(Metric::drift)->n, 20);
}

TEST(Contention, ComparesRunsOfOneName) {
  Samples samples;
  for (const Order order : {Order::sequential, Order::by_engine, Order::depth_first}) {
    samples.cases.emplace_back().run.order = order;
    samples.cases.back().run.samples_s.assign(6, 6.0);
  }
  std::vector<results::Run> alone(2);
  alone[0].order = Order::by_engine;
  alone[0].samples_s.assign(6, 3.0);
  alone[1].order = Order::sequential;
  alone[1].samples_s.assign(6, 2.0);
  const results::Point point = judge({}, std::move(samples), {}, alone);
  EXPECT_EQ(point.runs[0].value(Metric::contention)->median, 3);
  EXPECT_EQ(point.runs[1].value(Metric::contention)->median, 2);
  EXPECT_FALSE(point.runs[2].value(Metric::contention));
}

TEST(Drift, ComparesTheThirds) {
  Case one;
  for (const double value : {1.0, 1.5, 1.1})
    one.run.samples_s.insert(one.run.samples_s.end(), 5, value);
  const auto drift = results::value(Metric::drift, one.run, {&one.run});
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->median, 0.1, 1e-12);
  EXPECT_NEAR(drift->lo, 0.1, 1e-12);
  EXPECT_EQ(drift->n, 15);
  EXPECT_TRUE(is_found(one));
  one.run.samples_s.front() = 0.8;
  one.run.samples_s.back() = 1.2;
  const auto wider = results::value(Metric::drift, one.run, {&one.run});
  EXPECT_NEAR(wider->min, 1.1 / 1.0 - 1, 1e-12);
  EXPECT_NEAR(wider->max, 1.2 / 0.8 - 1, 1e-12);
  one.run.samples_s.pop_back();
  EXPECT_FALSE(results::value(Metric::drift, one.run, {&one.run}));
  EXPECT_FALSE(is_found(one));
}

TEST(Drift, OfTooFewRepetitionsNeverPasses) {
  Case one;
  one.run.samples_s.assign(14, 1.0);
  const auto checks =
      checks_of({{.metric = Metric::drift, .order = {}, .min = {}, .max = 0.01}}, {one});
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(checks[0].reason, "there are too few repetitions");
}

}  // namespace
}  // namespace overlap::experiment
