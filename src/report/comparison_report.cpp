#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Change;
using results::Comparison;
using results::Matched;
using results::MatchedOrder;
using results::SharedDeck;
using results::SideBySide;
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
      .columns = {
          "order", "metric", {"A", 2}, {"B", 1}, "change", "95 % interval", "trend", "verdict"}};
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
    chart.x.categories.push_back(
        fmt::format("{} {}", change_name(change), deck::to_string(change.metric)));
  }
  chart.series.insert(chart.series.end(), {std::move(low), std::move(high)});
  std::erase_if(chart.series, [](const Chart::Series& series) { return series.points.empty(); });
  return chart;
}

/// The settings that differ, with a column for each result.
void add_differences(Blocks& blocks, const std::vector<results::Setting>& settings,
                     std::vector<Column> columns) {
  Table table{.columns = std::move(columns)};
  for (const auto& [key, values] : settings) {
    table.rows.emplace_back(1, key).insert(table.rows.back().end(), values.begin(), values.end());
  }
  if (!table.rows.empty()) blocks.push_back({std::move(table)});
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

std::string ratio_text(const base::Estimate& ratio) {
  const std::string value = base::format_number(ratio.value);
  if (ratio.lo == ratio.hi) return value;
  return fmt::format("{} ({} .. {})", value, base::format_number(ratio.lo),
                     base::format_number(ratio.hi));
}

/// A figure of tables; "-" where a column does not have it.
struct FigureRow {
  const char* name;
  std::string (*text)(const Matched&);
};
constexpr auto figure_rows = std::to_array<FigureRow>({
    {"time", [](const Matched& m) { return median(m.time_s, base::format_seconds); }},
    {"95 % interval", [](const Matched& m) { return interval(m.time_s, base::format_seconds); }},
    {"speed-up", [](const Matched& m) { return text_if(m.speedup, base::format_number); }},
    {"overlap efficiency",
     [](const Matched& m) { return text_if(m.overlap_efficiency, base::format_number); }},
    {"bound", [](const Matched& m) { return text_if(m.bound_s, base::format_seconds); }},
    {"bound / time",
     [](const Matched& m) { return text_if(m.bound_fraction, base::format_percent); }},
    {"time / column {}", [](const Matched& m) { return text_if(m.ratio, ratio_text); }},
});

/// A column for each of some results, under its number.
std::vector<Column> numbered_columns(std::size_t count, const char* first) {
  std::vector<Column> columns = {first};
  for (std::size_t i = 1; i <= count; ++i) columns.emplace_back(std::to_string(i));
  return columns;
}

std::string match_name(const MatchedOrder& match) {
  return match.point.empty() ? match.order : match.order + ", " + match.point;
}

/// Rows of each order: its figures, "-" if missing, without those that no column has.
Table order_table(const SideBySide& side_by_side, const SharedDeck& deck) {
  Table table{.columns = numbered_columns(side_by_side.columns.size(), "order")};
  for (const MatchedOrder& match : deck.matches) {
    table.rows.push_back({match_name(match)});
    table.rows.back().resize(table.columns.size());
    for (const FigureRow& figure : figure_rows) {
      std::vector<Cell> row = {"  " + fmt::format(fmt::runtime(figure.name), side_by_side.to)};
      for (const auto& matched : match.columns) row.emplace_back(text_if(matched, figure.text));
      const auto has = [](const Cell& cell) { return cell.text != "-"; };
      if (std::count_if(row.begin(), row.end(), has) > 1) table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table column_table(const SideBySide& side_by_side) {
  Table table{.columns = {"column"}};
  for (const results::ColumnField& field : results::column_fields) {
    table.columns.emplace_back(field.heading, field.drop);
  }
  for (const results::ResultColumn& column : side_by_side.columns) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(table.rows.size());
    for (const auto& field : results::column_fields) row.emplace_back(column.*field.text);
    if (table.rows.size() == side_by_side.to) row[1].tone = Tone::good;
  }
  return table;
}

/// The measured timelines of a deck, all on one axis, with median time and bound of each machine.
void add_timelines(Blocks& blocks, const SideBySide& side_by_side, const SharedDeck& deck) {
  double axis_s = 0;
  for (const MatchedOrder& match : deck.matches) {
    for (const std::optional<Matched>& matched : match.columns) {
      if (!matched || !matched->timeline) continue;
      axis_s = std::max({axis_s, matched->time_s.median, results::end_s(*matched->timeline)});
    }
  }
  if (axis_s == 0) return;
  for (const MatchedOrder& match : deck.matches) {
    blocks.push_back({Heading{.text = match_name(match), .level = 3}, Detail::page});
    for (std::size_t i = 0; i < side_by_side.columns.size(); ++i) {
      if (!match.columns[i]) continue;
      const Matched& matched = *match.columns[i];
      TimelinePicture picture{.title = fmt::format("{} {}", i + 1, side_by_side.columns[i].title),
                              .caption = base::format_seconds(matched.time_s.median),
                              .timeline = matched.timeline.value_or(results::Timeline()),
                              .axis_s = axis_s,
                              .median_s = matched.time_s.median,
                              .bound_s = matched.bound_s};
      if (!matched.timeline) picture.caption += ", no timeline";
      if (matched.trace && matched.trace->doubtful) {
        picture.caption += fmt::format("; doubtful: {} against the median",
                                       base::format_change(matched.trace->perturbation));
      }
      blocks.push_back({std::move(picture), Detail::page});
    }
  }
}

void add_side_by_side(Blocks& blocks, const SideBySide& side_by_side) {
  blocks.push_back({column_table(side_by_side)});
  for (const SharedDeck& deck : side_by_side.decks) {
    blocks.push_back({Heading{.text = deck.title}});
    Text text{.lines = {workload_text(deck)}};
    for (std::size_t i = 0; i < deck.errors.size(); ++i) {
      if (deck.errors[i].empty()) continue;
      text.lines.push_back(fmt::format("column {}: {}", i + 1, deck.errors[i]));
    }
    blocks.push_back({std::move(text)});
    add_differences(blocks, deck.differences,
                    numbered_columns(side_by_side.columns.size(), "differs"));
    if (!deck.matches.empty()) blocks.push_back({order_table(side_by_side, deck)});
    add_timelines(blocks, side_by_side, deck);
  }
}

}  // namespace

std::string workload_text(const SharedDeck& deck) {
  std::string kind;
  std::vector<std::string> texts;
  for (const auto& [key, value] : deck.workload) {
    if (key == "kind") {
      kind = value;
    } else if (value != "none") {
      texts.push_back(key + " " + value);
    }
  }
  return fmt::format("{}: {}", kind, fmt::join(texts, ", "));
}

Report comparison_report(const results::Comparisons& comparisons) {
  Report report{.title = "Side by side"};
  if (comparisons.side_by_side) {
    add_side_by_side(report.blocks, *comparisons.side_by_side);
    return report;
  }
  report.title = "Comparison";
  report.verdict = comparisons.verdict();
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

}  // namespace overlap::report
