#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "base/text.hpp"
#include "report/block.hpp"
#include "report/drawing.hpp"

/// Reports on the terminal, as pages and as SVG files.
namespace overlap::report {
namespace {

using deck::Stage;
using results::TaskRecord;
using results::Timeline;
using testing::HasSubstr;
using testing::Not;

/// Bytes that must reach no terminal and no page unescaped.
const std::string hostile = "a\x1b[31m<b>\"&'\n\xff\u202e</script>";

TaskRecord task(Stage stage, int chunk, int lane, std::string engine, double start_s,
                double stop_s) {
  const bool copy = stage == Stage::h2d || stage == Stage::d2h;
  TaskRecord task;
  task.stage = stage;
  task.chunk = chunk;
  task.lane = lane;
  task.engine = std::move(engine);
  task.start_s = start_s;
  task.stop_s = stop_s;
  task.bytes = copy ? 64 << 20 : 0;
  if (copy) task.array = "x";
  return task;
}

/// Chunks in order on the engines of a GPU, or each on a worker of the host.
Timeline chunks(int count, int lanes, bool workers = false) {
  constexpr double unit_s = 1e-3;
  Timeline timeline;
  for (int chunk = 0; chunk < count; ++chunk) {
    const int lane = chunk % lanes;
    const std::string worker = "worker " + std::to_string(lane);
    const double start_s = unit_s * (workers ? 3 * (chunk / lanes) + 0.2 * lane : chunk);
    for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
      const int number = static_cast<int>(stage);
      const auto engines = std::to_array<const char*>({"H2D", "SM", "D2H"});
      const double from_s = start_s + unit_s * number;
      timeline.push_back(task(stage, chunk, lane,
                              workers ? worker : engines[static_cast<std::size_t>(number)], from_s,
                              from_s + unit_s));
    }
  }
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    timeline[i].task = static_cast<std::int64_t>(i);
  }
  return timeline;
}

std::string shown(Block block, Screen screen) {
  return "\n" + terminal({.title = "", .data = "", .blocks = {std::move(block)}}, screen);
}

Table orders() {
  return {.title = "",
          .columns = {"order", "median", {"lanes", 2}, {"tasks", 3}, {"GB/s", 1}},
          .rows = {{"sequential", "10.00 ms", "1", "12", "20.00"},
                   {"depth_first", Cell("5.100 ms", Tone::good), "4", "12", "39.21"}}};
}

TEST(Terminal, TablesLineUp) {
  EXPECT_EQ(shown({orders()}, {}), R"(
order          median  lanes  tasks   GB/s
sequential   10.00 ms      1     12  20.00
depth_first  5.100 ms      4     12  39.21
)");
  EXPECT_EQ(shown({Table{.title = "machine",
                         .columns = {"", ""},
                         .rows = {{"host", "n1"}, {"  memory", "4 GiB"}}}},
                  {}),
            R"(
machine
host      n1
  memory  4 GiB
)");
}

TEST(Terminal, ColumnsThatDoNotFitAreNamed) {
  EXPECT_EQ(shown({orders()}, {.width = 30}), R"(
order          median   GB/s
sequential   10.00 ms  20.00
depth_first  5.100 ms  39.21
not shown at 30 columns: lanes, tasks
)");
  EXPECT_THAT(shown({orders()}, {.width = 35}), HasSubstr("at 35 columns: tasks\n"));
  EXPECT_THAT(shown({orders()}, {.width = 42}), Not(HasSubstr("not shown")));
  EXPECT_THAT(shown({orders()}, {.width = 30, .narrow = false}), Not(HasSubstr("not shown")));
  // The others stay, however narrow the terminal is.
  EXPECT_THAT(shown({orders()}, {.width = 1}), HasSubstr("depth_first  5.100 ms\n"));
}

TEST(Terminal, RowsBeyondTheMostAreCounted) {
  Table table{.title = "", .columns = {"device"}, .rows = {{"a"}, {"b"}, {"c"}}};
  table.most_rows = 1;
  EXPECT_EQ(shown({table}, {}), "\ndevice\na\nand 2 more\n");
}

TEST(Terminal, DetailsAreShownOnRequest) {
  const Report report{.title = "",
                      .data = "",
                      .blocks = {{Heading{"title", 1}},
                                 {Text{{"one", "two"}}},
                                 {Text{{"folded"}}, Detail::verbose},
                                 {Text{{"page"}}, Detail::page},
                                 {Heading{"order", 3}},
                                 {Text{{"below"}}},
                                 {Chart{.title = "chart", .x = {}, .y = {}, .series = {}}}}};
  EXPECT_EQ(terminal(report, {}), "title\n\none\ntwo\n\norder\nbelow\n");
  EXPECT_EQ(terminal(report, {.verbose = true}), "title\n\none\ntwo\n\nfolded\n\norder\nbelow\n");
}

