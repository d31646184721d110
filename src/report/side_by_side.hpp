#pragma once

#include <string>
#include <vector>

#include "experiment/side_by_side.hpp"

/// Side-by-side results, for people and programs.
namespace overlap::report {

/// Errors of columns that did not run a deck: "column 2: ...".
std::vector<std::string> error_lines(const experiment::SharedDeck& deck);

/// An order with its sweep point or phase.
std::string match_words(const experiment::Match& match);

/// The columns, then per deck the differences and a table of all orders.
std::string side_by_side_text(const experiment::SideBySide& all);

/// One row per deck, order and column. Times in seconds.
std::string side_by_side_csv(const experiment::SideBySide& all);

/// The same as an HTML page, with the measured timelines of each deck on a common time axis.
std::string side_by_side_html(const experiment::SideBySide& all);

}  // namespace overlap::report
