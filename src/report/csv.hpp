#pragma once

#include <optional>
#include <string>
#include <vector>

/// Common parts of CSV files (RFC 4180, lines end in "\n").
namespace overlap::report {

/// A cell with the name of its column.
struct CsvCell {
  std::string name, text;
};

/// A line of the texts or names of cells, quoted if necessary.
std::string csv_line(const std::vector<CsvCell>& cells,
                     std::string CsvCell::* part = &CsvCell::text);

/// A number with all digits; empty cell without a value.
std::string csv_cell(const std::optional<double>& value);

}  // namespace overlap::report
