#include "report/side_by_side.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/units.hpp"
#include "report/csv.hpp"
#include "report/result_fields.hpp"

namespace overlap::report {

using base::Rows;
using experiment::Column;
using experiment::Figures;
using experiment::Match;
using experiment::Setting;
using experiment::SharedDeck;
using experiment::SideBySide;
using enum Sign;

namespace {

std::optional<double> median(const std::optional<base::Summary>& summary) {
  return summary ? std::optional(summary->median) : std::nullopt;
}

std::optional<double> bound_s(const Figures& of) {
  return of.run.bounds ? std::optional(of.run.bounds->bound_s) : std::nullopt;
}

std::string range_words(std::string lo, const std::string& hi) {
  const std::size_t unit = lo.find(' ');
  if (unit != std::string::npos && hi.ends_with(lo.substr(unit))) lo.resize(unit);
  return lo + " .. " + hi;
}

std::string ratio_words(const base::Estimate& ratio) {
  const std::string value = base::format_number(ratio.value);
  if (ratio.lo == ratio.hi) return value;
  return fmt::format("{} ({})", value,
                     range_words(base::format_number(ratio.lo), base::format_number(ratio.hi)));
}

/// A figure of tables; "" where a column does not have it.
struct FigureRow {
  const char* name;
  std::string (*words)(const Figures&);
};
constexpr auto figure_table = std::to_array<FigureRow>({
    {"time", [](const Figures& of) { return base::format_seconds(of.time.median); }},
    {"95 % interval",
     [](const Figures& of) {
       return range_words(base::format_seconds(of.time.lo), base::format_seconds(of.time.hi));
     }},
    {"speed-up",
     [](const Figures& of) { return of.speedup ? fmt::format("{:.2f}", of.speedup->median) : ""; }},
    {"overlap efficiency",
     [](const Figures& of) {
       return of.overlap_efficiency ? fmt::format("{:.3f}", of.overlap_efficiency->median) : "";
     }},
    {"bound",
     [](const Figures& of) {
       return of.run.bounds ? base::format_seconds(of.run.bounds->bound_s) : "";
     }},
    {"bound / time",
     [](const Figures& of) {
       return of.bound_fraction ? fmt::format("{:.1f} %", 100 * of.bound_fraction->median) : "";
     }},
    {"time / column {}", [](const Figures& of) { return of.ratio ? ratio_words(*of.ratio) : ""; }},
});

std::vector<CsvCell> cells_of(const SideBySide& all, const SharedDeck& deck, const Match& match,
                              std::size_t number) {
  const Column& column = all.columns[number];
  const Figures& of = *match.figures[number];
  const auto ratio = [&](double base::Estimate::* part) {
    return of.ratio ? csv_cell((*of.ratio).*part) : "";
  };
  return {{"deck", deck.title},
          {"workload", workload_words(deck)},
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
          {"n", std::to_string(of.time.n)},
          {"median_s", csv_cell(of.time.median)},
          {"min_s", csv_cell(of.time.min)},
          {"max_s", csv_cell(of.time.max)},
          {"lo_s", csv_cell(of.time.lo)},
          {"hi_s", csv_cell(of.time.hi)},
          {"speedup", csv_cell(median(of.speedup))},
          {"overlap_efficiency", csv_cell(median(of.overlap_efficiency))},
          {"bound_s", csv_cell(bound_s(of))},
          {"bound_fraction", csv_cell(median(of.bound_fraction))},
          {"to", std::to_string(all.to + 1)},
          {"ratio", ratio(&base::Estimate::value)},
          {"ratio_lo", ratio(&base::Estimate::lo)},
          {"ratio_hi", ratio(&base::Estimate::hi)}};
}

std::vector<std::string> numbered(const SideBySide& all, const std::string& first) {
  std::vector<std::string> headings = {first};
  for (std::size_t i = 1; i <= all.columns.size(); ++i) headings.push_back(std::to_string(i));
  return headings;
}

}  // namespace

Rows figure_rows(const SideBySide& all, const Match& match) {
  Rows rows;
  for (const FigureRow& figure : figure_table) {
    std::vector<std::string> row = {fmt::format(fmt::runtime(figure.name), all.to + 1)};
    bool any = false;
    for (const std::optional<Figures>& one : match.figures) {
      const std::string words = one ? figure.words(*one) : "";
      any = any || !words.empty();
      row.push_back(words.empty() ? "-" : words);
    }
    if (any) rows.push_back(std::move(row));
  }
  return rows;
}

Rows column_rows(const SideBySide& all) {
  Rows rows = {{"column", "device", "back end", "mechanism", "Kokkos", "compiler", "host", "file"}};
  for (const Column& one : all.columns) {
    rows.push_back({std::to_string(rows.size()), one.device, one.backend, one.mechanism,
                    one.kokkos_version, one.compiler, one.host, one.file});
  }
  return rows;
}

Rows setting_rows(const SideBySide& all, const SharedDeck& deck) {
  if (deck.differences.empty()) return {};
  Rows rows = {numbered(all, "differs")};
  for (const Setting& one : deck.differences) {
    std::vector<std::string>& row = rows.emplace_back(1, one.key);
    row.insert(row.end(), one.values.begin(), one.values.end());
  }
  return rows;
}

std::vector<std::string> error_lines(const SharedDeck& deck) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < deck.errors.size(); ++i) {
    if (deck.errors[i].empty()) continue;
    lines.push_back(fmt::format("column {}: {}", i + 1, deck.errors[i]));
  }
  return lines;
}