TEST(Terminal, VerdictsHaveReasons) {
  const Block block{VerdictLine{results::Verdict::fail, "verdict", {"too slow", "too hot"}}};
  EXPECT_EQ(shown(block, {}), "\nverdict: FAIL\n  too slow\n  too hot\n");
  EXPECT_THAT(shown(block, {.colour = true}), HasSubstr("verdict: \x1b[31mFAIL\x1b[0m\n"));
}

TEST(Terminal, ColoursOnlyOnRequest) {
  EXPECT_THAT(shown({orders()}, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown({orders()}, {.colour = true}), HasSubstr("  \x1b[32m5.100 ms\x1b[0m"));
}

TEST(Terminal, TimelinesTellStagesApart) {
  const auto text = [](const Timeline& timeline, int width) {
    return shown(
        {TimelinePicture{.title = "depth_first", .caption = "predicted", .timeline = timeline}},
        {.width = width});
  };
  EXPECT_EQ(text(chunks(3, 3), 25), R"(
depth_first, predicted
H2D  0hhh1hhh2hhh
SM       0KKK1KKK2KKK
D2H          0ddd1ddd2ddd
     0           5.000 ms
h copy to the device, K kernel, d copy back
)");
  EXPECT_EQ(text(chunks(2, 2, true), 42), R"(
depth_first, predicted
worker 0  0hhhhhhhhh0KKKKKKKKK0ddddddddd
worker 1    1hhhhhhhhh1KKKKKKKKK1ddddddddd
          0                       3.200 ms
h copy to the device, K kernel, d copy back
)");
  // Bars of one column: the chunk where an engine has one stage, else the stage.
  EXPECT_THAT(text(chunks(18, 1), 25), HasSubstr("H2D  012345678901234567\n"));
  EXPECT_THAT(text(chunks(7, 1, true), 31), HasSubstr("worker 0  hKdhKdhKdhKdhKdhKdhKd\n"));
}

TEST(Terminal, TimelinesKeepTheirWidth) {
  for (const int width : {26, 40, 79, 100, 200}) {
    std::istringstream lines(
        shown({TimelinePicture{.title = "", .caption = "", .timeline = chunks(50, 4)}}, {width}));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("h copy")) continue;
      EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << line;
    }
  }
  EXPECT_EQ(shown({TimelinePicture{}}, {}), "\n");
}

