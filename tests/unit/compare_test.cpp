#include "experiment/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "base/text.hpp"
#include "generated.hpp"
#include "report/comparison.hpp"
#include "report/lines.hpp"

namespace overlap::experiment {
namespace {

using deck::Better;
using deck::Metric;
using deck::Order;
using testing::HasSubstr;

/// A run of as many seconds, in 20 samples that differ by 0.2 % at most.
Run run(Order order, double seconds) {
  Run made;
  made.order = order;
  made.schedule.tasks = {{.stage = schedule::Stage::h2d, .bytes = 1000000000}};
  for (int i = 0; i < 20; ++i) made.samples_s.push_back(seconds * (1 + 1e-4 * ((i * 7919) % 20)));
  made.verified = true;
  return made;
}

/// A result of two orders; by_engine takes this long and is judged by its throughput.
Recorded result(const std::string& file, double seconds) {
  Recorded result;
  result.file = file;
  result.machine = {.device = "GPU", .backend = "Cuda", .deck = "abc"};
  result.deck_path = "input/gpu.yaml";
  result.provenance = {{"build.version", "1"}, {"host.name", "n1"}};
  result.deck = {{"chunks.count", "4"}};
  result.acceptance = {{.metric = Metric::throughput, .order = Order::by_engine}};
  result.points = {
      {.words = "", .runs = {run(Order::sequential, 2), run(Order::by_engine, seconds)}}};
  return result;
}

TEST(Trend, NeedsTheWholeIntervalBeyondOnePercent) {
  struct Case {
    base::Estimate ratio;
    Trend of_times;
  };
  for (const auto& [ratio, trend] : {Case{{1.02, 1.011, 1.03}, Trend::slower},
                                     {{1.02, 1.009, 1.03}, Trend::inconclusive},
                                     {{1, 0.991, 1.009}, Trend::same},
                                     {{0.98, 0.97, 0.989}, Trend::faster},
                                     {{0.98, 0.97, 0.995}, Trend::inconclusive},
                                     {{0.98, 0.97, 1 - same_within}, Trend::inconclusive},
                                     {{1.02, 1 + same_within, 1.03}, Trend::inconclusive},
                                     {{1, 1 - same_within, 1 + same_within}, Trend::same},
                                     {{1.5, 1.4, 1.6, false}, Trend::inconclusive}}) {
    EXPECT_EQ(trend_of(ratio, Better::less), trend) << ratio.value;
  }
  EXPECT_EQ(trend_of({1.02, 1.011, 1.03}, Better::more), Trend::faster);
  EXPECT_EQ(trend_of({0.98, 0.97, 0.989}, Better::more), Trend::slower);
}

/// What a second run of so many seconds is, beside one of 1 s.
const Change& throughput(const Comparison& comparison) { return comparison.changes.at(2); }

TEST(Compare, JudgesWhatTheFirstDeckJudges) {
  const auto compared = [](double seconds, double below) {
    return compare(result("a", 1), result("b", seconds), below);
  };
  const Comparison same = compared(1, 0.01);
  ASSERT_EQ(same.changes.size(), 3U);
  EXPECT_EQ(same.changes[0].trend, Trend::identical);
  EXPECT_FALSE(same.changes[0].verdict);
  EXPECT_EQ(throughput(same).metric, Metric::throughput);
  EXPECT_EQ(throughput(same).verdict, Verdict::pass);
  // A planted delay of 3 %.
  const Comparison slower = compared(1.03, 0.01);
  EXPECT_EQ(slower.changes[0].trend, Trend::identical);
  EXPECT_EQ(slower.changes[1].trend, Trend::slower);
  EXPECT_NEAR(slower.changes[1].ratio->value, 1.03, 1e-3);
  EXPECT_EQ(throughput(slower).trend, Trend::slower);
  EXPECT_EQ(throughput(slower).verdict, Verdict::fail);
  EXPECT_EQ(throughput(compared(1.03, 0.05)).verdict, Verdict::pass);
  EXPECT_EQ(throughput(compared(1 / 0.99, 0.01)).verdict, Verdict::inconclusive);
  EXPECT_EQ(throughput(compared(0.9, 0.01)).trend, Trend::faster);
}

TEST(Compare, WhatIsMissingNeverPasses) {
  Recorded other = result("b", 1);
  other.points[0].runs.pop_back();
  const Comparison comparison = compare(result("a", 1), other, 0.01);
  ASSERT_EQ(comparison.changes.size(), 3U);
  EXPECT_FALSE(throughput(comparison).b);
  EXPECT_EQ(throughput(comparison).trend, Trend::inconclusive);
  EXPECT_EQ(throughput(comparison).verdict, Verdict::inconclusive);
  EXPECT_EQ(verdict_of(exit_code_of({comparison})), Verdict::inconclusive);
}

TEST(Compare, FindsWorseErrorsOfZero) {
  Recorded exact = result("a", 1);
  exact.acceptance = {{.metric = Metric::max_error, .max = 0}};
  Recorded wrong = exact;
  wrong.points[0].runs[1].max_error = 1e-3;
  const Comparison same = compare(exact, exact, 0.01);
  EXPECT_EQ(verdict_of(exit_code_of({same})), Verdict::pass);
  for (const Change& change : same.changes) EXPECT_EQ(change.trend, Trend::identical);
  EXPECT_EQ(exit_code_of({compare(exact, wrong, 0.01)}), base::ExitCode::wrong_data);
}

TEST(Compare, RoundingErrorsMayChangeWithinTheLimit) {
  Recorded one = result("a", 1);
  one.acceptance = {{.metric = Metric::max_error, .max = 1e-6}};
  for (auto& run : one.points[0].runs) run.max_error = 6e-8;
  Recorded other = one;
  for (auto& run : other.points[0].runs) run.max_error = 2e-7;
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, other, 0.01)})), Verdict::pass);
  other.points[0].runs[1].max_error = 2e-6;
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, other, 0.01)})), Verdict::fail);
}

