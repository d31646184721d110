#pragma once

#include <optional>

#include "experiment/recorded.hpp"

/// References made from results.
namespace overlap::experiment {

/// The spread of `n` devices' values that a tolerance covers at least, as a part of their median:
/// three standard deviations of a normal distribution with this median absolute deviation, at least
/// 1 %, and at least 5 % where fewer than 8 devices say little about the spread.
double tolerance_of(double median, double mad, std::size_t n);

/// For each metric of each order the median over all devices of the same kind, link, back end and
/// deck; several results of one device count as their median. `below` replaces the tolerance. Only
/// what criteria judge, and no medians of 0 or less: a part of them is no tolerance. Throws
/// base::Error{runtime_error} for a sweep, which has no one deck.
std::vector<Entry> baseline(const std::vector<Recorded>& results, std::optional<double> below);

}  // namespace overlap::experiment
