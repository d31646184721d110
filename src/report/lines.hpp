#pragma once

#include <span>
#include <string>

#include "results/result.hpp"

/// Result lines: one record a line, key=value, for scripts.
namespace overlap::report {

/// OVERLAP_FOM and OVERLAP_CHECK lines of a result.
std::string result_lines(const results::Result& result);

/// The OVERLAP_RESULT line of several results: the worst verdict.
std::string verdict_line(std::span<const results::Result> results);
std::string verdict_line(results::Verdict verdict, base::ExitCode code, bool ran);

}  // namespace overlap::report
