#pragma once

#include <string>

#include "report/study.hpp"

/// Result lines for test harnesses, one record per line; their format is stable.
namespace overlap::report {

/// OVERLAP_FOM and OVERLAP_CHECK lines of one outcome.
std::string point_lines(const experiment::Outcome& outcome);

/// OVERLAP_RESULT, the last line of a study.
std::string verdict_line(const Study& study);

/// All result lines of a study.
std::string result_lines(const Study& study);

}  // namespace overlap::report
