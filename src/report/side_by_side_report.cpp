#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/units.hpp"
#include "report/comparison_report.hpp"
#include "report/csv.hpp"

namespace overlap::report {
namespace {

using results::Match;
using results::Matched;
using results::SharedDeck;
using results::SideBySide;

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

/// A table with a column for each of the numbered columns.
Table numbered(const SideBySide& all, const char* first) {
  Table table{.columns = {first}};
  for (std::size_t i = 1; i <= all.columns.size(); ++i)
    table.columns.emplace_back(std::to_string(i));
  return table;
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
  Table table = numbered(all, "order");
  for (const Match& match : deck.matches) {
    table.rows.push_back({match_name(match)});
    table.rows.back().resize(table.columns.size());
    for (const FigureRow& figure : figure_rows) {
      std::vector<Cell> row = {"  " + fmt::format(fmt::runtime(figure.name), all.to)};
      for (const auto& matched : match.columns) row.emplace_back(text_if(matched, figure.text));
      const auto has = [](const Cell& cell) { return cell.text != "-"; };
      if (std::count_if(row.begin(), row.end(), has) > 1) table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table column_table(const SideBySide& all) {
  Table table{.columns = {"column"}};
  for (const results::ColumnField& field : results::column_fields) {
    table.columns.emplace_back(field.heading, field.drop);
  }
  for (const results::Column& column : all.columns) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(table.rows.size());
    for (const auto& field : results::column_fields) row.emplace_back(column.*field.text);
    if (table.rows.size() == all.to) row[1].tone = Tone::good;
  }
  return table;
}

/// The measured timelines of a deck, all on one axis, with median time and bound of each machine.
void add_timelines(Blocks& blocks, const SideBySide& all, const SharedDeck& deck) {
  double axis_s = 0;
  for (const Match& match : deck.matches) {
    for (const std::optional<Matched>& matched : match.columns) {
      if (!matched || !matched->timeline) continue;
      axis_s = std::max({axis_s, matched->time_s.median, results::end_s(*matched->timeline)});
    }
  }
  if (axis_s == 0) return;
  for (const Match& match : deck.matches) {
    blocks.push_back({Heading{.text = match_name(match), .level = 3}, Detail::page});
    for (std::size_t i = 0; i < all.columns.size(); ++i) {
      if (!match.columns[i]) continue;
      const Matched& matched = *match.columns[i];
      TimelinePicture picture{.title = fmt::format("{} {}", i + 1, all.columns[i].title),
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

CsvCells cells_of(const SideBySide& all, const SharedDeck& deck, const Match& match,
                  std::size_t number) {
  const Matched& matched = *match.columns[number];
  CsvCells cells = {{"deck", deck.title},
                    {"workload", workload_text(deck)},
                    {"point", match.point},
                    {"order", match.order},
                    {"column", number + 1}};
  for (const auto& field : results::column_fields) {
    cells.emplace_back(field.key, all.columns[number].*field.text);
  }
  add_times(cells, matched.time_s);
  const auto ratio = [&](double base::Estimate::* part) {
    return matched.ratio ? std::optional((*matched.ratio).*part) : std::nullopt;
  };
  cells.insert(cells.end(), {{"speedup", matched.speedup},
                             {"overlap_efficiency", matched.overlap_efficiency},
                             {"bound_s", matched.bound_s},
                             {"bound_fraction", matched.bound_fraction},
                             {"to", all.to},
                             {"ratio", ratio(&base::Estimate::value)},
                             {"ratio_lo", ratio(&base::Estimate::lo)},
                             {"ratio_hi", ratio(&base::Estimate::hi)}});
  return cells;
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
    Table settings = numbered(all, "differs");
    for (const results::Setting& setting : deck.differences) {
      std::vector<Cell>& row = settings.rows.emplace_back(1, setting.key);
      row.insert(row.end(), setting.values.begin(), setting.values.end());
    }
    if (!settings.rows.empty()) blocks.push_back({std::move(settings)});
    if (!deck.matches.empty()) blocks.push_back({order_table(all, deck)});
    add_timelines(blocks, all, deck);
  }
}

std::string side_by_side_csv(const SideBySide& all) {
  std::vector<CsvCells> rows;
  for (const SharedDeck& deck : all.decks) {
    for (const Match& match : deck.matches) {
      for (std::size_t i = 0; i < all.columns.size(); ++i) {
        if (match.columns[i]) rows.push_back(cells_of(all, deck, match, i));
      }
    }
  }
  const SideBySide one{.columns = std::vector<results::Column>(1)};
  return csv_text(cells_of(one, {}, {.columns = {Matched()}}, 0), rows);
}

}  // namespace overlap::report
