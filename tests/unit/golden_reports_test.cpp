#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/version.hpp"
#include "experiment/plan.hpp"
#include "golden.hpp"
#include "report/comparison.hpp"
#include "report/console.hpp"
#include "report/json.hpp"
#include "report/lines.hpp"
#include "report/picture.hpp"
#include "report/sweep.hpp"
#include "report/tables.hpp"
#include "report/writers.hpp"

/// What every writer makes of results by hand, to the byte.
namespace overlap::report {
namespace {

using deck::Order;
using experiment::Case;
using experiment::facts_of;
using experiment::Run;

/// Without what changes with the program.
std::string without_version(std::string text) {
  for (const char* const key : {"\"version\": ", "\"git_sha\": ", "\"dirty\": "}) {
    text = without(std::move(text), key, "\n");
  }
  return without(std::move(text), R"("version" value=)", "/>");
}

base::Machine machine() {
  return {.build = {.compiler = "g++ 1.2",
                    .kokkos_version = "5.2.0",
                    .backend = "Cuda",
                    .cuda_toolkit = "13.0",
                    .kokkos_kernels_version = ""},
          .host = {.name = "n1",
                   .cpu = "CPU",
                   .cores = 8,
                   .affinity = "0-7",
                   .total_bytes = 64'000'000'000,
                   .available_bytes = 60'000'000'000,
                   .kernel = "6.1",
                   .transparent_huge_pages = "always",
                   .huge_pages = 3},
          .device = base::DeviceInfo{.name = "GPU",
                                     .uuid = "GPU-1",
                                     .compute_capability = "9.0",
                                     .copy_engines = 3,
                                     .concurrent_kernels = true,
                                     .free_bytes = 15'000'000'000,
                                     .total_bytes = 16'000'000'000,
                                     .pcie_gen = 4,
                                     .pcie_gen_max = 5,
                                     .pcie_width = 8,
                                     .pcie_width_max = 16,
                                     .numa_node = 1,
                                     .sm_clock_mhz = 1200,
                                     .sm_clock_max_mhz = 1980,
                                     .ecc = true,
                                     .mig = false,
                                     .driver = "580.1"}};
}

/// Repetitions that take about so long, no two the same.
std::vector<double> times(double seconds, int place = 0) {
  std::vector<double> samples_s;
  for (int i = 0; i < 16; ++i) {
    samples_s.push_back(seconds * (1 + 1e-3 * ((i * (7 + 2 * place)) % 17)));
  }
  return samples_s;
}

/// What a case gave, depending on its place.
Run run_of(Case one, int place) {
  Run run{std::move(one)};
  const double time_s = (14 - place) * 1e-4;
  run.repetitions = 16;
  run.samples_s = times(time_s, place);
  run.issue_s = times(time_s / (6 + place), 1);
  run.chunk_issue_s = base::summarize(times(11e-6, place));
  run.polls = 1000 + 17 * place;
  if (run.host_work) run.host_work_samples = {3 + place, times(time_s / 3)};
  if (run.order == Order::breadth_first) {
    run.graph = experiment::GraphCosts{1e-3 * place, 2e-3};
    run.staging = experiment::StagingCosts{3e-3, 5e-3 * place, 2};
  }
  run.max_error = 1.25e-7 * place;
  run.verified = true;
  if (place != 3) run.expected = model::Interval{0.61e-3, 1.35e-3};
  run.rates = model::Rates{.h2d_s = 4e-4 + 1e-6 * place,
                           .d2h_s = 3e-4 + 2e-6 * place,
                           .both_s = 5e-4 + 3e-6 * place,
                           .kernel_s = 1e-4 + 4e-6 * place,
                           .kernel_beside_copies = 1.05 + 0.01 * place};
  if (!run.predicted) {
    run.untraced = "no room";
    return run;
  }
  run.trace = experiment::Trace{.timeline = *run.predicted,
                                .source = "CUPTI",
                                .perturbation = 0.013 * place,
                                .doubtful = place % 3 == 1};
  for (timeline::Span& span : run.trace->timeline.spans) {
    span.start_s *= 1.01;
    span.stop_s *= 1.01;
  }
  return run;
}

/// Copies of the link and the health of the device.
experiment::DeviceSamples device_samples() {
  experiment::DeviceSamples device{.link_bytes = 64'000'000,
                                   .h2d_s = times(6e-3),
                                   .d2h_s = times(5e-3),
                                   .duplex_s = times(7e-3)};
  const base::Health before{.pcie_gen = 4,
                            .pcie_width = 8,
                            .pcie_replays = 5,
                            .ecc_corrected = 2,
                            .ecc_uncorrected = 1,
                            .temperature_c = 41,
                            .power_w = 123.4,
                            .sm_clock_mhz = 1980,
                            .memory_clock_mhz = 2619};
  base::Health after = before;
  after.pcie_replays = 9;
  after.ecc_corrected = 3;
  after.temperature_c.reset();
  device.health = experiment::HealthRecord{before, after, experiment::ThrottledTime{}};
  for (std::size_t i = 0; i < base::throttles.size(); ++i) {
    if (i == 4) continue;
    device.health->throttled->by_reason_s[i] = 0.01 * static_cast<double>(i);
  }
  device.health->throttled->slowed_s = 0.2;
  return device;
}

experiment::Outcome outcome_of(const deck::Point& point, const experiment::Facts& facts) {
  experiment::Plan plan = experiment::plan(point, facts);
  experiment::Samples samples{.verified_runs = 48, .reference_s = 0.25};
  for (const Case& one : plan.cases) {
    samples.runs.push_back(run_of(one, static_cast<int>(samples.runs.size())));
  }
  samples.device = device_samples();
  samples.conditions = {.device = machine().device,
                        .engines = {},
                        .max_connections = {{"CUDA_DEVICE_MAX_CONNECTIONS", 1}}};
  samples.stopped =
      experiment::Stop{experiment::StopReason::at_most, 16, 0.5, std::optional(0.023)};
  return judge(std::move(plan), std::move(samples));
}

Study study_of(const std::vector<deck::Point>& points, std::vector<experiment::Outcome> outcomes,
               std::vector<std::string> devices = {}) {
  Study study = new_study(machine(), points, std::move(devices));
  study.started = "2026-01-31T12:00:00Z";
  for (std::size_t i = 0; i < outcomes.size(); ++i) add(study, i, std::move(outcomes[i]));
  return study;
}

/// The study of a deck's first point.
Study study_of(const std::string& deck) {
  const std::vector<deck::Point> points = golden_points(deck);
  experiment::Facts facts = facts_of(points[0].deck, golden_device());
  if (facts.host_share) facts.host_share = {.tiles = 2, .flops_per_s = 1e9};
  return study_of(points, {outcome_of(points[0], facts)});
}

const char* const increment = R"(
workload: {kind: increment, elements: 1 Mi}
chunks: {count: 2}
issue: {orders: [sequential, breadth_first], lanes: 2, sync: query}
host_work: {per_chunk: 50 us}
disturb: {operation: malloc}
acceptance:
  - {metric: speedup, min: 1.2}
  - {metric: time, max: 1.25 ms}
  - {metric: host_work_hidden, min: 0.5}
  - {metric: h2d_rate, min: 10, max: 10.62}
  - {metric: throughput, reference: given}
)";

/// With fewer runs.
const char* const small = R"(
workload: {kind: rowsum, rows: 1 Mi, columns: 2}
chunks: {count: 2}
issue: {orders: [depth_first, by_engine], lanes: 2}
)";

