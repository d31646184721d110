#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "deck/deck.hpp"
#include "deck/fields.hpp"
#include "error_cases.hpp"
#include "report/writers.hpp"
#include "results.hpp"
#include "schedule/build.hpp"

/// Sweeps: the points of a deck, and what came out of them.
namespace overlap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<deck::DeckPoint> points_of(const std::string& sweep,
                                       const std::vector<std::string>& overrides = {}) {
  const DeckFile file("workload: {kind: increment, elements: 4096}\n" + sweep);
  return deck::load_points(file.path(), overrides);
}

std::vector<std::string> names(const std::vector<deck::DeckPoint>& points) {
  std::vector<std::string> names;
  for (const results::Point& point : result_of(points).points) names.push_back(point.name());
  return names;
}

TEST(Sweep, IsTheProductWithTheLastKeyFastest) {
  const auto points =
      points_of("sweep: {chunks.count: [1, 2, 4], memory.host: [pinned, pageable]}\n");
  EXPECT_THAT(
      names(points),
      ElementsAre("chunks.count 1, memory.host pinned", "chunks.count 1, memory.host pageable",
                  "chunks.count 2, memory.host pinned", "chunks.count 2, memory.host pageable",
                  "chunks.count 4, memory.host pinned", "chunks.count 4, memory.host pageable"));
  EXPECT_EQ(points[3].deck.chunks.count, 2);
  EXPECT_EQ(points[3].deck.memory.host, deck::HostMemory::pageable);
  EXPECT_EQ(points[4].deck.chunks.count, 4);
  EXPECT_EQ(points[4].deck.memory.host, deck::HostMemory::pinned);
}

TEST(Sweep, OfNothingIsOnePoint) {
  for (const char* const sweep : {"", "sweep: {}\n"}) {
    const auto points = points_of(sweep);
    ASSERT_EQ(points.size(), 1u);
    EXPECT_FALSE(points[0].is_swept());
  }
}

TEST(Sweep, TakesThePlaceOfTheKeyItself) {
  const auto points =
      points_of("chunks: {count: 7}\nsweep:\n  chunks.count: [1, 2]\n  issue.lanes: [3]\n");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].deck.chunks.count, 2);
  EXPECT_EQ(points[1].deck.issue.lanes, 3);
}

TEST(Sweep, OptionsPinAndChangeIt) {
  const std::string sweep = "sweep: {chunks.count: [1, 2], issue.lanes: [1, 2]}\n";
  EXPECT_THAT(names(points_of(sweep, {"chunks.count=8"})),
              ElementsAre("issue.lanes 1", "issue.lanes 2"));
  EXPECT_EQ(points_of(sweep, {"chunks.count=8"})[0].deck.chunks.count, 8);
  EXPECT_THAT(names(points_of(sweep, {"chunks={count: 8}"})),
              ElementsAre("issue.lanes 1", "issue.lanes 2"));
  const auto bytes = points_of(sweep, {"sweep={issue.lanes: [1, 2]}", "chunks={bytes: 4096}"});
  EXPECT_EQ(bytes.at(1).deck.chunks.bytes, 4096);
  EXPECT_THAT(names(points_of("host_work: {per_chunk: 1 us}\n"
                              "sweep: {host_work.per_chunk: [1 us, 2 us]}\n",
                              {"host_work=none"})),
              ElementsAre(""));
  EXPECT_THAT(names(points_of(sweep, {"sweep.chunks.count=[3]", "issue.lanes=2"})),
              ElementsAre("chunks.count 3"));
  EXPECT_THAT(
      names(points_of(sweep, {"chunks.count=8", "sweep.chunks.count=[3]", "issue.lanes=2"})),
      ElementsAre("chunks.count 3"));
  EXPECT_THAT(names(points_of(sweep, {"sweep={}"})), ElementsAre(""));
  EXPECT_THAT(names(points_of("", {"sweep.issue.lanes=[2, 3]"})),
              ElementsAre("issue.lanes 2", "issue.lanes 3"));
}

