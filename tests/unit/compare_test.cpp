#include "results/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/reports.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::results {
namespace {

using deck::Better;
using deck::Metric;
using deck::Order;
using testing::ElementsAre;
using testing::HasSubstr;

/// A run of as many seconds, in 20 samples that differ by 0.2 % at most.
Run run(Order order, double seconds) {
  Run made;
  made.order = order;
  made.h2d_bytes = 1000000000;
  for (int i = 0; i < 20; ++i) made.samples_s.push_back(seconds * (1 + 1e-4 * ((i * 7919) % 20)));
  made.verified = true;
  made.metrics[static_cast<std::size_t>(Metric::max_error)] = base::summarize({0});
  return made;
}

void accept(Result& result, std::initializer_list<Json> criteria) {
  result.deck.resolved["acceptance"] = std::vector<Json>(criteria);
}

/// A result of two orders; by_engine takes this long and is judged by its throughput.
Result result(const std::string& file, double seconds) {
  Result result;
  result.file = file;
  result.machine.build = {.version = "1", .backend = "Cuda"};
  result.machine.host.name = "n1";
  result.machine.device = base::DeviceInfo{.name = "GPU"};
  result.deck = {.path = "input/gpu.yaml", .identity = "abc"};
  result.deck.resolved = {{"chunks", {{"count", 4}}}};
  accept(result, {{{"metric", "throughput"}, {"order", "by_engine"}}});
  result.points = {{.runs = {run(Order::sequential, 2), run(Order::by_engine, seconds)}}};
  return result;
}

/// With metrics that follow from the samples.
void evaluate_all(Result& result) {
  for (Point& point : result.points) {
    const bool together = point.phase == deck::Phase::together;
    evaluate(point.runs, together ? result.points[0].runs : std::vector<Run>());
  }
}
std::vector<Comparison> compared(std::vector<Result> a, std::vector<Result> b, double below = 0.01,
                                 bool common = false) {
  for (Result& result : a) evaluate_all(result);
  for (Result& result : b) evaluate_all(result);
  return compare(a, b, below, common);
}
Comparison compared(Result a, Result b, double below = 0.01, bool common = false) {
  evaluate_all(a);
  evaluate_all(b);
  return compare(a, b, below, common);
}

/// The runs of a result of one point.
std::vector<Run>& runs(Result& result) { return result.points[0].runs; }

void set_error(Run& run, double error) {
  run.metrics[static_cast<std::size_t>(Metric::max_error)] = base::summarize({error});
}

base::ExitCode code(const Result& a, const Result& b) { return exit_code_of({compared(a, b)}); }
Verdict verdict(const Result& a, const Result& b) { return verdict_of(code(a, b)); }

std::string text_of(const Comparisons& comparisons) {
  return report::terminal(report::comparison_report(comparisons), {.width = 200});
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
  const auto with = [](double seconds, double below = 0.01) {
    return compared(result("a", 1), result("b", seconds), below);
  };
  const Comparison same = with(1);
  ASSERT_EQ(same.changes.size(), 3U);
  EXPECT_EQ(same.changes[0].trend, Trend::identical);
  EXPECT_FALSE(same.changes[0].verdict);
  EXPECT_EQ(throughput(same).key.metric, Metric::throughput);
  EXPECT_EQ(throughput(same).verdict, Verdict::pass);
  // A planted delay of 3 %.
  const Comparison slower = with(1.03);
  EXPECT_EQ(slower.changes[0].trend, Trend::identical);
  EXPECT_EQ(slower.changes[1].trend, Trend::slower);
  EXPECT_NEAR(slower.changes[1].ratio->value, 1.03, 1e-3);
  EXPECT_EQ(throughput(slower).trend, Trend::slower);
  EXPECT_EQ(throughput(slower).verdict, Verdict::fail);
  EXPECT_EQ(throughput(with(1.03, 0.05)).verdict, Verdict::pass);
  EXPECT_EQ(throughput(with(1 / 0.99)).verdict, Verdict::inconclusive);
  EXPECT_EQ(throughput(with(0.9)).trend, Trend::faster);
}

TEST(Compare, WhatIsMissingNeverPasses) {
  Result other = result("b", 1);
  runs(other).pop_back();
  const Comparison comparison = compared(result("a", 1), other);
  ASSERT_EQ(comparison.changes.size(), 3U);
  EXPECT_FALSE(throughput(comparison).b);
  EXPECT_EQ(throughput(comparison).trend, Trend::inconclusive);
  EXPECT_EQ(throughput(comparison).verdict, Verdict::inconclusive);
  EXPECT_EQ(verdict_of(exit_code_of({comparison})), Verdict::inconclusive);
}

TEST(Compare, FindsWorseErrorsOfZero) {
  Result exact = result("a", 1);
  accept(exact, {{{"metric", "max_error"}, {"max", 0}}});
  Result wrong = exact;
  set_error(runs(wrong)[1], 1e-3);
  const Comparison same = compared(exact, exact);
  EXPECT_EQ(verdict_of(exit_code_of({same})), Verdict::pass);
  for (const Change& change : same.changes) EXPECT_EQ(change.trend, Trend::identical);
  EXPECT_EQ(code(exact, wrong), base::ExitCode::wrong_data);
}

TEST(Compare, RoundingErrorsMayChangeWithinTheLimit) {
  Result one = result("a", 1);
  accept(one, {{{"metric", "max_error"}, {"max", 1e-6}}});
  for (auto& run : runs(one)) set_error(run, 6e-8);
  Result other = one;
  for (auto& run : runs(other)) set_error(run, 2e-7);
  EXPECT_EQ(verdict(one, other), Verdict::pass);
  set_error(runs(other)[1], 2e-6);
  EXPECT_EQ(verdict(one, other), Verdict::fail);
}

TEST(Compare, HealthIsJudgedByTheLimitOfTheDeck) {
  Result one = result("a", 1);
  accept(one, {{{"metric", "pcie_replays"}, {"max", 10}}});
  const auto with_replays = [&](std::int64_t replays) {
    Result made = one;
    HealthRecord& health = made.points[0].device.health.emplace();
    health.before.pcie_replays = 0;
    health.after.pcie_replays = replays;
    return made;
  };
  EXPECT_EQ(verdict(with_replays(0), with_replays(0)), Verdict::pass);
  EXPECT_EQ(verdict(with_replays(1), with_replays(9)), Verdict::pass);
  EXPECT_EQ(verdict(with_replays(0), with_replays(11)), Verdict::fail);
  EXPECT_EQ(verdict(with_replays(0), one), Verdict::inconclusive);
}

TEST(Compare, TheStrictestLimitCounts) {
  Result one = result("a", 1);
  const Json loose = {{"metric", "max_error"}, {"max", 1e-3}};
  const Json strict = {{"metric", "max_error"}, {"order", "by_engine"}, {"max", 1e-6}};
  Result other = one;
  set_error(runs(other)[1], 5e-4);
  for (const bool turned : {false, true}) {
    accept(one, {turned ? strict : loose, turned ? loose : strict});
    EXPECT_EQ(verdict(one, other), Verdict::fail);
  }
}

TEST(Compare, AResultPassesBesideItself) {
  Result one = result("a", 1);
  runs(one)[1].samples_s = {1.0, 1.5, 2.1};  // whose interval is wide
  EXPECT_EQ(verdict(one, one), Verdict::pass);
  // But alike within 1 % is not within less.
  Result alike = result("b", 1.0005);
  EXPECT_EQ(compared(result("a", 1), alike, 0.0005).changes[1].trend, Trend::same);
  EXPECT_EQ(verdict_of(exit_code_of({compared(result("a", 1), alike, 0.0005)})),
            Verdict::inconclusive);
}

TEST(Compare, FewRepetitionsWhoseIntervalHoldsTheLimitAreInconclusive) {
  Result one = result("a", 1);
  accept(one, {{{"metric", "time"}, {"order", "by_engine"}}});
  runs(one)[1].samples_s = {1.0, 1.05, 1.1};
  Result other = one;
  runs(other)[1].samples_s = {1.07, 1.08, 1.12};
  EXPECT_EQ(verdict(one, other), Verdict::inconclusive);
}

TEST(Compare, OneSampleDecidesNothing) {
  Result one = result("a", 1);
  accept(one, {{{"metric", "time"}, {"order", "by_engine"}}});
  runs(one)[1].samples_s = {1};
  Result other = one;
  for (const double time_s : {0.5, 2.0}) {
    runs(other)[1].samples_s = {time_s};
    EXPECT_EQ(verdict(one, other), Verdict::inconclusive);
  }
}

TEST(Compare, ValuesWithoutARatioAreJudgedByBothEndsOfTheFirstInterval) {
  Result one = result("a", 1);
  accept(one, {{{"metric", "overlap_efficiency"}, {"order", "by_engine"}}});
  // Efficiencies of the times: (2 - time) / (2 - 1).
  const auto with_times = [&](const std::vector<double>& times_s) {
    Result made = one;
    runs(made)[0].samples_s.assign(times_s.size(), 2);
    runs(made)[1].samples_s = times_s;
    runs(made)[1].bounds = model::Bounds{.serial_s = 2, .bound_s = 1};
    return made;
  };
  const Result wide = with_times({2.05, 1.7, 1.4, 1.1, 1.05, 1.02});
  const Result between = with_times({1.3, 1.299, 1.298, 1.297, 1.296, 1.295});
  EXPECT_EQ(verdict(wide, between), Verdict::inconclusive);
  const Result lower = with_times({2.2, 2.21, 2.22, 2.23, 2.24, 2.25});
  EXPECT_EQ(verdict(wide, lower), Verdict::fail);
  // Below -2 by 1 %.
  const Result negative = with_times(std::vector<double>(6, 4));
  for (const auto& [time_s, verdict] : {std::pair(4.01, Verdict::pass), {4.03, Verdict::fail}}) {
    const Result worse = with_times(std::vector<double>(6, time_s));
    EXPECT_EQ(verdict_of(code(negative, worse)), verdict) << time_s;
  }
}

TEST(Compare, SpeedUpsWithoutPotentialAreNotJudged) {
  Result one = result("a", 2);
  accept(one, {{{"metric", "speedup"}, {"order", "by_engine"}}});
  runs(one)[1].bounds = model::Bounds{.bound_s = 1.9};
  Result other = one;
  for (double& time_s : runs(other)[1].samples_s) time_s *= 1.2;
  runs(other)[1].bounds->bound_s = 1.7;
  EXPECT_EQ(verdict(one, other), Verdict::inconclusive);
  runs(one)[1].bounds->bound_s = 1.7;
  EXPECT_EQ(verdict(one, other), Verdict::fail);
  runs(other)[1].bounds->bound_s = 1.9;
  EXPECT_EQ(verdict(one, other), Verdict::inconclusive);
}

TEST(Compare, ComparesEachPhaseWithItself) {
  Result one = result("a", 1);
  Point& together = one.points.emplace_back(one.points[0]);
  together.phase = deck::Phase::together;
  for (auto& run : together.runs) {
    for (double& time_s : run.samples_s) time_s *= 2;
  }
  const Comparison same = compared(one, one);
  ASSERT_FALSE(same.changes.empty());
  for (const Change& change : same.changes) EXPECT_EQ(change.trend, Trend::identical);
  EXPECT_EQ(same.changes.back().point, "together");
  accept(one, {{{"metric", "contention"}, {"max", 3}}});
  EXPECT_EQ(code(one, one), base::ExitCode::pass);
  accept(one, {{{"metric", "contention"}, {"max", 1.5}}});
  EXPECT_EQ(code(one, one), base::ExitCode::performance);
  accept(one, {{{"metric", "throughput"}, {"phase", "together"}}});
  for (const Change& change : compared(one, one).changes) {
    EXPECT_EQ(change.verdict.has_value(),
              change.key.metric == Metric::throughput && change.point == "together");
  }
}

TEST(Compare, WithoutALimitErrorsAreNotJudged) {
  Result one = result("a", 1);
  accept(one, {{{"metric", "max_error"}, {"reference", "r.yaml"}},
               {{"metric", "throttled"}, {"reference", "r.yaml"}}});
  one.points[0].device.health =
      HealthRecord{.before = {}, .after = {}, .throttled = ThrottledTime()};
  Result other = one;
  other.points[0].device.health->throttled->slowed_s = 0.5;
  for (auto& run : runs(other)) set_error(run, 1e-7);
  const Comparison comparison = compared(one, other);
  EXPECT_EQ(comparison.changes.size(), 5U);  // throttled, and two times of two orders
  for (const Change& change : comparison.changes) EXPECT_FALSE(change.verdict);
}

TEST(Compare, WhatFollowsFromAllTimesIsJudgedByTheLimitOfTheDeck) {
  Result one = result("a", 1);
  accept(one, {{{"metric", "drift"}, {"order", "by_engine"}, {"max", 0.1}}});
  const Comparison same = compared(one, one);
  EXPECT_EQ(same.changes.back().key.metric, Metric::drift);
  EXPECT_EQ(same.changes.back().trend, Trend::identical);
  EXPECT_EQ(verdict_of(exit_code_of({same})), Verdict::pass);
  Result drifting = one;
  auto& samples_s = runs(drifting)[1].samples_s;
  for (std::size_t i = 13; i < samples_s.size(); ++i) samples_s[i] *= 1.2;
  EXPECT_EQ(verdict(one, drifting), Verdict::fail);
  EXPECT_EQ(compared(one, drifting).changes.back().trend, Trend::inconclusive);
  EXPECT_EQ(compared(drifting, one).changes.back().trend, Trend::inconclusive);
  samples_s.resize(6);  // of which no drift follows
  EXPECT_EQ(verdict(one, drifting), Verdict::inconclusive);
}

TEST(Compare, ComparesTheDeviceOnce) {
  Result one = result("a", 1);
  accept(one, {{{"metric", "h2d_rate"}, {"max", 1e-9}}});  // the limit of one file alone
  const std::vector<double> times_s(4, 1.0);
  one.points[0].device.link = LinkSamples{1000, times_s, times_s, times_s, {}, {}};
  Result half = one;
  half.points[0].device.link->h2d_s.assign(4, 2.0);
  const Comparison comparison = compared(one, half);
  EXPECT_EQ(comparison.changes[0].run, "-");
  EXPECT_DOUBLE_EQ(comparison.changes[0].ratio->value, 0.5);
  EXPECT_EQ(comparison.changes[0].verdict, Verdict::fail);
  for (Result* const each : {&one, &half}) each->points[0].device.link.reset();
  EXPECT_EQ(verdict(one, half), Verdict::inconclusive);
}

/// A sweep over chunks.count, of which each point takes as many seconds as it has chunks.
Result sweep(const std::string& file, const std::vector<int>& counts) {
  Result made = result(file, 1);
  made.deck.identity = "sweep";
  made.deck.resolved["sweep"]["chunks.count"] = counts;
  made.points.clear();
  for (const int count : counts) {
    made.points.push_back(
        {.values = {{"chunks.count", count}}, .runs = result(file, count).points[0].runs});
  }
  return made;
}

/// "point: time of by_engine in a / in b verdict of its throughput"
std::vector<std::string> by_engine(const Comparison& comparison) {
  std::vector<std::string> rows;
  for (const Change& change : comparison.changes) {
    if (change.key.metric == Metric::time && change.run == "by_engine") {
      const auto seconds = [](const std::optional<base::Summary>& of) {
        return of ? std::to_string(static_cast<int>(of->median)) : "-";
      };
      rows.push_back(change.point + ": " + seconds(change.a) + " / " + seconds(change.b));
    } else if (change.key.metric == Metric::throughput) {
      rows.back() += change.verdict ? " " + std::string(deck::to_string(*change.verdict)) : "";
    }
  }
  return rows;
}

TEST(Compare, PointsAreTheSameWhateverMadeThem) {
  using testing::ElementsAre;
  const Result four = result("four", 4);  // with 4 chunks
  const Result many = sweep("many", {2, 4}), others = sweep("others", {4, 8});
  EXPECT_THAT(by_engine(compared(many, four)),
              ElementsAre("chunks.count 2: 2 / - INCONCLUSIVE", "chunks.count 4: 4 / 4 PASS"));
  EXPECT_THAT(by_engine(compared(four, many)),
              ElementsAre("chunks.count 4: 4 / 4 PASS", "chunks.count 2: - / 2 INCONCLUSIVE"));
  EXPECT_THAT(by_engine(compared(many, others)),
              ElementsAre("chunks.count 2: 2 / - INCONCLUSIVE", "chunks.count 4: 4 / 4 PASS",
                          "chunks.count 8: - / 8 INCONCLUSIVE"));
  const Comparison common = compared(many, others, 0.01, true);
  EXPECT_THAT(by_engine(common), ElementsAre("chunks.count 2: 2 / -", "chunks.count 4: 4 / 4 PASS",
                                             "chunks.count 8: - / 8"));
  EXPECT_EQ(code(many, others), base::ExitCode::inconclusive);
  EXPECT_EQ(exit_code_of({common}, true), base::ExitCode::pass);
  for (const Setting& difference : compared(many, four).differences) {
    EXPECT_EQ(difference.key, "sweep.chunks.count");
  }
  // Nothing in common is no verdict.
  EXPECT_EQ(exit_code_of({compared(sweep("a", {1}), sweep("b", {2}), 0.01, true)}, true),
            base::ExitCode::inconclusive);
  // A sweep over another key shares the points with the same values of both.
  Result lanes = result("lanes", 4);
  lanes.points[0].values = {{"issue.lanes", 3}};
  Result three = many;
  three.deck.resolved["issue"]["lanes"] = 3;
  EXPECT_THAT(by_engine(compared(three, lanes, 0.01, true)),
              ElementsAre("chunks.count 2: 2 / -", "chunks.count 4: 4 / 4 PASS"));
}

TEST(Compare, FindsTheSweepThatHasAPoint) {
  Result four = result("four", 4);
  four.deck.resolved["issue"]["orders"] = {"by_engine"};
  Result many = sweep("many", {2, 4});
  many.deck.path = "input/many.yaml";
  EXPECT_EQ(compared(std::vector{four}, std::vector{many}).at(0).b, "many");
  EXPECT_EQ(compared(std::vector{many}, std::vector{four}).at(0).b, "four");
  EXPECT_THROW(compared(std::vector{four}, std::vector{[] {
                          Result other = sweep("other", {2, 8});
                          other.deck.path = "other.yaml";
                          return other;
                        }()},
                        0.01),
               base::Error);
}

TEST(Compare, OrdersOfOneResultAloneGetRows) {
  Result more = result("more", 1);
  runs(more).push_back(run(Order::depth_first, 3));
  Result all = result("all", 1);
  accept(all, {{{"metric", "throughput"}}});  // of every order
  const Comparison comparison = compared(all, more);
  const Change& last = comparison.changes.back();
  EXPECT_EQ(last.run, "depth_first");
  EXPECT_FALSE(last.a);
  EXPECT_TRUE(last.b);
  EXPECT_EQ(last.verdict, Verdict::inconclusive);
  EXPECT_EQ(exit_code_of({compared(all, more, 0.01, true)}, true), base::ExitCode::pass);
  EXPECT_EQ(exit_code_of({compared(more, all, 0.01, true)}, true), base::ExitCode::pass);
}

TEST(Compare, IdenticalSamplesAreCalledSo) {
  Result one = result("a", 1);
  runs(one)[1].samples_s = {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6};
  const Change change = compared(one, one).changes[1];
  EXPECT_EQ(change.trend, Trend::identical);
  EXPECT_EQ(change.ratio->lo, 1);
  EXPECT_EQ(change.ratio->hi, 1);
  const std::string text = text_of(Comparisons{.pairs = {compared(one, one)}});
  EXPECT_THAT(text, testing::ContainsRegex("by_engine +time .* identical +not judged"));
}

TEST(Compare, ListsWhatDiffersFirst) {
  Result other = result("b", 1);
  other.deck.identity = "def";  // another deck of the same name: a porting study
  other.machine.build.version = "2";
  other.machine.device->vbios = "96";
  other.deck.resolved["chunks"]["count"] = 8;
  const auto comparisons = compared(std::vector{result("a", 1)}, std::vector{other});
  ASSERT_EQ(comparisons.size(), 1U);
  std::vector<std::string> lines;
  for (const auto& [key, values] : comparisons[0].differences) {
    lines.push_back(key + " " + values[0] + " " + values[1]);
  }
  EXPECT_THAT(lines,
              testing::ElementsAre("build.version 1 2", "device.vbios - 96", "chunks.count 4 8"));
  const std::string text = text_of(Comparisons{.below = 0.01, .pairs = comparisons});
  EXPECT_LT(text.find("chunks.count"), text.find("change  "));
}

TEST(Compare, PairsDecksByIdentityBeforeTheirName) {
  Result first = result("b", 1.5);
  first.deck.identity = "def";
  const auto comparisons =
      compared(std::vector{result("a", 1)}, std::vector{first, result("b", 1)});
  EXPECT_EQ(comparisons.at(0).changes[1].trend, Trend::identical);
  first.deck.path = "other.yaml";
  first.deck.resolved["chunks"]["count"] = 8;
  EXPECT_THROW(compared(std::vector{result("a", 1)}, std::vector{first}), base::Error);
}

Result on(const std::string& host, const std::string& uuid, double seconds) {
  Result made = result(host + uuid, seconds);
  made.machine.host.name = host;
  made.machine.device->uuid = uuid;
  made.machine.device->pci_bus_id = uuid;
  return made;
}

TEST(Compare, PairsResultsByTheirDevices) {
  const std::vector<Result> before = {on("n1", "a", 1), on("n1", "b", 1), on("n2", "a2", 1)};
  std::vector after = {on("n1", "a", 1), on("n1", "b", 2), on("n2", "a2", 1)};
  const auto verdicts = [&] {
    std::vector<Verdict> found;
    for (const Comparison& one : compared(before, after))
      found.push_back(verdict_of(exit_code_of({one})));
    return found;
  };
  using testing::ElementsAre;
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::fail, Verdict::pass));
  after[1].machine.device->uuid = "new";  // in the same slot
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::fail, Verdict::pass));
  after[1].machine.device->pci_bus_id = "elsewhere";
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::inconclusive, Verdict::pass));
  EXPECT_EQ(compared(before, after)[1].differences.front().values[0], "n1 b");
  after[1] = on("n1", "b", 2);
  for (Result& one : after) one.deck.identity = "another";  // edited since, under the same name
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::fail, Verdict::pass));
  after = {on("n1", "a", 1), on("n1", "b", 1), on("n2", "a2", 1)};
  after[1].machine.device->pci_bus_id = "other";  // where it was, there is another one
  after.push_back(on("n1", "new", 2));
  after[3].machine.device->pci_bus_id = "b";
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::pass, Verdict::pass, Verdict::pass));
  after = {on("n9", "z", 2)};  // one for all
  EXPECT_THAT(verdicts(), ElementsAre(Verdict::fail, Verdict::fail, Verdict::fail));
  after.push_back(after[0]);
  after[1].deck.path = "gpu_strict.yaml";
  EXPECT_EQ(compared(before, after).size(), 3U);  // by the name of the deck
}