TEST(Compare, HealthIsJudgedByTheLimitOfTheDeck) {
  Recorded one = result("a", 1);
  one.acceptance = {{.metric = Metric::pcie_replays, .max = 10}};
  const auto with_replays = [&](std::int64_t replays) {
    Recorded made = one;
    HealthRecord& health = made.points[0].device.health.emplace();
    health.before.pcie_replays = 0;
    health.after.pcie_replays = replays;
    return made;
  };
  EXPECT_EQ(verdict_of(exit_code_of({compare(with_replays(0), with_replays(0), 0.01)})),
            Verdict::pass);
  EXPECT_EQ(verdict_of(exit_code_of({compare(with_replays(1), with_replays(9), 0.01)})),
            Verdict::pass);
  EXPECT_EQ(verdict_of(exit_code_of({compare(with_replays(0), with_replays(11), 0.01)})),
            Verdict::fail);
  EXPECT_EQ(verdict_of(exit_code_of({compare(with_replays(0), one, 0.01)})), Verdict::inconclusive);
}

TEST(Compare, TheStrictestLimitCounts) {
  Recorded one = result("a", 1);
  const deck::Criterion loose = {.metric = Metric::max_error, .max = 1e-3};
  const deck::Criterion strict = {
      .metric = Metric::max_error, .order = Order::by_engine, .max = 1e-6};
  Recorded other = one;
  other.points[0].runs[1].max_error = 5e-4;
  for (const auto& criteria : {std::vector{loose, strict}, std::vector{strict, loose}}) {
    one.acceptance = criteria;
    EXPECT_EQ(verdict_of(exit_code_of({compare(one, other, 0.01)})), Verdict::fail);
  }
}

TEST(Compare, AResultPassesBesideItself) {
  Recorded one = result("a", 1);
  one.points[0].runs[1].samples_s = {1.0, 1.5, 2.1};  // whose interval is wide
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, one, 0.01)})), Verdict::pass);
  // But alike within 1 % is not within less.
  Recorded alike = result("b", 1.0005);
  EXPECT_EQ(compare(result("a", 1), alike, 0.0005).changes[1].trend, Trend::same);
  EXPECT_EQ(verdict_of(exit_code_of({compare(result("a", 1), alike, 0.0005)})),
            Verdict::inconclusive);
}

TEST(Compare, FewRepetitionsWhoseIntervalHoldsTheLimitAreInconclusive) {
  Recorded one = result("a", 1);
  one.acceptance = {{.metric = Metric::time, .order = Order::by_engine}};
  one.points[0].runs[1].samples_s = {1.0, 1.05, 1.1};
  Recorded other = one;
  other.points[0].runs[1].samples_s = {1.07, 1.08, 1.12};
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, other, 0.01)})), Verdict::inconclusive);
}