const char* const product = R"(
workload: {kind: dgemm, m: 300, n: 200, k: 64, tile_m: 100, tile_n: 100}
issue: {orders: [sequential, three_way, four_way, four_plus], lanes: 2}
)";

/// Four repetitions of a second and more, in which the device becomes slower and warmer.
experiment::Outcome soak() {
  experiment::Outcome outcome = *study_of(increment).outcome();
  for (std::size_t place = 0; place < outcome.runs.size(); ++place) {
    for (int i = 0; i < 5; ++i) {
      const double time_s = 1e-3 * (8 + i + static_cast<double>(place) / 4);
      outcome.runs[place].series.push_back({.at_s = 3.5 * i + 0.1 * static_cast<double>(place),
                                            .repetitions = 7,
                                            .min_s = time_s,
                                            .max_s = 1.5 * time_s,
                                            .kept_s = {time_s, 1.5 * time_s, 1.1 * time_s}});
    }
  }
  outcome.device.series = {{.at_s = 0, .sm_clock_mhz = 1980, .temperature_c = 40, .power_w = 312},
                           {.at_s = 7.5, .sm_clock_mhz = 1815, .temperature_c = 71, .power_w = {}},
                           {.at_s = 14, .sm_clock_mhz = 1200, .temperature_c = 85, .power_w = 644}};
  outcome.stopped = {.reason = experiment::StopReason::duration, .repetitions = 35, .elapsed_s = 9};
  return outcome;
}

