#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "deck/fields.hpp"
#include "error_cases.hpp"
#include "experiment/judge.hpp"
#include "report/writers.hpp"
#include "results/fleet.hpp"
#include "results/metrics.hpp"
#include "results/read_files.hpp"

namespace overlap::results {
namespace {

using deck::Metric;
using deck::Order;
using testing::HasSubstr;

const Subject h200{.device = "NVIDIA H200",
                   .link = "gen5 x16",
                   .backend = "Cuda",
                   .deck = "0123456789abcdef",
                   .key = {.order = Order::by_engine, .metric = Metric::throughput}};

Entry entry(const Subject& subject, double value, double tolerance) {
  return {.subject = subject, .deck_name = "gpu", .value = value, .tolerance = tolerance};
}

/// A machine with references for `given`.
References references(std::vector<Entry> entries) {
  References all{.subject = h200, .deck_name = "node"};
  all.files["given"] = {"refs/h200.yaml", std::move(entries)};
  return all;
}

Run run(Order order, std::vector<double> samples_s) {
  Run made;
  made.order = order;
  made.h2d_bytes = 1000000000;
  made.samples_s = std::move(samples_s);
  made.verified = true;
  made.metrics[static_cast<std::size_t>(Metric::max_error)] = base::summarize({0});
  return made;
}

/// The check of a metric of by_engine, whose repetitions took this long.
Check checked(Metric metric, std::vector<double> samples_s, const References& references,
              std::optional<double> below = {}) {
  std::vector<Run> runs = {run(Order::by_engine, std::move(samples_s))};
  evaluate(runs);
  const auto checks = experiment::judge_all(
      {{.metric = metric, .order = {}, .min = {}, .max = {}, .reference = "given", .below = below}},
      runs, {}, references);
  EXPECT_EQ(checks.size(), 1U);
  return checks.at(0);
}

TEST(ReferenceLimit, LiesTheToleranceBelowTheValue) {
  // 1 GB in 10 ms: 100 GB/s.
  const std::vector<double> times(10, 0.01);
  const auto throughput = [&](double value, double tolerance, std::optional<double> below = {}) {
    return checked(Metric::throughput, times, references({entry(h200, value, tolerance)}), below);
  };
  const Check pass = throughput(102, 0.03);
  EXPECT_EQ(pass.verdict, Verdict::pass);
  EXPECT_TRUE(pass.at_least);
  EXPECT_DOUBLE_EQ(pass.limit, 102 * 0.97);
  EXPECT_EQ(pass.source->file, "refs/h200.yaml");
  EXPECT_EQ(throughput(110, 0.03).verdict, Verdict::fail);  // 10 % too high
  EXPECT_EQ(throughput(110, 0.03, 0.1).verdict, Verdict::pass);
  EXPECT_EQ(throughput(102, 0.03, 0.01).verdict, Verdict::fail);
  EXPECT_EQ(throughput(100, 0).verdict, Verdict::pass);
}

TEST(ReferenceLimit, LiesAboveItWhereLessIsBetter) {
  Subject time = h200;
  time.key.metric = Metric::time;
  const auto verdict = [&](double value) {
    return checked(Metric::time, std::vector<double>(10, 0.01),
                   references({entry(time, value, 0.03)}));
  };
  EXPECT_EQ(verdict(0.0098).verdict, Verdict::pass);
  EXPECT_FALSE(verdict(0.0098).at_least);
  EXPECT_EQ(verdict(0.0096).verdict, Verdict::fail);
  EXPECT_EQ(verdict(0.02).verdict, Verdict::pass);
}

TEST(ReferenceLimit, InsideTheIntervalIsInconclusive) {
  const auto all = references({entry(h200, 100, 0)});
  EXPECT_EQ(checked(Metric::throughput, {0.009, 0.0095, 0.01, 0.0105, 0.011, 0.0115}, all).verdict,
            Verdict::inconclusive);
}

/// What differs from the reference's subject.
struct Mismatch {
  void (*change)(Subject&);
  std::string words;
};

TEST(ReferenceLimit, OfSomethingElseNeverPasses) {
  const std::vector<Mismatch> mismatches = {
      {[](Subject& s) { s.device = "NVIDIA H100"; }, "the nearest is for device NVIDIA H100"},
      {[](Subject& s) { s.link = "gen5 x8"; }, "the nearest is for link gen5 x8"},
      {[](Subject& s) { s.link.reset(); }, "the nearest is for link none"},
      {[](Subject& s) { s.backend = "HIP"; }, "the nearest is for backend HIP"},
      {[](Subject& s) { s.key.phase = deck::Phase::together; },
       "the nearest is for phase together"},
      {[](Subject& s) { s.key.order = Order::depth_first; },
       "the nearest is for order depth_first"},
      {[](Subject& s) { s.key.metric = Metric::time; }, "the nearest is for metric time"},
      {[](Subject& s) { s.device = "NVIDIA H300"; }, "the nearest is for device NVIDIA H300"},
      {[](Subject& s) { s.link = "gen4 x16"; }, "the nearest is for link gen4 x16"},
      {[](Subject& s) { s.backend = "CPU"; }, "the nearest is for backend CPU"},
      {[](Subject& s) { s.key.order = Order::custom; }, "the nearest is for order custom"},
      {[](Subject& s) { s.key.metric = Metric::speedup; }, "the nearest is for metric speedup"},
  };
  for (const Mismatch& mismatch : mismatches) {
    Subject other = h200;
    mismatch.change(other);
    const Check check = checked(Metric::throughput, std::vector<double>(10, 0.01),
                                references({entry(other, 1e-3, 0.03)}));
    EXPECT_EQ(check.verdict, Verdict::inconclusive) << mismatch.words;
    EXPECT_TRUE(std::isnan(check.limit));
    EXPECT_EQ(check.reason,
              "refs/h200.yaml has no entry for device NVIDIA H200, link gen5 x16, backend Cuda, "
              "deck 0123456789ab, phase alone, order by_engine, metric throughput; " +
                  mismatch.words);
  }
  // Of two entries the one that differs in less, of equals the first.
  for (std::size_t i = 0; i < mismatches.size(); ++i) {
    const auto mismatch = [&](std::size_t steps) {
      return mismatches[(i + steps) % mismatches.size()];
    };
    Subject near = h200, far = h200;
    mismatch(0).change(far);
    mismatch(4).change(far);
    mismatch(2).change(near);
    EXPECT_THAT(
        checked(Metric::throughput, {0.01}, references({entry(far, 1, 0.03), entry(near, 1, 0.03)}))
            .reason,
        testing::EndsWith(mismatch(2).words));
    Subject first = h200, second = h200;
    mismatch(0).change(first);
    mismatch(4).change(second);
    EXPECT_THAT(checked(Metric::throughput, {0.01},
                        references({entry(first, 1, 0.03), entry(second, 1, 0.03)}))
                    .reason,
                testing::EndsWith(mismatch(0).words));
    EXPECT_THAT(checked(Metric::throughput, {0.01},
                        references({entry(second, 1, 0.03), entry(first, 1, 0.03)}))
                    .reason,
                testing::EndsWith(mismatch(4).words));
  }
  EXPECT_THAT(checked(Metric::throughput, {0.01}, references({})).reason,
              HasSubstr("it has no entries"));
  EXPECT_EQ(checked(Metric::throughput, {0.01}, {}).reason, "no --reference was given");
}

TEST(ReferenceLimit, OfAnotherDeckNamesBothAndTheCommand) {
  Subject other = h200;
  other.deck = "fedcba9876543210";
  const auto reason = [&](std::vector<Entry> entries) {
    return checked(Metric::throughput, {0.01}, references(std::move(entries))).reason;
  };
  Entry rowsum = entry(other, 100, 0.03), second = rowsum;
  rowsum.deck_name = "rowsum";
  EXPECT_EQ(reason({rowsum}),
            "refs/h200.yaml was made for deck rowsum, not node; to make one from results of node: "
            "miniapp baseline -o node.yaml FOLDER");
  EXPECT_THAT(reason({rowsum, second}), HasSubstr("for deck gpu, rowsum, not node;"));
  second.deck_name = "node";
  EXPECT_THAT(reason({second}), HasSubstr("for deck node@fedcba9, not node;"));
  Subject order = h200;
  order.key.order = Order::depth_first;
  EXPECT_THAT(reason({entry(order, 1, 0.03), rowsum}), HasSubstr("the nearest is for order"));
}

TEST(ReferenceLimit, OfTheDeviceHasNoOrder) {
  Subject rate = h200;
  rate.key.order.reset();
  rate.key.metric = Metric::h2d_rate;
  const DeviceSamples device{.link = LinkSamples{1000000000, {0.02}, {1}, {1}, {}, {}}};
  const std::vector<deck::Criterion> criteria = {
      {.metric = Metric::h2d_rate, .order = {}, .min = {}, .max = {}, .reference = "given"}};
  const auto verdict = [&](double value) {
    return experiment::judge_all(criteria, {}, device, references({entry(rate, value, 0.05)}))
        .at(0)
        .verdict;
  };
  EXPECT_EQ(verdict(51), Verdict::pass);
  EXPECT_EQ(verdict(55), Verdict::fail);
}

TEST(ReferenceLimit, IsOfTheDecksIdentityAndTheAwakeLink) {
  deck::DeckPoint point;
  point.deck = load(OVERLAP_SOURCE_DIR "/input/increment.yaml");
  point.deck.acceptance = {{.metric = Metric::throughput,
                            .order = Order::by_engine,
                            .min = {},
                            .max = {},
                            .reference = "given"}};
  experiment::Samples samples;
  samples.cases = {{.run = run(Order::by_engine, std::vector<double>(10, 0.01))}};
  samples.conditions.device = base::DeviceInfo{.pcie_gen = 5, .pcie_width = 16};
  Subject subject = h200;
  subject.deck = deck::identity(point.deck);
  References all = references({entry(subject, 100, 0.05)});
  all.subject.link = "gen1 x16";  // at rest
  const auto verdict = [&] {
    return experiment::judge(experiment::Plan{point}, samples, all).checks.at(0).verdict;
  };
  EXPECT_EQ(verdict(), Verdict::pass);
  samples.conditions.device->pcie_width = 8;
  EXPECT_EQ(verdict(), Verdict::inconclusive);
}

TEST(ReferenceLimit, ShowsInTextsAndFiles) {
  const std::vector<double> times(10, 0.01);
  const Check known = checked(Metric::throughput, times, references({entry(h200, 110, 0.03)}));
  const Check unknown = checked(Metric::throughput, times, references({}));
  EXPECT_EQ(limit_text(known), ">= 106.7 (110.0 - 3 % of refs/h200.yaml)");
  EXPECT_EQ(limit_text(unknown), "unknown");
  EXPECT_THAT(unknown.text, HasSubstr("limit unknown; inconclusive: refs/h200.yaml has no"));
  Result result;
  result.points = {{.checks = {known, unknown}}};
  const Json json = describe::write(result);
  EXPECT_EQ(json["points"][0]["checks"][0]["reference"].dump(),
            R"({"file":"refs/h200.yaml","value":110.0,"below":0.03})");
  EXPECT_TRUE(json["points"][0]["checks"][1]["limit"].is_null());
  EXPECT_TRUE(json["points"][0]["checks"][1]["reference"].is_null());
}

TEST(ReferenceLimit, IsOfTheMachine) {
  base::Machine machine{.build = {.backend = "Cuda"}, .host = {.cpu = "CPU"}};
  EXPECT_EQ(subject_of(machine), (Subject{.device = "CPU", .link = {}, .backend = "Cuda"}));
  machine.device = base::DeviceInfo{.name = "GPU", .pcie_gen = 5, .pcie_width = 8};
  EXPECT_EQ(subject_of(machine), (Subject{.device = "GPU", .link = "gen5 x8", .backend = "Cuda"}));
  machine.device->pcie_gen.reset();
  EXPECT_FALSE(subject_of(machine).link);
}

TEST(ReferenceFile, ReadsWhatItWrites) {
  Reference reference;
  Entry full = entry(h200, 96.123456, 0.0315);
  full.devices = 8;
  full.mad = 1.2e-5;
  full.driver = "575.57.08: \"beta\"";
  full.date = "2026-01-31";
  full.version = "2.1.0";
  Subject rate = h200;
  rate.device = "Intel(R) Xeon(R) CPU @ 2.20GHz, #1";
  rate.link.reset();
  rate.key.order.reset();
  rate.key.metric = Metric::d2h_rate;
  reference.entries = {full, entry(rate, 5, 0.05)};
  const std::string text = to_yaml(reference, "By hand\nfor a test");
  EXPECT_THAT(text, HasSubstr("# By hand\n# for a test\nschema: overlap-reference/1"));
  EXPECT_THAT(text, HasSubstr("\n  - device: NVIDIA H200\n    link: gen5 x16\n"));
  EXPECT_THAT(text, HasSubstr("    value: 96.12346\n    unit: GB/s\n    tolerance: 3.15 %\n"));
  const overlap::DeckFile file(text, "reference.yaml");
  const Reference read = load_reference(file.path());
  ASSERT_EQ(read.entries.size(), 2U);
  EXPECT_EQ(read.entries[0].subject, h200);
  EXPECT_EQ(read.entries[1].subject, rate);
  EXPECT_DOUBLE_EQ(read.entries[0].value, 96.12346);
  EXPECT_DOUBLE_EQ(read.entries[0].tolerance, 0.0315);
  EXPECT_DOUBLE_EQ(read.entries[0].mad, 1.2e-5);
  EXPECT_EQ(read.entries[0].driver, full.driver);
  EXPECT_EQ(read.entries[0].date, full.date);
  EXPECT_EQ(to_yaml(read, "By hand\nfor a test"), text);
}

TEST(ReferenceFile, ErrorsEachAsItIsWritten) {
  const std::string head = "schema: overlap-reference/1\nentries:\n  - ";
  const std::string keys = "{device: D, backend: B, deck: abc, metric: time, ";
  const auto load = [](const std::string& path, const auto&) { load_reference(path); };
  test::expect_errors("reference_errors.txt",
                      {{"(head) ", head},
                       {"(keys) ", head + keys},
                       {"(entry)", head + keys + "value: 1, tolerance: 1 %"}},
                      load);
  const overlap::DeckFile good(head + keys + "value: 1, tolerance: 1 %, devices: 1 Mi, mad: 0}\n");
  EXPECT_NO_THROW(load_reference(good.path()));
  EXPECT_THROW(load_reference("/no/such/reference.yaml"), base::Error);
}

TEST(ReferenceFile, IsFoundFromTheDeck) {
  const overlap::DeckFile reference("schema: overlap-reference/1\nentries: []\n", "own.yaml");
  deck::Deck deck;
  deck.path = reference.folder() + "/deck.yaml";
  deck.acceptance = {{.reference = "own.yaml"}, {.reference = "given"}, {.reference = "own.yaml"}};
  EXPECT_EQ(load_references(deck, "").size(), 1U);
  EXPECT_EQ(load_references(deck, reference.path()).size(), 2U);
  deck.acceptance[0].reference = "../own.yaml";
  EXPECT_THROW(load_references(deck, ""), base::Error);
}

/// A result of a device of some kind, whose by_engine moves 1 GB so fast.
Result result(const std::string& unit, double gb_per_s) {
  Result result;
  result.file = unit + ".json";
  result.machine.build = {.version = "2.1.0", .backend = "Cuda"};
  result.machine.host = {.name = "n1", .cpu = "CPU"};
  result.machine.device = base::DeviceInfo{
      .name = "NVIDIA H200", .uuid = unit, .pcie_gen = 5, .pcie_width = 16, .driver = "575.57.08"};
  result.started = "2026-01-31T12:00:00Z";
  result.deck.path = "input/acceptance/gpu.yaml";
  result.deck.identity = h200.deck;
  result.points = {{.runs = {run(Order::by_engine, std::vector<double>(5, 1 / gb_per_s))}}};
  return result;
}

/// With metrics that follow from the samples.
Result evaluated(Result result) {
  for (Point& point : result.points) {
    const bool together = point.phase == deck::Phase::together;
    evaluate(point.runs, together ? result.points[0].runs : std::vector<Run>());
  }
  return result;
}

Baseline made_from(std::vector<Result> results, std::optional<double> below = {}) {
  for (Result& result : results) result = evaluated(result);
  return baseline(results, below);
}

const Entry* throughput(const std::vector<Entry>& entries) {
  const auto found = std::ranges::find(entries, h200, &Entry::subject);
  return found == entries.end() ? nullptr : &*found;
}

TEST(Baseline, HasWhatFollowsFromAllTimesButNoDrift) {
  Result one = result("GPU-0", 100);
  one.points[0].runs[0].samples_s.assign(15, 0.01);
  Point& together = one.points.emplace_back(one.points[0]);
  together.phase = deck::Phase::together;
  for (std::size_t i = 0; i < 15; ++i) together.runs[0].samples_s[i] = i < 10 ? 0.02 : 0.022;
  std::map<deck::Metric, double> values;
  for (const Entry& entry : made_from({one}).entries)
    values[entry.subject.key.metric] = entry.value;
  EXPECT_FALSE(values.contains(deck::Metric::drift));
  EXPECT_DOUBLE_EQ(values.at(deck::Metric::contention), 2);
}

TEST(Baseline, IsTheMedianOfDevices) {
  std::vector<Result> results;
  for (int i = 0; i < 9; ++i) results.push_back(result("GPU-" + std::to_string(i), 96 + i));
  const auto entries = made_from(results, {}).entries;
  const Entry* const found = throughput(entries);
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->value, 100);
  EXPECT_EQ(found->devices, 9);
  EXPECT_NEAR(found->mad, 2, 1e-9);
  EXPECT_NEAR(found->tolerance, 3 * 1.4826 * 0.02, 1e-9);
  EXPECT_EQ(found->deck_name, "gpu");
  EXPECT_EQ(found->driver, "575.57.08");
  EXPECT_EQ(found->date, "2026-01-31");
  EXPECT_EQ(found->version, "2.1.0");
  EXPECT_DOUBLE_EQ(throughput(made_from(results, 0.05).entries)->tolerance, 0.05);
}

/// One whose throughput lies between so many GB/s.
Result noisy(const std::string& unit, double least, double median, double most) {
  Result made = result(unit, median);
  made.points[0].runs[0].samples_s = {1 / most, 1 / median, 1 / median, 1 / median, 1 / least};
  return made;
}

TEST(Baseline, AllResultsPassByIt) {
  EXPECT_THAT(made_from({result("a", 100)}, {}).widened, testing::IsEmpty());
  const std::vector<Result> results = {noisy("a", 81, 100, 130), result("b", 100),
                                       result("c", 101)};
  for (const std::optional<double> below : {std::optional<double>(), std::optional(0.03)}) {
    const Baseline made = made_from(results, below);
    EXPECT_NEAR(throughput(made.entries)->tolerance, 0.19, 2e-4);
    ASSERT_EQ(made.widened.size(), 2U);
    EXPECT_NEAR(made.widened[0].tolerance, 1 / 0.81 - 1, 2e-4);
    EXPECT_EQ(made.widened[0].subject.key.metric, Metric::time);
  }
  EXPECT_DOUBLE_EQ(throughput(made_from(results, 0.5).entries)->tolerance, 0.5);
  // Also with the digits that a file has.
  for (double least = 82; least < 100; least += 0.7123) {
    const auto all = std::vector{noisy("a", least, 100.123, 101), result("b", 99.77)};
    const std::string text = to_yaml({.path = "", .entries = made_from(all, 0.001).entries}, "x");
    const std::string path = testing::TempDir() + "made_baseline.yaml";
    std::ofstream(path) << text;
    const Reference reference = load_reference(path);
    for (const Result& one : all) {
      EXPECT_EQ(exit_code_of(device_of(evaluated(one), &reference)), base::ExitCode::pass) << text;
    }
    std::remove(path.c_str());
  }
}

TEST(Baseline, ResultsThatDoNotAgreeMakeNone) {
  const auto refused = [](std::vector<Result> results, std::optional<double> below = {}) {
    try {
      made_from(std::move(results), below);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::inconclusive);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused({result("a", 100), result("a", 40), result("a", 97)}),
            "these results do not agree: time of by_engine, alone of deck gpu would need a "
            "tolerance of 142.5 % (a.json); allowed: at most 25 %");
  EXPECT_NE(refused({result("a", 78), result("a", 40), result("a", 41)}), "");  // a fast one, too
  EXPECT_NE(refused({noisy("a", 70, 100, 130)}), "");
  EXPECT_EQ(refused({noisy("a", 70, 100, 130)}, 0.5), "");
  EXPECT_EQ(refused({result("a", 100), result("a", 90)}), "");
  // An overlap of 1 % may save 2 % the next time.
  Result small = result("a", 100), other = small;
  for (Result* const one : {&small, &other}) {
    one->points[0].runs.insert(one->points[0].runs.begin(),
                               run(Order::sequential, std::vector<double>(5, 0.0101)));
    one->points[0].runs[1].bounds = model::Bounds{.bound_s = 0.005, .schedule_bound_s = 0.005};
  }
  other.points[0].runs[1].samples_s.assign(5, 0.0099);
  const Baseline made = made_from({small, other});
  const auto efficiency = [](const Entry& entry) {
    return entry.subject.key.metric == Metric::overlap_efficiency;
  };
  EXPECT_TRUE(std::ranges::any_of(made.left_out, efficiency));
  EXPECT_TRUE(std::ranges::none_of(made.entries, efficiency));
}

TEST(Baseline, HasAnEntryOrIsRefused) {
  auto failed = result("a", 90);
  failed.points[0].runs.clear();  // it ended with an error
  EXPECT_THROW(made_from({failed}, {}), base::Error);
  EXPECT_THROW(made_from({}, {}), base::Error);
}

TEST(Baseline, IsOfHealthyResults) {
  Result lacks = result("lacks", 100), slow = result("slow", 100), wrong = result("wrong", 100);
  lacks.code = base::ExitCode::inconclusive;  // for lack of a reference
  lacks.points[0].checks = {
      {.limit = std::numeric_limits<double>::quiet_NaN(), .verdict = Verdict::inconclusive}};
  EXPECT_EQ(made_from({lacks, result("a", 100)}).entries.size(), 2U);
  slow.code = base::ExitCode::performance;
  wrong.code = base::ExitCode::wrong_data;
  Result wide = lacks;
  wide.file = "wide.json";
  wide.points[0].checks[0].limit = 1;
  for (const auto& [results, message] :
       {std::pair(
            std::vector{result("a", 100), slow, lacks, wide},
            "found slow.json (FAIL), wide.json (INCONCLUSIVE); allowed: results that passed or "
            "lack only a reference"),
        {std::vector{slow, wrong},
         "wrong.json: found wrong data; allowed: results with correct data"}}) {
    try {
      made_from(results);
      ADD_FAILURE();
    } catch (const base::Error& error) {
      EXPECT_STREQ(error.what(), message);
      EXPECT_EQ(error.code(), base::ExitCode::runtime_error);
    }
  }
}

TEST(Baseline, IsDescribedByItsNewestResult) {
  Result older = result("a", 90), newer = result("b", 100), oldest = result("c", 95);
  oldest.started = "2025-01-01T00:00:00Z";
  older.started = "2026-01-01T00:00:00Z";
  newer.started = "2026-02-01T00:00:00Z";
  for (const auto& results : {std::vector{older, newer, oldest}, std::vector{newer, oldest, older},
                              std::vector{oldest, older, newer}}) {
    const auto entries = made_from(results, {}).entries;
    EXPECT_EQ(throughput(entries)->date, "2026-02-01");
  }
}

TEST(Baseline, CountsADeviceOnce) {
  const auto entries =
      made_from({result("a", 90), result("a", 92), result("a", 94), result("b", 100)}, {}).entries;
  const Entry* const found = throughput(entries);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->devices, 2);
  EXPECT_DOUBLE_EQ(found->value, 96);
  EXPECT_NEAR(found->mad, 4, 1e-9);  // its runs spread like devices: 6, 4, 2 and 4
}

