#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/diagnosis.hpp"
#include "report/reports.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using base::format_seconds;
using deck::Metric;
using results::Result;
using results::Run;

TimelinePicture picture(const Run& run, const results::Timeline& timeline, double axis_s) {
  TimelinePicture picture{.title = order_label(run), .timeline = timeline, .axis_s = axis_s};
  if (run.ran()) picture.median_s = results::time_s(run).median;
  if (run.bounds) picture.bound_s = run.bounds->bound_s;
  return picture;
}

/// The end of the time axis that all timelines of a device share.
double axis_s(const std::vector<Run>& runs, const std::string& device) {
  double longest = 0;
  for (const Run& run : runs) {
    if (run.device != device) continue;
    for (const auto* const timeline : {&run.timeline, &run.predicted_timeline}) {
      if (*timeline) longest = std::max(longest, results::end_s(**timeline));
    }
    if (run.ran()) longest = std::max(longest, results::time_s(run).median);
  }
  return longest;
}

/// "8.616 ms, speed-up 1.50: copies run during kernels, because ...".
std::string predicted_note(const Run& run, const std::vector<Run>& runs) {
  std::string note = format_seconds(run.predicted_s.value_or(0));
  const auto faster = results::predicted(Metric::speedup, run, runs);
  if (faster && run.order != deck::Order::sequential) {
    note += fmt::format(", speed-up {:.2f}", faster->median);
  }
  const std::string why = explain(run);
  return note + (why.empty() ? "" : ": ") + why;
}

Blocks pictures(const std::vector<Run>& runs, bool predicts) {
  constexpr std::size_t most_tasks = 64;  // that fit on a screen
  Blocks blocks;
  for (const Run& run : runs) {
    const double end_s = axis_s(runs, run.device);
    if (!run.untraced.empty()) {
      add(blocks, fmt::format("{}, not traced: {}", name(run), run.untraced));
    }
    if (run.timeline) {
      TimelinePicture shown = picture(run, *run.timeline, end_s);
      const results::Trace trace = run.trace.value_or(results::Trace());
      shown.note = explain(run);
      shown.caption =
          fmt::format("traced by {} ({} against the median{})", trace.source,
                      base::format_change(trace.perturbation), trace.doubtful ? ": doubtful" : "");
      const bool fits = shown.timeline.size() <= most_tasks;
      blocks.push_back({std::move(shown), fits ? Detail::always : Detail::page});
    }
    if (run.predicted_timeline) {
      TimelinePicture shown = picture(run, *run.predicted_timeline, end_s);
      if (!predicts) shown.caption = "predicted";
      if (predicts) shown.note = predicted_note(run, runs);
      blocks.push_back({std::move(shown), predicts ? Detail::always : Detail::page});
    }
  }
  return blocks;
}

/// Throughput over the repetitions of a soak; clocks, temperature and power over its time.
void add_soak(Blocks& blocks, const results::Point& point) {
  const auto chart = [&](const char* title, const char* x, std::vector<Chart::Series> series) {
    std::erase_if(series, [](const Chart::Series& curve) { return curve.points.empty(); });
    if (series.empty()) return;
    blocks.push_back(
        {Chart{.title = title, .x = {.name = x}, .y = {.name = title}, .series = std::move(series)},
         Detail::page});
  };
  constexpr std::size_t most_points = 512;
  std::vector<Chart::Series> rates;
  for (const Run& run : point.runs) {
    Chart::Series& series = rates.emplace_back(Chart::Series{.name = name(run)});
    const auto rate = [&](double s) { return 1e-9 * static_cast<double>(run.bytes()) / s; };
    const std::vector<double>& samples = run.samples_s;
    const std::size_t step = samples.size() / most_points + 1;
    for (std::size_t i = 0; i < samples.size() && run.bytes() > 0; i += step) {
      const auto first = samples.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = first + static_cast<std::ptrdiff_t>(std::min(step, samples.size() - i));
      const base::Summary time_s = base::summarize({first, end});
      const std::size_t number = i * static_cast<std::size_t>(run.repetitions) / samples.size();
      series.points.push_back({.x = static_cast<double>(number),
                               .y = rate(time_s.median),
                               .lo = rate(time_s.max),
                               .hi = rate(time_s.min)});
    }
  }
  chart("throughput during the soak, GB/s, medians", "repetition", std::move(rates));
  const auto health = [&](const char* title, auto value) {
    Chart::Series series{.name = title};
    for (const results::HealthPoint& at : point.device.health_series) {
      if (at.*value) series.points.push_back({.x = at.at_s, .y = *(at.*value)});
    }
    chart(title, "time, s", {std::move(series)});
  };
  health("SM clock, MHz", &results::HealthPoint::sm_clock_mhz);
  health("temperature, °C", &results::HealthPoint::temperature_c);
  health("power, W", &results::HealthPoint::power_w);
}

