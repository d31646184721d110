#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/console.hpp"
#include "report/result.hpp"

namespace overlap::report {

/// One page for a run of the program, complete in itself: the tables, and every order of every deck
/// with measured above predicted on one axis of time, to zoom, to pan and to ask. It carries the
/// result file, too, as the script "result".
std::string timeline_html(const std::vector<Result>& results);

/// A table, its first row the headings; and JSON as the page's script `id`.
std::string html_table(const Rows& rows);
std::string html_json(const char* id, std::string json);

/// timeline.css and timeline.js of this folder, which CMake builds in.
std::string_view page_style();
std::string_view page_script();

}  // namespace overlap::report