std::string page(const Study& study) {
  std::string text = without_style(html({study}));
  text = without(std::move(text), R"(id="result">)", "</script>");
  return without(std::move(text), "<script>", "</script>");
}

TEST(Golden, ConsoleAsItIsWritten) {
  const Study study = study_of(increment);
  Study wrong = study;
  experiment::Outcome& outcome = *wrong.done[0].outcome;
  outcome.runs[2].wrong = experiment::WrongData{2, "b", 41, 1.5, -3};
  outcome.failure = experiment::Failure{base::ExitCode::runtime_error, "lost"};
  const Study failed = study_of(wrong.points, {outcome});
  Study host = study;
  host.machine.device.reset();
  host.machine.build.backend = "OpenMP";
  host.machine.build.cuda_toolkit = "";
  const experiment::Plan plan =
      experiment::plan(study.points[0], facts_of(study.deck(), golden_device()));
  std::string schedules;
  for (const Case& one : plan.cases) schedules += schedule_table(one);
  const auto listed = golden_points(
      "workload:\n  kind: custom\n  tasks:\n"
      "    - {name: A, stage: h2d, lane: 1, bytes: 4 KiB}\n"
      "    - {name: B, stage: kernel, lane: 2, duration: 30 us, sms: 0.4, after: [A]}\n"
      "    - {name: H, stage: host, duration: 9 us, after: [A, B]}\n"
      "    - {name: Q, stage: query, lane: 2}\n"
      "issue: {orders: [sequential, custom]}\n");
  for (const Case& one : experiment::plan(listed[0], facts_of(listed[0].deck)).cases) {
    schedules += schedule_table(one);
  }
  expect_golden({
      {"console.txt", heading(study, plan) + table(study, 100) + verdict_words(study)},
      {"console_host.txt", heading(host, plan)},
      {"console_wrong.txt",
       wrong_data(outcome) + verdict_words(failed) + verdict_line({&failed, 1})},
      {"schedules.txt", schedules},
  });
}

TEST(Golden, ProductsAsItIsWritten) {
  const Study study = study_of(product);
  Study compute = study;
  for (experiment::Run& run : compute.done[0].outcome->runs) {
    run.bounds->limit = "SM";
    run.rates->kernel_s *= 10;
  }
  Study workers = compute;
  for (experiment::Run& run : workers.done[0].outcome->runs) {
    run.bounds->limit = "workers";
    run.bounds->one_engine_s = 0;
  }
  Study one_engine = compute;
  for (experiment::Run& run : one_engine.done[0].outcome->runs) run.bounds->two_engines_s = 0;
  one_engine.done[0].outcome->runs[0].bounds.reset();
  one_engine.done[0].outcome->runs[1].rates.reset();
  std::string text;
  for (const Study* const of : std::vector<const Study*>{&study, &compute, &workers, &one_engine}) {
    const experiment::Outcome& outcome = *of->outcome();
    text += product_words(outcome) + base::align(product_rows(outcome), true) +
            bound_words(outcome) + "\n" + base::align(bound_rows(outcome), true);
  }
  expect_golden({{"console_products.txt", text}});
}

TEST(Console, SaysNothingOfProductsThatAreNone) {
  EXPECT_EQ(product_words(*study_of(increment).outcome()), "");
}

TEST(Console, AProductIsThatOfTheDeviceAlone) {
  experiment::Run run;
  run.rates = model::Rates{.kernel_s = 1};
  run.bounds = model::Bounds{.bound_s = 1, .limit = "H2D"};
  run.schedule.tiling.emplace();
  run.schedule.tasks = {{.stage = schedule::Stage::kernel, .flops = 3e9},
                        {.stage = schedule::Stage::h2d, .bytes = 3'000'000},
                        {.stage = schedule::Stage::d2h, .bytes = 1'000'000}};
  experiment::Outcome outcome;
  outcome.runs = {run};
  EXPECT_EQ(product_words(outcome),
            "matrix product: 3.000 Gflop, 750.0 flop per byte over the link; kernels alone "
            "1.000 s, 3.000 Gflop/s; transfer-bound, at most 3.000 Gflop/s\n");
  outcome.runs[0].schedule.tasks.push_back({.stage = schedule::Stage::host, .uses = {.count = 1}});
  EXPECT_EQ(product_words(outcome), "");
}