TEST(Compare, OneSampleDecidesNothing) {
  Recorded one = result("a", 1);
  one.acceptance = {{.metric = Metric::time, .order = Order::by_engine}};
  one.points[0].runs[1].samples_s = {1};
  Recorded other = one;
  for (const double time_s : {0.5, 2.0}) {
    other.points[0].runs[1].samples_s = {time_s};
    EXPECT_EQ(verdict_of(exit_code_of({compare(one, other, 0.01)})), Verdict::inconclusive);
  }
}

TEST(Compare, ValuesWithoutARatioAreJudgedByBothEndsOfTheFirstInterval) {
  Recorded one = result("a", 1);
  one.acceptance = {{.metric = Metric::overlap_efficiency, .order = Order::by_engine}};
  // Efficiencies of the times: (2 - time) / (2 - 1).
  const auto with_times = [&](const std::vector<double>& times_s) {
    Recorded made = one;
    made.points[0].runs[0].samples_s.assign(times_s.size(), 2);
    made.points[0].runs[1].samples_s = times_s;
    made.points[0].runs[1].bounds = model::Bounds{.serial_s = 2, .bound_s = 1};
    return made;
  };
  const Recorded wide = with_times({2.05, 1.7, 1.4, 1.1, 1.05, 1.02});
  const Recorded between = with_times({1.3, 1.299, 1.298, 1.297, 1.296, 1.295});
  EXPECT_EQ(verdict_of(exit_code_of({compare(wide, between, 0.01)})), Verdict::inconclusive);
  const Recorded lower = with_times({2.2, 2.21, 2.22, 2.23, 2.24, 2.25});
  EXPECT_EQ(verdict_of(exit_code_of({compare(wide, lower, 0.01)})), Verdict::fail);
  // Below -2 by 1 %.
  const Recorded negative = with_times(std::vector<double>(6, 4));
  for (const auto& [time_s, verdict] : {std::pair(4.01, Verdict::pass), {4.03, Verdict::fail}}) {
    const Recorded worse = with_times(std::vector<double>(6, time_s));
    EXPECT_EQ(verdict_of(exit_code_of({compare(negative, worse, 0.01)})), verdict) << time_s;
  }
}

TEST(Compare, SpeedUpsWithoutPotentialAreNotJudged) {
  Recorded one = result("a", 2);
  one.acceptance = {{.metric = Metric::speedup, .order = Order::by_engine}};
  one.points[0].runs[1].bounds = model::Bounds{.bound_s = 1.9};
  Recorded other = one;
  for (double& time_s : other.points[0].runs[1].samples_s) time_s *= 1.2;
  other.points[0].runs[1].bounds->bound_s = 1.7;
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, other, 0.01)})), Verdict::inconclusive);
  one.points[0].runs[1].bounds->bound_s = 1.7;
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, other, 0.01)})), Verdict::fail);
  other.points[0].runs[1].bounds->bound_s = 1.9;
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, other, 0.01)})), Verdict::inconclusive);
}

TEST(Compare, ComparesEachPhaseWithItself) {
  Recorded one = result("a", 1);
  RecordedPoint together = one.points[0];
  together.words = "together";
  together.phase = deck::Phase::together;
  for (auto& run : together.runs) {
    for (double& time_s : run.samples_s) time_s *= 2;
  }
  one.points.push_back(together);
  const Comparison same = compare(one, one, 0.01);
  ASSERT_FALSE(same.changes.empty());
  for (const Change& change : same.changes) EXPECT_EQ(change.trend, Trend::identical);
  EXPECT_EQ(same.changes.back().point, "together");
  set_alone(one.points[1].runs, one.points[0].runs);
  one.acceptance = {{.metric = Metric::contention, .max = 3}};
  EXPECT_EQ(exit_code_of({compare(one, one, 0.01)}), base::ExitCode::pass);
  one.acceptance[0].max = 1.5;
  EXPECT_EQ(exit_code_of({compare(one, one, 0.01)}), base::ExitCode::performance);
  one.acceptance = {{.metric = Metric::throughput, .phase = deck::Phase::together}};
  for (const Change& change : compare(one, one, 0.01).changes) {
    EXPECT_EQ(change.verdict.has_value(),
              change.metric == Metric::throughput && change.point == "together");
  }
}