TEST(Baseline, ToleranceKnowsHowLittleFewDevicesSay) {
  EXPECT_DOUBLE_EQ(tolerance_of(100, 0.1, 8), 0.01);
  EXPECT_DOUBLE_EQ(tolerance_of(100, 0.1, 7), 0.05);
  EXPECT_DOUBLE_EQ(tolerance_of(100, 2, 7), 3 * 1.4826 * 0.02);
  EXPECT_DOUBLE_EQ(tolerance_of(100, 40, 7), 1);  // more would be refused in a reference
}

TEST(Baseline, HasWhatCriteriaJudge) {
  Result one = result("a", 100);
  one.points[0].runs.insert(one.points[0].runs.begin(), run(Order::sequential, {0.02, 0.02}));
  one.points[0].runs.push_back(run(Order::by_engine, {1, 1}));
  one.points[0].runs.back().disturbance = deck::Disturbance::malloc;
  one.points[0].device.link = LinkSamples{1000000000, {0.02}, {0.04}, {0.02}, {}, {}};
  std::vector<std::string> lines;
  const auto [entries, left_out, widened] = made_from({one}, {});
  for (const Entry& entry : entries) {
    lines.push_back(fmt::format("{} {} {:g}",
                                entry.subject.key.order ? to_string(*entry.subject.key.order) : "-",
                                to_string(entry.subject.key.metric), entry.value));
  }
  // Errors of 0 have no part that they could be worse by.
  EXPECT_TRUE(std::ranges::any_of(left_out, [](const Entry& entry) {
    return entry.subject.key.metric == deck::Metric::max_error;
  }));
  EXPECT_THAT(lines, testing::ElementsAre("- h2d_rate 50", "- d2h_rate 25", "- duplex_rate 100",
                                          "sequential time 0.02", "sequential throughput 50",
                                          "by_engine time 0.01", "by_engine throughput 100",
                                          "by_engine speedup 2"));
  Point& together = one.points.emplace_back(one.points[0]);
  together.phase = deck::Phase::together;
  for (auto& run : together.runs) {
    for (double& time_s : run.samples_s) time_s *= 2;
  }
  const std::vector<Entry> both = made_from({one}, {}).entries;
  ASSERT_EQ(both.size(), 2 * lines.size() + 2);  // and the contention of both orders
  EXPECT_EQ(both.back().subject.key.phase, deck::Phase::together);
  EXPECT_DOUBLE_EQ(both[lines.size() + 3].value, 2 * both[3].value);  // time of sequential
  one.points[0].values["chunks.count"] = 4;
  EXPECT_THROW(made_from({one}, {}), base::Error);
}

