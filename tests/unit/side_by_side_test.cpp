#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/reports.hpp"
#include "results/compare.hpp"
#include "results/metrics.hpp"

namespace overlap::results {
namespace {

using deck::Order;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

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

/// With metrics that follow from the samples.
SideBySide shown(std::vector<std::vector<Result>> files, const std::string& to) {
  for (auto& file : files) {
    for (Result& result : file) {
      for (Point& point : result.points) evaluate(point.runs);
    }
  }
  return side_by_side(files, to);
}

std::string text_of(const SideBySide& all) {
  return report::terminal(report::comparison_report({.side_by_side = all}), {.width = 200});
}

std::vector<std::string> titles(const std::vector<Result>& results) {
  std::vector<std::vector<Result>> files;
  for (const Result& one : results) files.push_back({one});
  std::vector<std::string> titles;
  for (const ResultColumn& column : shown(files, "1").columns) titles.push_back(column.title);
  return titles;
}

TEST(SideBySide, TitlesSayWhatDiffers) {
  const Result one = result("A", 0.5);
  EXPECT_THAT(titles({one, result("B", 0.5)}), ElementsAre("A", "B"));
  EXPECT_THAT(titles({one, result("A", 0.5, "graph")}), ElementsAre("streams", "graph"));
  Result other = result("B", 0.5, "portable");
  other.machine.build.backend = "HIP";
  EXPECT_THAT(titles({one, other}), ElementsAre("A, Cuda, streams", "B, HIP, portable"));
  // The others only where they tell columns apart.
  other.machine.build.kokkos_version = "5.2.2";
  other.machine.build.compiler = "g++ 2";
  other.machine.host.name = "n2";
  EXPECT_THAT(titles({one, other}), ElementsAre("A, Cuda, streams", "B, HIP, portable"));
  Result newer = one;
  newer.machine.build.kokkos_version = "5.2.2";
  EXPECT_THAT(titles({one, newer}), ElementsAre("Kokkos 4.5.1", "Kokkos 5.2.2"));
  newer = one;
  newer.machine.build.compiler = "g++ 2";
  EXPECT_THAT(titles({one, newer}), ElementsAre("g++ 1", "g++ 2"));
  newer = one;
  newer.machine.host.name = "n2";
  EXPECT_THAT(titles({one, newer}), ElementsAre("n1", "n2"));
  newer = one;
  newer.file = "later.json";
  EXPECT_THAT(titles({one, newer}), ElementsAre("A.json", "later.json"));
  EXPECT_THAT(titles({one, one}), ElementsAre("#1", "#2"));
  EXPECT_THAT(titles({one, one, other}),
              ElementsAre("A, Cuda, streams #1", "A, Cuda, streams #2", "B, HIP, portable #3"));
}

TEST(SideBySide, MatchesByWorkloadAndOrder) {
  Result other = result("B", 0.8, "graph");
  other.points[0].runs[0] = run(Order::depth_first, 0.5);
  Result larger = result("B", 3);
  larger.deck.resolved["workload"]["elements"] = 8192;
  const SideBySide all = shown({{result("A", 0.5)}, {other, larger}}, "2");
  ASSERT_EQ(all.decks.size(), 2U);
  const SharedDeck& deck = all.decks[0];
  ASSERT_EQ(deck.matches.size(), 3U);
  EXPECT_EQ(deck.matches[0].order, "sequential");
  EXPECT_FALSE(deck.matches[0].columns[1]);
  EXPECT_FALSE(deck.matches[0].columns[0]->ratio);  // column 2 does not have it
  EXPECT_EQ(deck.matches[2].order, "depth_first");
  EXPECT_FALSE(deck.matches[2].columns[0]);
  const auto& both = deck.matches[1].columns;
  EXPECT_NEAR(both[0]->ratio->value, 0.625, 1e-3);
  EXPECT_LT(both[0]->ratio->lo, both[0]->ratio->hi);
  EXPECT_EQ(both[1]->ratio->value, 1);
  EXPECT_NEAR(*both[0]->speedup, 2, 1e-12);
  EXPECT_FALSE(both[1]->speedup);  // no baseline of its own
  EXPECT_NEAR(*both[0]->bound_fraction, 0.25 / 0.5 / 1.035, 1e-3);
  ASSERT_EQ(deck.differences.size(), 1U);
  EXPECT_EQ(deck.differences[0].key, "issue.mechanism");
  EXPECT_THAT(deck.differences[0].values, ElementsAre("streams", "graph"));
  EXPECT_EQ(all.decks[1].matches[0].columns.size(), 2U);
  EXPECT_FALSE(all.decks[1].matches[0].columns[0]);
  EXPECT_TRUE(all.decks[1].differences.empty());  // one column alone differs from nothing
}

TEST(SideBySide, DecksOfOtherTitlesAreOthers) {
  for (const char* const title : {"A", "Z"}) {
    Result other = result("B", 0.5);
    other.title = title;
    const SideBySide all = shown({{result("A", 0.5)}, {other}}, "1");
    ASSERT_EQ(all.decks.size(), 2U) << title;
    EXPECT_FALSE(all.decks[0].matches[0].columns[1]);
    EXPECT_FALSE(all.decks[1].matches[0].columns[0]);
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
  const SideBySide all = shown({{one}, {other}}, "1");
  ASSERT_EQ(all.decks[0].matches.size(), 4U);
  EXPECT_FALSE(all.decks[0].matches[0].columns[1]);
  EXPECT_TRUE(all.decks[0].matches[2].columns[1]);
  EXPECT_EQ(all.decks[0].matches[2].point, "chunks.count 8");
}

TEST(SideBySide, SweptKeysOfAWorkloadArePartOfThePoints) {
  std::vector<std::vector<Result>> files;
  for (const char* elements : {"[1024, 4096]", "[4096, 8192]"}) {
    files.push_back({result("A", 0.5)});
    files.back()[0].deck.resolved["workload"].erase("elements");
    files.back()[0].deck.resolved["sweep"]["workload.elements"] = elements;
  }
  const SideBySide all = shown(files, "1");
  ASSERT_EQ(all.decks.size(), 1U);
  EXPECT_THAT(all.decks[0].workload, ElementsAre(Pair("kind", "increment"), Pair("pitch", "none")));
  EXPECT_TRUE(all.decks[0].matches[0].columns[1]);
}

TEST(SideBySide, SaysWhyADeckDidNotRun) {
  Result failed = result("B", 1);
  failed.points[0].runs.clear();
  failed.error = "no <GPU>";
  const SideBySide all = shown({{result("A", 0.5)}, {failed}}, "1");
  EXPECT_THAT(all.decks[0].errors, ElementsAre("", "no <GPU>"));
  EXPECT_FALSE(all.decks[0].matches[0].columns[1]);
  EXPECT_THAT(text_of(all), HasSubstr("column 2: no <GPU>\n"));
}

TEST(SideBySide, RefusesWhatHasNoPlace) {
  const auto error_of = [](const std::vector<std::vector<Result>>& files,
                           const std::string& to) -> std::string {
    try {
      shown(files, to);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "nothing";
  };
  const Result one = result("first", 1);
  const Result other = result("second", 1);
  EXPECT_EQ(error_of({{one}, {other}}, "3"),
            "--to: found '3'; allowed: 1 to 2, or the title of a column: first; second");
  EXPECT_EQ(error_of({{one}, {other}}, "0"),
            "--to: found '0'; allowed: 1 to 2, or the title of a column: first; second");
  EXPECT_EQ(error_of({{one}, {other}}, "second"), "nothing");
  EXPECT_EQ(error_of({{one}, {other, other}}, "1"),
            "second.json: found a second result of 'By hand & <more>', which second.json also has; "
            "allowed: "
            "one per column");
}

TEST(SideBySide, ReadsWhatItWrites) {
  Result other = result("B", 3, "graph");
  other.points[0].runs.erase(other.points[0].runs.begin());
  other.points[0].runs[0].trace.reset();
  const Comparisons made{.side_by_side = shown({{result("A", 0.5)}, {other}}, "2")};
  const std::string text = describe::write(made).dump();
  const describe::Document document = describe::parse_json("c.json", text);
  Comparisons read;
  describe::read(describe::Reader(document), read);
  EXPECT_EQ(describe::write(read).dump(), text);
  EXPECT_EQ(report::page(report::comparison_report(read)),
            report::page(report::comparison_report(made)));
}

}  // namespace
}  // namespace overlap::results