TEST(Json, AProductHasItsOperationsPerByte) {
  for (const auto& [h2d, d2h, flop_per_byte] :
       {std::tuple(3U, 1U, nlohmann::json(3)), {1U, 0U, 12}, {0U, 0U, nullptr}}) {
    experiment::Outcome outcome = *study_of(product).outcome();
    outcome.runs.resize(1);
    outcome.runs[0].schedule.tasks = {{.stage = schedule::Stage::kernel, .flops = 12},
                                      {.stage = schedule::Stage::h2d, .bytes = h2d},
                                      {.stage = schedule::Stage::d2h, .bytes = d2h}};
    outcome.runs[0].predicted.reset();
    outcome.runs[0].trace.reset();
    const auto file = nlohmann::json::parse(to_json({study_of(golden_points(product), {outcome})}));
    EXPECT_EQ(file["runs"][0]["product"]["flop_per_byte"], flop_per_byte);
  }
}

TEST(Console, SaysWhyRepetitionsEndedUnlessTheDeckSaysHowMany) {
  experiment::Outcome outcome;
  EXPECT_EQ(stop_words(outcome), "");
  outcome.stopped = experiment::Stop{.repetitions = 7};
  EXPECT_EQ(stop_words(outcome), "");
  outcome.stopped->reason = experiment::StopReason::precision;
  outcome.stopped->width = 0.015;
  EXPECT_EQ(stop_words(outcome), "stopped: precision 1.5 % reached after 7 repetitions");
  outcome.stopped->reason = experiment::StopReason::at_most;
  outcome.stopped->width = 1;
  EXPECT_EQ(stop_words(outcome),
            "stopped: precision not reached: 100 % after 7 repetitions (at_most)");
}

/// What is said of a deck before it runs.
std::string heading_of(const std::string& text) {
  const auto points = golden_points(text);
  const experiment::Facts facts = facts_of(points[0].deck, golden_device());
  return heading(study_of(points, {}), experiment::plan(points[0], facts)) + "\n";
}

TEST(Golden, HeadingsAsItIsWritten) {
  const std::string tiles =
      "workload: {kind: dgemm, m: 300, n: 200, k: 64, tile_m: 100, tile_n: 100}\n"
      "issue: {orders: [four_way]}\n";
  expect_golden({
      {"headings.txt",
       heading_of(tiles) + heading_of(tiles + "memory: {device_limit: 270 KiB}\n") +
           heading_of("workload: {kind: increment, elements: 100000, intensity: 3x balanced}\n"
                      "chunks: {count: 5, profile: ramp, spread: 4}\n"
                      "memory: {device_limit: 200 KiB, host: pageable}\n"
                      "issue: {orders: [auto]}\n") +
           heading_of("workload: {kind: rowsum, rows: 90}\nchunks: {count: 1}\n") +
           heading_of("workload: {kind: rowsum, rows: 90}\n"
                      "memory: {host: pageable_staged, ring_slots: 4, transfer: staged}\n"
                      "issue: {lanes: 2, sync: device}\nmeasure: {warmup: 0}\n") +
           heading_of(
               "workload: {kind: custom, tasks: [{name: A, stage: h2d, lane: 1, duration: 1 ms},\n"
               "  {name: B, stage: d2h, lane: 2, bytes: 4 KiB}]}\n"
               "issue: {orders: [custom]}\n")},
  });
}

TEST(Console, SaysWhichSettingsDiffer) {
  const auto settings = [](const std::string& keys, std::vector<std::string> devices = {}) {
    const auto points = golden_points("workload: {kind: increment}\n" + keys);
    const experiment::Plan plan = experiment::plan(points[0], facts_of(points[0].deck));
    for (const auto& row : facts(study_of(points, {}, std::move(devices)), plan)) {
      if (row[0] == "settings") return row[1];
    }
    return std::string();
  };
  EXPECT_EQ(settings(""), "");
  EXPECT_EQ(settings("memory: {host: pageable}\nissue: {orders: [by_engine], lanes: 3}\n"), "");
  EXPECT_EQ(settings("measure: {repetitions: 7}\n"), "measure.repetitions 7");
  EXPECT_EQ(settings("measure: {repetitions: 12, warmup: 0}\n"),
            "measure.warmup 0, measure.repetitions 12");
  const std::string all =
      "memory: {transfer: zero_copy}\nissue: {sync: query}\nmeasure: {warmup: 0}\n";
  EXPECT_EQ(settings(all), "memory.transfer zero_copy, issue.sync query, measure.warmup 0");
  EXPECT_EQ(settings(all, {"h200"}), "memory.transfer zero_copy, issue.sync query");
}

