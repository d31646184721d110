#pragma once

#include <string>
#include <vector>

#include "report/result.hpp"

namespace overlap::report {

/// Every order of every deck as a picture, measured above predicted. The orders of a deck share one
/// scale of time, so that lengths compare. Engines are rows; a task says what it is when a pointer
/// rests on it. Follows the reader's choice of light or dark.
std::string timeline_svg(const std::vector<Result>& results);

}  // namespace overlap::report
