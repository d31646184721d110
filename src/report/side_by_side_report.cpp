#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "base/units.hpp"
#include "report/comparison_report.hpp"
#include "report/csv.hpp"
#include "report/run_report.hpp"

namespace overlap::report {
namespace {

using results::Match;
using results::Matched;
using results::SharedDeck;
using results::SideBySide;

std::string range_text(std::string lo, const std::string& hi) {
  const std::size_t unit = lo.find(' ');
  if (unit != std::string::npos && hi.ends_with(lo.substr(unit))) lo.resize(unit);
  return lo + " .. " + hi;
}

std::string ratio_text(const base::Estimate& ratio) {
  const std::string value = base::format_number(ratio.value);
  if (ratio.lo == ratio.hi) return value;
  return fmt::format("{} ({})", value,
                     range_text(base::format_number(ratio.lo), base::format_number(ratio.hi)));
}

/// A figure of tables; "" where a column does not have it.
struct FigureRow {
  const char* name;
  std::string (*text)(const Matched&);
};
constexpr auto figure_rows = std::to_array<FigureRow>({
    {"time", [](const Matched& m) { return base::format_seconds(m.time_s.median); }},
    {"95 % interval",
     [](const Matched& m) {
       return range_text(base::format_seconds(m.time_s.lo), base::format_seconds(m.time_s.hi));
     }},
    {"speed-up",
     [](const Matched& m) { return m.speedup ? fmt::format("{:.2f}", *m.speedup) : ""; }},
    {"overlap efficiency",
     [](const Matched& m) {
       return m.overlap_efficiency ? fmt::format("{:.3f}", *m.overlap_efficiency) : "";
     }},
    {"bound", [](const Matched& m) { return m.bound_s ? base::format_seconds(*m.bound_s) : ""; }},
    {"bound / time",
     [](const Matched& m) {
       return m.bound_fraction ? base::format_percent(*m.bound_fraction) : "";
     }},
    {"time / column {}", [](const Matched& m) { return m.ratio ? ratio_text(*m.ratio) : ""; }},
});

/// Headings with the numbers of columns.
std::vector<Column> numbered(const SideBySide& all, const char* first) {
  std::vector<Column> columns = {text_column(first)};
  for (std::size_t i = 1; i <= all.columns.size(); ++i) {
    columns.push_back(number_column(std::to_string(i)));
  }
  return columns;
}

/// "increment: elements 65536, type float32"
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

std::string match_name(const Match& match) {
  return match.point.empty() ? match.order : match.order + ", " + match.point;
}

/// Rows of each order: its figures, "-" if missing, without those that no column has.
Table order_table(const SideBySide& all, const SharedDeck& deck) {
  Table table{.columns = numbered(all, "order"), .rows = {}, .most_rows = 10000};
  for (const Match& match : deck.matches) {
    table.rows.push_back({match_name(match)});
    table.rows.back().resize(table.columns.size());
    for (const FigureRow& figure : figure_rows) {
      std::vector<Cell> row = {"  " + fmt::format(fmt::runtime(figure.name), all.to + 1)};
      bool any = false;
      for (const std::optional<Matched>& matched : match.columns) {
        const std::string text = matched ? figure.text(*matched) : "";
        any = any || !text.empty();
        row.emplace_back(text.empty() ? "-" : text);
      }
      if (any) table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table column_table(const SideBySide& all) {
  Table table{.columns = {number_column("column"), text_column("title"), text_column("device"),
                          text_column("back end"), text_column("mechanism"), text_column("Kokkos"),
                          text_column("compiler", 1), text_column("host", 3),
                          text_column("file", 2)}};
  for (const results::Column& column : all.columns) {
    const auto number = table.rows.size();
    table.rows.push_back({std::to_string(number + 1),
                          Cell(column.title, number == all.to ? Tone::good : Tone::plain),
                          column.device, column.backend, column.mechanism, column.kokkos_version,
                          column.compiler, column.host, column.file});
  }
  return table;
}

/// How much longer than a column its time axis may be: bars stay wide enough to read.
constexpr double longest_axis = 8;

/// The end of the time axis of each column of a deck. Columns share the longest axis that they may.
std::vector<double> ends_of_axes_s(const SideBySide& all, const SharedDeck& deck) {
  std::vector<double> ends(all.columns.size());
  for (const Match& match : deck.matches) {
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const std::optional<Matched>& matched = match.columns[i];
      if (!matched) continue;
      ends[i] = std::max({ends[i], matched->time_s.median, matched->bound_s.value_or(0), 1e-9});
      if (matched->timeline) ends[i] = std::max(ends[i], results::end_s(*matched->timeline));
    }
  }
  std::map<double, double, std::greater<>> axes;
  for (const double end : ends) axes.emplace(end, end);
  double longest = axes.begin()->first;
  for (auto& [end, axis] : axes) {
    if (end > 0 && longest > longest_axis * end) longest = end;
    axis = longest;
  }
  for (double& end : ends) end = axes[end];
  return ends;
}

void add_timelines(Blocks& blocks, const SideBySide& all, const SharedDeck& deck) {
  const auto traced = [](const std::optional<Matched>& m) { return m && m->timeline; };
  const bool any = std::ranges::any_of(
      deck.matches, [&](const Match& match) { return std::ranges::any_of(match.columns, traced); });
  if (!any) return;
  const std::vector<double> axes = ends_of_axes_s(all, deck);
  const bool shared = std::ranges::count(axes, axes.front()) == std::ssize(axes);
  add_text(
      blocks,
      shared ? "Timelines, measured, all on one axis. Marks: median time and bound of this machine."
             : fmt::format("Timelines, measured, on several axes: times differ by more than a "
                           "factor of {:g}. Marks: median time and bound of this machine.",
                           longest_axis),
      Detail::page);
  for (const Match& match : deck.matches) {
    blocks.push_back({Heading{.text = match_name(match), .level = 3}, Detail::page});
    for (std::size_t i = 0; i < all.columns.size(); ++i) {
      if (!match.columns[i]) continue;
      const Matched& matched = *match.columns[i];
      TimelinePicture picture{.title = fmt::format("{} {}", i + 1, all.columns[i].title),
                              .caption = base::format_seconds(matched.time_s.median),
                              .timeline = matched.timeline.value_or(results::Timeline()),
                              .axis_s = axes[i],
                              .median_s = matched.time_s.median,
                              .bound_s = matched.bound_s};
      if (matched.bound_s) picture.caption += ", bound " + base::format_seconds(*matched.bound_s);
      if (!matched.timeline) picture.caption += ", no timeline";
      if (matched.trace && matched.trace->doubtful) {
        picture.caption += fmt::format("; doubtful: {:+.1f} % against the median",
                                       100 * matched.trace->perturbation);
      }
      blocks.push_back({std::move(picture), Detail::page});
    }
  }
}

std::vector<CsvCell> cells_of(const SideBySide& all, const SharedDeck& deck, const Match& match,
                              std::size_t number) {
  const results::Column& column = all.columns[number];
  const Matched& matched = *match.columns[number];
  const auto ratio = [&](double base::Estimate::* part) {
    return matched.ratio ? csv_cell((*matched.ratio).*part) : "";
  };
  const base::Summary& time = matched.time_s;
  return {{"deck", deck.title},
          {"workload", workload_text(deck)},
          {"point", match.point},
          {"order", match.order},
          {"column", std::to_string(number + 1)},
          {"title", column.title},
          {"device", column.device},
          {"backend", column.backend},
          {"mechanism", column.mechanism},
          {"kokkos_version", column.kokkos_version},
          {"compiler", column.compiler},
          {"host", column.host},
          {"file", column.file},
          {"n", std::to_string(time.n)},
          {"median_s", csv_cell(time.median)},
          {"min_s", csv_cell(time.min)},
          {"max_s", csv_cell(time.max)},
          {"lo_s", csv_cell(time.lo)},
          {"hi_s", csv_cell(time.hi)},
          {"speedup", csv_cell(matched.speedup)},
          {"overlap_efficiency", csv_cell(matched.overlap_efficiency)},
          {"bound_s", csv_cell(matched.bound_s)},
          {"bound_fraction", csv_cell(matched.bound_fraction)},
          {"to", std::to_string(all.to + 1)},
          {"ratio", ratio(&base::Estimate::value)},
          {"ratio_lo", ratio(&base::Estimate::lo)},
          {"ratio_hi", ratio(&base::Estimate::hi)}};
}

}  // namespace

/// Part of comparison_report().
void add_side_by_side(Blocks& blocks, const SideBySide& all);
void add_side_by_side(Blocks& blocks, const SideBySide& all) {
  blocks.push_back({column_table(all)});
  for (const SharedDeck& deck : all.decks) {
    blocks.push_back({Heading{.text = deck.title}});
    Text text{.lines = {workload_text(deck)}};
    for (std::size_t i = 0; i < deck.errors.size(); ++i) {
      if (deck.errors[i].empty()) continue;
      text.lines.push_back(fmt::format("column {}: {}", i + 1, deck.errors[i]));
    }
    blocks.push_back({std::move(text)});
    if (!deck.differences.empty()) {
      Table settings{.columns = numbered(all, "differs"), .rows = {}, .most_rows = 1000};
      for (const results::Setting& setting : deck.differences) {
        std::vector<Cell>& row = settings.rows.emplace_back(1, setting.key);
        row.insert(row.end(), setting.values.begin(), setting.values.end());
      }
      blocks.push_back({std::move(settings)});
    }
    if (!deck.matches.empty()) blocks.push_back({order_table(all, deck)});
    add_timelines(blocks, all, deck);
  }
}

std::string side_by_side_csv(const SideBySide& all) {
  SideBySide one;
  one.columns.resize(1);
  std::string text = csv_line(
      cells_of(one, {}, {.point = {}, .order = {}, .columns = {Matched()}}, 0), &CsvCell::name);
  for (const SharedDeck& deck : all.decks) {
    for (const Match& match : deck.matches) {
      for (std::size_t i = 0; i < all.columns.size(); ++i) {
        if (match.columns[i]) text += csv_line(cells_of(all, deck, match, i));
      }
    }
  }
  return text;
}

}  // namespace overlap::report