/// Processor time that it takes to refuse a bad deck of a sweep, seconds.
double refused_in(const std::string& sweep, const std::string& message) {
  const std::clock_t start = std::clock();
  try {
    points_of(sweep);
    ADD_FAILURE() << "taken";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Sweep, HugeOnesAreRefusedAtOnce) {
  std::string values = "sweep: {chunks.count: [1";
  for (int i = 2; i < 12000; ++i) values += ", " + std::to_string(i);
  EXPECT_LT(refused_in(values + "]}\n", "found 11999 points or more; allowed: at most 10000"), 5);
  std::string keys = "sweep:\n";
  for (int i = 0; i < 500; ++i) keys += "  k" + std::to_string(i) + ": [1]\n";
  EXPECT_LT(refused_in(keys, "k0: unknown key"), 5);
  EXPECT_LT(refused_in("memory: {host: " + std::string(std::size_t{1} << 20, 'x') + "}\n",
                       "memory.host: found 'xxx"),
            5);
}

TEST(SweepErrors, EachAsItIsWritten) {
  test::expect_errors("sweep_errors.txt",
                      {{"(empty)", "workload: {kind: increment}"},
                       {"(increment) ", "workload: {kind: increment}\n"}},
                      [](const std::string& path, const std::vector<std::string>& overrides) {
                        deck::load_points(path, overrides);
                      });
  const DeckFile bad("workload: {kind: increment}\nsweep: {chunks.count: [1, 0]}\n");
  EXPECT_NO_THROW(deck::load_points(bad.path(), {"sweep={}", "chunks={}"}));
}

}  // namespace

namespace report {
namespace {

/// What a point gave: sequential takes 10 ms, depth_first what is given; a bound of 4 ms. The
/// interval is the median and a part of it on each side.
results::Point part_with(const deck::DeckPoint& point, double milliseconds, double part = 0.01) {
  results::Point result;
  const auto costs = schedule::costs(point.deck.workload, 1);
  const auto layout = schedule::layout(point.deck, costs, std::nullopt);
  for (const auto& [order, seconds] : {std::pair(deck::Order::sequential, 10e-3),
                                       std::pair(deck::Order::depth_first, 1e-3 * milliseconds)}) {
    experiment::Case one;
    results::Run& run = one.run;
    run.order = order;
    set_schedule(one, schedule::build(costs, layout, order, point.deck.issue.lanes));
    run.samples_s = {seconds, seconds * (1 + part), seconds * (1 - part)};
    run.repetitions = 3;
    run.verified = true;
    run.bounds =
        model::Bounds{.serial_s = 1, .bound_s = 4e-3, .schedule_bound_s = 5e-3, .limit = "H2D"};
    result.runs.push_back(finished(one));
  }
  return result;
}

/// A sweep with a time of depth_first for each point; negative: that point is not done.
results::Result sweep_of(const std::string& text, const std::vector<double>& milliseconds,
                         double part = 0.01) {
  const std::vector<deck::DeckPoint> points = points_of(text);
  results::Result sweep = result_of(points);
  sweep.deck.path = "deck.yaml";
  for (std::size_t i = 0; i < milliseconds.size(); ++i) {
    if (milliseconds[i] >= 0) add_point(sweep, i, part_with(points[i], milliseconds[i], part));
  }
  return sweep;
}

/// The lines of its report that begin with a word.
std::vector<std::string> lines_of(const results::Result& sweep, const std::string& begin) {
  std::istringstream text(shown(sweep));
  std::vector<std::string> found;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(begin)) found.push_back(line);
  }
  return found;
}

const char* const counts = "sweep: {chunks.count: [1, 2, 4, 8, 16, 32]}\n";
const char* const elements = "sweep: {workload.elements: [1024, 4096]}\n";

TEST(SweepBest, IsTheLeastTime) {
  EXPECT_THAT(lines_of(sweep_of(counts, {9, 7, 5, 6, 8, 9.5}), "best"),
              ElementsAre("best: 5.000 ms, depth_first at chunks.count 4"));
  EXPECT_THAT(lines_of(sweep_of(counts, {11, 12}), "best"),
              ElementsAre("best: 10.00 ms, sequential at chunks.count 1"));
  EXPECT_THAT(lines_of(sweep_of(counts, {9, 5, 5}), "best"),
              ElementsAre("best: 5.000 ms, depth_first at chunks.count 2"));
  EXPECT_THAT(lines_of(sweep_of(counts, {}), "best"), testing::IsEmpty());
}

TEST(SweepBest, IsTheMostBytesInASecondWhereTheyDiffer) {
  EXPECT_THAT(lines_of(sweep_of(elements, {4, 8}), "best"),
              ElementsAre(testing::EndsWith(" GB/s, depth_first at workload.elements 4096")));
  EXPECT_THAT(lines_of(sweep_of(elements, {2, 8}), "best"),
              ElementsAre(testing::EndsWith(" at workload.elements 1024")));
}

