#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/diagnosis.hpp"
#include "report/run_phase.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using base::format_seconds;
using deck::Metric;
using results::Result;
using results::Run;
using results::Runs;

std::vector<Phase> phases(const Result& result) {
  static const results::DeviceSamples nothing;
  std::vector<Phase> all;
  const auto runs = result.runs_by_point();
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const results::Point& point = result.points[i];
    if (!point.exit_code) continue;
    const bool alone = point.phase == deck::Phase::alone;
    all.push_back({result, point, runs[i],
                   alone             ? result.device
                   : result.together ? result.together->device
                                     : nothing});
  }
  return all;
}

TimelinePicture picture(const Run& run, const results::Timeline& timeline, double axis_s) {
  TimelinePicture picture{.title = order_label(run), .timeline = timeline, .axis_s = axis_s};
  if (run.ran()) picture.median_s = results::time_s(run).median;
  if (run.bounds) picture.bound_s = run.bounds->bound_s;
  return picture;
}

/// The end of the time axis that all timelines share.
double axis_s(const Runs& runs) {
  double longest = 0;
  for (const Run* const run : runs) {
    for (const auto* const timeline : {&run->timeline, &run->predicted_timeline}) {
      if (*timeline) longest = std::max(longest, results::end_s(**timeline));
    }
    if (run->ran()) longest = std::max(longest, results::time_s(*run).median);
  }
  return longest;
}

std::vector<Block> pictures(const Runs& runs, bool predicts) {
  constexpr std::size_t most_tasks = 64;  // that fit on a screen
  Blocks blocks;
  const double end_s = axis_s(runs);
  for (const Run* const run : runs) {
    if (!run->untraced.empty()) {
      add_text(blocks, fmt::format("{}, not traced: {}", name(*run), run->untraced));
    }
    if (run->timeline) {
      TimelinePicture shown = picture(*run, *run->timeline, end_s);
      const results::Trace trace = run->trace.value_or(results::Trace());
      shown.caption = fmt::format("traced by {} ({:+.1f} % against the median{})", trace.source,
                                  100 * trace.perturbation, trace.doubtful ? ": doubtful" : "");
      const bool fits = shown.timeline.tasks.size() <= most_tasks;
      blocks.push_back({std::move(shown), fits ? Detail::always : Detail::page});
    }
    if (run->predicted_timeline) {
      TimelinePicture shown = picture(*run, *run->predicted_timeline, end_s);
      if (!predicts) shown.caption = "predicted";
      blocks.push_back({std::move(shown), predicts ? Detail::always : Detail::page});
    }
  }
  return blocks;
}

/// Throughput, clocks, temperature and power over the time of a soak.
void add_soak(Blocks& blocks, const Phase& phase) {
  Chart chart{.title = "throughput during the soak",
              .x = {.name = "time, s"},
              .y = {.name = "GB/s, medians"}};
  for (const Run* const run : phase.runs) {
    if (run->stretches.empty() || run->bytes() == 0) continue;
    Chart::Series& series = chart.series.emplace_back(Chart::Series{.name = name(*run)});
    for (const results::Stretch& stretch : run->stretches) {
      const auto rate = [&](double s) { return 1e-9 * static_cast<double>(run->bytes()) / s; };
      series.points.push_back({.x = stretch.at_s,
                               .y = rate(stretch.median_s),
                               .lo = rate(stretch.max_s),
                               .hi = rate(stretch.min_s)});
    }
  }
  if (chart.series.empty()) return;
  blocks.push_back({std::move(chart), Detail::page});
  const auto add = [&](const char* title, auto value) {
    Chart::Series series{.name = title};
    for (const results::HealthPoint& point : phase.device.series) {
      if (point.*value) series.points.push_back({.x = point.at_s, .y = *(point.*value)});
    }
    if (series.points.empty()) return;
    blocks.push_back({Chart{.title = title,
                            .x = {.name = "time, s"},
                            .y = {.name = title},
                            .series = {std::move(series)}},
                      Detail::page});
  };
  add("SM clock, MHz", &results::HealthPoint::sm_clock_mhz);
  add("temperature, °C", &results::HealthPoint::temperature_c);
  add("power, W", &results::HealthPoint::power_w);
}

/// What overlap brought, which order won, what limits it, and whether the machine was steady.
void add_conclusion(Blocks& blocks, const Phase& phase) {
  Runs ran;
  for (const Run* const run : phase.runs) {
    if (run->ran() && !run->disturbance && !run->host_work && !run->wrong) ran.push_back(run);
  }
  if (ran.empty()) return;
  const auto time = [](const Run* run) { return results::time_s(*run); };
  const Run* const best =
      *std::ranges::min_element(ran, {}, [&](const Run* run) { return time(run).median; });
  const auto& faster = best->value(Metric::speedup);
  std::string won = fmt::format("{} takes {}", name(*best), format_seconds(time(best).median));
  if (best->order == deck::Order::sequential && ran.size() > 1) {
    won = "no order is faster than sequential";
  } else if (faster) {
    won = fmt::format("{} is {:.2f}x as fast as sequential", name(*best), faster->median);
    if (const auto saved = results::shown_efficiency(*best, phase.runs)) {
      won += fmt::format(", {} of what overlap could save", base::format_percent(saved->median));
    }
  }
  std::vector<std::string> same;
  for (const Run* const run : ran) {
    if (run != best && time(run).lo <= time(best).hi) same.push_back(name(*run));
  }
  if (!same.empty() && best->order != deck::Order::sequential) {
    won += fmt::format("; {} {} the same within {}", fmt::join(same, ", "),
                       same.size() == 1 ? "is" : "are",
                       same.size() == 1 ? "its interval" : "their intervals");
  }
  std::vector<std::string> limits;
  if (best->bounds) {
    limits.push_back(fmt::format("limited by {}: {} of the time is what the hardware needs",
                                 best->bounds->limit,
                                 base::format_percent(best->bounds->bound_s / time(best).median)));
  }
  std::set<std::string> noise;
  for (const results::Finding& finding : phase.result.findings) {
    const bool here = phase.point.is(finding.point, finding.phase);
    if (here && experiment::is_noise(finding.cause)) noise.insert(finding.cause);
  }
  limits.push_back(noise.empty()
                       ? "the machine was steady"
                       : fmt::format("the machine was not steady: {}", fmt::join(noise, ", ")));
  blocks.push_back({Text{.lines = {won, fmt::format("{}", fmt::join(limits, "; "))}}});
}

