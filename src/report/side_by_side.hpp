#pragma once

#include <string>
#include <vector>

#include "base/table.hpp"
#include "experiment/side_by_side.hpp"
#include "report/fields.hpp"

/// Side-by-side results, for people and programs.
namespace overlap::report {

/// The figures of one order: a name and one cell per column, "-" if missing. Omits figures that no
/// column has.
base::Rows figure_rows(const experiment::SideBySide& all, const experiment::Match& match);

/// The columns: number, device, software, host, file.
base::Rows column_rows(const experiment::SideBySide& all);

/// Settings of a deck that differ between columns, with column numbers as headings; empty if none
/// differ.
base::Rows setting_rows(const experiment::SideBySide& all, const experiment::SharedDeck& deck);

/// Errors of columns that did not run a deck: "column 2: ...".
std::vector<std::string> error_lines(const experiment::SharedDeck& deck);

/// "increment: elements 65536, type float32"
std::string workload_words(const experiment::SharedDeck& deck);

/// An order with its sweep point or phase.
std::string match_words(const experiment::Match& match);

/// The columns, then per deck the differences and a table of all orders.
std::string side_by_side_text(const experiment::SideBySide& all);

/// One row per deck, order and column. Times in seconds.
std::string side_by_side_csv(const experiment::SideBySide& all);

/// The same as an HTML page, with the measured timelines of each deck on a common time axis.
std::string side_by_side_html(const experiment::SideBySide& all);

/// Fields in a file of schema overlap-comparison/1.
void fields(Record& add, const experiment::SideBySide& of);

}  // namespace overlap::report
