#pragma once

#include <span>
#include <string>

#include "report/study.hpp"

/// Result lines for test harnesses, one record per line; their format is stable.
namespace overlap::report {

/// OVERLAP_FOM and OVERLAP_CHECK lines of one outcome.
std::string point_lines(const experiment::Outcome& outcome);

/// OVERLAP_RESULT, the last line of a call. `ran`: whether there are data.
std::string verdict_line(experiment::Verdict verdict, base::ExitCode code, bool ran);

/// The same of studies, of which there are some: the worst.
std::string verdict_line(std::span<const Study> studies);

/// All other result lines of a study.
std::string result_lines(const Study& study);

}  // namespace overlap::report
