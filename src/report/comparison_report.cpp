#include "report/comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Change;
using results::Comparison;
using results::Trend;

std::string percent_off(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.2f} %", 100 * (ratio - 1)) : "-";
}

/// The order, with the point of a sweep.
std::string change_name(const Change& change) {
  return change.order + (change.point.empty() ? "" : ", " + change.point);
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
      .columns = {"order", "metric", "A", "B", "change", {"95 % interval", 1}, "trend", "verdict"}};
  for (const Change& change : comparison.changes) {
    const auto& ratio = change.ratio;
    const auto spelled = [&](const base::Summary& value) {
      return results::spell(change.metric, value.median);
    };
    table.rows.push_back(
        {change_name(change), deck::to_string(change.metric), text_if(change.a, spelled),
         text_if(change.b, spelled), ratio ? percent_off(ratio->value) : "-",
         ratio ? percent_off(ratio->lo) + " .. " + percent_off(ratio->hi) : "-", trend_cell(change),
         change.verdict ? Cell(*change.verdict) : Cell("not judged")});
  }
  return table;
}

/// Each ratio with its interval; a curve per trend, and the range that counts as the same.
Chart ratio_chart(const Comparison& comparison) {
  Chart chart{.title = "B / A - 1, with its 95 % interval", .y = {.name = "change, %"}};
  for (const auto& trend : deck::words<Trend>) {
    Chart::Series dots{.name = std::string(trend.name), .joined = false};
    for (std::size_t i = 0; i < comparison.changes.size(); ++i) {
      const auto& ratio = comparison.changes[i].ratio;
      if (comparison.changes[i].trend != trend.value || !ratio || !std::isfinite(ratio->lo) ||
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
    chart.x.categories.push_back(
        fmt::format("{} {}", change_name(change), deck::to_string(change.metric)));
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
  Table differences{.columns = {"differs", "A", "B"}};
  for (const auto& [key, values] : comparison.differences) {
    differences.rows.push_back({key, values[0], values[1]});
  }
  if (!differences.rows.empty()) blocks.push_back({std::move(differences)});
  if (comparison.changes.empty()) return;  // a device is missing
  blocks.push_back({ratio_chart(comparison), Detail::page});
  add(blocks, change_table(comparison));
}

}  // namespace

/// Part of comparison_report(): results side by side.
void add_side_by_side(Blocks& blocks, const results::SideBySide& all);

Report comparison_report(const results::Comparisons& comparisons) {
  Report report{.title = "Side by side"};
  if (comparisons.side_by_side) {
    add_side_by_side(report.blocks, *comparisons.side_by_side);
    return report;
  }
  report.title = fmt::format("Comparison: {}", deck::to_string(comparisons.verdict()));
  for (const Comparison& comparison : comparisons.all) add_comparison(report.blocks, comparison);
  report.blocks.push_back({VerdictLine{.verdict = comparisons.verdict(), .subject = "verdict"}});
  return report;
}

}  // namespace overlap::report