std::string workload_words(const SharedDeck& deck) {
  std::string kind;
  std::vector<std::string> words;
  for (const auto& [key, value] : deck.workload) {
    if (key == "kind") {
      kind = value;
    } else if (value != "none") {
      words.push_back(key + " " + value);
    }
  }
  return fmt::format("{}: {}", kind, fmt::join(words, ", "));
}

std::string match_words(const Match& match) {
  return match.point.empty() ? match.order : match.order + ", " + match.point;
}

std::string side_by_side_text(const SideBySide& all) {
  std::string text = base::align(column_rows(all), false);
  for (const SharedDeck& deck : all.decks) {
    text += fmt::format("\n{}\n{}\n", deck.title, workload_words(deck));
    for (const std::string& line : error_lines(deck)) text += line + "\n";
    if (const Rows rows = setting_rows(all, deck); !rows.empty()) {
      text += "\n" + base::align(rows, true);
    }
    if (deck.matches.empty()) continue;
    Rows rows = {numbered(all, "")};
    for (const Match& match : deck.matches) {
      rows.push_back({match_words(match)});
      for (std::vector<std::string>& row : figure_rows(all, match)) {
        row[0].insert(0, "  ");
        rows.push_back(std::move(row));
      }
    }
    text += "\n" + base::align(rows, true);
  }
  return text + "\n";
}

std::string side_by_side_csv(const SideBySide& all) {
  std::string text =
      csv_line(cells_of({.columns = {{}}}, {}, {.figures = {Figures()}}, 0), &CsvCell::name);
  for (const SharedDeck& deck : all.decks) {
    for (const Match& match : deck.matches) {
      for (std::size_t i = 0; i < all.columns.size(); ++i) {
        if (match.figures[i]) text += csv_line(cells_of(all, deck, match, i));
      }
    }
  }
  return text;
}

void fields(Record& add, const Column& of) {
  add("title", "What distinguishes the column from the others.", of.title);
  add("file", "Result file.", of.file);
  add("device", "Device; on host back ends the processor.", of.device);
  add("backend", "Default execution space.", of.backend);
  add("mechanism", "How tasks are issued, for all its decks.", of.mechanism);
  add("kokkos_version", "Version of Kokkos.", of.kokkos_version);
  add("compiler", "Compiler and its version.", of.compiler);
  add("host", "Host name.", of.host);
}

void fields(Record& add, const Figures& of) {
  add("n", "Repetitions.", of.time.n, above_zero);
  add("time_s", "Time of a repetition, seconds.", of.time);
  add("speedup", "Time of the column's own sequential order / time; null: no baseline.",
      median(of.speedup));
  add("overlap_efficiency",
      "Time that overlap saves / time that it could save; null: no baseline or no bound, or "
      "overlap can save less than 10 %.",
      median(of.overlap_efficiency));
  add("bound_s", "Least time that the column's own hardware allows, seconds; null: not measured.",
      bound_s(of), from_zero);
  add("bound_fraction", "bound_s / time; null: not measured.", median(of.bound_fraction));
  add("ratio", "Time / time of the column `to`; null: that column does not have the order.",
      of.ratio);
}

void fields(Record& add, const Match& of) {
  add("point", "Swept keys and their values, or the phase; empty: neither.", of.point);
  add("order", "Issue order with its disturbance or host work.", of.order);
  add("columns", "One per column; null: the column does not have the order.", of.figures);
}

void fields(Record& add, const Setting& of) {
  add("key", "Key of the deck.", of.key);
  add("values", "One per column; -: missing.", of.values);
}

void fields(Record& add, const SharedDeck& of) {
  add("title", "Title of the deck.", of.title);
  add.raw("workload", "Its workload, the same in all columns: keys and values.", of.workload,
          {{"type", "object"}});
  add("differences", "Keys of the deck that differ between columns.", of.differences);
  add("errors", "One per column: why the deck did not run; empty: it did.", of.errors);
  add("orders", "Each order at each point.", of.matches);
}

void fields(Record& add, const SideBySide& of) {
  add("columns", "One per file.", of.columns);
  add("to", "The column that ratios refer to, from 1.", of.to + 1, above_zero);
  add("decks", "Decks of the same title and workload.", of.decks);
}

}  // namespace overlap::report
