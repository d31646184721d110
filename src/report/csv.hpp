#pragma once

#include <optional>
#include <string>
#include <vector>

/// What all CSV files share (RFC 4180, lines end in "\n").
namespace overlap::report {

/// A line of cells, quoted where they need it.
std::string csv_line(std::vector<std::string> cells);

/// A number with all its digits; empty: there is none.
std::string csv_cell(const std::optional<double>& value);

}  // namespace overlap::report
