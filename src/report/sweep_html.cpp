#include <fmt/format.h>

#include "report/json.hpp"
#include "report/picture.hpp"
#include "report/sweep_svg.hpp"
#include "report/timeline_html.hpp"

namespace overlap::report {

std::string sweep_html(const Sweep& sweep) {
  const std::string title = escape_xml(sweep.common.deck.title);
  Rows rows = sweep_rows(sweep);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<style>\n{}svg.sweep {{ display: block; width: 100%; height: auto; margin: 24px 0; "
      "border-radius: 14px; box-shadow: var(--shadow); }}\n</style>\n</head>\n<body>\n<main>\n"
      "{}{}</main>\n{}</body>\n</html>\n",
      title, page_style(), sweep_svg(sweep), html_table(rows),
      html_json("result", sweep_json(sweep, -1)));
}

}  // namespace overlap::report
