#pragma once

#include <string>

#include "report/study.hpp"

/// Lines for harnesses, one record per line: their words never change.
namespace overlap::report {

/// OVERLAP_FOM and OVERLAP_CHECK of one outcome.
std::string point_lines(const experiment::Outcome& outcome);

/// OVERLAP_RESULT, the last line of a study.
std::string verdict_line(const Study& study);

/// All of them.
std::string result_lines(const Study& study);

}  // namespace overlap::report
