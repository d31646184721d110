#pragma once

#include <string>
#include <vector>

#include "report/result.hpp"

namespace overlap::report {

/// Every order of every deck for Perfetto and chrome://tracing (the Trace Event Format): a process
/// a timeline, measured and predicted, with a track for each lane and each engine. Slices of a
/// track never overlap: tasks that do go to further tracks. Arrows lead from lane to lane, from
/// tasks to those that come after them. Times are microseconds with whole nanoseconds.
std::string trace(const std::vector<Result>& results);

}  // namespace overlap::report