TEST(Console, SaysHowWellKernelsAreBalanced) {
  struct Case {
    experiment::Balance balance;
    const char* words;
    const char* intensity = "balanced";
  };
  for (const auto& [balance, words, intensity] :
       {Case{{.repeats = 1, .copy_s = 2, .kernel_s = 4.2},
             "1 repeats: kernel 4.200 s / copies to the device 2.000 s of the largest chunk = "
             "2.100",
             "2x balanced"},
        {{.repeats = 3, .copy_s = 2, .kernel_s = 6},
         "3 repeats: kernel 6.000 s / copies to the device 2.000 s of the largest chunk = "
         "3.000"},
        {{.repeats = 1, .copy_s = 2, .kernel_s = 2.2},
         "1 repeats: kernel 2.200 s / copies to the device 2.000 s of the largest chunk = 1.100"},
        {{.repeats = 1, .copy_s = 2, .kernel_s = 2.3},
         "1 repeats: kernel 2.300 s / copies to the device 2.000 s of the largest chunk = 1.150, "
         "not 1: a single repeat takes longer"},
        {{.repeats = 1, .copy_s = 2, .kernel_s = 6},
         "1 repeats: kernel 6.000 s / copies to the device 2.000 s of the largest chunk = 3.000, "
         "not 1: a single repeat takes longer"}}) {
    const auto points =
        golden_points(fmt::format("workload: {{kind: increment, intensity: {}}}\n", intensity));
    experiment::Facts known = facts_of(points[0].deck);
    known.balance = balance;
    const Rows rows = facts(study_of(points, {}), experiment::plan(points[0], known));
    const auto row = std::ranges::find(rows, "intensity", [](const auto& one) { return one[0]; });
    ASSERT_NE(row, rows.end());
    EXPECT_EQ((*row)[1], words);
  }
}

/// Engines whose tasks are as long as it takes to be drawn in every way, in one row and in many.
Study crowded() {
  schedule::Schedule schedule{.lanes = 9, .chunks = 120};
  timeline::Timeline timeline{.engines = {"H2D", "SM", "D2H", "host"}, .complete_s = 0.5};
  const auto add = [&](schedule::Stage stage, int engine, double start_s, double stop_s) {
    schedule.tasks.push_back({.stage = stage,
                              .chunk = static_cast<int>(schedule.tasks.size()),
                              .lane = static_cast<int>(schedule.tasks.size() % 9)});
    timeline.spans.push_back({engine, start_s, stop_s});
  };
  // A pixel is half a millisecond.
  double at_s = 0;
  for (const double pixels : {0.3, 0.4, 0.6, 1.2, 0.2, 3.9, 4.1, 4.9, 5.1, 5.9, 6.3, 12.0, 14.0,
                              15.0, 17.0, 19.0, 22.0, 26.0}) {
    add(schedule::Stage::h2d, 0, at_s, at_s + pixels / 2e3);
    at_s += pixels / 2e3;
  }
  for (int row = 0; row < 8; ++row) {
    add(schedule::Stage::kernel, 1, 0.01 * row, 0.2 + 0.01 * row);
    add(schedule::Stage::default_stream, 1, 0.3 + 0.01 * row, 0.302 + 0.01 * row);
  }
  for (int row = 0; row < 21; ++row) {
    add(schedule::Stage::d2h, 2, 0.01 * row, 0.25 + 0.01 * row);
    add(schedule::Stage::d2h, 2, 0.49, 0.4925);
  }
  for (int row = 0; row < 6; ++row) add(schedule::Stage::host, 3, 0.02 * row, 0.3);
  Run run{{.order = Order::depth_first, .schedule = std::move(schedule)}};
  run.predicted = std::move(timeline);
  const auto points = golden_points(small);
  experiment::Outcome outcome{experiment::Setup{points[0]}};
  outcome.runs = {run};
  return study_of(points, {outcome});
}