void add_phase(Blocks& blocks, const Phase& phase) {
  if (phase.point.phase == deck::Phase::together) {
    blocks.push_back({Heading{.text = "together with the other devices of the node"}});
  }
  if (phase.runs.empty()) return;
  const bool predicts = phase.result.predicts();
  if (predicts) {
    add_predictions(blocks, phase);
  } else if (phase.ran()) {
    add_orders(blocks, phase);
  }
  std::ranges::move(pictures(phase.runs, predicts), std::back_inserter(blocks));
  add_soak(blocks, phase);
  add_details(blocks, phase);
  add_checks(blocks, phase);
  add_conclusion(blocks, phase);
}

}  // namespace

Column text_column(std::string heading, int drop) {
  return {.heading = std::move(heading), .number = false, .drop = drop};
}
Column number_column(std::string heading, int drop) {
  return {.heading = std::move(heading), .drop = drop};
}

void add_table(Blocks& blocks, Table table, Detail detail) {
  if (table.rows.empty()) return;
  for (std::size_t i = table.columns.size(); i-- > 1;) {
    const bool empty = std::ranges::all_of(
        table.rows, [&](const auto& row) { return row[i].text == "-" || row[i].text.empty(); });
    if (!empty) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
  blocks.push_back({std::move(table), detail});
}

void add_text(Blocks& blocks, std::string line, Detail detail) {
  blocks.push_back({Text{.lines = {std::move(line)}}, detail});
}

void add_facts(Blocks& blocks, const Facts& facts, Detail detail) {
  Table table{.columns = {text_column(""), text_column("")}};
  for (const auto& [name, value] : facts) table.rows.push_back({name, value});
  if (!table.rows.empty()) blocks.push_back({std::move(table), detail});
}

Blocks findings(const Result& result) {
  Blocks blocks;
  if (result.sweeps()) {
    add_sweep(blocks, result);
    return blocks;
  }
  for (const Phase& phase : phases(result)) add_phase(blocks, phase);
  if (result.verified_runs > 0) {
    const bool product = std::ranges::any_of(result.runs, [](const Run& r) { return !!r.product; });
    add_text(blocks,
             fmt::format("{} verified {} in {}", base::counted(result.verified_runs, "run"),
                         product ? "by Freivalds' check" : "element by element",
                         format_seconds(result.reference_s)),
             Detail::verbose);
  }
  return blocks;
}

std::vector<std::string> reasons(const Result& result, bool with_errors) {
  constexpr std::size_t most = 8;
  std::vector<std::string> lines;
  std::size_t shown = 0;
  for (const results::Point& point : result.points) {
    for (const std::string& reason : point.reasons) {
      if (!with_errors && reason == point.ended_by) continue;
      if (point.exit_code != result.code || ++shown > most) continue;
      lines.push_back((result.sweeps() ? point.name() + ": " : "") + base::one_line(reason));
    }
  }
  if (shown > most) lines.push_back(fmt::format("and {} more", shown - most));
  return lines;
}

Blocks verdict(const Result& result, bool named, bool with_errors) {
  if (result.predicts() && result.verdict == results::Verdict::pass) return {};
  return {{VerdictLine{.verdict = result.verdict,
                       .subject = named ? "verdict of " + result.deck.name() : "verdict",
                       .reasons = reasons(result, with_errors)}}};
}

Report report(const Results& results) {
  Report report{.title = results.front().title, .data = results::to_json(results, -1)};
  for (const Result& result : results) {
    const auto add = [&](Blocks blocks) {
      std::ranges::move(blocks, std::back_inserter(report.blocks));
    };
    add(heading(result, result));
    if (!result.started.empty()) add_text(report.blocks, result.started, Detail::page);
    add(findings(result));
    add(verdict(result, results.size() > 1, true));
  }
  return report;
}

std::string svg(const Results& results) {
  std::vector<TimelinePicture> all;
  for (const Result& result : results) {
    for (Block& block : pictures(results::pointers(result.runs), true)) {
      if (auto* const shown = std::get_if<TimelinePicture>(&block.content)) {
        all.push_back(std::move(*shown));
      }
    }
  }
  return svg(results.front().title, all);
}

std::string wrong_data(const results::Part& part) {
  std::string text;
  for (const Run& run : part.runs) {
    if (!run.wrong) continue;
    const std::string point = part.point.name();
    text +=
        fmt::format("wrong data: {}order {}, chunk {}, array {}, index {}: expected {}, found {}\n",
                    point.empty() ? "" : point + ", ", name(run), run.wrong->chunk,
                    run.wrong->array, run.wrong->index, run.wrong->expected, run.wrong->found);
  }
  return text;
}

std::string order_label(const Run& run) {
  std::string label = name(run);
  if (run.order != run.issued) label += fmt::format(" ({})", deck::to_string(run.issued));
  return run.device.empty() ? label : label + " on " + run.device;
}

}  // namespace overlap::report
