#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Change;
using results::Columns;
using results::Comparison;
using results::Figure;
using results::Pivot;
using results::Trend;

std::string percent_off(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.2f} %", 100 * (ratio - 1)) : "-";
}

/// The order, with the point of a sweep.
std::string with_point(const std::string& order, const std::string& point) {
  return order + (point.empty() ? "" : ", " + point);
}

Cell trend_cell(const Change& change) {
  const Tone tone = change.trend == Trend::slower   ? Tone::bad
                    : change.trend == Trend::faster ? Tone::good
                                                    : Tone::plain;
  const bool few = change.ratio && !change.ratio->covers;
  return {fmt::format("{}{}", deck::to_string(change.trend), few ? ", few samples" : ""), tone};
}

Table change_table(const Comparison& comparison) {
  Table table{
      .columns = {
          "order", "metric", {"A", 2}, {"B", 1}, "change", "95 % interval", "trend", "verdict"}};
  for (const Change& change : comparison.changes) {
    const auto& ratio = change.ratio;
    const auto spelled = [&](const base::Summary& value) {
      return results::spell(change.key.metric, value.median);
    };
    table.rows.push_back({with_point(change.run, change.point), deck::to_string(change.key.metric),
                          text_if(change.a, spelled), text_if(change.b, spelled),
                          ratio ? percent_off(ratio->value) : "-",
                          ratio ? percent_off(ratio->lo) + " .. " + percent_off(ratio->hi) : "-",
                          trend_cell(change),
                          change.verdict ? Cell(*change.verdict) : Cell("not judged")});
  }
  return table;
}

/// Each ratio with its interval; a curve per trend, and the range that counts as the same.
Chart ratio_chart(const Comparison& comparison) {
  Chart chart{.title = "B / A - 1, with its 95 % interval", .y = {.name = "change, %"}};
  constexpr double same = 100 * results::same_within;
  Chart::Series low{.name = fmt::format("same: {:+g} %", -same), .muted = true};
  Chart::Series high{.name = fmt::format("same: {:+g} %", same), .muted = true};
  for (const auto& trend : deck::words<Trend>)
    chart.series.push_back({.name = std::string(trend.name), .joined = false});
  for (const Change& change : comparison.changes) {
    const auto& ratio = change.ratio;
    if (!ratio || !std::isfinite(ratio->lo) || !std::isfinite(ratio->hi)) continue;
    const auto x = static_cast<double>(chart.x.categories.size());
    const auto off = [](double value) { return 100 * (value - 1); };
    std::ranges::find(chart.series, deck::to_string(change.trend), &Chart::Series::name)
        ->points.push_back({.x = x,
                            .y = off(ratio->value),
                            .lo = off(ratio->lo),
                            .hi = off(ratio->hi),
                            .label = percent_off(ratio->value)});
    low.points.push_back({.x = x, .y = -same});
    high.points.push_back({.x = x, .y = same});
    chart.x.categories.push_back(fmt::format("{} {}", with_point(change.run, change.point),
                                             deck::to_string(change.key.metric)));
  }
  chart.series.insert(chart.series.end(), {std::move(low), std::move(high)});
  std::erase_if(chart.series, [](const Chart::Series& series) { return series.points.empty(); });
  return chart;
}

/// The settings that differ, with a column for each result.
void add_differences(Blocks& blocks, const std::vector<results::Setting>& settings,
                     std::vector<Column> columns, Detail detail = Detail::always) {
  Table table{.columns = std::move(columns)};
  for (const auto& [key, values] : settings) {
    table.rows.emplace_back(1, key).insert(table.rows.back().end(), values.begin(), values.end());
  }
  if (!table.rows.empty()) blocks.push_back({std::move(table), detail});
}

void add_comparison(Blocks& blocks, const Comparison& comparison) {
  blocks.push_back({Heading{.text = base::one_line(fmt::format("{}: {} -> {}", comparison.deck,
                                                               comparison.a, comparison.b))}});
  add_differences(blocks, comparison.differences, {"differs", "A", "B"});
  if (comparison.changes.empty()) return;  // a device is missing
  if (Chart chart = ratio_chart(comparison); !chart.series.empty()) {
    blocks.push_back({std::move(chart), Detail::page});
  }
  add(blocks, change_table(comparison));
}

// Side by side.

/// A heading and the numbers of the columns.
std::vector<Column> numbered(const char* first, std::size_t count) {
  std::vector<Column> columns = {first};
  for (std::size_t i = 1; i <= count; ++i) columns.emplace_back(std::to_string(i));
  return columns;
}

bool is_time(const Pivot::Line& line) { return first_of(line).key.metric == deck::Metric::time; }

std::string line_name(const Pivot::Line& line) {
  const Figure& row = first_of(line);
  return with_point(row.run == nullptr ? "device" : row.run_name(), point_name(line));
}

std::string ratio_text(const base::Estimate& ratio) {
  const std::string value = base::format_number(ratio.value);
  if (ratio.lo == ratio.hi) return value;
  return fmt::format("{} ({} .. {})", value, base::format_number(ratio.lo),
                     base::format_number(ratio.hi));
}

