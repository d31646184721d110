#pragma once

#include <string>
#include <vector>

#include "report/result.hpp"

namespace overlap::report {

/// The result file, schema overlap-result/1 (overlap-result-1.schema.json beside this file): one
/// object for one deck, {"results": [...]} for several. `indent` -1: all on one line.
std::string to_json(const std::vector<Result>& results, int indent = 2);

}  // namespace overlap::report
