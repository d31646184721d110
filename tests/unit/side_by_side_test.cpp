#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/reports.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::results {
namespace {

using deck::Order;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// A copy and a kernel on a GPU, the kernel until the end.
Run run(Order order, double seconds) {
  Run made;
  made.order = order;
  made.verified = true;
  made.bounds = model::Bounds{.bound_s = 0.25, .schedule_bound_s = 0.25};
  for (int i = 0; i < 8; ++i) made.samples_s.push_back(seconds * (1 + 0.01 * i));
  made.trace = Trace{"CUPTI", 0.125, order == Order::by_engine};
  made.timeline = Timeline{{.stage = deck::Stage::h2d, .engine = "H2D", .stop_s = seconds / 4},
                           {.task = 1, .engine = "SM", .start_s = seconds / 4, .stop_s = seconds}};
  return made;
}

/// A result of two orders; by_engine takes this long.
Result result(const std::string& device, double seconds, const std::string& mechanism = "streams") {
  Result result;
  result.file = device + ".json";
  result.title = "By hand & <more>";
  result.machine.build = {.compiler = "g++ 1", .kokkos_version = "4.5.1", .backend = "Cuda"};
  result.machine.host.name = "n1";
  result.machine.device = base::DeviceInfo{.name = device};
  result.deck.resolved = {
      {"issue", {{"mechanism", mechanism}}},
      {"workload", {{"elements", 4096}, {"kind", "increment"}, {"pitch", "none"}}}};
  result.points = {{.runs = {run(Order::sequential, 1), run(Order::by_engine, seconds)}}};
  return result;
}

/// Columns of a result each, with metrics that follow from the samples.
Columns columns(std::vector<std::vector<Result>> files, std::size_t to = 1) {
  for (auto& file : files) {
    for (Result& result : file) {
      for (Point& point : result.points) evaluate(point.runs);
    }
  }
  return {std::move(files), to};
}

std::string text_of(const Columns& columns) {
  return report::terminal(report::comparison_report(columns), {.width = 200});
}

TEST(SideBySide, MatchesByWorkloadAndOrder) {
  Result other = result("B", 0.8, "graph");
  other.points[0].runs[0] = run(Order::depth_first, 0.5);
  Result larger = result("B", 3);
  larger.deck.resolved["workload"]["elements"] = 8192;
  const std::string text = text_of(columns({{result("A", 0.5)}, {other, larger}}, 2));
  EXPECT_THAT(text, HasSubstr("\nincrement: elements 4096\n\n"
                              "differs          1        2\n"
                              "issue.mechanism  streams  graph\n"));
  EXPECT_THAT(text, ContainsRegex("\nsequential\n  time +1\\.035 s +-\n"));
  EXPECT_THAT(text, ContainsRegex("\nby_engine\n"
                                  "  time +517\\.5 ms +828\\.0 ms\n"
                                  "  95 % interval .*\n"
                                  "  time / column 2 +0\\.62[0-9]+ \\(0.* \\.\\. 0.*\\) +1\\.000\n"
                                  "  speedup +2\\.000 +-\n"));
  EXPECT_THAT(text, HasSubstr("\nincrement: elements 8192\n\n"
                              "order"));  // one column alone differs from nothing
}

TEST(SideBySide, DecksOfOtherTitlesAreOthers) {
  for (const char* const title : {"A", "Z"}) {
    Result other = result("B", 0.5);
    other.title = title;
    EXPECT_EQ(by_deck(columns({{result("A", 0.5)}, {other}})).size(), 2U) << title;
  }
}

TEST(SideBySide, MatchesPointsByTheirValues) {
  Result one = result("A", 0.5);
  one.points.clear();
  for (const int count : {4, 8}) {
    one.points.push_back(
        {.values = {{"chunks.count", count}}, .runs = result("A", 0.5).points[0].runs});
  }
  Result other = one;
  other.points[0].runs.clear();
  const std::string table = report::csv(columns({{one}, {other}}));
  EXPECT_THAT(table, HasSubstr(",1,A.json,chunks.count 4,by_engine,time,s,8,"));
  EXPECT_THAT(table, HasSubstr(",2,A.json,chunks.count 8,by_engine,time,s,8,"));
  EXPECT_THAT(table, Not(HasSubstr(",2,A.json,chunks.count 4,")));
}

TEST(SideBySide, SweptKeysOfAWorkloadArePartOfThePoints) {
  std::vector<std::vector<Result>> files;
  for (const char* elements : {"[1024, 4096]", "[4096, 8192]"}) {
    files.push_back({result("A", 0.5)});
    files.back()[0].deck.resolved["workload"].erase("elements");
    files.back()[0].deck.resolved["sweep"]["workload.elements"] = elements;
  }
  const Columns swept = columns(files);
  const auto decks = by_deck(swept);
  ASSERT_EQ(decks.size(), 1U);
  EXPECT_EQ(decks.begin()->first.workload, "increment");
  EXPECT_EQ(decks.begin()->second[1], &swept.files[1][0]);
}

TEST(SideBySide, SaysWhyADeckDidNotRun) {
  Result failed = result("B", 1);
  failed.points[0].runs.clear();
  failed.error = "no <GPU>";
  EXPECT_THAT(text_of(columns({{result("A", 0.5)}, {failed}})),
              HasSubstr("\ncolumn 2: no <GPU>\n"));
}

TEST(SideBySide, RefusesASecondResultOfADeck) {
  const Result one = result("first", 1), other = result("second", 1);
  try {
    by_deck(columns({{one}, {other, other}}));
    FAIL() << "nothing was thrown";
  } catch (const base::Error& error) {
    EXPECT_STREQ(error.what(),
                 "second.json: found a second result of 'By hand & <more>', which second.json also "
                 "has; allowed: one per column");
  }
}

}  // namespace
}  // namespace overlap::results
