#include "report/page.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace overlap::report {

/// timeline.css, which CMake builds in.
std::string_view page_style();

namespace {

/// A colour on light and on dark ground, and the rules of pictures in which it stands for '$'.
struct Colour {
  std::string name;
  std::string_view light, dark;
  std::string rules;
};

std::vector<Colour> colours() {
  std::vector<Colour> all = {
      {"ground", "#fbfbfd", "#111113", ""},
      {"card", "#fff", "#18181b", ".ground,.hollow{fill:$}.mark,.halo{stroke:$}"},
      {"text", "#1d1d1f", "#f5f5f7", "text{fill:$}.bound{stroke:$}"},
      {"muted", "#6e6e73", "#a1a1a6", ".muted,.tick{fill:$}.knee{stroke:$}"},
      {"line", "#d2d2d7", "#3a3a40", ".grid{stroke:$}"},
      {"axis", "#86868b", "#7c7c84", ".axis,.stop{stroke:$}"},
      {"track", "#f5f5f7", "#202024", ".track{fill:$}"},
      {"doubt", "#b3261e", "#ff8a80", ".doubt{fill:$}.best{stroke:$}"},
      {"accent", "#0066cc", "#5eb0ff", ""},
      {"pass", "#1a7f37", "#4cc38a", ""},
  };
  for (const Ink& ink : inks) {
    const std::string stage = schedule::to_string(ink.stage);
    all.push_back({stage, ink.light, ink.dark, "." + stage + "{fill:$}"});
    all.push_back({"on-" + stage, ink.on_light, ink.on_dark, "text." + stage + "{fill:$}"});
  }
  for (std::size_t i = 0; i < pens.size(); ++i) {
    const std::string name = fmt::format("p{}", i);
    all.push_back({name, pens[i].light, pens[i].dark, "." + name + "{color:$}"});
  }
  return all;
}

/// What `rules_of` makes of each colour, on light ground and on dark.
template <class RulesOf>
std::string themes(const RulesOf& rules_of) {
  std::string light, dark;
  for (const Colour& colour : colours()) {
    light += rules_of(colour, std::string(colour.light));
    dark += rules_of(colour, std::string(colour.dark));
  }
  return fmt::format("{}\n@media screen and (prefers-color-scheme:dark){{\n{}\n}}\n", light, dark);
}

constexpr const char* shapes = R"css(:root{color-scheme:light dark}
text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.title{font-size:20px;font-weight:600}
.order{font-size:15px;font-weight:600}
.name{font-size:13px;font-weight:600}
.doubt{font-weight:600}
.figures{font-size:12px;font-weight:400}
.tick{font-size:11px}
.bar{font-size:10px}
.end{text-anchor:end}
.mid{text-anchor:middle}
.axis,.grid,.stop,.knee,.bound,.best,.measured,.whisker,.predicted{fill:none}
.grid{stroke-width:.6}
.stop{stroke-dasharray:2 2}
.knee{stroke-dasharray:3 3}
.bound{stroke-width:1.2;stroke-dasharray:1.5 3;stroke-linecap:round}
.best{stroke-width:1.8}
.halo{paint-order:stroke;stroke-width:4px;stroke-linejoin:round}
.measured{stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.whisker{stroke:currentColor;stroke-width:1.2}
.predicted{stroke:currentColor;stroke-width:1.3;stroke-dasharray:5 4}
.mark{fill:currentColor;stroke-width:1}
.hollow{stroke:currentColor;stroke-width:1.4}
.area{fill:transparent}
.plot:has(.series:hover) .series:not(:hover){opacity:.25}
)css";

/// All colours as CSS variables: "text", "line", ..., and "h2d", "on-h2d" for each stage.
std::string page_colours() {
  return themes([](const Colour& colour, const std::string& shade) {
    return fmt::format(":root{{--{}:{}}}", colour.name, shade);
  });
}

}  // namespace

std::string escape_xml(const std::string& text) {
  constexpr std::array<std::pair<const char*, const char*>, 5> names = {
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}}};
  std::string escaped = base::one_line(text);
  for (const auto& [character, name] : names) escaped = base::replaced(escaped, character, name);
  return escaped;
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  using nlohmann::ordered_json;
  return base::safe_lines(json.dump(indent, ' ', false, ordered_json::error_handler_t::replace));
}

std::string quote_json(const std::string& text) { return json_text(text); }

double width_of(std::string_view text, double size) {
  double width = 0;  // of DejaVu Sans, the widest of the fonts
  for (const char c : text) {
    const auto is_of = [&](std::string_view some) { return some.find(c) != some.npos; };
    const bool capital = c >= 'A' && c <= 'Z';
    width += is_of(" .,:;'|!()[]/-Ifijlrt") ? 0.4 : is_of("mwMW%@") ? 1 : capital ? 0.76 : 0.62;
  }
  return size * width;
}

