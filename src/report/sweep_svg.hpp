#pragma once

#include <string>

#include "report/sweep.hpp"

namespace overlap::report {

/// A sweep as a picture: time (or GB/s where the bytes differ) over the first swept key, a line for
/// each order with its 95 % intervals, the bound and the predictions; a panel for each combination
/// of the other keys' values, all on the same axes. A mark says what it is when a pointer rests on
/// it. Follows the reader's choice of light or dark.
std::string sweep_svg(const Sweep& sweep);

/// The same as a page that is complete in itself, with the table and the result file, as the script
/// "result".
std::string sweep_html(const Sweep& sweep);

}  // namespace overlap::report