/// A result file of by_engine.
Json result_file() {
  Result made = result("GPU-1", 100);
  Point& point = made.points[0];
  point.runs = {run(Order::sequential, {0.02, 0.04}), run(Order::by_engine, {0.01, 0.01})};
  for (auto& each : point.runs) each.tasks = 1;
  point.runs[1].bounds = model::Bounds{.bound_s = 0.008, .schedule_bound_s = 0.009};
  point.device.link = LinkSamples{1000, {1e-6}, {2e-6}, {4e-6}, {}, {}};
  point.outcome.emplace();
  made.machine.host.cores = 1;
  made.machine.host.total_bytes = 1;
  evaluate(point.runs);
  return Json::parse(to_json({made}));
}

/// Reads it back.
Result read(const Json& file) { return measured_results("a.json", file.dump()).at(0); }

TEST(ReadResult, HasWhatMetricsAreMadeFrom) {
  const Result one = read(result_file());
  EXPECT_EQ(origin(one).subject.link, "gen5 x16");
  EXPECT_EQ(origin(one).unit, "GPU-1");
  const auto& runs = one.points[0].runs;
  EXPECT_EQ(values(Metric::throughput, runs[1], runs), (std::vector<double>{100, 100}));
  EXPECT_EQ(values(Metric::speedup, runs[1], runs), (std::vector<double>{2, 4}));
  EXPECT_DOUBLE_EQ(runs[1].value(Metric::bound_fraction)->median, 0.8);
  EXPECT_DOUBLE_EQ(value(Metric::d2h_rate, one.points[0].device)->median, 0.5);
}