TEST(Compare, OneOfSeveralDevicesMayBeGone) {
  const std::vector<Result> before = {on("n1", "a", 1), on("n1", "b", 1)};
  for (const char* const host : {"n0", "n9"}) {
    const std::vector others = {on(host, "y", 1), on(host, "z", 1)};
    const auto comparisons = compared(before, others);
    ASSERT_EQ(comparisons.size(), 2U);
    for (const Comparison& one : comparisons) EXPECT_EQ(one.b, "-");
    EXPECT_THROW(compared(std::vector{before[0]}, others), base::Error);
  }
}

Comparisons file(std::vector<Comparison> all) {
  Comparisons made{.below = 0.01, .pairs = std::move(all)};
  made.code = exit_code_of(made.pairs);
  return made;
}

TEST(Comparison, ShowsInTextFileAndPage) {
  const Comparisons comparisons =
      file({compared(result("a<b.json", 1), result("b.json", 1.03), 0.02)});
  EXPECT_EQ(comparisons.code, base::ExitCode::performance);
  EXPECT_THAT(text_of(comparisons),
              testing::ContainsRegex("by_engine +time +1\\.001 s +1\\.031 s +\\+3\\.00 % +"
                                     "\\+2\\.[0-9]+ % \\.\\. \\+3\\.[0-9]+ % +slower"));
  const Json json = describe::write(comparisons);
  EXPECT_EQ(json["schema"], "overlap-comparison/1");
  EXPECT_EQ(json["comparisons"][0]["changes"][1]["trend"], "slower");
  EXPECT_EQ(json["comparisons"][0]["changes"][1]["verdict"], nullptr);
  EXPECT_EQ(json["comparisons"][0]["changes"][2]["verdict"], "FAIL");
  EXPECT_EQ(json["exit_code"], 5);
  const std::string html = report::page(report::comparison_report(comparisons));
  EXPECT_THAT(html, HasSubstr("a&lt;b.json"));
  EXPECT_EQ(html.find("a<b"), std::string::npos);
  EXPECT_THAT(html, HasSubstr("<title>Comparison: FAIL</title>"));
}