TEST(Golden, TimelinesAsItIsWritten) {
  const Study study = study_of(small);
  expect_golden({
      {"crowded.svg", without_style(svg({crowded()}))},
      {"timeline.svg", svg({study})},
      {"timeline.html", page(study)},
      {"stop.txt", stop_words(soak()) + "\n" + stop_words(*study_of(increment).outcome()) + "\n"},
      {"soak.svg", without_style(soak_svg(soak()))},
  });
}

TEST(Console, DrawsTimelinesThatFitAScreen) {
  for (const std::size_t tasks : {64U, 65U}) {
    Study study = study_of(small);
    experiment::Run& run = study.done[0].outcome->runs[0];
    run.schedule.tasks.resize(tasks, run.schedule.tasks[0]);
    run.trace->timeline.spans.resize(tasks, run.trace->timeline.spans[0]);
    const bool shown = table(study, 100).find("depth_first, traced by") != std::string::npos;
    EXPECT_EQ(shown, tasks == 64) << tasks;
  }
}

TEST(Console, HasNoTableOfWhatDidNotRun) {
  const auto points = golden_points(small);
  const base::Error error(base::ExitCode::precondition, "no room");
  EXPECT_EQ(table(study_of(points, {}), 100), "");
  EXPECT_EQ(table(study_of(points, {experiment::failed(points[0], error)}), 100), "");
}

TEST(Console, SaysEightReasons) {
  const auto points = golden_points(small);
  for (const int reasons : {8, 11}) {
    experiment::Outcome outcome{experiment::Setup{points[0]}};
    for (int i = 0; i < reasons; ++i) {
      outcome.checks.push_back(
          {.metric = deck::Metric::time, .limit = 1.0 + i, .verdict = experiment::Verdict::fail});
    }
    const std::string words = verdict_words(study_of(points, {outcome}));
    EXPECT_NE(words.find("limit <= 8.000"), std::string::npos);
    EXPECT_EQ(words.find("limit <= 9.000"), std::string::npos);
    EXPECT_EQ(words.ends_with("\n  and 3 more\n"), reasons == 11) << words;
  }
}

TEST(Console, WhatIsPartlyUnknownOfTheDeviceIsNotShown) {
  experiment::Outcome outcome;
  const base::Health left{.pcie_gen = 4, .pcie_width = {}, .ecc_corrected = 2},
      right{.pcie_gen = {}, .pcie_width = 8, .ecc_uncorrected = 1};
  outcome.device.health = experiment::HealthRecord{left, right, {}};
  for (const auto& row : health_rows(outcome)) {
    if (row[0].empty()) continue;
    EXPECT_EQ(row[1], "-") << row[0];
    EXPECT_EQ(row[3], "-") << row[0];
  }
}

TEST(Golden, ListsAsItIsWritten) {
  base::BuildInfo build = machine().build;
  const base::DeviceInfo gpu = *machine().device;
  const base::DeviceInfo host{
      .name = "CPU, 8 cores", .free_bytes = 15'000'000'000, .total_bytes = 16'000'000'000};
  std::string text = list(build, {gpu, {.name = "unknown"}}, true, {});
  build.backend = "OpenMP";
  text += list(build, {host}, false, {{deck::WorkloadKind::dgemm, "no Kokkos Kernels"}});
  text = without(std::move(text), "model devices\n", "\nback end") + list(build, {}, true, {});
  text += version(machine().build);
  build.hip_toolkit = "7.1";
  build.kokkos_kernels_version = "5.2.1";
  text += version(build);
  build.hip_toolkit = build.cuda_toolkit = "";
  text = without(without(text + version(build), "model devices\n", "\nback end"), "miniapp ", "\n");
  expect_golden({{"lists.txt", text}});
}

TEST(Console, NamesTheCommitOfTheProgram) {
  const base::Version v = base::version();
  const std::string sha = v.git_sha;
  const std::string commit = sha + (v.dirty ? ", modified" : "");
  EXPECT_EQ(version(machine().build).substr(0, version(machine().build).find('\n')),
            fmt::format("miniapp {}{}", v.version, sha.empty() ? "" : " (" + commit + ")"));
}

TEST(Golden, PredictionsAsItIsWritten) {
  const auto points = golden_points(
      "workload: {kind: increment, elements: 1 Mi, intensity: 3x balanced}\n"
      "issue: {orders: [sequential, depth_first, auto], lanes: 2}\n"
      "chunks: {count: 2}\n");
  model::Device other = golden_device();
  other.name += " 2";
  other.copy_engines = 1;
  other.host.copy_s *= 3;
  const experiment::Plan plan = experiment::predictions(points[0], {golden_device(), other});
  experiment::Outcome outcome = judge(plan, {});
  const Study study = study_of(points, {std::move(outcome)}, {"hand", "hand"});
  expect_golden({
      {"predictions.txt",
       heading(study, plan) + table(study, 80) + result_lines(study) + verdict_line({&study, 1})},
      {"predictions.html", page(study)},
  });
}