TEST(ReadResult, TellsDevicesWithoutUuidApart) {
  const auto on = [](const char* host, std::optional<int> rank) {
    Json file = result_file();
    file["device"]["uuid"] = nullptr;
    file["host"]["name"] = host;
    if (rank) file["job"] = {{"rank", *rank}, {"ranks", 2}};
    return read(file);
  };
  const auto device = [&](const char* host, std::optional<int> rank = {}) {
    return origin(on(host, rank)).device();
  };
  EXPECT_EQ(device("n1"), device("n1"));
  EXPECT_NE(device("n1"), device("n2"));
  EXPECT_NE(device("n1", 0), device("n1", 1));
  EXPECT_EQ(made_from({on("n1", {}), on("n2", {})}, 0.5).entries[0].devices, 2);
}

TEST(ReadResult, HasMachineAndDeckByDottedKeys) {
  Result one = read(result_file());
  one.deck.resolved = {{"workload", {{"kind", "increment"}}}, {"measure", {{"warmup", 3}}}};
  for (const char* key : {"build.backend", "host.name", "device.uuid"}) {
    EXPECT_TRUE(machine_keys(one).contains(key)) << key;
  }
  EXPECT_FALSE(machine_keys(one).contains("device.free_bytes"));
  EXPECT_TRUE(deck_keys(one).contains("workload.kind"));
  EXPECT_FALSE(deck_keys(one).contains("measure.warmup"));
}