TEST(Comparison, ChartHasARangeAtEachRatioAndNoOtherPlaces) {
  Comparisons comparisons = file({compared(result("a", 1), result("b", 1.03), 0.02)});
  std::vector<results::Change>& changes = comparisons.pairs[0].changes;
  changes[0].ratio.reset();
  for (const report::Block& block : report::comparison_report(comparisons).blocks) {
    const auto* const chart = std::get_if<report::Chart>(&block.content);
    if (chart == nullptr) continue;
    const std::size_t places = changes.size() - 1;
    EXPECT_EQ(chart->x.categories.size(), places);
    std::size_t dots = 0;
    for (const report::Chart::Series& series : chart->series) {
      const std::size_t points = series.points.size();
      EXPECT_TRUE(!series.muted || points == places) << series.name;
      dots += series.muted ? 0 : points;
    }
    EXPECT_EQ(dots, places);
    return;
  }
  FAIL() << "no chart";
}

TEST(Comparison, ReadsWhatItWrites) {
  const Comparisons made = file({compared(result("a", 1), result("b", 1.03)),
                                 compared(result("a", 1e-300), result("b", 1e300))});
  const std::string text = describe::write(made).dump();
  const describe::Document document = describe::parse_json("c.json", text);
  Comparisons read;
  describe::read(describe::Reader(document), read);
  EXPECT_EQ(describe::write(read).dump(), text);
  EXPECT_EQ(text_of(read), text_of(made));
}

TEST(Comparison, NamesAMissingDevice) {
  const Comparisons comparisons = file({{"a.json", "-", "gpu", {{"device", {"n1 b", "-"}}}, {}}});
  const std::string text = text_of(comparisons);
  EXPECT_THAT(text, HasSubstr("gpu: a.json -> -"));
  EXPECT_THAT(text, testing::ContainsRegex("device +n1 b +-"));
  EXPECT_THAT(text, testing::Not(HasSubstr("trend")));
  EXPECT_EQ(comparisons.code, base::ExitCode::inconclusive);
}

}  // namespace
}  // namespace overlap::results
