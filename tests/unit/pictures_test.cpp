#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <tuple>
#include <utility>

#include "hand_schedule.hpp"
#include "model/load.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/picture.hpp"
#include "report/tables.hpp"
#include "report/writers.hpp"
#include "schedules.hpp"
#include "studies.hpp"

/// Pictures of timelines, of results made by hand.
namespace overlap::report {
namespace {

using model::d2h;
using model::h2d;
using model::host;
using model::kernel;
using model::query;
using model::schedule_of;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

/// Two chunks on two lanes; the second copy back comes after the first kernel, too. Measured, the
/// kernels overlap for a second.
experiment::Run small_run() {
  auto schedule = schedule_of({h2d(0, 2'000'000'000), h2d(1, 2'000'000'000), kernel(0, 3),
                               kernel(1, 3), d2h(0, 1'000'000'000), d2h(1, 1'000'000'000, {2})});
  for (const std::size_t id : {1U, 3U, 5U}) schedule.tasks[id].chunk = 1;
  schedule.order = deck::Order::breadth_first;
  experiment::Run run{{.order = deck::Order::breadth_first, .schedule = std::move(schedule)}};
  run.predicted = timeline::Timeline{
      .engines = {"H2D", "SM", "D2H", "host"},
      .spans = {{0, 0, 2}, {0, 2, 4}, {1, 2, 5}, {1, 5, 8}, {2, 5, 6}, {2, 8, 9}},
      .complete_s = 9};
  run.trace = experiment::Trace{
      .timeline = {.engines = {"H2D", "SM", "D2H", "host"},
                   .spans = {{0, 0, 2}, {0, 2, 4}, {1, 2, 5}, {1, 4, 7}, {2, 5, 6}, {2, 7, 8}},
                   .complete_s = 8},
      .source = "CUDA events",
      .perturbation = 0.004};
  run.samples_s = {8, 8, 8};
  run.verified = true;
  return run;
}

Study result_of(std::vector<experiment::Run> runs) { return study_of(outcome_of(std::move(runs))); }

constexpr const char* odd = "<b>\"&'</script><!--\x01\xff";

/// A custom run with odd names, host work and a query.
experiment::Run odd_run() {
  auto schedule = schedule_of({h2d(0, 1), kernel(0, 1), query(0), host(1, {1})});
  schedule.names = {odd, "K", "Q", "C"};
  schedule.order = deck::Order::custom;
  experiment::Run run{{.order = deck::Order::custom, .schedule = std::move(schedule)}};
  run.device = odd;
  run.predicted = timeline::Timeline{.engines = {"H2D", "SM", "D2H", "host"},
                                     .spans = {{0, 0, 1}, {1, 1, 2}, {3, 1, 1}, {3, 2, 3}},
                                     .complete_s = 3};
  return run;
}

Study odd_result() {
  experiment::Outcome outcome = outcome_of({odd_run()});
  outcome.deck.title = odd;
  return study_of(std::move(outcome));
}

std::size_t times(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Picture, OverlappingTasksHaveRowsOfTheirOwn) {
  const experiment::Run run = small_run();
  const auto bands = engine_bands(run.trace->timeline);
  ASSERT_EQ(bands.size(), 3u);  // the host does nothing
  EXPECT_EQ(bands[0].name, "H2D");
  EXPECT_THAT(bands[0].rows, ElementsAre(Tasks{0, 1}));
  EXPECT_EQ(bands[1].name, "SM");
  EXPECT_THAT(bands[1].rows, ElementsAre(Tasks{2}, Tasks{3}));
  EXPECT_THAT(bands[2].rows, ElementsAre(Tasks{4, 5}));
}

TEST(Picture, LanesHaveTheirTasksAndTheHostItsOwn) {
  const experiment::Run run = odd_run();
  const auto bands = lane_bands(run.schedule, *run.predicted);
  ASSERT_EQ(bands.size(), 2u);
  EXPECT_EQ(bands[0].name, "lane 0");
  EXPECT_THAT(bands[0].rows, ElementsAre(Tasks{0, 1}));
  EXPECT_EQ(bands[1].name, "host");
  EXPECT_THAT(bands[1].rows, ElementsAre(Tasks{2, 3}));
}

TEST(Picture, TasksWaitForTheLastToFinish) {
  const experiment::Run run = small_run();
  const auto none = std::optional<schedule::TaskId>();
  // The second copy back: measured and predicted, its own kernel ends after the first.
  EXPECT_THAT(waited_for(run.schedule, *run.predicted), ElementsAre(none, none, 0u, 1u, 2u, 3u));
  timeline::Timeline turned = *run.predicted;
  turned.spans[2].stop_s = 8;  // as the kernel of its own lane
  EXPECT_EQ(waited_for(run.schedule, turned)[5], 3u);
  turned.spans[2].stop_s = 8.5;
  EXPECT_THAT(waited_for(run.schedule, turned), ElementsAre(none, none, 0u, 1u, 2u, 2u));
}

TEST(Picture, TasksWaitForTheHost) {
  auto schedule = schedule_of({kernel(0, 1), host(1, {0}), query(0), kernel(1, 1)});
  const timeline::Timeline timeline{.engines = {"SM", "host"},
                                    .spans = {{0, 0, 1}, {1, 1, 2}, {1, 2, 2}, {0, 2, 3}},
                                    .complete_s = 3};
  const auto none = std::optional<schedule::TaskId>();
  EXPECT_THAT(waited_for(schedule, timeline), ElementsAre(none, 0u, 1u, 1u));
}

TEST(Picture, TheHostWaitsForAllThatWasIssuedToALane) {
  const auto schedule = schedule_of({kernel(0, 1), kernel(0, 1), host(1, {0}), host(1, {2})});
  const timeline::Timeline timeline{.engines = {"SM", "host"},
                                    .spans = {{0, 0, 1}, {0, 1, 2}, {1, 2, 3}, {1, 3, 4}},
                                    .complete_s = 4};
  const auto none = std::optional<schedule::TaskId>();
  EXPECT_THAT(waited_for(schedule, timeline), ElementsAre(none, 0u, 1u, 2u));
}

TEST(Picture, Words) {
  experiment::Run run = small_run();
  EXPECT_EQ(figures(run, {run}), "8.000 s (8.000 s .. 8.000 s), predicted 9.000 s (+12.5 %)");
  experiment::Run baseline = run;
  baseline.order = deck::Order::sequential;
  baseline.samples_s = {16, 16, 16};
  run.bounds = model::Bounds{.bound_s = 4, .schedule_bound_s = 5};
  EXPECT_EQ(figures(run, {baseline, run}),
            "8.000 s (8.000 s .. 8.000 s), speed-up 2.00, overlap efficiency 0.67, predicted "
            "9.000 s (+12.5 %)");
  EXPECT_EQ(measured(run).words, "measured (CUDA events)");
  EXPECT_EQ(measured(run).doubt, "");
  run.trace->doubtful = true;
  run.trace->perturbation = 0.123;
  EXPECT_EQ(measured(run).doubt, "doubtful: +12.3 % against the median");
  run.trace.reset();
  EXPECT_EQ(measured(run).words, "not measured");
  EXPECT_EQ(measured(run).timeline, nullptr);
  run.order = deck::Order::automatic;
  run.device = "h200";
  EXPECT_EQ(order_words(run), "auto (breadth_first) on h200");
  EXPECT_EQ(full_label(run.schedule, 3), "kernel 1");
  EXPECT_DOUBLE_EQ(*rate_gb_per_s(run.schedule.tasks[0], {0, 1, 3}), 1);
  EXPECT_FALSE(rate_gb_per_s(run.schedule.tasks[0], {0, 1, 1}));
  EXPECT_FALSE(rate_gb_per_s(run.schedule.tasks[0], {0, 3, 1}));
  EXPECT_FALSE(rate_gb_per_s(run.schedule.tasks[2], {1, 1, 3}));  // a kernel given by its duration
}

TEST(Tables, HaveNoRateOfWhatDidNotMoveOrTookNoTime) {
  experiment::Run run = small_run();
  const auto rates = [&](schedule::Schedule schedule, const model::Rates& seconds) {
    run.schedule = std::move(schedule);
    run.rates = seconds;
    return rate_rows(outcome_of({run})).back();
  };
  const std::vector<std::string> up =
      rates(model::schedule_of({model::h2d(0, 1)}), {.h2d_s = 1e-6, .d2h_s = 1e-6, .both_s = 0});
  EXPECT_NE(up[1], "-");
  EXPECT_EQ(up[2], "-");
  EXPECT_EQ(up[3], "-");
}

/// What the page carries in the script `id`.
json embedded(const std::string& html, const std::string& id) {
  const std::string open = "<script type=\"application/json\" id=\"" + id + "\">";
  const auto begin = html.find(open) + open.size();
  return json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST(Picture, ShowsBothPhasesOfAFleet) {
  Study study = result_of({small_run()});
  study.points.push_back(study.points.front());
  study.points[1].phase = deck::Phase::together;
  experiment::Outcome together = outcome_of({small_run()});
  together.phase = deck::Phase::together;
  add(study, 1, std::move(together));
  const auto times = [](const std::string& text, const std::string& part) {
    std::size_t number = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++number;
    return number;
  };
  EXPECT_EQ(times(svg({study}), "hand.yaml, together"), 1U);
  EXPECT_EQ(times(svg({study}), ">By hand<"), 3U);  // the page's title, and that of each phase
  EXPECT_EQ(times(html({study}), "<canvas"), 2U);
  // The second canvas shows the second run of the deck's result, as the script finds it.
  EXPECT_EQ(times(html({study}), "data-deck=\"0\" data-run=\"1\""), 1U);
  EXPECT_EQ(embedded(html({study}), "drawing")[0]["runs"].size(), 2U);
  EXPECT_EQ(embedded(html({study}), "drawing")[0]["longest_s"], 9);
  EXPECT_EQ(times(trace({study}), "\"together: breadth_first"), 2U);
  // A phase without timelines does not change the axis.
  study.done.pop_back();
  add(study, 1, experiment::failed(study.points[1], base::Error(base::ExitCode::skipped, "no")));
  for (timeline::Timeline* const timeline : {&study.done.front().outcome->runs[0].trace->timeline,
                                             &*study.done.front().outcome->runs[0].predicted}) {
    timeline->complete_s = 9e-3;
    timeline->spans.clear();
  }
  EXPECT_EQ(longest_s(study.outcomes()), 9e-3);
}

TEST(Picture, SaysWhereItComesFrom) {
  Study study = result_of({small_run()});
  study.machine = {.build = {.kokkos_version = "5.2.0", .backend = "OpenMP"}};
  EXPECT_EQ(place_words(study), "hand.yaml, Kokkos 5.2.0 OpenMP");
  study.machine.host.cpu = "CPU";
  study.machine.host.cores = 8;
  EXPECT_EQ(place_words(study), "hand.yaml, CPU, 8 cores, Kokkos 5.2.0 OpenMP");
  study.machine.device = base::DeviceInfo{.name = "GPU"};
  EXPECT_EQ(place_words(study), "hand.yaml, GPU, Kokkos 5.2.0 OpenMP");
}

TEST(Svg, TicksAreRoundAndAsManyAsFit) {
  EXPECT_THAT(ticks(0, 4, 4), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(ticks(0, 4.1, 4), ElementsAre(0, 2, 4));
  EXPECT_THAT(ticks(0, 9, 4), ElementsAre(0, 5));
  EXPECT_THAT(ticks(0, 0.03, 3).size(), 4);  // its last step ends behind 0.03 by rounding
  EXPECT_THAT(ticks(0, 2100, 4), ElementsAre(0, 1000, 2000));
  EXPECT_THAT(ticks(-1.5, 3, 5), ElementsAre(-1, 0, 1, 2, 3));
  EXPECT_THAT(ticks(0, 3.9e-8, 4).size(), 4);
  EXPECT_FALSE(std::signbit(ticks(-0.4, 2, 5)[0]));  // "-0" on the page
}

TEST(Svg, TicksHaveTheUnitOfTheLongest) {
  EXPECT_EQ(tick_words(0.5, 1), "0.5 s");
  EXPECT_EQ(tick_words(0.5, 0.999), "500 ms");
  EXPECT_EQ(tick_words(0.5e-3, 1e-3), "0.5 ms");
  EXPECT_EQ(tick_words(0.5e-6, 1e-6), "0.5 us");
  EXPECT_EQ(tick_words(0.5e-10, 0.9e-10), "0.05 ns");
}

TEST(Svg, LettersHaveTheirWidths) {
  for (const char* const wide : {"A", "Z", "m", "%"}) EXPECT_GT(width_of(wide), width_of("a"));
  for (const char* const narrow : {"i", "[", " "}) EXPECT_LT(width_of(narrow), width_of("a"));
  for (const char* const usual : {"z", "_", "1"}) EXPECT_EQ(width_of(usual), width_of("a"));
  EXPECT_GT(width_of("M"), width_of("A"));
  EXPECT_DOUBLE_EQ(width_of("ab", 24), 2 * width_of("ab"));
}

TEST(Svg, ALegendFillsItsLines) {
  // Swatches of 14 pixels, words of 20 * 7.44, 24 between: six fill the page between its edges.
  const std::pair<std::string, std::string> entry{"<swatch/>", std::string(20, 'a')};
  const auto legend = [&](int entries) {
    Svg page{.text = {}, .y = 100};
    page.legend(24, 14, std::vector(static_cast<std::size_t>(entries), entry));
    return page;
  };
  for (const int entries : {1, 6}) EXPECT_EQ(legend(entries).y, 134) << entries;
  for (const int entries : {7, 12}) EXPECT_EQ(legend(entries).y, 156) << entries;
  EXPECT_THAT(legend(6).text,
              HasSubstr(R"g(translate(958 100)"><swatch/><text x="22" y="4">aaa)g"));
  EXPECT_THAT(legend(7).text, HasSubstr("translate(24 122)"));
  // Six lines and one letter would end between the edge and the end of the page.
  Svg full{.text = {}, .y = 100};
  std::vector entries(6, entry);
  entries.emplace_back("", "a");
  full.legend(24, 14, entries);
  EXPECT_EQ(full.y, 156);
  // One that is wider than the page has a line of its own, and none above it.
  Svg page{.text = {}, .y = 100};
  page.legend(24, 14, {{"", std::string(200, 'a')}});
  EXPECT_EQ(page.y, 134);
}

TEST(Picture, TextFromOutsideIsEscaped) {
  EXPECT_EQ(escape_xml(odd), "&lt;b&gt;&quot;&amp;&#39;&lt;/script&gt;&lt;!--\\x01\xef\xbf\xbd");
  EXPECT_EQ(quote_json("a\"\xff\n"), "\"a\\\"\xef\xbf\xbd\\n\"");
}

TEST(TimelineSvg, DrawsEveryTaskWhereItBelongs) {
  const std::string picture = svg({result_of({small_run()})});
  // Measured and predicted: two copies each way and two kernels; the legend's three squares.
  EXPECT_EQ(times(picture, "<rect class=\"h2d\""), 5u);
  EXPECT_EQ(times(picture, "<rect class=\"kernel\""), 5u);
  EXPECT_EQ(times(picture, "<rect class=\"d2h\""), 5u);
  // One scale for all: 9 s are 1000 wide. The measured first kernel runs from 2 to 5 s.
  EXPECT_THAT(picture,
              HasSubstr("<rect class=\"kernel\" x=\"330.222\" width=\"332.533\" height=\"18\" "
                        "rx=\"2\"><title>kernel 0, lane 0: 2.000 s .. 5.000 s</title></rect>"));
  EXPECT_THAT(picture, HasSubstr(">measured (CUDA events)</text>"));
  EXPECT_THAT(picture, HasSubstr(">predicted</text>"));
  EXPECT_THAT(picture, HasSubstr(">By hand</text>"));
  EXPECT_LT(picture.find("measured ("), picture.find(">predicted<"));
  EXPECT_THAT(picture, HasSubstr("prefers-color-scheme:dark"));
}

TEST(Pictures, OfNothingAreComplete) {
  const auto longest = [](const experiment::Outcome& outcome) { return longest_s({&outcome}); };
  EXPECT_EQ(longest(outcome_of({})), 1);
  experiment::Run run = small_run();
  EXPECT_EQ(longest(outcome_of({run})), 9);
  run.trace->timeline.spans[5].stop_s = 10;  // clocks may differ
  EXPECT_EQ(longest(outcome_of({run})), 10);
  Study study = result_of({});
  study.done.clear();
  EXPECT_THAT(svg({study}), Not(HasSubstr("<text")));
  EXPECT_TRUE(json::parse(trace({study}))["traceEvents"].empty());
}

TEST(Pictures, OfADeckThatFailedSayWhy) {
  Study study = result_of({});
  study.done.clear();
  add(study, 0,
      experiment::failed(study.points.front(), base::Error(base::ExitCode::precondition, "a < b")));
  EXPECT_THAT(html({study}), HasSubstr("<p class=\"verdict ERROR\">verdict: ERROR</p>\n"
                                       "<p class=\"finding\">a &lt; b</p>"));
  EXPECT_THAT(html({study}), Not(HasSubstr("<table")));
  EXPECT_THAT(svg({study}), HasSubstr(">ERROR: a &lt; b</text>"));
}

TEST(Pictures, OfAPredictionThatFailedSayWhy) {
  Study study = result_of({});
  study.devices = {"h200"};
  study.done.clear();
  add(study, 0,
      experiment::failed(study.points.front(), base::Error(base::ExitCode::precondition, "no")));
  EXPECT_THAT(html({study}), HasSubstr("verdict: ERROR</p>\n<p class=\"finding\">no</p>"));
}

TEST(Page, ColoursVerdicts) {
  const std::string page = page_table({{"order", "verdict", "verified"},
                                       {"a", "PASS", "PASS"},
                                       {"b", "FAIL (3)", ""},
                                       {"c", "not judged", ""},
                                       {"d", "a note", ""},
                                       {"e", "2x", ""},
                                       {"f", "", ""}});
  EXPECT_THAT(page, HasSubstr("<td class=\"verdict PASS\">PASS</td><td>PASS</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"verdict FAIL\">FAIL (3)</td>"));
  EXPECT_EQ(times(page, "class=\"verdict"), 2U);
}

TEST(Pictures, SayWhetherCriteriaAreMet) {
  experiment::Outcome outcome = outcome_of({small_run()});
  outcome.checks.push_back({.metric = deck::Metric::time, .limit = 7});
  EXPECT_THAT(html({study_of(outcome)}), HasSubstr("\"verdict PASS\">verdict: PASS</p>\n<div"));
  EXPECT_THAT(html({study_of(outcome)}), HasSubstr("<details><summary>Criteria</summary>"));
  EXPECT_THAT(html({study_of(outcome)}), HasSubstr("<th scope=\"row\">time &lt;= 7</th>"));
  EXPECT_THAT(svg({study_of(outcome)}), Not(HasSubstr(">PASS")));
  outcome.checks[0].verdict = experiment::Verdict::fail;
  EXPECT_THAT(html({study_of(outcome)}),
              HasSubstr("verdict: FAIL</p>\n<p class=\"finding\">time: "));
  EXPECT_THAT(html({study_of(outcome)}), HasSubstr("<details open><summary>Criteria</summary>"));
  EXPECT_THAT(svg({study_of(outcome)}), HasSubstr(">FAIL: time: "));
  const auto height_of = [](const std::string& picture) {
    return std::stod(picture.substr(picture.find("height=\"") + 8));
  };
  const double height = height_of(svg({study_of(outcome)}));
  outcome.checks.clear();
  EXPECT_EQ(height_of(svg({study_of(outcome)})), height - 25);  // without the line
  // Predictions are not judged.
  Study study = odd_result();
  study.devices = {"h200"};
  EXPECT_THAT(html({study}), Not(HasSubstr("verdict: ")));
}

TEST(TimelineSvg, OfPredictionsNamesTheDevicesOnce) {
  Study study = odd_result();
  study.devices = {"h200", "c2050"};
  EXPECT_THAT(svg({study}), HasSubstr(">hand.yaml, predicted for h200, c2050</text>"));
  EXPECT_THAT(svg({study}), Not(HasSubstr("not measured")));
}

TEST(TimelineSvg, HasLongTitlesInTwoLines) {
  Study study = result_of({small_run()});
  std::string& title = study.points.front().deck.title = "A long one:";
  for (int i = 0; i < 30; ++i) title += " word";
  EXPECT_THAT(svg({study}), Not(HasSubstr("\u2026")));
}

TEST(TimelineSvg, HasTitlesInTwoLinesWhereOneIsTooNarrow) {
  Study study = result_of({small_run()});
  // Of 1152 pixels; bold letters of 20 pixels are 13.64 wide.
  study.points.front().deck.title = std::string(80, 'a') + " b";
  EXPECT_EQ(times(svg({study}), "<text class=\"title\""), 1U);
  study.points.front().deck.title = std::string(84, 'a') + " b";
  EXPECT_THAT(svg({study}), HasSubstr("a</text>\n<text class=\"title\" x=\"24\" y=\"68\">b<"));
}

TEST(TimelineSvg, RoundsTheCornersOfWideBars) {
  const schedule::Schedule schedule = schedule_of({kernel(0, 1)});
  const auto bar = [&](double wide) {
    Svg page;
    draw_engines(page, schedule, {.engines = {"SM"}, .spans = {{0, 0, wide}}, .complete_s = wide},
                 {});
    return page.text;
  };
  EXPECT_THAT(bar(5.8), HasSubstr(R"(width="5" height="18"><title>)"));  // with a gap of 0.8
  EXPECT_THAT(bar(5.9), HasSubstr(R"(width="5.1" height="18" rx="2"><title>)"));
}

TEST(TimelineSvg, CountsTheTasksOfABar) {
  Svg page;
  draw_engines(page, schedule_of({kernel(0, 1), kernel(0, 1), kernel(0, 1), kernel(0, 1)}),
               {.engines = {"SM"},
                .spans = {{0, 0, 10}, {0, 10, 10.25}, {0, 10.25, 10.5}, {0, 10.5, 10.75}},
                .complete_s = 10.75},
               {});
  EXPECT_THAT(page.text, HasSubstr(R"(x="10" width="0.75" height="18"><title>3 kernel tasks<)"));
}

TEST(TimelineSvg, NamesTheArraysOfCopies) {
  experiment::Run run = small_run();
  run.schedule.arrays.resize(1);
  run.schedule.arrays[0].name = "A";
  run.schedule.uses.resize(1);
  run.schedule.tasks[0].uses.count = 1;
  EXPECT_THAT(svg({result_of({run})}), HasSubstr("<title>h2d 0 of A, lane 0: "));
  EXPECT_THAT(svg({result_of({run})}), Not(HasSubstr(">A0</text>")));
  run.schedule.tiling.emplace();  // of a matrix product, with several copies of a number
  EXPECT_THAT(svg({result_of({run})}), HasSubstr(">A0</text>"));
}

TEST(TimelineSvg, SaysWhatIsMissingOrDoubtful) {
  experiment::Run run = small_run();
  run.trace->doubtful = true;
  run.trace->perturbation = 0.5;
  run.predicted.reset();
  experiment::Run neither = run;
  neither.trace.reset();
  const std::string picture = svg({result_of({run, neither})});
  EXPECT_THAT(picture, HasSubstr("doubtful: +50.0 % against the median"));
  EXPECT_EQ(times(picture, ">not predicted</text>"), 2u);
  EXPECT_EQ(times(picture, ">not measured</text>"), 1u);
}

TEST(TimelineSvg, StaysSmall) {
  using schedule::small_deck;
  using schedule::small_schedule;
  std::vector<experiment::Run> runs;
  for (int i = 0; i < 4; ++i) {
    const auto order = deck::Order::depth_first;
    const auto deck = small_deck(deck::WorkloadKind::increment, 4096, 32);
    experiment::Run run{{.order = order, .schedule = small_schedule(deck, order, 4)}};
    ASSERT_EQ(run.schedule.tasks.size(), 96u);
    run.predicted = model::predict(run.schedule, model::load_device("h200"));
    run.trace = experiment::Trace{.timeline = *run.predicted, .source = "CUPTI"};
    runs.push_back(run);
  }
  EXPECT_LT(svg({result_of(runs)}).size(), 200'000u);
}

TEST(TimelineSvg, TasksTooNarrowToBeToldApartAreOneBar) {
  std::vector<schedule::Task> tasks(100'000, kernel(0, 1e-5));
  experiment::Run run{{.order = deck::Order::custom, .schedule = schedule_of(std::move(tasks))}};
  run.predicted = model::predict(run.schedule, model::device_of(model::Queues::engine));
  const std::string picture = svg({result_of({run})});
  EXPECT_LT(picture.size(), 400'000u);
  // The bars touch: each is as wide as its tasks together.
  const std::regex bar("<rect class=\"kernel\" x=\"([^\"]*)\" width=\"([^\"]*)\"");
  double stop = 0;
  int bars = 0;
  for (std::sregex_iterator found(picture.begin(), picture.end(), bar), end; found != end;
       ++found) {
    const double start = std::stod((*found)[1]);
    if (start < stop) break;  // the next row
    EXPECT_NEAR(start, bars == 0 ? start : stop, 0.02);
    ++bars;
    stop = start + std::stod((*found)[2]);
  }
  EXPECT_GT(bars, 10);
}

TEST(Pictures, OddTextKeepsItsPlace) {
  const std::string picture = svg({odd_result()});
  EXPECT_THAT(picture, Not(HasSubstr("<b>")));
  EXPECT_THAT(picture, Not(HasSubstr("\x01")));
  const std::string page = html({odd_result()});
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_EQ(times(page, "<script"), 3u);
  EXPECT_EQ(times(page, "</script"), 3u);
  const json events = json::parse(trace({odd_result()}))["traceEvents"];
  std::size_t found = 0;
  for (const json& event : events) {
    found += event["ph"] == "X" && event["name"] == "<b>\"&'</script><!--\x01\xef\xbf\xbd";
  }
  EXPECT_EQ(found, 2u);
}

TEST(TimelineHtml, CarriesTheResultFile) {
  const std::vector<Study> one = {result_of({small_run()})};
  const std::vector<Study> two = {result_of({small_run()}), odd_result()};
  EXPECT_EQ(embedded(html(one), "result"), json::parse(to_json(one)));
  EXPECT_THAT(html(one), HasSubstr("id=\"result\">" + to_json(one, -1)));  // in one line
  EXPECT_EQ(embedded(html(two), "result"), json::parse(to_json(two)));
}

TEST(TimelineHtml, SaysWhatTasksWaitedFor) {
  const std::string page = html({result_of({small_run()})});
  const json run = embedded(page, "drawing")[0]["runs"][0];
  const json expected = {nullptr, nullptr, 0, 1, 2, 3};
  EXPECT_EQ(run["measured"]["waited_for"], expected);
  EXPECT_EQ(run["measured"]["engines"][1]["rows"], json({{2}, {3}}));
  EXPECT_EQ(run["predicted"]["lanes"][1]["rows"], json({{1, 3, 5}}));
  EXPECT_EQ(run["bytes"][0], 2'000'000'000);
}

/// Two seconds, in which the device becomes slower and warmer.
experiment::Outcome soak() {
  experiment::Run run = small_run();
  for (int i = 0; i < 4; ++i) {
    const double time_s = 8 + i;
    run.series.push_back(
        {.at_s = 0.5 * i, .repetitions = 1, .min_s = time_s, .max_s = time_s, .kept_s = {time_s}});
  }
  experiment::Outcome outcome = outcome_of({run});
  outcome.stopped = {.reason = experiment::StopReason::duration, .repetitions = 4, .elapsed_s = 2};
  outcome.device.series = {{.at_s = 0, .sm_clock_mhz = 1980, .temperature_c = 40, .power_w = {}},
                           {.at_s = 1.5, .sm_clock_mhz = 1200, .temperature_c = 85, .power_w = {}}};
  return outcome;
}

TEST(SoakSvg, ShowsWhatWasReadOverTime) {
  const std::string picture = soak_svg(soak());
  EXPECT_THAT(picture, HasSubstr(">throughput, GB/s"));
  EXPECT_THAT(picture, HasSubstr(">breadth_first<"));
  EXPECT_THAT(picture, HasSubstr(">SM clock, MHz<"));
  EXPECT_THAT(picture, HasSubstr(">temperature, °C<"));
  EXPECT_THAT(picture, Not(HasSubstr("power")));
  EXPECT_THAT(picture, HasSubstr(">0.2 s</text>"));
  EXPECT_THAT(picture, HasSubstr(">1.4 s</text>"));
  // The clock falls over the whole width, in a panel with some room above and below.
  std::smatch clock;
  ASSERT_TRUE(std::regex_search(picture, clock, std::regex(R"x(d="M96 (\S+)L1168 (\S+)")x")));
  EXPECT_NEAR(std::stod(clock[2]) - std::stod(clock[1]), 130 / 1.2, 0.01);
  const std::string page = html({study_of(soak())});
  EXPECT_THAT(page, HasSubstr(picture));
  EXPECT_THAT(page, HasSubstr("<p>stopped: after 4 repetitions, which took 2.000 s</p>"));
}

TEST(SoakSvg, IsOfSoaksAlone) {
  EXPECT_EQ(soak_svg(outcome_of({small_run()})), "");
  experiment::Outcome moment = soak();
  moment.runs[0].series.resize(1);
  moment.device.series.resize(1);
  EXPECT_EQ(soak_svg(moment), "");
  EXPECT_THAT(html({result_of({small_run()})}), Not(HasSubstr("stopped: ")));
}

TEST(SoakSvg, DrawsConstantsToo) {
  experiment::Outcome outcome = soak();
  for (auto& stretch : outcome.runs[0].series) stretch.kept_s = {8};
  for (auto& reading : outcome.device.series) {
    reading.power_w = 0;  // some libraries say so
    reading.sm_clock_mhz = 1000;
  }
  EXPECT_THAT(soak_svg(outcome), Not(testing::ContainsRegex("nan|inf")));
  // Within one percent, from 990 to 1010.
  EXPECT_THAT(soak_svg(outcome), HasSubstr(">995</text>"));
}

TEST(Svg, WordsBeyondTheirRoomAreCut) {
  Svg svg;
  svg.words_within(100, "name", 1, 2, "short");
  EXPECT_EQ(std::exchange(svg.text, ""), "<text class=\"name\" x=\"1\" y=\"2\">short</text>\n");
  svg.words_within(70, "name", 1, 2, "\u00e4 < 20 letters or so");
  EXPECT_EQ(std::exchange(svg.text, ""),
            "<text class=\"name\" x=\"1\" y=\"2\">\u00e4 &lt; 20 \u2026"
            "<title>\u00e4 &lt; 20 letters or so</title></text>\n");
  svg.words_within(5, "name", 1, 2, "short");
  EXPECT_THAT(std::exchange(svg.text, ""), HasSubstr("y=\"2\">\u2026<title>short</title>"));
  // Bold letters need more room.
  const std::string ten = "0123456789";
  for (const char* const kind : {"title", "name", "doubt"}) {
    svg.words_within(80, kind, 1, 2, ten);
    EXPECT_THAT(std::exchange(svg.text, ""), HasSubstr("\u2026")) << kind;
  }
  svg.words_within(80, "muted", 1, 2, ten);
  EXPECT_THAT(svg.text, HasSubstr(">0123456789</text>"));
}

TEST(Svg, LongLinesBecomeTwo) {
  const auto lines = [](const std::string& words) {
    Svg svg{.text = {}, .y = 50};
    svg.words_in_two_lines(100, "muted", 1, 18, words);
    return std::pair(svg.text, svg.y);
  };
  EXPECT_THAT(lines("aaa aaa"),
              Pair("<text class=\"muted\" x=\"1\" y=\"50\">aaa aaa</text>\n", 50));
  EXPECT_THAT(lines("aaaaaaa aaaaaa bb"),
              Pair("<text class=\"muted\" x=\"1\" y=\"50\">aaaaaaa</text>\n"
                   "<text class=\"muted\" x=\"1\" y=\"68\">aaaaaa bb</text>\n",
                   68));
  // What remains beyond the second is cut, and so is a word without an end.
  EXPECT_THAT(lines("aaaaaaa aaaaaa aaaaaaaaaa").first, HasSubstr(">aaaaaa aaaaa\u2026<title>"));
  EXPECT_EQ(lines(std::string(40, 'a')).second, 50);
}

TEST(TimelineHtml, NeedsNothingElse) {
  const std::string page = html({result_of({small_run()})});
  for (const char* reference : {"src=", "src =", "href", "http:", "https:", "@import", "url("}) {
    EXPECT_EQ(page.find(reference), std::string::npos) << reference;
  }
}

/// Slices by process and track.
using Slices = std::map<std::pair<int, int>, std::vector<json>>;

Slices slices_of(const json& events) {
  Slices slices;
  for (const json& event : events) {
    if (event["ph"] == "X") slices[{event["pid"], event["tid"]}].push_back(event);
  }
  return slices;
}

/// Slices of a track follow each other; every arrow has two ends, each inside a slice, forwards.
void expect_sound(const json& events) {
  const Slices slices = slices_of(events);
  for (const auto& [track, list] : slices) {
    double free = 0;
    for (const json& slice : list) {
      EXPECT_GE(slice["ts"].get<double>(), free - 1e-6);
      EXPECT_GE(slice["dur"].get<double>(), 0);
      free = slice["ts"].get<double>() + slice["dur"].get<double>();
    }
  }
  std::map<int, std::vector<json>> arrows;
  for (const json& event : events) {
    if (event["ph"] == "s" || event["ph"] == "f") arrows[event["id"]].push_back(event);
  }
  for (const auto& [id, ends] : arrows) {
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_EQ(ends[0]["ph"], "s");
    EXPECT_EQ(ends[1]["ph"], "f");
    EXPECT_LE(ends[0]["ts"].get<double>(), ends[1]["ts"].get<double>());
    for (const json& end : ends) {
      const auto& list = slices.at({end["pid"], end["tid"]});
      EXPECT_TRUE(std::any_of(list.begin(), list.end(), [&](const json& slice) {
        const double begin = slice["ts"].get<double>(), at = end["ts"].get<double>();
        return begin <= at && at <= begin + slice["dur"].get<double>();
      }));
    }
  }
}

TEST(Trace, OfASmallRunExactly) {
  const json events = json::parse(trace({result_of({small_run()})}))["traceEvents"];
  expect_sound(events);
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> tracks;
  for (const json& event : events) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") {
      tracks[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
  }
  EXPECT_THAT(processes, ElementsAre(std::pair(1, "breadth_first, measured (CUDA events)"),
                                     std::pair(2, "breadth_first, predicted")));
  std::vector<std::string> names;
  for (const auto& [track, name] : tracks) {
    if (track.first == 1) names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre("engine H2D", "engine SM", "engine SM (2)", "engine D2H", "lane 0",
                                 "lane 1"));
  // The measured second copy back, among the engines.
  const json slice = slices_of(events).at({1, 4}).at(1);
  EXPECT_EQ(slice, json::parse(R"({"ph": "X", "pid": 1, "tid": 4, "ts": 7000000.0, "dur": 1000000.0,
      "name": "d2h 1", "cat": "d2h", "args": {"task": 5, "chunk": 1, "lane": 1,
      "bytes": 1000000000, "GB/s": 1, "waits for": "kernel 1"}})"));
  // And the first kernel, which has no bytes.
  EXPECT_EQ(slices_of(events).at({1, 2}).at(0),
            json::parse(R"({"ph": "X", "pid": 1, "tid": 2, "ts": 2000000.0, "dur": 3000000.0,
      "name": "kernel 0", "cat": "kernel", "args": {"task": 2, "chunk": 0, "lane": 0,
      "waits for": "h2d 0"}})"));
  std::vector<std::tuple<std::string, int, double>> arrows;
  for (const json& event : events) {
    if (event["ph"] != "s" && event["ph"] != "f") continue;
    arrows.emplace_back(tracks.at({event["pid"], event["tid"]}), event["pid"], event["ts"]);
  }
  EXPECT_THAT(
      arrows,
      ElementsAre(std::tuple("lane 0", 1, 4999999.999), std::tuple("lane 1", 1, 7000000.0),
                  std::tuple("lane 0", 2, 4999999.999), std::tuple("lane 1", 2, 8000000.0)));
}

TEST(Trace, NamesDecksIfThereAreSeveral) {
  const Study study = result_of({small_run()});
  EXPECT_THAT(trace({study}), HasSubstr("\"breadth_first, predicted\""));
  EXPECT_THAT(trace({study, study}), HasSubstr("\"By hand: breadth_first, predicted\""));
}

TEST(Trace, HasSingleBytes) {
  EXPECT_THAT(trace({odd_result()}), HasSubstr(R"("task":0,"chunk":0,"lane":0,"bytes":1,)"));
}

TEST(Trace, IsAFileWithoutTimelines) {
  experiment::Run run = small_run();
  run.trace.reset();
  run.predicted.reset();
  EXPECT_TRUE(json::parse(trace({result_of({run})}))["traceEvents"].empty());
  EXPECT_TRUE(json::parse(trace({}))["traceEvents"].empty());
}

// Quadratic in the tasks, it would take minutes.
TEST(Trace, ManyTasksTakeSeconds) {
  const auto deck = schedule::small_deck(deck::WorkloadKind::increment, 1 << 20, 10'000);
  const auto order = deck::Order::by_engine;
  experiment::Run run{{.order = order, .schedule = schedule::small_schedule(deck, order, 3)}};
  ASSERT_GE(run.schedule.tasks.size(), 30'000u);
  run.predicted = model::predict(run.schedule, model::load_device("h200"));
  run.trace = experiment::Trace{.timeline = *run.predicted, .source = "CUPTI"};
  const Study result = result_of({std::move(run)});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(trace({result}).empty());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(seconds.count(), 20);  // sanitizers are slow, and machines busy
}

}  // namespace
}  // namespace overlap::report
