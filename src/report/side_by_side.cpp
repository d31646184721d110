#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "base/table.hpp"
#include "base/units.hpp"
#include "report/comparison.hpp"
#include "report/csv.hpp"
#include "report/page.hpp"
#include "report/picture.hpp"

namespace overlap::report {

/// side_by_side.css, which CMake builds in.
std::string_view side_by_side_style();

using base::Rows;
using experiment::Column;
using experiment::Figures;
using experiment::Match;
using experiment::Setting;
using experiment::SharedDeck;
using experiment::SideBySide;

namespace {

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
     [](const Figures& of) { return of.speedup ? fmt::format("{:.2f}", *of.speedup) : ""; }},
    {"overlap efficiency",
     [](const Figures& of) {
       return of.overlap_efficiency ? fmt::format("{:.3f}", *of.overlap_efficiency) : "";
     }},
    {"bound",
     [](const Figures& of) { return of.bound_s ? base::format_seconds(*of.bound_s) : ""; }},
    {"bound / time",
     [](const Figures& of) {
       return of.bound_fraction ? base::format_percent(*of.bound_fraction) : "";
     }},
    {"time / column {}", [](const Figures& of) { return of.ratio ? ratio_words(*of.ratio) : ""; }},
});

std::vector<std::string> numbered(const SideBySide& all, const std::string& first) {
  std::vector<std::string> headings = {first};
  for (std::size_t i = 1; i <= all.columns.size(); ++i) headings.push_back(std::to_string(i));
  return headings;
}

/// "increment: elements 65536, type float32"
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
          {"speedup", csv_cell(of.speedup)},
          {"overlap_efficiency", csv_cell(of.overlap_efficiency)},
          {"bound_s", csv_cell(of.bound_s)},
          {"bound_fraction", csv_cell(of.bound_fraction)},
          {"to", std::to_string(all.to + 1)},
          {"ratio", ratio(&base::Estimate::value)},
          {"ratio_lo", ratio(&base::Estimate::lo)},
          {"ratio_hi", ratio(&base::Estimate::hi)}};
}

/// The figures of one order: a name and one cell per column, "-" if missing. Omits figures that no
/// column has.
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

/// The columns: number, device, software, host, file.
Rows column_rows(const SideBySide& all) {
  Rows rows = {{"column", "device", "back end", "mechanism", "Kokkos", "compiler", "host", "file"}};
  for (const Column& one : all.columns) {
    rows.push_back({std::to_string(rows.size()), one.device, one.backend, one.mechanism,
                    one.kokkos_version, one.compiler, one.host, one.file});
  }
  return rows;
}

/// Settings of a deck that differ between columns, with column numbers as headings; empty if none
/// differ.
Rows setting_rows(const SideBySide& all, const SharedDeck& deck) {
  if (deck.differences.empty()) return {};
  Rows rows = {numbered(all, "differs")};
  for (const Setting& one : deck.differences) {
    std::vector<std::string>& row = rows.emplace_back(1, one.key);
    row.insert(row.end(), one.values.begin(), one.values.end());
  }
  return rows;
}

}  // namespace

std::vector<std::string> error_lines(const SharedDeck& deck) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < deck.errors.size(); ++i) {
    if (deck.errors[i].empty()) continue;
    lines.push_back(fmt::format("column {}: {}", i + 1, deck.errors[i]));
  }
  return lines;
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

