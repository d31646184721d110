#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "deck/words.hpp"
#include "report/block.hpp"
#include "report/drawing.hpp"

namespace overlap::report {

/// report.css, and report.js with report_charts.js, which CMake builds in.
std::string_view report_style();
std::string_view report_script();

namespace {

using drawing::xml;
using nlohmann::ordered_json;

constexpr std::size_t most_unwrapped = 50;  // columns of text in a cell
constexpr std::size_t long_table = 40;      // rows; above it the script filters and sorts

/// JSON as a script element of the page, which must not end within it.
std::string json_script(std::string_view attributes, std::string_view json) {
  return fmt::format("<script type=\"application/json\"{}>{}</script>\n", attributes,
                     base::replaced(base::safe_lines(json), "<", "\\u003c"));
}

/// A class attribute, empty without classes.
std::string class_of(std::string_view name, std::string_view more = "") {
  if (name.empty() && more.empty()) return "";
  return fmt::format(" class=\"{}{}{}\"", name, name.empty() || more.empty() ? "" : " ", more);
}

std::string_view tone_class(Tone tone) {
  constexpr auto classes =
      std::to_array<std::string_view>({"", "good", "bad", "doubtful", "muted"});
  return classes[static_cast<std::size_t>(tone)];
}

/// A table or picture with its title and caption.
std::string figure(std::string_view kind, std::string_view title, std::string_view caption,
                   std::string_view body) {
  return fmt::format("<figure{}><figcaption><b>{}</b><span>{}</span></figcaption>\n{}</figure>\n",
                     class_of(kind), xml(title), xml(caption), body);
}

std::string html_of(const Heading& heading) {
  const int level = std::clamp(heading.level, 1, 3);
  return fmt::format("<h{0}>{1}</h{0}>\n", level, xml(heading.text));
}

std::string html_of(const Text& text) {
  std::string html;
  for (const std::string& line : text.lines) {
    html += fmt::format("<p{}>{}</p>\n", class_of(tone_class(text.tone)), xml(line));
  }
  return html;
}

std::string html_of(const Table& table) {
  const bool list = table.is_list();
  std::string html =
      fmt::format("<div class=\"wide\"><table{}>\n",
                  class_of(table.rows.size() > long_table ? "long" : "", list ? "list" : ""));
  std::vector<const char*> sides;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool prose = std::ranges::any_of(table.rows, [&](const std::vector<Cell>& row) {
      return i < row.size() && base::columns(row[i].text) > most_unwrapped;
    });
    sides.push_back(table.is_number(i) ? "" : prose ? "words prose" : "words");
  }
  if (!list) {
    html += "<thead><tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      html += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(sides[i]),
                          xml(table.columns[i].heading));
    }
    html += "</tr></thead>\n";
  }
  html += "<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < std::min(row.size(), sides.size()); ++i) {
      html += fmt::format("<{}{}>{}</{}>", i == 0 ? "th scope=\"row\"" : "td",
                          class_of(sides[i], tone_class(row[i].tone)), xml(row[i].text),
                          i == 0 ? "th" : "td");
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  return table.title.empty() ? html : figure("", table.title, "", html);
}

std::string html_of(const TimelinePicture& picture) {
  const std::string drawn = drawing::picture(picture);
  return figure("picture", picture.title, drawing::caption(picture),
                fmt::format("<div class=\"drawing\" tabindex=\"0\" role=\"group\" "
                            "aria-label=\"Timeline; arrow keys go from task to task\">{}</div>\n",
                            drawn.empty() ? "<p class=\"muted\">no timeline</p>" : drawn));
}

ordered_json json_of(const Chart::Axis& axis) {
  return {{"name", axis.name},
          {"log", axis.log},
          {"includes", axis.includes},
          {"categories", axis.categories},
          {"ticks", axis.ticks}};
}

std::string html_of(const Chart& chart) {
  ordered_json series = ordered_json::array();
  for (const Chart::Series& curve : chart.series) {
    ordered_json points = ordered_json::array();
    for (const Chart::Point& point : curve.points) {
      const auto or_null = [](const std::optional<double>& value) {
        return value ? ordered_json(*value) : ordered_json();
      };
      points.push_back(
          {point.x, point.y, or_null(point.lo), or_null(point.hi), point.label, point.name});
    }
    series.push_back({{"name", curve.name},
                      {"muted", curve.muted},
                      {"joined", curve.joined},
                      {"points", std::move(points)}});
  }
  const ordered_json json = {
      {"x", json_of(chart.x)}, {"y", json_of(chart.y)}, {"series", std::move(series)}};
  const std::string data = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return figure("picture", chart.title, "",
                "<div class=\"drawing\">" + json_script("", data) + "</div>\n");
}

