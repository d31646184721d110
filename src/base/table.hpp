#pragma once

#include <string>
#include <vector>

namespace overlap::base {

/// Rows of cells, the first row the headings where there are any.
using Rows = std::vector<std::vector<std::string>>;

/// Rows as aligned columns: the first one to the left, the others to the right (`numbers`), or all
/// to the left. Cells may hold any bytes: each becomes one line of text.
std::string align(Rows rows, bool numbers);

}  // namespace overlap::base
