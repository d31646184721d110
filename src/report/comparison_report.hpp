#pragma once

#include <string>

#include "report/block.hpp"
#include "results/compare.hpp"

/// Reports of comparisons, for people and programs.
namespace overlap::report {

/// Differences, changes and a chart of the ratios for each comparison. Side by side: the columns,
/// then per deck the differences, a table of all orders and their timelines.
Report comparison_report(const results::Comparisons& comparisons);

/// Results side by side: one row per deck, order and column. Times in seconds.
std::string side_by_side_csv(const results::SideBySide& all);

}  // namespace overlap::report