TEST(Compare, WithoutALimitErrorsAreNotJudged) {
  Recorded one = result("a", 1);
  one.acceptance = {{.metric = Metric::max_error, .reference = "r.yaml"},
                    {.metric = Metric::throttled, .reference = "r.yaml"}};
  one.points[0].device.health = {.throttled = {{.slowed_s = 0}}};
  Recorded other = one;
  other.points[0].device.health->throttled->slowed_s = 0.5;
  for (experiment::Run& run : other.points[0].runs) run.max_error = 1e-7;
  const Comparison comparison = compare(one, other, 0.01);
  EXPECT_EQ(comparison.changes.size(), 5U);  // throttled, and two times of two orders
  for (const Change& change : comparison.changes) EXPECT_FALSE(change.verdict);
}

TEST(Compare, WhatFollowsFromAllTimesIsJudgedByTheLimitOfTheDeck) {
  Recorded one = result("a", 1);
  one.acceptance = {{.metric = Metric::drift, .order = Order::by_engine, .max = 0.1}};
  const Comparison same = compare(one, one, 0.01);
  EXPECT_EQ(same.changes.back().metric, Metric::drift);
  EXPECT_EQ(same.changes.back().trend, Trend::identical);
  EXPECT_EQ(verdict_of(exit_code_of({same})), Verdict::pass);
  Recorded drifting = one;
  auto& samples_s = drifting.points[0].runs[1].samples_s;
  for (std::size_t i = 13; i < samples_s.size(); ++i) samples_s[i] *= 1.2;
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, drifting, 0.01)})), Verdict::fail);
  EXPECT_EQ(compare(one, drifting, 0.01).changes.back().trend, Trend::inconclusive);
  EXPECT_EQ(compare(drifting, one, 0.01).changes.back().trend, Trend::inconclusive);
  samples_s.resize(6);  // of which no drift follows
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, drifting, 0.01)})), Verdict::inconclusive);
}

TEST(Compare, ComparesTheDeviceOnce) {
  Recorded one = result("a", 1);
  one.acceptance = {{.metric = Metric::h2d_rate, .max = 1e-9}};  // the limit of one file alone
  one.points[0].device = {
      .link_bytes = 1000, .h2d_s = {1, 1, 1, 1}, .d2h_s = {1, 1, 1, 1}, .duplex_s = {1, 1, 1, 1}};
  Recorded half = one;
  half.points[0].device.h2d_s = {2, 2, 2, 2};
  const Comparison comparison = compare(one, half, 0.01);
  EXPECT_EQ(comparison.changes[0].order, "-");
  EXPECT_DOUBLE_EQ(comparison.changes[0].ratio->value, 0.5);
  EXPECT_EQ(comparison.changes[0].verdict, Verdict::fail);
  for (Recorded* of : {&one, &half}) {  // a sweep, whose files have no rates
    of->points[0].words = "chunks.count 4";
    of->points[0].device = {};
  }
  EXPECT_EQ(verdict_of(exit_code_of({compare(one, half, 0.01)})), Verdict::inconclusive);
}

/// A sweep over chunks.count, of which each point takes as many seconds as it has chunks.
Recorded sweep(const std::string& file, const std::vector<int>& counts) {
  Recorded made = result(file, 1);
  made.machine.deck = "sweep";
  made.deck.erase("chunks.count");
  made.deck["sweep.chunks.count"] = "[...]";
  made.points.clear();
  for (const int count : counts) {
    made.points.push_back({.words = "chunks.count " + std::to_string(count),
                           .values = {{"chunks.count", std::to_string(count)}},
                           .runs = result(file, count).points[0].runs});
  }
  return made;
}

/// "point: time of by_engine in a / in b verdict of its throughput"
std::vector<std::string> by_engine(const Comparison& comparison) {
  std::vector<std::string> rows;
  for (const Change& change : comparison.changes) {
    if (change.metric == Metric::time && change.order == "by_engine") {
      const auto seconds = [](const std::optional<base::Summary>& of) {
        return of ? std::to_string(static_cast<int>(of->median)) : "-";
      };
      rows.push_back(change.point + ": " + seconds(change.a) + " / " + seconds(change.b));
    } else if (change.metric == Metric::throughput) {
      rows.back() += change.verdict ? " " + std::string(deck::to_string(*change.verdict)) : "";
    }
  }
  return rows;
}