TEST(SweepBest, OfOneProductIsTheLeastTimeHoweverManyBytesItCopies) {
  results::Result sweep = sweep_of(elements, {4, 8});
  for (results::Point& point : sweep.points) {
    for (results::Run& run : point.runs) run.product = results::Product{.flops = 1};
  }
  EXPECT_THAT(lines_of(sweep, "best"),
              ElementsAre("best: 4.000 ms, depth_first at workload.elements 1024"));
  sweep.points[1].runs[1].product->flops = 2;
  EXPECT_THAT(lines_of(sweep, "best"), ElementsAre(HasSubstr("GB/s")));
}

TEST(SweepKnee, IsTheSmallestValueNearTheBest) {
  EXPECT_THAT(lines_of(sweep_of(counts, {9, 7, 5.2, 5, 5.25, 6}), "knee"),
              ElementsAre("knee: chunks.count 4 is the smallest value that comes within 5 % of the "
                          "best time, with 5.200 ms, depth_first; 4 to 16 are within 5 % of the "
                          "best"));
  EXPECT_THAT(lines_of(sweep_of(counts, {9, 7, 5.26, 5, 5.2, 6}), "knee"),
              ElementsAre(StartsWith("knee: chunks.count 8 is")));
  EXPECT_THAT(lines_of(sweep_of(counts, {5, 6, 7}), "knee"),
              ElementsAre("knee: chunks.count 1, the smallest tried, comes within 5 % of the best "
                          "time, with 5.000 ms, depth_first"));
}

TEST(SweepKnee, TakesTheBestOfTheOtherKeysAndSortsValues) {
  EXPECT_THAT(lines_of(sweep_of("sweep: {chunks.count: [8, 2, 4], issue.lanes: [1, 2]}\n",
                                {9, 5, 9, 9, 5.1, 9}),
                       "knee"),
              ElementsAre("knee: chunks.count 4 is the smallest value that comes within 5 % of the "
                          "best time, with 5.100 ms, depth_first at issue.lanes 1; 4 to 8 are "
                          "within 5 % of the best"));
}

TEST(SweepKnee, NeedsNumbers) {
  const char* const words = "sweep: {memory.host: [pinned, pageable]}\n";
  EXPECT_THAT(lines_of(sweep_of(words, {5, 6}), "knee"), testing::IsEmpty());
  const char* const single = "sweep: {chunks.count: [4]}\n";
  EXPECT_THAT(lines_of(sweep_of(single, {5}), "knee"), testing::IsEmpty());
}

TEST(SweepTies, HaveIntervalsThatOverlapThatOfTheBest) {
  const auto ties = [](const char* sweep, const std::vector<double>& milliseconds, double part) {
    const auto found = lines_of(sweep_of(sweep, milliseconds, part), "ties");
    constexpr std::string_view begin = "ties, whose intervals overlap the best one's: ";
    return found.empty() ? "" : found[0].substr(begin.size());
  };
  // 5.05 and 4.95 / 0.99 touch.
  EXPECT_EQ(ties(counts, {9, 7, 5.1, 5, 5.11, 5.09}, 0.01), "chunks.count 4; chunks.count 32");
  EXPECT_EQ(ties(counts, {9, 7, 5.2, 5, 5.2, 6}, 0.01), "");
  EXPECT_EQ(ties(elements, {4, 8}, 0.01), "");
  EXPECT_EQ(ties(elements, {4, 8}, 0.5), "workload.elements 1024");
  // Without intervals only equal times tie.
  EXPECT_EQ(ties(counts, {5, 5, 5.001}, 0), "chunks.count 2");
  std::string list = "sweep: {chunks.count: [1";
  for (int i = 2; i <= 12; ++i) list += ", " + std::to_string(i);
  EXPECT_THAT(ties((list + "]}\n").c_str(), std::vector<double>(12, 5), 0),
              testing::EndsWith("; chunks.count 9; 3 more"));
}

TEST(SweepNoise, HasALineForEachCause) {
  const auto points = points_of(counts);
  results::Result sweep = result_of(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    results::Point part = part_with(points[i], 5);
    using deck::Order;
    if (i > 0) part.findings = {{.order = Order::depth_first, .cause = "unsteady", .text = "they"}};
    if (i == 3) {
      part.findings.push_back({.order = Order::sequential, .cause = "drifting", .text = "it"});
    }
    part.findings.push_back({.order = Order::sequential, .cause = "few_lanes", .text = "too few"});
    add_point(sweep, i, std::move(part));
  }
  EXPECT_THAT(lines_of(sweep, "unsteady"),
              ElementsAre("unsteady (5 of 12 runs), first at chunks.count 2, depth_first: they"));
  EXPECT_THAT(lines_of(sweep, "drifting"),
              ElementsAre("drifting (1 of 12 runs), first at chunks.count 8, sequential: it"));
  EXPECT_THAT(shown(sweep), Not(HasSubstr("too few")));
}