void end(Json& file, int code, const char* verdict) {
  file["exit_code"] = code;
  file["verdict"] = verdict;
}

Json& run_in(Json& file, std::size_t number) { return file["points"][0]["runs"][number]; }

TEST(ReadResult, NamesFileAndField) {
  const std::vector<std::pair<void (*)(Json&), std::string>> cases = {
      {[](Json& f) { f = Json::array(); }, "a.json: result file: found a list; allowed: a map"},
      {[](Json& f) { f["schema"] = "overlap-result/1"; },
       "a.json: schema: found 'overlap-result/1'; allowed: overlap-result/3; did you mean "
       "'overlap-result/3'?"},
      {[](Json& f) { f["deck"].erase("identity"); },
       "a.json: deck.identity: found nothing; allowed: a name"},
      {[](Json& f) { run_in(f, 1)["samples_s"][0] = "fast"; },
       "a.json: points[0].runs[1].samples_s[0]: found 'fast'; allowed: a time above 0"},
      {[](Json& f) { run_in(f, 1)["samples_s"][0] = -1; },
       "a.json: points[0].runs[1].samples_s[0]: found -1; allowed: a time above 0"},
      {[](Json& f) { run_in(f, 0)["samples_s"] = Json::array(); },
       "a.json: points[0].runs[0].samples_s: found a prediction; allowed: measured runs"},
      {[](Json& f) {
         f["points"][0]["runs"] = Json::array();
         end(f, 0, "PASS");
       },
       "a.json: points: found no run; allowed: measured runs"},
      {[](Json& f) {
         f["points"][0]["outcome"]["interrupted"] = true;
         end(f, 130, "INTERRUPTED");
       },
       "a.json: verdict: found an interrupted run; allowed: a whole one"},
      {[](Json& f) {
         f["error"] = "no GPU";
         f["points"][0]["runs"] = Json::array();
         end(f, 4, "ERROR");
       },
       "a.json: error: found 'no GPU'; allowed: null"},
      {[](Json& f) { f["points"][0]["values"] = 3; },
       "a.json: points[0].values: found 3; allowed: a map of swept keys"},
      {[](Json& f) { f["points"] = Json::array(); },
       "a.json: points: found an empty list; allowed: a list of points, at least one"},
  };
  for (const auto& [change, message] : cases) {
    Json file = result_file();
    change(file);
    try {
      read(file);
      ADD_FAILURE() << message;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.what(), message);
      EXPECT_EQ(error.code(), base::ExitCode::runtime_error);
    }
  }
  EXPECT_THROW(measured_results("a.json", "{\"schema\": "), base::Error);
  EXPECT_THROW(read_measured({"/no/such/file.json"}), base::Error);
}

}  // namespace
}  // namespace overlap::results
