#pragma once

#include <string>
#include <vector>

#include "report/sweep.hpp"

namespace overlap::report {

/// A table for spreadsheets and plots (RFC 4180, lines end in "\n"): a row for each deck, point of
/// a sweep and order. What was not measured is empty. Swept keys are columns of their own, sizes
/// in bytes.
std::string csv(const std::vector<Result>& results);
std::string sweep_csv(const Sweep& sweep);

}  // namespace overlap::report