TEST(Compare, PointsAreTheSameWhateverMadeThem) {
  using testing::ElementsAre;
  const Recorded four = result("four", 4);  // with 4 chunks
  const Recorded many = sweep("many", {2, 4}), others = sweep("others", {4, 8});
  EXPECT_THAT(by_engine(compare(many, four, 0.01)),
              ElementsAre("chunks.count 2: 2 / - INCONCLUSIVE", "chunks.count 4: 4 / 4 PASS"));
  EXPECT_THAT(by_engine(compare(four, many, 0.01)),
              ElementsAre("chunks.count 4: 4 / 4 PASS", "chunks.count 2: - / 2 INCONCLUSIVE"));
  EXPECT_THAT(by_engine(compare(many, others, 0.01)),
              ElementsAre("chunks.count 2: 2 / - INCONCLUSIVE", "chunks.count 4: 4 / 4 PASS",
                          "chunks.count 8: - / 8 INCONCLUSIVE"));
  const Comparison common = compare(many, others, 0.01, true);
  EXPECT_THAT(by_engine(common), ElementsAre("chunks.count 2: 2 / -", "chunks.count 4: 4 / 4 PASS",
                                             "chunks.count 8: - / 8"));
  EXPECT_EQ(exit_code_of({compare(many, others, 0.01)}), base::ExitCode::inconclusive);
  EXPECT_EQ(exit_code_of({common}, true), base::ExitCode::pass);
  for (const auto& [key, of_a, of_b] : compare(many, four, 0.01).differences) {
    EXPECT_EQ(key, "sweep.chunks.count");
  }
  // Nothing in common is no verdict.
  EXPECT_EQ(exit_code_of({compare(sweep("a", {1}), sweep("b", {2}), 0.01, true)}, true),
            base::ExitCode::inconclusive);
  // A sweep over another key shares the points with the same values of both.
  Recorded lanes = result("lanes", 4);
  lanes.deck.erase("issue.lanes");
  lanes.points[0].values = {{"issue.lanes", "3"}};
  lanes.points[0].words = "issue.lanes 3";
  Recorded three = many;
  three.deck["issue.lanes"] = "3";
  EXPECT_THAT(by_engine(compare(three, lanes, 0.01, true)),
              ElementsAre("chunks.count 2: 2 / -", "chunks.count 4: 4 / 4 PASS"));
}

TEST(Compare, FindsTheSweepThatHasAPoint) {
  Recorded four = result("four", 4);
  four.deck["issue.orders"] = "[by_engine]";
  Recorded many = sweep("many", {2, 4});
  many.deck_path = "input/many.yaml";
  EXPECT_EQ(compare(std::vector{four}, std::vector{many}, 0.01).at(0).b, "many");
  EXPECT_EQ(compare(std::vector{many}, std::vector{four}, 0.01).at(0).b, "four");
  EXPECT_THROW(compare(std::vector{four}, std::vector{[] {
                         Recorded other = sweep("other", {2, 8});
                         other.deck_path = "other.yaml";
                         return other;
                       }()},
                       0.01),
               base::Error);
}

TEST(Compare, OrdersOfOneResultAloneGetRows) {
  Recorded more = result("more", 1);
  more.points[0].runs.push_back(run(Order::depth_first, 3));
  Recorded all = result("all", 1);
  all.acceptance = {{.metric = Metric::throughput}};  // of every order
  const Comparison comparison = compare(all, more, 0.01);
  const Change& last = comparison.changes.back();
  EXPECT_EQ(last.order, "depth_first");
  EXPECT_FALSE(last.a);
  EXPECT_TRUE(last.b);
  EXPECT_EQ(last.verdict, Verdict::inconclusive);
  EXPECT_EQ(exit_code_of({compare(all, more, 0.01, true)}, true), base::ExitCode::pass);
  EXPECT_EQ(exit_code_of({compare(more, all, 0.01, true)}, true), base::ExitCode::pass);
}