/// A deck with a sweep and two orders, whose times depend on the place of the point: each next one
/// takes `factor` times as long, down to the third.
Study sweep_of(const std::string& text, double factor, bool predicted = false,
               const std::string& orders = "[sequential, by_engine]") {
  const auto points = golden_points(
      "workload: {kind: increment, elements: 4096}\n"
      "issue: {orders: " +
      orders + "}\n" + text);
  std::vector<experiment::Outcome> outcomes;
  double seconds = 1e-3;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (predicted) {
      model::Device other = golden_device();
      other.name = "other";
      other.d2h.pinned = model::Curve::line(1e-6, 3e9);
      outcomes.push_back(judge(experiment::predictions(points[i], {golden_device(), other}), {}));
      continue;
    }
    seconds *= i < 3 ? factor : 1.1;
    experiment::Outcome outcome = outcome_of(points[i], facts_of(points[i].deck, golden_device()));
    for (std::size_t place = 0; place < outcome.runs.size(); ++place) {
      Run& run = outcome.runs[place];
      run.samples_s = times(seconds / (1 + 0.6 * static_cast<double>(place)));
      run.samples_s[1] *= 1.3;
      for (std::size_t k = 0; i % 2 == 1 && k < run.samples_s.size(); ++k) {  // a wide interval
        run.samples_s[k] *= 1 + 0.02 * static_cast<double>(k % 8);
      }
      run.bounds->bound_s = seconds / (3 + static_cast<double>(place));
    }
    outcomes.push_back(std::move(outcome));
  }
  return study_of(
      points, std::move(outcomes),
      predicted ? std::vector<std::string>{"hand", "other"} : std::vector<std::string>());
}

/// A sweep of which no point could run.
Study failed_sweep() {
  const auto points = golden_points("workload: {kind: increment}\nsweep: {chunks.count: [1, 2]}\n");
  std::vector<experiment::Outcome> outcomes;
  for (const deck::Point& point : points) {
    outcomes.push_back(
        experiment::failed(point, base::Error(base::ExitCode::precondition, "no room")));
  }
  return study_of(points, std::move(outcomes));
}

TEST(Golden, FilesAsItIsWritten) {
  const Study study = study_of(increment);
  std::string alone = increment;  // without the baseline
  alone.erase(alone.find("sequential, "), 12);
  alone.erase(alone.find("  - {metric: speedup"), 32);
  expect_golden({
      {"result.json", without_version(to_json({study_of(alone)}, 1))},
      {"result.csv", csv({study, study_of(product)})},
      {"sweep.csv", csv({sweep_of("sweep: {chunks.count: [1, 2]}\n", 0.8)})},
      {"sweep.html", page(sweep_of("sweep: {chunks.count: [1, 2]}\n", 0.8))},
      {"junit.xml", without_version(junit({study}))},
      {"trace.json", trace({study_of(small)})},
  });
}

TEST(Golden, SweepsAsItIsWritten) {
  const std::pair<const char*, Study> sweeps[] = {
      {"sweep_linear", sweep_of("sweep: {chunks.count: [1, 2, 4, 6, 7]}\n", 0.8)},
      {"sweep_logarithmic",
       sweep_of("sweep: {chunks.count: [1, 4, 64, 16], issue.lanes: [2, 3, 4, 5]}\n", 0.2)},
      {"sweep_bytes",
       sweep_of("sweep: {workload.elements: [1024, 4096], issue.lanes: [1, 2, 3, 4, 5]}\n", 0.7,
                false, "[by_engine]")},
      {"sweep_words",
       sweep_of("sweep: {memory.host: [pinned, pageable], chunks.count: [2, 3]}\n", 0.03)},
      {"sweep_predicted",
       sweep_of("sweep: {chunks.count: [1, 2, 4]}\nhost_work: {per_chunk: 30 us}\n", 1, true,
                "[sequential, depth_first, by_engine]")},
      {"sweep_failed", failed_sweep()},
      {"sweep_panels",
       sweep_of("sweep: {chunks.count: [1, 2], workload.type: [float32, float64], memory.host: "
                "[pinned, pageable], issue.lanes: [1, 2], workload.intensity: [1, 2]}\n",
                0.9, false, "[by_engine]")},
      {"sweep_dense",
       sweep_of("sweep: {chunks.count: [1, 2, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 64]}\n", 1.3,
                false, "[by_engine]")},
      {"sweep_many",
       sweep_of("sweep: {issue.lanes: [1], chunks.count: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "
                "13]}\n",
                0.9, false, "[by_engine]")},
  };
  for (const auto& [name, study] : sweeps) {
    const std::string text =
        sweep_heading(study) + table(study, 100) + table(study, 40) + verdict_words(study);
    expect_golden({{std::string(name) + ".svg", without_style(svg({study}))},
                   {std::string(name) + ".txt", text}});
  }
}

