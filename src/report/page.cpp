#include "report/page.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace overlap::report {

/// timeline.css, which CMake builds in.
std::string_view page_style();

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