TEST(Compare, IdenticalSamplesAreCalledSo) {
  Recorded one = result("a", 1);
  one.points[0].runs[1].samples_s = {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6};
  const Change change = compare(one, one, 0.01).changes[1];
  EXPECT_EQ(change.trend, Trend::identical);
  EXPECT_EQ(change.ratio->lo, 1);
  EXPECT_EQ(change.ratio->hi, 1);
  const std::string text = report::comparison_text({.all = {compare(one, one, 0.01)}});
  EXPECT_THAT(text, testing::ContainsRegex("by_engine +time .* identical +not judged"));
}

TEST(Compare, ListsWhatDiffersFirst) {
  Recorded other = result("b", 1);
  other.machine.deck = "def";  // another deck of the same name: a porting study
  other.provenance = {{"build.version", "2"}, {"device.name", "GPU"}};
  other.provenance["host.name"] = "n1";
  other.deck["chunks.count"] = "8";
  const auto comparisons = compare(std::vector{result("a", 1)}, std::vector{other}, 0.01);
  ASSERT_EQ(comparisons.size(), 1U);
  std::vector<std::string> lines;
  for (const auto& [key, a, b] : comparisons[0].differences)
    lines.push_back(key + " " + a + " " + b);
  EXPECT_THAT(lines,
              testing::ElementsAre("build.version 1 2", "device.name - GPU", "chunks.count 4 8"));
  const std::string text = report::comparison_text({.below = 0.01, .all = comparisons});
  EXPECT_LT(text.find("chunks.count"), text.find("change  "));
}

TEST(Compare, PairsDecksByIdentityBeforeTheirName) {
  Recorded first = result("b", 1.5);
  first.machine.deck = "def";
  const auto comparisons =
      compare(std::vector{result("a", 1)}, std::vector{first, result("b", 1)}, 0.01);
  EXPECT_EQ(comparisons.at(0).changes[1].trend, Trend::identical);
  first.deck_path = "other.yaml";
  first.deck["chunks.count"] = "8";
  EXPECT_THROW(compare(std::vector{result("a", 1)}, std::vector{first}, 0.01), base::Error);
}

Recorded on(const std::string& host, const std::string& uuid, double seconds) {
  Recorded made = result(host + uuid, seconds);
  made.host = host;
  made.unit = made.slot = uuid;
  made.unique = true;
  return made;
}

TEST(Compare, PairsResultsByTheirDevices) {
  const std::vector before = {on("n1", "a", 1), on("n1", "b", 1), on("n2", "a2", 1)};
  std::vector after = {on("n1", "a", 1), on("n1", "b", 2), on("n2", "a2", 1)};
  const auto verdicts = [&] {
    std::vector<Verdict> found;
    for (const Comparison& one : compare(before, after, 0.01))
      found.push_back(verdict_of(exit_code_of({one})));
    return found;
  };
  using testing::ElementsAre;
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::fail, Verdict::pass));
  after[1].unit = "new";  // in the same slot
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::fail, Verdict::pass));
  after[1].slot = "elsewhere";
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::inconclusive, Verdict::pass));
  EXPECT_EQ(compare(before, after, 0.01)[1].differences.front().a, "n1 b");
  after[1] = on("n1", "b", 2);
  for (Recorded& one : after) one.machine.deck = "another";  // edited since, under the same name
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::fail, Verdict::pass));
  after = {on("n1", "a", 1), on("n1", "b", 1), on("n2", "a2", 1)};
  after[1].slot = "other";  // where it was, there is another one
  after.push_back(on("n1", "new", 2));
  after[3].slot = "b";
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::pass, Verdict::pass));
  after = {on("n9", "z", 2)};  // one for all
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::fail, Verdict::fail, Verdict::fail));
  after.push_back(after[0]);
  after[1].deck_path = "gpu_strict.yaml";
  EXPECT_EQ(compare(before, after, 0.01).size(), 3U);  // by the name of the deck
}

TEST(Compare, OneOfSeveralDevicesMayBeGone) {
  const std::vector before = {on("n1", "a", 1), on("n1", "b", 1)};
  for (const char* const host : {"n0", "n9"}) {
    const std::vector others = {on(host, "y", 1), on(host, "z", 1)};
    const auto comparisons = compare(before, others, 0.01);
    ASSERT_EQ(comparisons.size(), 2U);
    for (const Comparison& one : comparisons) EXPECT_EQ(one.b, "-");
    EXPECT_THROW(compare(std::vector{before[0]}, others, 0.01), base::Error);
  }
}