/// A report with a block of each kind, every text of which is `words`.
Report report_of(const std::string& words, const Timeline& timeline) {
  Chart chart{.title = words, .x = {.name = words}, .y = {.name = words}, .series = {}};
  chart.series.push_back({.name = words, .points = {{1, 2, 1.5, std::nullopt, words}}});
  return {.title = words,
          .data = R"({"deck": "</script>"})",
          .blocks = {{Heading{words, 1}},
                     {Text{{words, words}, Tone::bad}},
                     {Table{.title = words, .columns = {words}, .rows = {{words}}}},
                     {TimelinePicture{.title = words, .caption = words, .timeline = timeline}},
                     {chart},
                     {VerdictLine{results::Verdict::pass, words, {words}}}}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(Terminal, TextFromOutsideIsEscaped) {
  Timeline timeline = chunks(2, 1);
  timeline[0].engine = timeline[1].engine = hostile;
  timeline[0].name = "\x1b\u00e9";
  const std::string text = terminal(report_of(hostile, timeline), {});
  EXPECT_EQ(text, base::safe_lines(text));
  // No line looks like a result line, as the program prints them between reports.
  Report report = report_of("OVERLAP_RESULT x", timeline);
  for (const bool colour : {false, true}) {
    const std::string lines = "\n" + terminal(report, {.colour = colour});
    EXPECT_THAT(lines, Not(HasSubstr("\nOVERLAP_")));
  }
}

pugi::xml_document parsed(const std::string& xml) {
  pugi::xml_document document;
  const auto result = document.load_string(xml.c_str(), pugi::parse_full);
  EXPECT_TRUE(result) << result.description() << " at "
                      << xml.substr(static_cast<std::size_t>(result.offset), 80);
  return document;
}

TEST(SvgFile, IsWellFormed) {
  Timeline named = chunks(2, 1);
  named[0].name = named[0].array = named[0].engine = hostile;
  const std::string text = svg(hostile, {{TimelinePicture{.title = "depth_first",
                                                          .caption = hostile,
                                                          .timeline = chunks(4, 2),
                                                          .axis_s = 8e-3,
                                                          .median_s = 7e-3,
                                                          .bound_s = 5e-3}},
                                         {TimelinePicture{.title = hostile, .timeline = named}},
                                         {TimelinePicture{.title = "nothing"}}});
  EXPECT_EQ(text, base::safe_lines(text));
  const auto document = parsed(text);
  const auto bars = document.select_nodes("//*[@class='plot']/rect");
  EXPECT_EQ(bars.size(), 12U + 6U);
  EXPECT_STREQ(
      bars[1].node().child("title").text().get(),
      "kernel 0, lane 0, SM\n1.000 ms: 1.000 ms .. 2.000 ms\nwaited for h2d 0, until 1.000 ms");
  EXPECT_THAT(bars[0].node().child("title").text().get(), HasSubstr("64 MiB, 67.11 GB/s"));
  EXPECT_THAT(text, HasSubstr(">bound 5.000 ms<"));
  EXPECT_THAT(text, HasSubstr(">8 ms<"));  // the end of the axis
}

TEST(Drawing, BarsLieInTheirBands) {
  Timeline timeline = chunks(6, 2);
  timeline[3].start_s = 0.5e-3;  // overlaps the first copy
  timeline.push_back(task(Stage::host, 0, 0, "host", 0, 1e-3));
  for (const auto by : {drawing::Rows::engines, drawing::Rows::lanes}) {
    const drawing::Plot plot = drawing::plot(timeline, by, 1e5);
    EXPECT_EQ(plot.bars.size(), timeline.size());
    EXPECT_EQ(plot.bands.back().name, "host");
    for (const drawing::Bar& bar : plot.bars) {
      EXPECT_TRUE(std::ranges::any_of(plot.bands, [&](const drawing::Band& band) {
        return band.y <= bar.y && bar.y + bar.height <= band.y + band.height + 1e-9;
      }));
      for (const drawing::Bar& other : plot.bars) {
        const bool apart = bar.y != other.y || bar.x + bar.width <= other.x + 1e-6 ||
                           other.x + other.width <= bar.x + 1e-6;
        EXPECT_TRUE(apart || &bar == &other);
      }
    }
  }
}

TEST(Drawing, LanesAreSortedByNumber) {
  const auto groups = drawing::groups(chunks(12, 12), drawing::Rows::lanes);
  ASSERT_EQ(groups.size(), 12U);
  EXPECT_EQ(groups[2].name, "lane 2");
  EXPECT_EQ(groups[11].name, "lane 11");
}

TEST(Timelines, TasksWaitForTheLastOfWhatTheyNeed) {
  Timeline timeline = chunks(2, 2);
  timeline[4].after = {2};
  timeline[5].after = {99};  // none of this file
  const auto waited = results::waited_for(timeline);
  EXPECT_EQ(waited[0], std::nullopt);
  EXPECT_EQ(waited[1], 0U);
  EXPECT_EQ(waited[4], 2U);
  EXPECT_EQ(waited[5], 4U);
  EXPECT_EQ(results::end_s(timeline), 4e-3);
}

TEST(Page, HasEachBlockOnce) {
  Report report{
      .title = "Title",
      .data = R"({"schema": "overlap-result/3"})",
      .blocks = {
          {Heading{"Deck", 2}},
          {Text{{"some words"}}},
          {orders()},
          {TimelinePicture{.title = "Picture", .caption = "measured", .timeline = chunks(4, 2)}},
          {Table{.title = "Folded", .columns = {"a"}, .rows = {{"cell"}}}, Detail::verbose},
          {Text{{"still folded"}}, Detail::verbose},
          {Table{.title = "Page", .columns = {"b"}, .rows = {}}, Detail::page},
          {VerdictLine{results::Verdict::inconclusive, "verdict", {"why"}}}}};
  const std::string html = page(report);
  for (const char* part : {"<h1>Title</h1>", "<h2>Deck</h2>", "<p>some words</p>", ">depth_first<",
                           "<b>Picture</b><span>measured</span>", "<summary>Details</summary>",
                           "<b>Folded</b>", ">cell<", "still folded", "<b>Page</b>",
                           "<b class=\"INCONCLUSIVE\">", "<li>why</li>", "<details>", "</details>",
                           "id=\"result\">{\"schema\"", "<td class=\"good\">5.100 ms</td>"}) {
    EXPECT_EQ(count(html, part), 1U) << part;
  }
  EXPECT_LT(html.find("still folded"), html.find("</details>"));
  EXPECT_GT(html.find("<b>Page</b>"), html.find("</details>"));
  // The verdict first, with its reasons.
  EXPECT_LT(html.find("<h1>Title"), html.find("<li>why</li>"));
  EXPECT_LT(html.find("<li>why</li>"), html.find("<h2>Deck</h2>"));
  EXPECT_THAT(html, HasSubstr("<title>Title</title>"));
  report.verdict = results::Verdict::fail;
  EXPECT_THAT(page(report), HasSubstr("<title>Title: FAIL</title>"));
  report.blocks.insert(report.blocks.begin(), {Heading{"Other", 1}});
  EXPECT_EQ(count(page(report), "<h1>"), 1U);
}

TEST(Page, HasRowsOfLanesWhereTheyAreOtherOnes) {
  for (const bool workers : {false, true}) {
    const std::string html =
        page({.title = "",
              .data = "",
              .blocks = {{TimelinePicture{.timeline = chunks(4, 2, workers)}}}});
    EXPECT_EQ(count(html, "value=\"lanes\""), workers ? 0U : 1U);
    EXPECT_EQ(count(html, "id=\"reset\""), 1U);
  }
}

TEST(Page, LongTextsOfTablesAreWrapped) {
  const std::string html =
      page({.title = "",
            .data = "",
            .blocks = {{Table{.columns = {"a", "b"}, .rows = {{"short", std::string(51, 'x')}}}}}});
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\" class=\"words\">short<"));
  EXPECT_THAT(html, HasSubstr("<td class=\"words prose\">xxx"));
}

