#pragma once

#include <optional>
#include <string>
#include <vector>

/// Common parts of CSV files (RFC 4180, lines end in "\n").
namespace overlap::report {

/// A line of cells, quoted if necessary.
std::string csv_line(std::vector<std::string> cells);

/// A number with all digits; empty cell without a value.
std::string csv_cell(const std::optional<double>& value);

}  // namespace overlap::report