std::string html_of(const VerdictLine& verdict) {
  const std::string_view word = describe::to_string(verdict.verdict);
  std::string html = fmt::format("<p class=\"verdict\">{}: <b class=\"{}\">{}</b></p>\n",
                                 xml(verdict.subject), word, word);
  if (verdict.reasons.empty()) return html;
  html += "<ul class=\"reasons\">";
  for (const std::string& reason : verdict.reasons) html += fmt::format("<li>{}</li>", xml(reason));
  return html + "</ul>\n";
}

/// All blocks, with successive verbose ones in a fold.
std::string blocks_html(const Blocks& blocks) {
  std::string html;
  bool folded = false;
  for (const Block& block : blocks) {
    const bool folds = block.detail == Detail::verbose;
    if (folds && !folded) html += "<details><summary>Details</summary>\n";
    if (folded && !folds) html += "</details>\n";
    folded = folds;
    html += std::visit([](const auto& content) { return html_of(content); }, block.content);
  }
  return folded ? html + "</details>\n" : html;
}

constexpr std::string_view choice = R"html(<fieldset class="choice"><legend>Rows</legend>
<label><input type="radio" name="rows" value="engines" checked><span>Engines</span></label>
<label><input type="radio" name="rows" value="lanes"><span>Lanes</span></label>
</fieldset>
)html";
constexpr std::string_view zoom = R"html(<div class="zoom" role="group" aria-label="Zoom">
<button type="button" id="out" aria-label="Zoom out" title="Zoom out (-)">&minus;</button>
<button type="button" id="in" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" id="reset" title="Show all (0)">Show all</button>
</div>
)html";

/// Whether the lanes of a timeline are other rows than its engines.
bool has_other_lanes(const TimelinePicture* picture) {
  using drawing::LaneGroup, drawing::Rows;
  return !std::ranges::equal(drawing::groups(picture->timeline, Rows::engines),
                             drawing::groups(picture->timeline, Rows::lanes), {}, &LaneGroup::rows,
                             &LaneGroup::rows);
}

/// Legend and tools of timelines; empty without any.
std::string bar_html(const Blocks& blocks) {
  const auto pictures = pictures_of(blocks);
  const auto looks = drawing::looks_in(pictures);
  if (looks.empty()) return "";
  std::string html = "<nav aria-label=\"Timelines\">\n<ul class=\"legend\" aria-label=\"Colours\">";
  for (const drawing::StageLook& look : looks) {
    html += fmt::format("<li><i style=\"background:var(--{})\"></i>{}</li>",
                        deck::to_string(look.stage), look.name);
  }
  return fmt::format("{}</ul>\n<div class=\"tools\">\n{}{}</div>\n</nav>\n", html,
                     std::ranges::any_of(pictures, has_other_lanes) ? choice : "", zoom);
}

}  // namespace

std::string page(const Report& report) {
  const std::string title =
      report.title +
      (report.verdict ? fmt::format(": {}", describe::to_string(*report.verdict)) : "");
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<style>\n{}{}</style>\n<style id=\"picture\">\n{}</style>\n</head>\n<body>\n{}<main>\n",
      xml(title), drawing::colour_variables(), report_style(), drawing::picture_style(),
      bar_html(report.blocks));
  // First the title, then the verdicts, which end a report on the terminal.
  Blocks blocks = report.blocks;
  const auto is_title = [](const Block& block) {
    const auto* const heading = std::get_if<Heading>(&block.content);
    return heading != nullptr && heading->level == 1;
  };
  if (std::ranges::none_of(blocks, is_title)) {
    blocks.insert(blocks.begin(), {Heading{.text = report.title, .level = 1}});
  }
  std::ranges::stable_partition(
      blocks.begin() + (is_title(blocks.front()) ? 1 : 0), blocks.end(),
      [](const Block& block) { return std::holds_alternative<VerdictLine>(block.content); });
  html += blocks_html(blocks);
  html +=
      "<noscript><p>Without JavaScript there are no charts and no zoom; tables have all "
      "numbers.</p></noscript>\n</main>\n<p id=\"status\" role=\"status\" hidden></p>\n";
  if (!report.data.empty()) html += json_script(" id=\"result\"", report.data);
  return html + fmt::format("<script>\n{}</script>\n</body>\n</html>\n", report_script());
}

}  // namespace overlap::report
