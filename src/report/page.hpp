#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/table.hpp"
#include "report/svg.hpp"

/// Common parts of HTML pages.
namespace overlap::report {

/// The page up to its body, with the common style.
std::string page_head(const std::string& title);

/// The start of a section; heading and place are HTML.
std::string page_section(const std::string& heading, const std::string& place);

/// JSON as the script `id` of the page.
std::string page_json(const std::string& id, std::string_view json);

/// Rows as an HTML table; the first row contains the headings.
std::string page_table(const base::Rows& rows);

/// A picture, which scrolls sideways in a narrow window; empty: none.
std::string page_picture(const std::string& svg);

/// Legend of the stage colours.
std::string page_legend(const std::vector<Ink>& used);

}  // namespace overlap::report
