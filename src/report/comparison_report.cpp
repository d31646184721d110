#include "report/comparison_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/run_report.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Change;
using results::Comparison;
using results::Trend;

std::string percent_off(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.2f} %", 100 * (ratio - 1)) : "-";
}

std::string spell(const std::optional<base::Summary>& value, deck::Metric metric) {
  return value ? results::spell(metric, value->median) : "-";
}

/// The order, or of a metric of the device `other`, with the point of a sweep.
std::string change_name(const Change& change, const std::string& other = "-") {
  return (change.order == "-" ? other : change.order) +
         (change.point.empty() ? "" : ", " + change.point);
}

Cell trend_cell(const Change& change) {
  const Tone tone = change.trend == Trend::slower   ? Tone::bad
                    : change.trend == Trend::faster ? Tone::good
                                                    : Tone::plain;
  return {std::string(deck::to_string(change.trend)) +
              (change.ratio && !change.ratio->covers ? ", few samples" : ""),
          tone};
}

Cell change_verdict(const Change& change) {
  if (!change.verdict) return "not judged";
  const auto verdict = *change.verdict;
  return {std::string(deck::to_string(verdict)), verdict == results::Verdict::pass ? Tone::good
                                                 : verdict == results::Verdict::fail
                                                     ? Tone::bad
                                                     : Tone::doubtful};
}

Table change_table(const Comparison& comparison) {
  Table table{
      .columns = {text_column("order"), text_column("metric"), number_column("A"),
                  number_column("B"), number_column("change"), number_column("95 % interval", 1),
                  text_column("trend"), text_column("verdict")},
      .rows = {},
      .most_rows = 1000};
  for (const Change& change : comparison.changes) {
    const auto& ratio = change.ratio;
    table.rows.push_back({change_name(change), deck::to_string(change.metric),
                          spell(change.a, change.metric), spell(change.b, change.metric),
                          ratio ? percent_off(ratio->value) : "-",
                          ratio ? percent_off(ratio->lo) + " .. " + percent_off(ratio->hi) : "-",
                          trend_cell(change), change_verdict(change)});
  }
  return table;
}

/// Each ratio with its interval; a curve per trend, and the range that counts as the same.
Chart ratio_chart(const Comparison& comparison) {
  Chart chart{.title = "B / A - 1, with its 95 % interval",
              .x = {.name = ""},
              .y = {.name = "change, %"},
              .series = {}};
  for (const auto& trend : deck::words<Trend>) {
    Chart::Series dots{.name = std::string(trend.name), .points = {}, .joined = false};
    for (std::size_t i = 0; i < comparison.changes.size(); ++i) {
      const Change& change = comparison.changes[i];
      const auto& ratio = change.ratio;
      if (change.trend != trend.value || !ratio || !std::isfinite(ratio->lo) ||
          !std::isfinite(ratio->hi)) {
        continue;
      }
      const auto off = [](double value) { return 100 * (value - 1); };
      dots.points.push_back({.x = static_cast<double>(i),
                             .y = off(ratio->value),
                             .lo = off(ratio->lo),
                             .hi = off(ratio->hi),
                             .words = percent_off(ratio->value)});
    }
    if (!dots.points.empty()) chart.series.push_back(std::move(dots));
  }
  for (const Change& change : comparison.changes) {
    const std::string metric(deck::to_string(change.metric));
    chart.x.categories.push_back(change.order == "-" ? change_name(change, metric)
                                                     : change_name(change) + " " + metric);
  }
  for (const double limit : {-100 * results::same_within, 100 * results::same_within}) {
    const auto last = static_cast<double>(comparison.changes.size()) - 1;
    chart.series.push_back({.name = fmt::format("same: {:+g} %", limit),
                            .points = {{.x = 0, .y = limit}, {.x = last, .y = limit}},
                            .muted = true});
  }
  return chart;
}

void add_comparison(Blocks& blocks, const Comparison& comparison) {
  blocks.push_back({Heading{.text = base::one_line(fmt::format("{}: {} -> {}", comparison.deck,
                                                               comparison.a, comparison.b))}});
  Table differences{.columns = {text_column("differs"), text_column("A"), text_column("B")},
                    .rows = {},
                    .most_rows = 1000};
  for (const auto& [key, a, b] : comparison.differences) differences.rows.push_back({key, a, b});
  if (!differences.rows.empty()) blocks.push_back({std::move(differences)});
  if (comparison.changes.empty()) return;  // a device is missing
  blocks.push_back({ratio_chart(comparison), Detail::page});
  blocks.push_back({change_table(comparison)});
}

}  // namespace

/// Part of comparison_report(): results side by side.
void add_side_by_side(Blocks& blocks, const results::SideBySide& all);

Report comparison_report(const results::Comparisons& comparisons) {
  if (comparisons.side_by_side) {
    Report report{.title = "Side by side", .data = {}, .blocks = {}};
    add_side_by_side(report.blocks, *comparisons.side_by_side);
    return report;
  }
  Report report{.title = fmt::format("Comparison: {}", deck::to_string(comparisons.verdict())),
                .data = {},
                .blocks = {}};
  for (const Comparison& comparison : comparisons.all) add_comparison(report.blocks, comparison);
  report.blocks.push_back(
      {VerdictLine{.verdict = comparisons.verdict(), .subject = "verdict", .reasons = {}}});
  return report;
}

}  // namespace overlap::report