std::vector<double> ticks(double least, double most, int count) {
  const double length = most - least;
  const double power = std::pow(10, std::floor(std::log10(length / count)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1}) {
    if (length / (factor * power) <= count) step = factor * power;
  }
  std::vector<double> places;
  for (double i = std::ceil(least / step); i * step <= most + 1e-9 * length; ++i) {
    places.push_back(i * step + 0.0);  // not -0
  }
  return places;
}

std::string tick_words(double seconds, double longest_s) {
  constexpr std::array<std::pair<double, const char*>, 4> units = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  const auto* const unit = std::find_if(units.begin(), units.end() - 1,
                                        [&](const auto& u) { return longest_s >= u.first; });
  return fmt::format("{:.6g} {}", seconds / unit->first, unit->second);
}

/// Whether a text fits into `room` pixels.
static bool fits(std::string_view words, double room, std::string_view kind, double size) {
  const bool is_bold = kind == "title" || kind == "name" || kind == "doubt";
  return width_of(words, is_bold ? bold * size : size) <= room;
}

/// What fits of it.
static std::string_view beginning(std::string_view words, double room, std::string_view kind,
                                  double size) {
  const std::size_t all = base::columns(words);
  std::size_t columns = 0;
  while (columns < all && fits(base::first_columns(words, columns + 1), room, kind, size)) {
    ++columns;
  }
  return base::first_columns(words, columns);
}

void Svg::words(std::string_view kind, double x, double base, const std::string& words) {
  add("<text class=\"{}\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", kind, x, base, escape_xml(words));
}

void Svg::words_within(double room, std::string_view kind, double x, double base,
                       const std::string& words, double size) {
  if (fits(words, room, kind, size)) return this->words(kind, x, base, words);
  add("<text class=\"{}\" x=\"{:g}\" y=\"{:g}\">{}\u2026<title>{}</title></text>\n", kind, x, base,
      escape_xml(std::string(beginning(words, room - size, kind, size))), escape_xml(words));
}

void Svg::words_in_two_lines(double room, std::string_view kind, double x, double step,
                             const std::string& words, double size) {
  std::size_t space = 0;
  if (!fits(words, room, kind, size)) {
    space = words.rfind(' ', beginning(words, room, kind, size).size()) + 1;  // 0: none
  }
  if (space > 0) {
    this->words(kind, x, y, words.substr(0, space - 1));
    y += step;
  }
  words_within(room, kind, x, y, words.substr(space), size);
}

void Svg::legend(double edge, double wide,
                 const std::vector<std::pair<std::string, std::string>>& swatches_and_words) {
  double x = edge;
  for (const auto& [swatch, words] : swatches_and_words) {
    const double step = wide + 24 + width_of(words);
    if (x > edge && x + step > width - edge) {
      x = edge;
      y += 22;
    }
    add(R"g(<g transform="translate({:g} {:g})">{}<text x="{:g}" y="4">{}</text></g>)g", x, y,
        swatch, wide + 8, escape_xml(words));
    x += step;
  }
  add("\n");
  y += 34;
}

std::string Svg::finish(const std::string& title) const {
  const std::string colours = themes([](const Colour& colour, const std::string& shade) {
    return base::replaced(colour.rules, "$", shade);
  });
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
      "viewBox=\"0 0 {0:g} {1:g}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}{4}</style>\n"
      "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{5}</svg>\n",
      width, y, escape_xml(title), shapes, colours, text);
}

std::string page_head(const std::string& title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<style>\n{}{}</style>\n</head>\n<body>\n",
      escape_xml(title), page_colours(), page_style());
}

std::string page_section(const std::string& heading, const std::string& place) {
  return fmt::format("<section class=\"deck\">\n<h1>{}</h1>\n<p class=\"place\">{}</p>\n", heading,
                     place);
}

std::string page_json(const std::string& id, std::string_view json) {
  // `</` and `<!--` could end or change the element.
  const std::string safe = base::replaced(json, "<", "\\u003c");
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, safe);
}

std::string page_table(const Rows& rows) {
  if (rows.empty()) return "";
  std::string html = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const std::string& heading : rows.front()) {
    html += fmt::format("<th scope=\"col\">{}</th>", escape_xml(heading));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 1; row < rows.size(); ++row) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", escape_xml(rows[row][0]));
    for (std::size_t i = 1; i < rows[row].size(); ++i) {
      const std::string cell = escape_xml(rows[row][i]);
      const bool judged = rows[0][i] == "verdict" && cell[0] >= 'A' && cell[0] <= 'Z';
      const std::string verdict =
          judged ? " class=\"verdict " + cell.substr(0, cell.find(' ')) + '"' : "";
      html += fmt::format("<td{}>{}</td>", verdict, cell);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string page_picture(const std::string& svg) {
  return svg.empty() ? "" : "<div class=\"wide picture\">" + svg + "</div>\n";
}

std::string page_legend(const std::vector<Ink>& used) {
  std::string html = "<ul class=\"legend\" aria-label=\"Colours\">";
  for (const Ink& ink : used) {
    html += fmt::format("<li><i style=\"background:var(--{})\"></i>{}</li>",
                        schedule::to_string(ink.stage), ink.words);
  }
  return html + "</ul>\n";
}

}  // namespace overlap::report
