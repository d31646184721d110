#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "base/version.hpp"
#include "experiment/judge.hpp"
#include "golden.hpp"
#include "report/reports.hpp"
#include "report/writers.hpp"
#include "results.hpp"

/// What is said of three results by hand, to the byte: a measured run with everything that a run
/// can have, a sweep, and predictions.
namespace overlap::report {
namespace {

using deck::Order;
using experiment::Case;
using experiment::facts_of;

base::Machine machine() {
  return {.build = {.version = "1.2",
                    .git_sha = "",
                    .dirty = false,
                    .compiler = "g++ 1.2",
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
Case measured_case(Case one, int place) {
  results::Run& run = one.run;
  const double time_s = (14 - place) * 1e-4;
  run.repetitions = 16;
  run.samples_s = times(time_s, place);
  one.issue_s = times(time_s / (6 + place), 1);
  run.polls = 1000 + 17 * place;
  if (run.host_work) run.host_work = {times(time_s / 3)};
  if (run.order == Order::breadth_first) {
    run.graph = results::GraphCosts{1e-3 * place, 2e-3};
  }
  one.max_error = 1.25e-7 * place;
  run.verified = true;
  run.rates = model::Rates{.h2d_s = 4e-4 + 1e-6 * place,
                           .d2h_s = 3e-4 + 2e-6 * place,
                           .both_s = 5e-4 + 3e-6 * place,
                           .kernel_s = 1e-4 + 4e-6 * place,
                           .kernel_beside_copies = 1.05 + 0.01 * place};
  one.traced = one.prediction;
  if (!one.traced) {
    run.untraced = "no room";
    return one;
  }
  run.trace =
      results::Trace{.source = "CUPTI", .perturbation = 0.013 * place, .doubtful = place % 3 == 1};
  for (timeline::Span& span : one.traced->spans) {
    span.start_s *= 1.01;
    span.stop_s *= 1.01;
  }
  return one;
}

/// Copies of the link and the health of the device.
results::DeviceSamples device_samples() {
  results::DeviceSamples device{.link = results::LinkSamples{.bytes = 64'000'000,
                                                             .h2d_s = times(6e-3),
                                                             .d2h_s = times(5e-3),
                                                             .duplex_s = times(7e-3)}};
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
  device.health = results::HealthRecord{before, after, results::ThrottledTime{}};
  for (std::size_t i = 0; i < base::throttles.size(); ++i) {
    if (i == 4) continue;
    device.health->throttled->by_reason_s[i] = 0.01 * static_cast<double>(i);
  }
  device.health->throttled->slowed_s = 0.2;
  return device;
}

/// What a point gives.
results::Point point_of(const deck::DeckPoint& point) {
  experiment::Plan plan = experiment::plan(point, facts_of(point.deck, golden_device()));
  predict(plan, golden_device());
  experiment::Samples samples{.verified_runs = 48, .verification_s = 0.25};
  for (const Case& planned : plan.cases) {
    samples.cases.push_back(measured_case(planned, static_cast<int>(samples.cases.size())));
  }
  samples.device = device_samples();
  samples.conditions = {.device = machine().device,
                        .engines = {},
                        .max_connections = {{"CUDA_DEVICE_MAX_CONNECTIONS", 1}}};
  samples.stopped =
      experiment::Stop{experiment::StopReason::at_most, 16, 0.5, std::optional(0.023)};
  return experiment::judge(std::move(plan), std::move(samples));
}

results::Result result_of(const std::vector<deck::DeckPoint>& points) {
  results::Result result = experiment::new_result(points, machine());
  result.started = "2026-01-31T12:00:00Z";
  return result;
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

/// A soak in which the device became slower and warmer.
results::Result measured() {
  const auto points = golden_points(increment + std::string("measure: {duration: 10 s}\n"));
  results::Result result = result_of(points);
  results::Point part = point_of(points[0]);
  part.device.health_series = {
      {.at_s = 0, .sm_clock_mhz = 1980, .temperature_c = 40, .power_w = 312},
      {.at_s = 7.5, .sm_clock_mhz = 1815, .temperature_c = 71}};
  results::put(result, 0, std::move(part));
  return result;
}

results::Result swept() {
  const auto points = golden_points(
      "workload: {kind: increment, elements: 4096}\n"
      "issue: {orders: [sequential, by_engine]}\n"
      "sweep: {chunks.count: [1, 4], memory.host: [pinned, pageable]}\n");
  results::Result result = result_of(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 2) {
      const base::Error error(base::ExitCode::precondition, "no room");
      results::put(result, i, experiment::failed_point(points[i], error));
      continue;
    }
    results::Point part = point_of(points[i]);
    for (results::Run& run : part.runs) {
      for (double& time_s : run.samples_s) {
        time_s *= run.order == Order::sequential ? 1 : 0.9 - 0.2 * static_cast<double>(i);
      }
    }
    results::evaluate(part.runs);
    results::put(result, i, std::move(part));
  }
  return result;
}

results::Result predicted() {
  const auto points = golden_points(
      "workload: {kind: increment, elements: 1 Mi, intensity: 3x balanced}\n"
      "issue: {orders: [sequential, depth_first], lanes: 2}\n"
      "chunks: {count: 2}\n");
  model::Device other = golden_device();
  other.name += " 2";
  other.copy_engines = 1;
  other.host.copy_s *= 3;
  results::Result result = result_of(points);
  result.predicted_for = {"hand", "hand 2"};
  results::put(result, 0,
               experiment::judge(experiment::predictions(points[0], {golden_device(), other}), {}));
  return result;
}

/// These results are made by hand: those of results_test.cpp are drawn from the descriptions and so
/// lack a field that no description has.
TEST(Golden, FieldsThatReportsShowAreInFiles) {
  for (const results::Result& result : {measured(), swept(), predicted()}) {
    const results::Result read =
        results::read_results(describe::parse_json("golden.json", json({result}))).at(0);
    EXPECT_EQ(shown(read, {.verbose = true}), shown(result, {.verbose = true}));
    EXPECT_EQ(result_lines(read), result_lines(result));
    for (const Writer& writer : writers) {
      EXPECT_EQ(writer.write({read}), writer.write({result})) << writer.option << writer.suffix;
    }
  }
}

/// The lines of a text that another one lacks.
std::string more_lines(const std::string& text, const std::string& other) {
  std::string more;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (("\n" + other).find("\n" + line + "\n") == std::string::npos) more += line + "\n";
  }
  return more;
}

TEST(Golden, ReportsAsItIsWritten) {
  const Results all = {measured(), swept(), predicted()};
  const std::string run = shown(all[0], {});
  const std::string verbose = shown(all[0], {.verbose = true});
  EXPECT_EQ(more_lines(run, verbose), "");  // verbose leaves nothing out
  expect_golden({{"run.txt", run},
                 {"run_verbose.txt", more_lines(verbose, run)},
                 {"sweep.txt", shown(all[1])},
                 {"predictions.txt", shown(all[2])},
                 {"csv.txt", csv(all)},
                 {"junit.txt", junit(all)}});
}

TEST(Report, HasTheVerdictInTheTitleOfItsPage) {
  EXPECT_NE(html({measured()}).find("<title>By hand: FAIL</title>"), std::string::npos);
  EXPECT_NE(html({measured(), swept()}).find("<title>By hand: ERROR</title>"), std::string::npos);
  EXPECT_NE(html({predicted()}).find("<title>By hand</title>"), std::string::npos);
}

TEST(Report, DrawsTheTimelinesOfEachDeviceOnOneScale) {
  results::Result result = predicted();
  for (results::Run& run : result.points[0].runs) {
    if (run.device != "hand 2") continue;
    for (results::TaskRecord& task : *run.predicted_timeline) task.stop_s *= 10;
  }
  std::map<std::string, std::set<double>> axes;
  const Report made = report({result});
  for (const TimelinePicture* const picture : pictures_of(made.blocks)) {
    axes[picture->title.substr(picture->title.find(" on "))].insert(picture->axis_s);
  }
  ASSERT_EQ(axes.size(), 2U);
  EXPECT_EQ(axes[" on hand"].size(), 1U);
  EXPECT_EQ(axes[" on hand 2"].size(), 1U);
  EXPECT_GT(*axes[" on hand 2"].begin(), 9 * *axes[" on hand"].begin());
}

/// What is said of a deck before it runs.
std::string heading_of(const std::string& text) {
  const auto points = golden_points(text);
  const experiment::Plan plan =
      experiment::plan(points[0], facts_of(points[0].deck, golden_device()));
  Report report;
  report.blocks = heading(result_of(points), experiment::planned_point(plan));
  return terminal(report, {.width = 100}) + "\n";
}

TEST(Golden, HeadingsAsItIsWritten) {
  const std::string tiles =
      "workload: {kind: dgemm, m: 300, n: 200, k: 64, tile_m: 100, tile_n: 100, host_share: 0}\n"
      "issue: {orders: [four_way]}\nmemory: {device_limit: 270 KiB}\n";
  expect_golden(
      {{"headings.txt",
        heading_of(tiles) +
            heading_of("workload: {kind: increment, elements: 100000, intensity: 3x balanced}\n"
                       "chunks: {count: 5}\n"
                       "memory: {device_limit: 200 KiB, host: pageable}\n"
                       "issue: {orders: [breadth_first]}\nmeasure: {warmup: 0}\n") +
            heading_of("workload: {kind: rowsum, rows: 90}\n"
                       "memory: {host: registered, transfer: staged}\n"
                       "issue: {lanes: 2, sync: device}\n")}});
}

TEST(Report, OfWhatDidNotRunHasNoTable) {
  const auto points = golden_points("workload: {kind: increment}\n");
  results::Result result = result_of(points);
  EXPECT_TRUE(body(result).empty());
  const base::Error error(base::ExitCode::precondition, "no room");
  results::put(result, 0, experiment::failed_point(points[0], error));
  EXPECT_TRUE(body(result).empty());
}

TEST(Report, DrawsTimelinesThatFitAScreen) {
  for (const std::size_t tasks : {64U, 65U}) {
    results::Result result = measured();
    auto& timeline = *result.points[0].runs[0].timeline;
    timeline.resize(tasks, timeline.at(0));
    EXPECT_EQ(shown(result).find("sequential, traced by") != std::string::npos, tasks == 64);
  }
}

TEST(Report, HasEightReasons) {
  for (const int reasons : {8, 11}) {
    std::vector<results::Check> checks;
    for (int i = 0; i < reasons; ++i) {
      checks.push_back({.key = {}, .limit = 1.0 + i, .verdict = results::Verdict::fail});
    }
    const std::string text = shown(overlap::result_of(overlap::point_of({}, checks)));
    EXPECT_NE(text.find("limit <= 8.000\n"), std::string::npos);
    EXPECT_EQ(text.find("  time: 0 (0 .. 0), limit <= 9.000\n"), std::string::npos);
    EXPECT_EQ(text.ends_with("\n  and 3 more\n"), reasons == 11) << text;
  }
}

TEST(Golden, ListsAsItIsWritten) {
  std::string text;
  for (const char* const tasks :
       {increment,
        "workload:\n  kind: custom\n  tasks:\n"
        "    - {name: A, stage: h2d, lane: 1, bytes: 4 KiB}\n"
        "    - {name: B, stage: kernel, lane: 2, duration: 30 us, sms: 0.4, after: [A]}\n"
        "    - {name: H, stage: host, duration: 9 us, after: [A, B]}\n"
        "    - {name: Q, stage: query, lane: 2}\n"
        "issue: {orders: [sequential, custom]}\n"}) {
    const deck::DeckPoint point = golden_points(tasks)[0];
    for (const Case& planned : experiment::plan(point, facts_of(point.deck)).cases) {
      text += schedule_table(planned);
    }
  }
  base::BuildInfo build = machine().build;
  const base::DeviceInfo gpu = *machine().device;
  const auto listed = [&](bool verbose) {
    return list(build, {gpu, {.name = "unknown"}}, true,
                {{deck::WorkloadKind::dgemm, "no Kokkos Kernels"}}, verbose);
  };
  EXPECT_NE(listed(false).find("for teaching: miniapp --list --verbose\n"), std::string::npos);
  EXPECT_NE(listed(true).find("\n  ideal_1copy "), std::string::npos);
  text += listed(false);
  text = without(std::move(text), "model devices\n", "\nback end") + version(build);
  expect_golden({{"lists.txt", text}});
}

TEST(Version, NamesTheCommitAndTheToolkit) {
  base::BuildInfo build = machine().build;
  build.git_sha = "abc";
  build.dirty = true;
  build.hip_toolkit = "7.1";
  EXPECT_EQ(version(build),
            "miniapp 1.2 (abc, modified)\nKokkos 5.2.0, back end Cuda\ncompiler g++ 1.2\nHIP 7.1\n"
            "Kokkos Kernels none\n");
}

}  // namespace
}  // namespace overlap::report
