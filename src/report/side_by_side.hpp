#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/table.hpp"
#include "experiment/side_by_side.hpp"
#include "report/fields.hpp"

/// Results next to each other, for people and programs.
namespace overlap::report {

/// What one order has in all columns: a name and a cell per column, "-" where there is nothing.
/// Figures that no column has are left out.
base::Rows figure_rows(const experiment::SideBySide& all, const experiment::Match& match);

/// The columns: number, device, software, host, file.
base::Rows column_rows(const experiment::SideBySide& all);

/// The settings of a deck that differ between columns, with the columns' numbers as headings; empty
/// where none does.
base::Rows setting_rows(const experiment::SideBySide& all, const experiment::SharedDeck& deck);

/// Why columns have nothing of a deck: "column 2: ..."; one per column that has an error.
std::vector<std::string> error_lines(const experiment::SharedDeck& deck);

/// "increment: elements 65536, type float32"
std::string workload_words(const experiment::SharedDeck& deck);

/// An order with the point of its sweep or its phase.
std::string match_words(const experiment::Match& match);

/// The columns, then for each deck what differs and a table of all orders.
std::string side_by_side_text(const experiment::SideBySide& all);

/// A row for each deck, order and column that has it. Times are seconds.
std::string side_by_side_csv(const experiment::SideBySide& all);

/// The same as one page, with the measured timelines of each deck on one axis of time.
std::string side_by_side_html(const experiment::SideBySide& all);

/// In a file of the schema overlap-comparison/1.
void fields(Record& add, const experiment::SideBySide& of);

}  // namespace overlap::report
