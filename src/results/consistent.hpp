#pragma once

#include "results/result.hpp"

namespace overlap::results {

/// Requires that a file does not contradict itself: verdict and exit code follow from runs and
/// checks, checks from their values, and values are those of the runs. Throws
/// base::Error{runtime_error} with the place in the file.
void require_consistent(const describe::Reader& file, const Result& result);

/// The criteria of a deck that hold for the results of its runs.
std::vector<deck::Criterion> criteria(const Result& result);

}  // namespace overlap::results