namespace {

// Room for names before time begins, and for half of a tick's words behind.
constexpr Frame multiples{.left = 84, .width = Svg::width - 84 - 24};

/// How much longer than a column its time axis may be: bars stay wide enough to read.
constexpr double longest_axis = 8;

/// The end of the time axis of each column of a deck. Columns share the longest axis that they may.
std::vector<double> ends_of_axes_s(const SideBySide& all, const SharedDeck& deck) {
  std::vector<double> ends(all.columns.size());
  for (const Match& match : deck.matches) {
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const std::optional<Figures>& one = match.figures[i];
      if (!one) continue;
      ends[i] = std::max({ends[i], one->time.median, 1e-9});
      if (one->bound_s) ends[i] = std::max(ends[i], *one->bound_s);
      if (one->run.trace) ends[i] = std::max(ends[i], one->run.trace->timeline.complete_s);
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

/// A column's timeline of an order, with marks at its median time and at its bound.
void draw_column(Svg& svg, const std::string& title, const Figures& of, double scale) {
  const Picture picture = measured(of.run);
  svg.add("<g class=\"column\">\n");
  svg.add(R"(<text class="name" y="{:g}">{}<tspan class="muted figures" dx="12">{}{})", svg.y + 12,
          escape_xml(title), base::format_seconds(of.time.median),
          of.bound_s ? ", bound " + base::format_seconds(*of.bound_s) : "");
  if (picture.timeline == nullptr) svg.add(", no timeline");
  svg.add("</tspan>");
  if (!picture.doubt.empty()) svg.add(R"(<tspan class="doubt" dx="8">{}</tspan>)", picture.doubt);
  svg.add("</text>\n");
  svg.y += 20;
  const double top = svg.y;
  if (picture.timeline != nullptr) {
    draw_engines(svg, of.run.schedule, *picture.timeline,
                 {.left = multiples.left,
                  .width = multiples.width,
                  .scale = scale,
                  .bar_height = 12,
                  .gap = 2,
                  .names = "tick end"});
  } else {
    svg.y += 12;
  }
  const auto mark = [&](const char* kind, double seconds) {
    for (const char* const stroke : {"halo", kind}) {
      svg.add(R"(<path class="{}" d="M{:g} {:g}V{:g}"/>)", stroke, multiples.left + seconds * scale,
              top - 3, svg.y + 1);
    }
  };
  mark("median", of.time.median);
  if (of.bound_s) mark("bound", *of.bound_s);
  svg.add("\n</g>\n");
  svg.y += 10;
}

/// The timelines of an order in all columns; neighbours with the same axis share it.
std::string timelines_svg(const SideBySide& all, const Match& match,
                          const std::vector<double>& axes) {
  Svg svg{.text = {}, .y = 4};
  double top = svg.y + 14, axis = 0;
  std::size_t behind = 0;
  const auto draw_axis = [&] {
    draw_time_axis(svg, multiples, axis, top, behind);
    svg.y += 26;
    top = svg.y + 14;
    behind = svg.text.size();
  };
  for (std::size_t i = 0; i < all.columns.size(); ++i) {
    if (!match.figures[i]) continue;
    if (axis > 0 && axis != axes[i]) draw_axis();
    axis = axes[i];
    draw_column(svg, fmt::format("{} {}", i + 1, all.columns[i].title), *match.figures[i],
                multiples.width / axis);
  }
  draw_axis();
  return svg.finish(match_words(match));
}

/// Orders in rows, columns in columns.
std::string figures_table(const SideBySide& all, const SharedDeck& deck) {
  std::string html =
      "<div class=\"wide\"><table class=\"sides\">\n<thead><tr><th scope=\"col\">order</th>"
      "<th scope=\"col\"></th>";
  for (std::size_t i = 0; i < all.columns.size(); ++i) {
    html += fmt::format("<th scope=\"col\"{}>{} <b>{}</b></th>", i == all.to ? " class=\"to\"" : "",
                        i + 1, escape_xml(all.columns[i].title));
  }
  html += "</tr></thead>\n";
  for (const Match& match : deck.matches) {
    const Rows rows = figure_rows(all, match);
    html += fmt::format("<tbody>\n<tr><th scope=\"rowgroup\" rowspan=\"{}\">{}</th>", rows.size(),
                        escape_xml(match_words(match)));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      html +=
          fmt::format("{}<th scope=\"row\">{}</th>", i == 0 ? "" : "<tr>", escape_xml(rows[i][0]));
      for (std::size_t cell = 1; cell < rows[i].size(); ++cell) {
        html += fmt::format("<td>{}</td>", escape_xml(rows[i][cell]));
      }
      html += "</tr>\n";
    }
    html += "</tbody>\n";
  }
  return html + "</table></div>\n";
}

/// A table of words with its heading; empty without rows.
std::string words_table(const char* title, const Rows& rows) {
  if (rows.empty()) return "";
  return fmt::format("<h2>{}</h2>\n<div class=\"words\">{}</div>\n", title, page_table(rows));
}

std::string timelines(const SideBySide& all, const SharedDeck& deck) {
  std::vector<const experiment::Run*> runs;
  for (const Match& match : deck.matches) {
    for (const std::optional<Figures>& one : match.figures) {
      if (one && one->run.trace) runs.push_back(&one->run);
    }
  }
  if (runs.empty()) return "";
  const std::vector<double> axes = ends_of_axes_s(all, deck);
  const bool one_axis = std::ranges::count(axes, axes.front()) == std::ssize(axes);
  std::string html =
      fmt::format(
          "<h2>Timelines</h2>\n<p class=\"place\">Measured, {}. Solid mark: median time; "
          "dotted mark: bound of this machine.</p>\n",
          one_axis
              ? "all on one axis"
              : fmt::format("<b>on several axes</b>: times differ by more than a factor of {:g}",
                            longest_axis)) +
      page_legend(inks_of(runs));
  for (const Match& match : deck.matches) {
    html += fmt::format(
        "<article class=\"run columns\">\n<h2>{}</h2>\n<div class=\"wide\">{}</div></article>\n",
        escape_xml(match_words(match)), timelines_svg(all, match, axes));
  }
  return html;
}

}  // namespace

std::string side_by_side_html(const SideBySide& all) {
  std::string html = page_head("Side by side");
  html += fmt::format("<style>\n{}</style>\n<main>\n", side_by_side_style());
  html += page_section("Side by side", fmt::format("Ratios refer to column {}, {}.", all.to + 1,
                                                   escape_xml(all.columns[all.to].title)));
  html += words_table("Columns", column_rows(all)) + "</section>\n";
  for (const SharedDeck& deck : all.decks) {
    html += page_section(escape_xml(deck.title), escape_xml(workload_words(deck)));
    for (const std::string& line : error_lines(deck)) {
      html += fmt::format("<p>{}</p>\n", escape_xml(line));
    }
    if (!deck.matches.empty()) html += figures_table(all, deck);
    html += words_table("Settings that differ", setting_rows(all, deck)) + timelines(all, deck) +
            "</section>\n";
  }
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace overlap::report
