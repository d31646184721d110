#pragma once

#include <string>
#include <vector>

namespace overlap::base {

/// Rows of cells. The first row contains the headings, if there are any.
using Rows = std::vector<std::vector<std::string>>;

/// Formats rows as aligned columns: with `numbers` the first column is left-aligned and all others
/// are right-aligned, otherwise all are left-aligned. Cells may hold any bytes: each becomes one
/// line of text.
std::string align(Rows rows, bool numbers);

}  // namespace overlap::base