TEST(Golden, PointsAsItIsWritten) {
  const auto points = golden_points(std::string(increment) + "sweep: {chunks.count: [1, 3, 5]}\n");
  std::vector<PointRow> rows;
  for (const deck::Point& point : points) {
    rows.push_back(point_row(experiment::plan(point, facts_of(point.deck))));
  }
  // Of more than sixteen values only the first and the last are shown.
  std::string headings;
  for (const int values : {16, 17}) {
    std::string list;
    for (int i = 1; i <= values; ++i) list += (i > 1 ? ", " : "") + std::to_string(i);
    headings += sweep_heading(new_study(
        machine(), golden_points(fmt::format("{}sweep: {{chunks.count: [{}]}}\n", increment, list)),
        {}));
  }
  expect_golden({{"points.txt", point_table(rows) + headings}});
}

TEST(DryRun, PointsHaveTheOrdersOfAll) {
  EXPECT_EQ(point_table({{{"workload.kind", "increment"}, {"sequential", "3 on 1"}},
                         {{"workload.kind", "dgemm"}, {"two_way", "5 on 2"}}}),
            "2 points; number of tasks on lanes per order (for the schedules of one point: --set "
            "workload.kind=increment and so on)\n"
            "workload.kind  sequential  two_way\n"
            "increment          3 on 1        -\n"
            "dgemm                   -   5 on 2\n");
}

/// A recorded result whose by_engine takes so long.
experiment::Recorded recorded(const std::string& file, double seconds) {
  experiment::Recorded result;
  result.file = file;
  result.machine = {.device = "GPU", .backend = "Cuda", .deck = "abc"};
  result.deck_path = "hand.yaml";
  result.provenance = {{"build.version", "1"}, {"host.name", "n" + file}};
  result.deck = {{"chunks.count", "4"}, {"issue.lanes", file}};
  result.acceptance = {{.metric = deck::Metric::throughput, .order = Order::by_engine},
                       {.metric = deck::Metric::d2h_rate}};
  result.points = {{.words = "chunks.count 4",
                    .values = {{"chunks.count", "4"}},
                    .runs = {},
                    .device = device_samples()},
                   {.words = "chunks.count 8", .values = {{"chunks.count", "8"}}, .runs = {}}};
  for (double& time_s : result.points[0].device.d2h_s) time_s *= seconds;
  for (const Order order : {Order::sequential, Order::by_engine, Order::depth_first}) {
    Run run;
    run.order = order;
    run.schedule.tasks = {{.stage = schedule::Stage::h2d, .bytes = 1'000'000}};
    run.samples_s = times(order == Order::by_engine ? seconds : 2.5);
    for (experiment::RecordedPoint& point : result.points) {
      if (file == "b" && order == Order::depth_first) continue;
      for (double& time_s : run.samples_s) time_s /= seconds;
      point.runs.push_back(run);
    }
  }
  return result;
}

TEST(Golden, ComparisonsAsItIsWritten) {
  Comparisons all{.below = 0.02,
                  .all = experiment::compare(std::vector{recorded("a", 1)},
                                             std::vector{recorded("b", 1.03)}, 0.02)};
  // One whose differences are all within the range that is shaded.
  all.all.push_back(experiment::compare(recorded("a", 1), recorded("c", 1.001), 0.02));
  expect_golden({
      {"comparison.txt", comparison_text(all) + verdict_line(all.verdict(), all.exit_code(), true)},
      {"comparison.html", without_style(comparison_html(all))},
      {"comparison.json", comparison_json(all)},
  });
}

}  // namespace
}  // namespace overlap::report
