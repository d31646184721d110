#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"

/// Common parts of CSV files (RFC 4180, lines end in "\n").
namespace overlap::report {

/// A cell with the name of its column; empty without a value, numbers with all digits.
struct CsvCell {
  std::string name, text;

  CsvCell(std::string column, std::string words)
      : name(std::move(column)), text(std::move(words)) {}
  CsvCell(std::string column, const std::optional<double>& value);
  CsvCell(std::string column, std::integral auto number)
      : name(std::move(column)), text(std::to_string(number)) {}
};
using CsvCells = std::vector<CsvCell>;

/// Number of samples, median, extremes and interval; empty without samples.
void add_times(CsvCells& cells, const base::Summary& time_s);

/// The file of some rows, under the names of the columns.
std::string csv_text(const CsvCells& columns, const std::vector<CsvCells>& rows);

}  // namespace overlap::report