/// What overlap brought, which order won, what limits it, and whether the machine was steady.
void add_conclusion(Blocks& blocks, const results::Point& point) {
  std::vector<const Run*> ran;
  for (const Run& run : point.runs) {
    if (run.ran() && !run.disturbance && !run.host_work && !run.wrong) ran.push_back(&run);
  }
  if (ran.empty()) return;
  const auto time = [](const Run* run) { return results::time_s(*run); };
  const Run* const best =
      *std::ranges::min_element(ran, {}, [&](const Run* run) { return time(run).median; });
  const bool wins = best->order != deck::Order::sequential;
  const auto& faster = best->value(Metric::speedup);
  std::string won = fmt::format("{} takes {}", name(*best), format_seconds(time(best).median));
  if (!wins && ran.size() > 1) {
    won = "no order is faster than sequential";
  } else if (faster) {
    won = fmt::format("{} is {:.2f}x as fast as sequential", name(*best), faster->median);
    if (const auto saved = results::shown_efficiency(*best, point.runs)) {
      won += fmt::format(", {} of what overlap could save", base::format_percent(saved->median));
    }
  }
  std::vector<std::string> same;
  for (const Run* const run : ran) {
    if (wins && run != best && time(run).lo <= time(best).hi) same.push_back(name(*run));
  }
  if (!same.empty()) won += fmt::format("; the same within intervals: {}", fmt::join(same, ", "));
  std::vector<std::string> limits;
  if (best->bounds) {
    limits.push_back(fmt::format("limited by {}: {} of the time is what the hardware needs",
                                 best->bounds->limit,
                                 base::format_percent(best->bounds->bound_s / time(best).median)));
  }
  std::set<std::string> noise;
  for (const results::Finding& finding : point.findings) {
    if (experiment::is_noise(finding.cause)) noise.insert(finding.cause);
  }
  limits.push_back(noise.empty()
                       ? "the machine was steady"
                       : fmt::format("the machine was not steady: {}", fmt::join(noise, ", ")));
  blocks.push_back({Text{.lines = {won, fmt::format("{}", fmt::join(limits, "; "))}}});
}

void add_phase(Blocks& blocks, const Result& result, const results::Point& point) {
  if (point.phase == deck::Phase::together) {
    blocks.push_back({Heading{.text = "together with the other devices of the node"}});
  }
  if (point.runs.empty()) return;
  if (result.predicts()) {
    add_predictions(blocks, point, result.predicted_for);
  } else {
    add_orders(blocks, point);
  }
  add_explanations(blocks, point);
  std::ranges::move(pictures(point.runs, result.predicts()), std::back_inserter(blocks));
  const describe::Json duration = describe::value_at(result.deck.resolved, "measure.duration");
  if (duration.is_number()) add_soak(blocks, point);
  add_details(blocks, point);
  add_checks(blocks, point);
  add_conclusion(blocks, point);
}

}  // namespace