TEST(SweepTable, LinesUpAndSaysWhatIsBest) {
  const results::Result sweep = sweep_of(counts, {9, 7, 5.09, 5, 5.25, 6});
  EXPECT_THAT(
      shown(sweep),
      HasSubstr("\nmedian times\n"
                "chunks.count  sequential  depth_first     bound  fastest          time  mark\n"
                "           1    10.00 ms     9.000 ms  4.000 ms  depth_first  9.000 ms\n"
                "           2    10.00 ms     7.000 ms  4.000 ms  depth_first  7.000 ms\n"
                "           4    10.00 ms     5.090 ms  4.000 ms  depth_first  5.090 ms  tie\n"
                "           8    10.00 ms     5.000 ms  4.000 ms  depth_first  5.000 ms  best\n"
                "          16    10.00 ms     5.250 ms  4.000 ms  depth_first  5.250 ms\n"
                "          32    10.00 ms     6.000 ms  4.000 ms  depth_first  6.000 ms\n"));
  // The order that wins is the last to go.
  EXPECT_THAT(shown(sweep, {.width = 60}),
              HasSubstr("chunks.count  depth_first  fastest          time  mark\n"
                        "           1     9.000 ms  depth_first  9.000 ms\n"));
  EXPECT_THAT(shown(sweep_of(counts, {19, 17}), {.width = 60}),
              HasSubstr("chunks.count  sequential  fastest         time  mark\n"));
}

TEST(SweepCharts, MarkTheBestPointOnOneScale) {
  std::vector<Chart> charts;
  const results::Result sweep =
      sweep_of("sweep: {chunks.count: [1, 2, 4], issue.lanes: [1, 2]}\n", {9, 8, 7, 6, 5, 30});
  for (Block& block : body(sweep)) {
    if (auto* const chart = std::get_if<Chart>(&block.content)) charts.push_back(std::move(*chart));
  }
  ASSERT_EQ(charts.size(), 2U);
  std::vector<std::string> marked;
  for (const Chart& chart : charts) {
    EXPECT_THAT(chart.x.includes, ElementsAre(1, 4));
    EXPECT_THAT(chart.y.includes, ElementsAre(4e-3, testing::DoubleNear(30.3e-3, 1e-9)));
    for (const Chart::Series& series : chart.series) {
      for (const Chart::Point& point : series.points) {
        if (!point.name.empty())
          marked.push_back(chart.title + " " + series.name + " " + point.name);
      }
    }
  }
  EXPECT_THAT(marked, ElementsAre("issue.lanes 1 depth_first best"));
}

TEST(SweepTable, HasABestAndAKneeOfEachDevice) {
  const auto points = points_of("sweep: {chunks.count: [1, 2, 4]}\n");
  results::Result sweep = result_of(points);
  sweep.predicted_for = {"fast", "slow"};
  for (std::size_t i = 0; i < points.size(); ++i) {
    results::Point part;
    for (const auto& [device, milliseconds] : {std::pair("fast", 9 - 2 * static_cast<double>(i)),
                                               {"slow", 20 + static_cast<double>(i)}}) {
      part.runs.push_back(part_with(points[i], 1).runs[1]);
      part.runs.back().samples_s.clear();
      part.runs.back().device = device;
      part.runs.back().predicted_s = 1e-3 * milliseconds;
    }
    add_point(sweep, i, std::move(part));
  }
  EXPECT_THAT(shown(sweep),
              HasSubstr("best on fast: 5.000 ms, depth_first at chunks.count 4\n"
                        "knee on fast: chunks.count 4 is the smallest value that comes within 5 % "
                        "of the best time, with 5.000 ms, depth_first\n"));
  EXPECT_THAT(shown(sweep),
              HasSubstr("best on slow: 20.00 ms, depth_first at chunks.count 1\n"
                        "knee on slow: chunks.count 1, the smallest tried, comes within 5 % of the "
                        "best time, with 20.00 ms, depth_first; 1 to 2 are within 5 % of the "
                        "best\n"));
  EXPECT_THAT(shown(sweep), HasSubstr("\npredicted times on fast\n"));
  EXPECT_THAT(shown(sweep), HasSubstr("\npredicted times on slow\n"));
}

