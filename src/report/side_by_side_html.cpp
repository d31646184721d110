#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "report/page.hpp"
#include "report/picture.hpp"
#include "report/side_by_side.hpp"
#include "report/svg.hpp"

namespace overlap::report {

/// side_by_side.css, which CMake builds in.
std::string_view side_by_side_style();

namespace {

using base::Rows;
using experiment::Figures;
using experiment::Match;
using experiment::SharedDeck;
using experiment::SideBySide;

// Room for names before time begins, and for half of a tick's words behind.
constexpr Frame multiples{.left = 84, .width = Svg::width - 84 - 24};

/// The end of the axis of a deck.
double end_of_axis_s(const SharedDeck& deck) {
  double longest = 1e-9;
  for (const Match& match : deck.matches) {
    for (const std::optional<Figures>& one : match.figures) {
      if (!one) continue;
      longest = std::max(longest, one->time.median);
      if (one->run.bounds) longest = std::max(longest, one->run.bounds->bound_s);
      if (one->run.trace) longest = std::max(longest, one->run.trace->timeline.complete_s);
    }
  }
  return longest;
}

/// A column's timeline of an order, with marks at its median time and at its bound.
void draw_column(Svg& svg, const std::string& title, const Figures& of, double scale) {
  const Picture picture = measured(of.run);
  svg.add("<g class=\"column\">\n");
  svg.add(R"(<text class="name" y="{:g}">{}<tspan class="muted figures" dx="12">{}{})", svg.y + 12,
          escape_xml(title), base::format_seconds(of.time.median),
          of.run.bounds ? ", bound " + base::format_seconds(of.run.bounds->bound_s) : "");
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
    svg.add(R"(<path class="{}" d="M{:g} {:g}V{:g}"/>)", kind, multiples.left + seconds * scale,
            top - 3, svg.y + 1);
  };
  mark("axis", of.time.median);
  if (of.run.bounds) mark("bound", of.run.bounds->bound_s);
  svg.add("\n</g>\n");
  svg.y += 10;
}

/// The timelines of an order in all columns, above one time axis.
std::string timelines_svg(const SideBySide& all, const Match& match, double longest) {
  const double scale = multiples.width / longest;
  Svg svg{.text = {}, .y = 4};
  const double top = svg.y + 14;
  for (std::size_t i = 0; i < all.columns.size(); ++i) {
    if (!match.figures[i]) continue;
    draw_column(svg, fmt::format("{} {}", i + 1, all.columns[i].title), *match.figures[i], scale);
  }
  draw_time_axis(svg, multiples, longest, top, 0);
  svg.y += 26;
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
  std::string html =
      "<h2>Timelines</h2>\n<p class=\"place\">Measured, all on one axis. Solid mark: median time; "
      "dotted mark: bound of this machine.</p>\n" +
      page_legend(inks_of(runs));
  const double longest = end_of_axis_s(deck);
  for (const Match& match : deck.matches) {
    html += fmt::format(
        "<article class=\"run columns\">\n<h2>{}</h2>\n<div class=\"wide\">{}</div></article>\n",
        escape_xml(match_words(match)), timelines_svg(all, match, longest));
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
