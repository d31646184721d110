#include "experiment/side_by_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden.hpp"
#include "report/comparison.hpp"
#include "report/json.hpp"
#include "report/lines.hpp"
#include "report/read_files.hpp"
#include "studies.hpp"

namespace overlap::experiment {
namespace {

using deck::Order;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Run run(Order order, double seconds) {
  Run made;
  made.order = order;
  made.verified = true;
  made.bounds = model::Bounds{.bound_s = 0.25, .schedule_bound_s = 0.25};
  for (int i = 0; i < 8; ++i) made.samples_s.push_back(seconds * (1 + 0.01 * i));
  return made;
}

/// A copy and a kernel on a GPU, the kernel until the end.
Run traced(Run made) {
  made.schedule.tasks = {{.stage = schedule::Stage::h2d}, {.stage = schedule::Stage::kernel}};
  const double stop_s = made.samples_s[0];
  made.trace = Trace{.timeline = {.engines = {"H2D", "SM"},
                                  .spans = {{0, 0, stop_s / 4}, {1, stop_s / 4, stop_s}},
                                  .complete_s = stop_s},
                     .source = "CUPTI",
                     .perturbation = 0.125,
                     .doubtful = made.order == Order::by_engine};
  return made;
}

/// A result of two orders; by_engine takes this long.
Recorded result(const std::string& device, double seconds,
                const std::string& mechanism = "streams") {
  Recorded result;
  result.file = device + ".json";
  result.machine = {.device = device, .backend = "Cuda"};
  result.title = "By hand & <more>";
  result.provenance = {
      {"build.kokkos_version", "4.5.1"}, {"build.compiler", "g++ 1"}, {"host.name", "n1"}};
  result.deck = {{"issue.mechanism", mechanism},
                 {"workload.elements", "4096"},
                 {"workload.kind", "increment"},
                 {"workload.pitch", "none"}};
  result.points = {
      {.words = "",
       .runs = {traced(run(Order::sequential, 1)), traced(run(Order::by_engine, seconds))}}};
  return result;
}

std::vector<std::string> titles(const std::vector<Recorded>& results) {
  std::vector<std::vector<Recorded>> files;
  for (const Recorded& one : results) files.push_back({one});
  std::vector<std::string> titles;
  for (const Column& column : side_by_side(files, "1").columns) titles.push_back(column.title);
  return titles;
}

TEST(SideBySide, TitlesSayWhatDiffers) {
  const Recorded one = result("A", 0.5);
  EXPECT_THAT(titles({one, result("B", 0.5)}), ElementsAre("A", "B"));
  EXPECT_THAT(titles({one, result("A", 0.5, "graph")}), ElementsAre("streams", "graph"));
  Recorded other = result("B", 0.5, "portable");
  other.machine.backend = "HIP";
  EXPECT_THAT(titles({one, other}), ElementsAre("A, Cuda, streams", "B, HIP, portable"));
  // The others only where they tell columns apart.
  other.provenance = {
      {"build.kokkos_version", "5.2.2"}, {"build.compiler", "g++ 2"}, {"host.name", "n2"}};
  EXPECT_THAT(titles({one, other}), ElementsAre("A, Cuda, streams", "B, HIP, portable"));
  Recorded newer = one;
  newer.provenance["build.kokkos_version"] = "5.2.2";
  EXPECT_THAT(titles({one, newer}), ElementsAre("Kokkos 4.5.1", "Kokkos 5.2.2"));
  newer = one;
  newer.provenance["build.compiler"] = "g++ 2";
  EXPECT_THAT(titles({one, newer}), ElementsAre("g++ 1", "g++ 2"));
  newer = one;
  newer.provenance["host.name"] = "n2";
  EXPECT_THAT(titles({one, newer}), ElementsAre("n1", "n2"));
  newer = one;
  newer.file = "later.json";
  EXPECT_THAT(titles({one, newer}), ElementsAre("A.json", "later.json"));
  EXPECT_THAT(titles({one, one}), ElementsAre("#1", "#2"));
  EXPECT_THAT(titles({one, one, other}),
              ElementsAre("A, Cuda, streams #1", "A, Cuda, streams #2", "B, HIP, portable #3"));
}

TEST(SideBySide, MatchesByWorkloadAndOrder) {
  Recorded other = result("B", 0.8, "graph");
  other.points[0].runs[0] = run(Order::depth_first, 0.5);
  Recorded larger = result("B", 3);
  larger.deck["workload.elements"] = "8192";
  const SideBySide all = side_by_side({{result("A", 0.5)}, {other, larger}}, "2");
  ASSERT_EQ(all.decks.size(), 2U);
  const SharedDeck& deck = all.decks[0];
  ASSERT_EQ(deck.matches.size(), 3U);
  EXPECT_EQ(deck.matches[0].order, "sequential");
  EXPECT_FALSE(deck.matches[0].figures[1]);
  EXPECT_FALSE(deck.matches[0].figures[0]->ratio);  // column 2 does not have it
  EXPECT_EQ(deck.matches[2].order, "depth_first");
  EXPECT_FALSE(deck.matches[2].figures[0]);
  const auto& both = deck.matches[1].figures;
  EXPECT_NEAR(both[0]->ratio->value, 0.625, 1e-3);
  EXPECT_LT(both[0]->ratio->lo, both[0]->ratio->hi);
  EXPECT_EQ(both[1]->ratio->value, 1);
  EXPECT_NEAR(*both[0]->speedup, 2, 1e-12);
  EXPECT_FALSE(both[1]->speedup);  // no baseline of its own
  EXPECT_NEAR(*both[0]->bound_fraction, 0.25 / 0.5 / 1.035, 1e-3);
  ASSERT_EQ(deck.differences.size(), 1U);
  EXPECT_EQ(deck.differences[0].key, "issue.mechanism");
  EXPECT_THAT(deck.differences[0].values, ElementsAre("streams", "graph"));
  EXPECT_EQ(all.decks[1].matches[0].figures.size(), 2U);
  EXPECT_FALSE(all.decks[1].matches[0].figures[0]);
  EXPECT_TRUE(all.decks[1].differences.empty());  // one column alone differs from nothing
}

TEST(SideBySide, DecksOfOtherTitlesAreOthers) {
  for (const char* const title : {"A", "Z"}) {
    Recorded other = result("B", 0.5);
    other.title = title;
    const SideBySide all = side_by_side({{result("A", 0.5)}, {other}}, "1");
    ASSERT_EQ(all.decks.size(), 2U) << title;
    EXPECT_FALSE(all.decks[0].matches[0].figures[1]);
    EXPECT_FALSE(all.decks[1].matches[0].figures[0]);
  }
}

TEST(SideBySide, MatchesPointsByTheirWords) {
  Recorded one = result("A", 0.5);
  one.points.push_back(one.points[0]);
  one.points[0].words = "chunks.count 4";
  one.points[1].words = "chunks.count 8";
  Recorded other = one;
  other.points.erase(other.points.begin());
  const SideBySide all = side_by_side({{one}, {other}}, "1");
  ASSERT_EQ(all.decks[0].matches.size(), 4U);
  EXPECT_FALSE(all.decks[0].matches[0].figures[1]);
  EXPECT_TRUE(all.decks[0].matches[2].figures[1]);
  EXPECT_EQ(report::match_words(all.decks[0].matches[2]), "sequential, chunks.count 8");
}

TEST(SideBySide, SweptKeysOfAWorkloadArePartOfThePoints) {
  std::vector<std::vector<Recorded>> files;
  for (const char* elements : {"[1024, 4096]", "[4096, 8192]"}) {
    files.push_back({result("A", 0.5)});
    files.back()[0].deck.erase("workload.elements");
    files.back()[0].deck["sweep.workload.elements"] = elements;
  }
  const SideBySide all = side_by_side(files, "1");
  ASSERT_EQ(all.decks.size(), 1U);
  EXPECT_THAT(all.decks[0].workload, ElementsAre(Pair("kind", "increment"), Pair("pitch", "none")));
  EXPECT_TRUE(all.decks[0].matches[0].figures[1]);
}

TEST(SideBySide, SaysWhyADeckDidNotRun) {
  Recorded failed = result("B", 1);
  failed.points.clear();
  failed.error = "no <GPU>";
  const SideBySide all = side_by_side({{result("A", 0.5)}, {failed}}, "1");
  EXPECT_THAT(all.decks[0].errors, ElementsAre("", "no <GPU>"));
  EXPECT_FALSE(all.decks[0].matches[0].figures[1]);
  EXPECT_THAT(report::side_by_side_text(all), HasSubstr("column 2: no <GPU>\n"));
  EXPECT_THAT(report::side_by_side_html(all), HasSubstr("column 2: no &lt;GPU&gt;"));
  EXPECT_THAT(report::side_by_side_html(all), HasSubstr("Measured, all on one axis."));
  const SideBySide turned = side_by_side({{failed}, {result("A", 0.5)}}, "2");
  EXPECT_THAT(report::error_lines(turned.decks[0]), ElementsAre("column 1: no <GPU>"));
}

TEST(SideBySide, APageMarksTheColumnThatRatiosReferTo) {
  const std::vector<std::vector<Recorded>> files = {
      {result("A", 1)}, {result("B", 1)}, {result("C", 1)}};
  EXPECT_THAT(report::side_by_side_html(side_by_side(files, "2")),
              HasSubstr("<th scope=\"col\">1 <b>A</b></th>"
                        "<th scope=\"col\" class=\"to\">2 <b>B</b></th>"
                        "<th scope=\"col\">3 <b>C</b></th>"));
}

TEST(SideBySide, AxesDifferWhereOneIsMoreThanEightTimesAsLong) {
  const auto page = [](double longest_s, double unit_s = 1) {
    std::vector<std::vector<Recorded>> files = {{result("A", unit_s)}, {result("B", unit_s)}};
    for (std::vector<Recorded>& file : files) {
      auto& runs = file[0].points[0].runs;
      runs.erase(runs.begin());
      runs[0].bounds->bound_s *= unit_s;
    }
    files[0][0].points[0].runs[0].trace->timeline.complete_s = 1.25 * unit_s;
    files[1][0].points[0].runs[0].trace->timeline.complete_s = longest_s * unit_s;
    return report::side_by_side_html(side_by_side(files, "1"));
  };
  // Above its axis a column has its title and two engines: 58 pixels.
  EXPECT_THAT(page(10), HasSubstr("Measured, all on one axis."));
  EXPECT_THAT(page(10), HasSubstr("<path class=\"grid\" d=\"M84 18V120"));
  EXPECT_THAT(page(10.001), HasSubstr("<b>on several axes</b>"));
  EXPECT_THAT(page(10.001, 1e-6), HasSubstr("<b>on several axes</b>"));
  EXPECT_THAT(page(10.001), HasSubstr("<path class=\"grid\" d=\"M84 18V62"));
  EXPECT_THAT(page(10.001), HasSubstr("<path class=\"grid\" d=\"M84 102V146"));
}

TEST(SideBySide, RefusesWhatHasNoPlace) {
  const auto error_of = [](const std::vector<std::vector<Recorded>>& files,
                           const std::string& to) -> std::string {
    try {
      side_by_side(files, to);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "nothing";
  };
  const Recorded one = result("first", 1);
  const Recorded other = result("second", 1);
  EXPECT_EQ(error_of({{one}, {other}}, "3"),
            "--to: found '3'; allowed: 1 to 2, or the title of a column: first; second");
  EXPECT_EQ(error_of({{one}, {other}}, "0"),
            "--to: found '0'; allowed: 1 to 2, or the title of a column: first; second");
  EXPECT_EQ(error_of({{one}, {other}}, "second"), "nothing");
  EXPECT_EQ(error_of({{one}, {other, other}}, "1"),
            "second.json: found a second result of 'By hand & <more>', which second.json also has; "
            "allowed: "
            "one per column");
  EXPECT_EQ(error_of({{one}, {}}, "1"),
            "column 2: found no result; allowed: results of one deck or more");
}

TEST(SideBySide, FilesAsItIsWritten) {
  Recorded other = result("B", 3, "graph");
  other.points[0].runs.erase(other.points[0].runs.begin());
  other.points[0].runs[0].trace.reset();
  Recorded first = result("A", 0.5);
  experiment::Run& crowded = first.points[0].runs[1];  // with five kernels at once
  for (int lane = 1; lane < 5; ++lane) {
    crowded.schedule.tasks.push_back({.stage = schedule::Stage::kernel, .lane = lane});
    crowded.trace->timeline.spans.push_back({1, 0.2 + 0.01 * lane, 0.4 + 0.02 * lane});
  }
  const report::Comparisons all{.side_by_side = side_by_side({{first}, {other}}, "A, streams")};
  EXPECT_EQ(all.exit_code(), base::ExitCode::pass);
  expect_golden({
      {"side_by_side.txt",
       report::comparison_text(all) + report::verdict_line(all.verdict(), all.exit_code(), true)},
      {"side_by_side.csv", report::side_by_side_csv(*all.side_by_side)},
      {"side_by_side.json", report::comparison_json(all)},
      {"side_by_side.html", without_style(report::comparison_html(all))},
  });
}

using Json = nlohmann::ordered_json;

/// A result file of two tasks on two workers.
Json traced_file() {
  Run one = traced(run(Order::by_engine, 1));
  one.schedule.tasks[0].bytes = 1000;
  one.schedule.tasks[1].lane = 1;
  one.schedule.lanes = 2;
  one.trace->timeline.engines = {"worker 10", "worker 2", "host"};
  return Json::parse(report::to_json({study_of(outcome_of({one}))}));
}

TEST(ReadTrace, HasWhatPicturesNeed) {
  const auto results = report::results_of("a.json", traced_file().dump(), report::Extent::all);
  const auto& one = results.at(0).points.at(0).runs.at(0);
  ASSERT_TRUE(one.trace);
  EXPECT_THAT(one.trace->timeline.engines, ElementsAre("worker 2", "worker 10"));
  EXPECT_EQ(one.trace->timeline.spans[0].engine, 1);
  EXPECT_EQ(one.trace->timeline.spans[1].stop_s, 1);
  EXPECT_EQ(one.trace->timeline.complete_s, 1);
  EXPECT_EQ(one.schedule.tasks[1].lane, 1);
  EXPECT_EQ(copied_bytes(one), 1000);
  EXPECT_EQ(one.trace->perturbation, 0.125);
  // Metrics need none of it.
  EXPECT_FALSE(report::results_of("a.json", traced_file().dump())[0].points[0].runs[0].trace);
}

TEST(ReadTrace, PutsEnginesInTheOrderOfTheirStages) {
  Json file = traced_file();
  Json& entries = file["runs"][0]["timeline"];
  const Json entry = entries[0];
  entries = Json::array();
  for (const char* const engine :
       {"worker 10", "host", "D2H", "SM", "copy", "worker 9", "H2D", "host"}) {
    entries.push_back(entry);
    entries.back()["engine"] = engine;
    entries.back()["lane"] = 1 << 30;
  }
  const auto results = report::results_of("a.json", file.dump(), report::Extent::all);
  EXPECT_THAT(results.at(0).points.at(0).runs.at(0).trace->timeline.engines,
              ElementsAre("H2D", "copy", "SM", "D2H", "worker 9", "worker 10", "host"));
}

TEST(ReadTrace, TakesDecksThatDidNotRun) {
  Json file = traced_file();
  EXPECT_TRUE(file["rates"].is_null());  // it was not measured
  file["error"] = "no GPU";
  file["exit_code"] = 4;
  file["verdict"] = "ERROR";
  file["runs"] = Json::array();
  EXPECT_THROW(report::results_of("a.json", file.dump()), base::Error);
  const auto results = report::results_of("a.json", file.dump(), report::Extent::all);
  EXPECT_EQ(results.at(0).error, "no GPU");
  EXPECT_EQ(results.at(0).title, "By hand");
  EXPECT_TRUE(results.at(0).points.empty());
}

TEST(ReadTrace, TakesTheOtherPointsOfASweepThatSkippedOne) {
  Json file = traced_file();
  file["error"] = "no graphs";
  file["exit_code"] = 77;
  file["verdict"] = "SKIPPED";
  for (const auto extent : {report::Extent::metrics, report::Extent::all}) {
    const auto results = report::results_of("a.json", file.dump(), extent);
    EXPECT_EQ(results.at(0).error, "no graphs");
    EXPECT_EQ(results.at(0).points.size(), 1U);
  }
}

TEST(ReadTrace, NamesFileAndField) {
  const std::vector<std::pair<void (*)(Json&), std::string>> cases = {
      {[](Json& entry) { entry["chunk"] = -1; },
       "a.json: runs[0].timeline[1].chunk: found -1; allowed: a whole number up to 2^30"},
      {[](Json& entry) { entry["lane"] = (1 << 30) + 1; },
       "a.json: runs[0].timeline[1].lane: found 1073741825; allowed: a whole number up to 2^30"},
      {[](Json& entry) { entry["lane"] = 1e99; },
       "a.json: runs[0].timeline[1].lane: found 1e+99; allowed: a whole number up to 2^30"},
      {[](Json& entry) { entry["stop_s"] = 0; },
       "a.json: runs[0].timeline[1]: found a task that stops before it starts; allowed: times in "
       "order"},
      {[](Json& entry) { entry["start_s"] = -1e-9; },
       "a.json: runs[0].timeline[1]: found a task that stops before it starts; allowed: times in "
       "order"},
      {[](Json& entry) { entry["engine"] = 3; },
       "a.json: runs[0].timeline[1].engine: found 3; allowed: text"},
      {[](Json& entry) { entry["name"] = "K"; },
       "a.json: runs[0].timeline: found names of some tasks; allowed: names of all tasks, or of "
       "none"},
  };
  for (const auto& [change, message] : cases) {
    Json file = traced_file();
    change(file["runs"][0]["timeline"][1]);
    try {
      report::results_of("a.json", file.dump(), report::Extent::all);
      ADD_FAILURE() << message;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
}

}  // namespace
}  // namespace overlap::experiment