TEST(Page, PicturesHaveCaptionAndNote) {
  for (const auto& [caption, note, text] :
       {std::tuple("traced", "why", "traced; why"), {"", "why", "why"}, {"traced", "", "traced"}}) {
    const Block block{TimelinePicture{.caption = caption, .note = note, .timeline = chunks(2, 1)}};
    EXPECT_THAT(page({.title = "", .data = "", .blocks = {block}}),
                HasSubstr(std::string("<span>") + text + "</span>"));
    EXPECT_THAT(svg("", {block}), HasSubstr(std::string(">") + text + "</text>"));
    EXPECT_EQ(shown(block, {}).find("why"), std::string::npos);
  }
}

TEST(Page, TextFromOutsideIsEscaped) {
  Timeline timeline = chunks(2, 1);
  timeline[0].name = timeline[0].engine = hostile;
  const std::string html = page(report_of(hostile, timeline));
  EXPECT_EQ(html, base::safe_lines(html));
  EXPECT_THAT(html, Not(HasSubstr("<b>\"")));
  EXPECT_EQ(count(html, "<script"), count(html, "</script>"));
  const std::string open = "class=\"drawing\"><script type=\"application/json\">";
  const std::size_t begin = html.find(open) + open.size();
  const auto chart =
      nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  EXPECT_EQ(chart["series"][0]["points"][0][2], 1.5);
  EXPECT_TRUE(chart["series"][0]["points"][0][3].is_null());
  EXPECT_EQ(chart["series"][0]["points"][0][5], "");
}

/// A chart of a sweep, and dots of many devices.
Chart rates(bool many) {
  Chart chart{.title = many ? "Devices" : "Time by chunks",
              .x = {.name = many ? "device" : "chunks", .log = !many},
              .y = {.name = many ? "H2D rate, GB/s" : "time, ms", .log = !many},
              .series = {}};
  if (many) {
    chart.series.push_back({.name = "alone", .points = {}, .joined = false});
    for (int i = 0; i < 10000; ++i) {
      const bool slow = i % 997 == 13;
      const double y = 55 + 0.01 * (i * 7919 % 101) - (slow ? 9 : 0);
      const std::string host = "n" + std::to_string(i / 8);
      chart.series[0].points.push_back(
          {static_cast<double>(i), y, {}, {}, host, slow ? host + " GPU" : ""});
      if (i % 8 == 4) chart.x.ticks.emplace_back(i, host);
    }
    return chart;
  }
  for (const auto& [name, factor] :
       {std::pair{"sequential", 8.0}, {"depth_first", 5.0}, {"by_engine", 4.6}}) {
    auto& series = chart.series.emplace_back();
    series.name = name;
    series.muted = series.name == "sequential";
    for (const double x : {1, 2, 4, 8, 16, 32, 64}) {
      const double y = factor * (1 + 1 / x + x / 100);
      series.points.push_back(
          {x, y, y * 0.97, y * 1.04, series.name + " at " + std::to_string(static_cast<int>(x))});
    }
  }
  chart.series.back().points[3].name = "best";
  chart.x.includes = {1, 100};
  chart.y.includes = {3, 20};
  return chart;
}