TEST(Comparison, ShowsInTextFileAndPage) {
  const report::Comparisons comparisons{
      .below = 0.02, .all = {compare(result("a<b.json", 1), result("b.json", 1.03), 0.02)}};
  EXPECT_EQ(comparisons.exit_code(), base::ExitCode::performance);
  const std::string text =
      report::comparison_text(comparisons) +
      report::verdict_line(comparisons.verdict(), comparisons.exit_code(), true);
  EXPECT_THAT(text, testing::ContainsRegex("by_engine +time +1\\.001 s +1\\.031 s +\\+3\\.00 % +"
                                           "\\+2\\.[0-9]+ % \\.\\. \\+3\\.[0-9]+ % +slower"));
  EXPECT_THAT(text, testing::EndsWith("OVERLAP_RESULT verdict=FAIL data=OK exit=5\n"));
  const auto json = nlohmann::json::parse(report::comparison_json(comparisons));
  EXPECT_EQ(json["schema"], "overlap-comparison/1");
  EXPECT_EQ(json["comparisons"][0]["changes"][1]["trend"], "slower");
  EXPECT_EQ(json["comparisons"][0]["changes"][1]["verdict"], nullptr);
  EXPECT_EQ(json["comparisons"][0]["changes"][2]["verdict"], "FAIL");
  EXPECT_EQ(json["exit_code"], 5);
  const std::string html = report::comparison_html(comparisons);
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("a&lt;b.json"));
  EXPECT_EQ(html.find("a<b"), std::string::npos);
}

TEST(Comparison, NamesAMissingDevice) {
  report::Comparisons comparisons{.all = {{"a.json", "-", "gpu", {{"device", "n1 b", "-"}}, {}}}};
  const std::string text = report::comparison_text(comparisons);
  EXPECT_THAT(text, HasSubstr("gpu: a.json -> -"));
  EXPECT_THAT(text, testing::ContainsRegex("device +n1 b +-"));
  EXPECT_THAT(text, testing::Not(HasSubstr("trend")));
  EXPECT_THAT(report::comparison_html(comparisons), testing::Not(HasSubstr("<svg")));
  EXPECT_EQ(comparisons.exit_code(), base::ExitCode::inconclusive);
}

TEST(Comparison, APageHasColoursOfTrends) {
  const auto page = [](double seconds) {
    return report::comparison_html(
        {.below = 0.01, .all = {compare(result("a", 1), result("b", seconds), 0.01)}});
  };
  for (const auto& [seconds, slower, faster] :
       {std::tuple(1.0, false, false), {1.1, true, false}, {0.9, false, true}}) {
    EXPECT_EQ(page(seconds).find("<g class=\"p2\">") != std::string::npos, slower) << seconds;
    EXPECT_EQ(page(seconds).find("<g class=\"p3\">") != std::string::npos, faster) << seconds;
  }
}

TEST(Comparison, APageHasRoomForLabels) {
  // "sequential,  time" is 109.92 pixels wide, each letter of the point 7.44; room: 296 to 656.
  struct Case {
    std::size_t letters;
    std::string label;
  };
  for (const auto& [letters, label] : {Case{20, "x=\"336\" y=\"67\">sequential, @ time</text>"},
                                       {30, "x=\"373.12\" y=\"67\">sequential, @ time</text>"},
                                       {73, "x=\"693.04\" y=\"67\">sequential, @ time</text>"},
                                       {74, "x=\"696\" y=\"67\">sequential, @ ti\u2026<title>"}}) {
    Comparison one = compare(result("a", 1), result("b", 1), 0.01);
    one.changes[0].point = std::string(letters, 'a');
    EXPECT_THAT(report::comparison_html({.below = 0.01, .all = {one}}),
                HasSubstr(base::replaced(label, "@", one.changes[0].point)));
  }
}

TEST(Comparison, APageLeavesOutRatiosThatAreInfinite) {
  const report::Comparisons comparisons{
      .below = 0.01, .all = {compare(result("a", 1e-300), result("b", 1e300), 0.01)}};
  EXPECT_THAT(report::comparison_html(comparisons), HasSubstr("<svg"));
}

TEST(ComparisonSchema, IsWhatTheTablesSay) {
  test::expect_generated(OVERLAP_SOURCE_DIR "/src/report/overlap-comparison-1.schema.json",
                         report::comparison_schema());
}

}  // namespace
}  // namespace overlap::experiment