void add_facts(Blocks& blocks, const Facts& facts) {
  Table table{.columns = {"", ""}};
  for (const auto& [name, value] : facts) table.rows.push_back({name, value});
  add(blocks, std::move(table));
}

Blocks body(const Result& result) {
  Blocks blocks;
  if (result.sweeps()) {
    add_sweep(blocks, result);
    return blocks;
  }
  int verified_runs = 0;
  double verification_s = 0;
  bool product = false;
  for (const results::Point& point : result.points) {
    if (point.outcome) add_phase(blocks, result, point);
    verified_runs += point.verified_runs;
    verification_s += point.verification_s;
    product =
        product || std::ranges::any_of(point.runs, [](const Run& run) { return !!run.product; });
  }
  if (verified_runs > 0) {
    add(blocks,
        fmt::format("{} verified {} in {}", base::counted(verified_runs, "run"),
                    product ? "by Freivalds' check" : "element by element",
                    format_seconds(verification_s)),
        Detail::verbose);
  }
  return blocks;
}

/// Reasons for the verdict, one line each; of many the first and the number of the others.
static std::vector<std::string> reasons(const Result& result, bool with_errors) {
  constexpr std::size_t most = 8;
  std::vector<std::string> lines;
  std::size_t shown = 0;
  for (const results::Point& point : result.points) {
    if (!point.outcome || point.outcome->exit_code != result.code) continue;
    for (const std::string& reason : point.outcome->reasons) {
      if ((!with_errors && reason == point.outcome->error) || ++shown > most) continue;
      lines.push_back((result.sweeps() ? point.name() + ": " : "") + base::one_line(reason));
    }
  }
  if (shown > most) lines.push_back(fmt::format("and {} more", shown - most));
  if (with_errors && lines.empty() && result.error) {
    lines.push_back(base::one_line(*result.error));
  }
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
  auto code = base::ExitCode::pass;
  for (const Result& result : results) {
    code = base::worst(code, result.code);
    std::ranges::move(heading(result, result.points.front()), std::back_inserter(report.blocks));
    if (!result.started.empty()) add(report.blocks, result.started, Detail::page);
    std::ranges::move(body(result), std::back_inserter(report.blocks));
    std::ranges::move(verdict(result, results.size() > 1, true), std::back_inserter(report.blocks));
  }
  if (!results.front().predicts() || code != base::ExitCode::pass) {
    report.verdict = results::verdict_of(code);
  }
  return report;
}

std::string json(const Results& results) { return results::to_json(results); }

std::string html(const Results& results) { return page(report(results)); }

std::string sweep_options() {
  std::set<std::string> options;
  for (const Writer& writer : writers) {
    const std::string suffix(writer.suffix);
    if (writer.takes_sweeps) {
      options.insert(std::string(writer.option) + (suffix.empty() ? "" : " FILE" + suffix));
    }
  }
  return fmt::format("{}", fmt::join(options, ", "));
}

std::string svg(const Results& results) {
  Blocks blocks;
  for (const Result& result : results) {
    for (const results::Point& point : result.points) {
      std::ranges::move(pictures(point.runs, result.predicts()), std::back_inserter(blocks));
    }
  }
  return svg(results.front().title, blocks);
}

std::string wrong_data(const results::Point& point) {
  std::string text;
  for (const Run& run : point.runs) {
    if (!run.wrong) continue;
    const std::string place = point.name();
    text +=
        fmt::format("wrong data: {}order {}, chunk {}, array {}, index {}: expected {}, found {}\n",
                    place.empty() ? "" : place + ", ", name(run), run.wrong->chunk,
                    run.wrong->array, run.wrong->index, run.wrong->expected, run.wrong->found);
  }
  return text;
}

std::string order_label(const Run& run) {
  return run.device.empty() ? name(run) : name(run) + " on " + run.device;
}

}  // namespace overlap::report