/// Writes pages, into the folder that the test in a browser asks for.
TEST(Page, ForTheBrowser) {
  const char* const asked = std::getenv("OVERLAP_PAGES");
  const std::string folder = asked != nullptr ? asked : testing::TempDir();
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream file(folder + "/" + name);
    file << text;
    const char* const end = name.ends_with(".svg") ? "</svg>\n" : "</html>\n";
    EXPECT_TRUE(file.good() && text.ends_with(end)) << name;
  };
  Chart machines{.title = "Speed-up by machine",
                 .x = {.name = "", .categories = {"H200", "MI250X", "RTX 4000", "host"}},
                 .y = {.name = "speed-up"},
                 .series = {}};
  machines.series.push_back({.name = "same", .muted = true});
  for (int i = 0; i < 4; ++i) machines.series[0].points.push_back({static_cast<double>(i), 2});
  for (const auto& [name, offset] : {std::pair{"depth_first", 0.2}, {"breadth_first", 0.0}}) {
    auto& series =
        machines.series.emplace_back(Chart::Series{.name = name, .points = {}, .joined = false});
    for (int i = 0; i < 4; ++i) {
      const double y = 2.6 - 0.4 * i + offset;
      series.points.push_back({static_cast<double>(i), y, y - 0.1, y + 0.15, name});
    }
  }
  Table criteria{
      .title = "Criteria",
      .columns = {"metric", "order", "value", "limit", "verdict"},
      .rows = {
          {"speedup", "depth_first", "1.88", "1.30", Cell("PASS", Tone::good)},
          {"throughput", "depth_first", "41.20 GB/s", "45.00 GB/s", Cell("FAIL", Tone::bad)},
          {"time", "sequential", "10.00 ms", "10.00 ms", Cell("INCONCLUSIVE", Tone::doubtful)}}};
  Table machine{
      .title = "Settings and machine",
      .columns = {"", ""},
      .rows = {
          {"workload",
           "increment, 16777216 elements of float64, 40 repeats, a rather long line of settings "
           "that does not fit on a narrow screen"},
          {"host", "node0001"},
          {"device", "NVIDIA H200"}}};
  Report small{.title = "Increment of an array",
               .data = "{}",
               .blocks = {},
               .verdict = results::Verdict::fail};
  small.blocks = {{Text{{"increment.yaml, NVIDIA H200, Kokkos 5.2.0 CUDA"}, Tone::muted}},
                  {VerdictLine{results::Verdict::fail,
                               "verdict",
                               {"throughput of depth_first 41.20 GB/s is below 45.00 GB/s"}}},
                  {orders()},
                  {Text{{"3 runs verified element by element in 12.00 ms"}}},
                  {criteria},
                  {machine, Detail::verbose},
                  {rates(false)},
                  {machines},
                  {Heading{"Timelines", 2}}};
  small.blocks.push_back({TimelinePicture{.title = "sequential",
                                          .caption = "measured (CUPTI)",
                                          .timeline = chunks(2, 1, true),
                                          .axis_s = 6.6e-3,
                                          .median_s = 6.1e-3,
                                          .bound_s = 4.2e-3}});
  small.blocks.push_back({TimelinePicture{.title = "depth_first",
                                          .caption = "predicted",
                                          .timeline = chunks(4, 4),
                                          .axis_s = 6.6e-3,
                                          .median_s = 6.1e-3,
                                          .bound_s = 4.2e-3}});
  write("report.html", page(small));
  write("report.svg", svg("Increment of an array", small.blocks));
  Report large{.title = "Ten thousand tasks", .data = "{}", .blocks = {}};
  large.blocks.push_back({TimelinePicture{
      .title = "depth_first", .caption = "predicted", .timeline = chunks(3400, 4)}});
  write("report-tasks.html", page(large));
  Table devices{.title = "Devices", .columns = {"host", "UUID", "H2D GB/s", "verdict"}, .rows = {}};
  for (int i = 0; i < 10000; ++i) {
    const bool slow = i % 997 == 13;
    devices.rows.push_back({"n" + std::to_string(i / 8), "GPU-" + std::to_string(i * 7919 % 10007),
                            std::to_string(slow ? 46 : 55 + i * 7919 % 101 / 100),
                            Cell(slow ? "FAIL" : "PASS", slow ? Tone::bad : Tone::good)});
  }
  write("report-fleet.html",
        page({.title = "Fleet", .data = "{}", .blocks = {{rates(true)}, {devices}}}));
}

}  // namespace
}  // namespace overlap::report