/// Rows of each order: its metrics, "-" if missing, without those that no column has.
Table figure_table(const Pivot& pivot, std::size_t to) {
  Table table{.columns = numbered("order", pivot.columns.size())};
  std::string last;
  for (const Pivot::Line& line : pivot.lines) {
    const deck::Metric metric = first_of(line).key.metric;
    const std::string name = line_name(line);
    const auto add = [&](const std::string& heading, const auto& text_of) {
      std::vector<Cell> row = {"  " + heading};
      for (std::size_t i = 0; i < line.size(); ++i) {
        row.emplace_back(line[i] != nullptr ? text_of(i) : "-");
      }
      const auto missing = [](const Cell& cell) { return cell.text == "-"; };
      if (std::all_of(row.begin() + 1, row.end(), missing)) return;
      if (std::exchange(last, name) != name) {
        table.rows.push_back({name});
        table.rows.back().resize(table.columns.size());
      }
      table.rows.push_back(std::move(row));
    };
    add(std::string(deck::to_string(metric)), [&](std::size_t i) {
      return text_if(results::shown(*line[i]),
                     [&](const base::Summary& s) { return results::spell(metric, s.median); });
    });
    if (!is_time(line)) continue;
    add("95 % interval",
        [&](std::size_t i) { return interval(line[i]->value, base::format_seconds); });
    add(fmt::format("time / column {}", to),
        [&](std::size_t i) { return text_if(results::ratio(line, i, to - 1), ratio_text); });
  }
  return table;
}

/// The measured timelines of a deck, all on one axis, with median time and bound of each machine.
void add_timelines(Blocks& blocks, const Pivot& pivot,
                   const std::vector<const results::Result*>& results) {
  double axis_s = 0;
  for (const Pivot::Line& line : pivot.lines) {
    for (const Figure* const row : line) {
      if (row == nullptr || !is_time(line) || !row->run->timeline) continue;
      axis_s = std::max(
          {axis_s, results::time_s(*row->run).median, results::end_s(*row->run->timeline)});
    }
  }
  if (axis_s == 0) return;
  for (const Pivot::Line& line : pivot.lines) {
    if (!is_time(line)) continue;
    blocks.push_back({Heading{.text = line_name(line), .level = 3}, Detail::page});
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == nullptr) continue;
      const results::Run& run = *line[i]->run;
      const double median_s = line[i]->value->median;
      TimelinePicture picture{
          .title = fmt::format("{} {}", i + 1, results::subject_of(results[i]->machine).device),
          .caption = base::format_seconds(median_s),
          .timeline = run.timeline.value_or(results::Timeline()),
          .axis_s = axis_s,
          .median_s = median_s};
      if (run.bounds) picture.bound_s = run.bounds->bound_s;
      if (!run.timeline) picture.caption += ", no timeline";
      if (run.trace && run.trace->doubtful) {
        picture.caption += fmt::format("; doubtful: {} against the median",
                                       base::format_change(run.trace->perturbation));
      }
      blocks.push_back({std::move(picture), Detail::page});
    }
  }
}

}  // namespace

Report comparison_report(const Columns& columns) {
  Report report{.title = "Side by side"};
  Table files{.columns = {"column", "device", "back end", {"host", 2}, {"file", 1}}};
  std::vector<results::Keys> machines;
  for (const auto& results : columns.files) {
    const results::Origin from = origin(results.front());
    files.rows.push_back(
        {files.rows.size() + 1, from.subject.device, from.subject.backend, from.host, from.file});
    machines.push_back(machine_keys(results.front()));
  }
  report.blocks.push_back({std::move(files)});
  add_differences(report.blocks, results::differences(machines),
                  numbered("differs", machines.size()), Detail::verbose);
  for (const auto& [deck, results] : by_deck(columns)) {
    report.blocks.push_back({Heading{.text = deck.title}});
    Text text{.lines = {deck.workload}};
    std::vector<results::Keys> keys;
    for (const results::Result* const result : results) {
      keys.push_back(result != nullptr ? deck_keys(*result) : results::Keys());
      if (result == nullptr || !result->error) continue;
      text.lines.push_back(fmt::format("column {}: {}", keys.size(), *result->error));
    }
    report.blocks.push_back({std::move(text)});
    add_differences(report.blocks, results::differences(keys), numbered("differs", keys.size()));
    const Pivot pivot(results);
    Table figures = figure_table(pivot, columns.to);
    if (!figures.rows.empty()) report.blocks.push_back({std::move(figures)});
    add_timelines(report.blocks, pivot, results);
  }
  return report;
}

Report comparison_report(const results::Comparisons& comparisons) {
  Report report{.title = "Comparison", .verdict = comparisons.verdict()};
  for (const Comparison& comparison : comparisons.pairs) add_comparison(report.blocks, comparison);
  report.blocks.push_back({VerdictLine{.verdict = comparisons.verdict(), .subject = "verdict"}});
  return report;
}

std::string json(const results::Comparisons& comparisons) {
  return results::json_text(describe::write(comparisons), 2) + "\n";
}

std::string html(const results::Comparisons& comparisons) {
  return page(comparison_report(comparisons));
}

std::string html(const Columns& columns) { return page(comparison_report(columns)); }

}  // namespace overlap::report