TEST(SweepReport, SaysWhyItDoesNotPass) {
  results::Result sweep = sweep_of(counts, {9, 9});
  EXPECT_THAT(shown(sweep), HasSubstr("\nverdict: PASS\n"));
  const base::Error error(base::ExitCode::skipped, "no room");
  add_point(sweep, 2, experiment::failed_point(points_of(counts)[2], error));
  EXPECT_THAT(shown(sweep), HasSubstr("\nverdict: SKIPPED\n  chunks.count 4: no room\n"));
}

TEST(Csv, HasARowForEachPointAndOrder) {
  std::istringstream lines(
      csv({sweep_of("sweep: {chunks.bytes: [4 KiB, 8 KiB]}\n", {5, -1}, 0.5)}));
  const auto cells = [&] {
    std::string line, cell;
    std::getline(lines, line);
    std::vector<std::string> found;
    for (std::istringstream rest(line); std::getline(rest, cell, ',');) found.push_back(cell);
    return found;
  };
  const std::vector<std::string> names = cells();
  using Row = std::vector<std::pair<std::string, std::string>>;
  for (const Row& row : {Row{{"order", "sequential"},
                             {"tasks", "3"},
                             {"median_s", "0.01"},
                             {"overlap_efficiency", ""},
                             {"verdict", "PASS"}},
                         Row{{"order", "depth_first"},
                             {"tasks", "12"},
                             {"median_s", "0.005"},
                             {"overlap_efficiency", "0.8333333333333334"},
                             {"verdict", "PASS"}}}) {
    const std::vector<std::string> found = cells();
    ASSERT_EQ(found.size(), names.size());
    const auto value = [&](const std::string& name) {
      const auto place = std::ranges::find(names, name);
      if (place == names.end()) return "no column " + name;
      return found[static_cast<std::size_t>(place - names.begin())];
    };
    EXPECT_EQ(value("chunks.bytes"), "4096");
    for (const auto& [name, expected] : row) EXPECT_EQ(value(name), expected) << name;
  }
  EXPECT_TRUE(cells().empty());  // no runs at the second point
}

TEST(Csv, QuotesWhatNeedsIt) {
  results::Result result = sweep_of("", {5});
  result.deck.path = "a \"b\", c.yaml";
  EXPECT_THAT(csv({result}), HasSubstr("\n\"a_\"\"b\"\",_c\",n1,CPU,2026-01-31T12:00:00Z,alone,"));
}

TEST(SweepJson, HasTheRunsOfAllPointsAndTheSweep) {
  const std::string text =
      results::to_json({sweep_of("sweep: {chunks.bytes: [4 KiB, 8 KiB]}\n", {5, 6})}, -1);
  EXPECT_THAT(text, HasSubstr("\"sweep\":{\"chunks.bytes\":[4096,8192]}"));
  EXPECT_THAT(text, HasSubstr("\"values\":{\"chunks.bytes\":8192}"));
  EXPECT_THAT(text, HasSubstr("\"predicted_timeline\":null"));
  EXPECT_THAT(
      results::to_json(
          {sweep_of("disturb: {operation: malloc}\n"
                    "sweep: {disturb.at: [0.25, 1], memory.host: [pinned, pageable]}\n",
                    {1, 2, 3, 4})},
          -1),
      HasSubstr(R"("sweep":{"disturb.at":[0.25,1.0],"memory.host":["pinned","pageable"]})"));
}

TEST(SweepJson, HasTheKeysThatAllPointsHave) {
  for (const auto& [deck, has_repetitions] :
       {std::pair("sweep: {measure.duration: [none, 1 s]}\n", false),
        {"sweep: {measure.duration: [1 s, none]}\n", false},
        {"measure: {duration: none}\nsweep: {chunks.count: [4, 8]}\n", true}}) {
    const auto file = nlohmann::json::parse(json({sweep_of(deck, {5, 6})}));
    EXPECT_EQ(file["deck"]["resolved"]["measure"].contains("repetitions"), has_repetitions) << deck;
  }
}

TEST(SweepJson, OfSeveralDecksHasTheirResults) {
  const results::Result result = sweep_of("", {5});
  EXPECT_EQ(nlohmann::json::parse(json({result, result}))["results"].size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(json({result})).count("results"), 0U);
}

TEST(SweepFiles, AllButTraces) {
  const std::string options = sweep_options();
  for (const char* const option : {"--csv", "--json", "--junit", "--timeline"}) {
    EXPECT_THAT(options, HasSubstr(option));
  }
  EXPECT_THAT(options, Not(HasSubstr("--trace")));
}

}  // namespace
}  // namespace report
}  // namespace overlap
