#pragma once

#include <optional>
#include <vector>

#include "results/reference.hpp"

/// Creates references from results.
namespace overlap::results {

/// Relative tolerance of a reference that covers the spread of `n` devices: three standard
/// deviations of a normal distribution with this median absolute deviation, at least 1 %, and at
/// least 5 % below 8 devices.
double tolerance_of(double median, double mad, std::size_t n);

struct Baseline {
  std::vector<Entry> entries;
  std::vector<Entry> left_out;  ///< medians that are not above 0: these have no relative tolerance
  std::vector<Entry> widened;   ///< those of `entries` with a tolerance raised to their interval
};

/// One entry per metric and order: the median over all devices of the same kind, link, back end and
/// deck; several results of one device count as their median. `below` replaces the tolerance. A
/// tolerance is at least what the results' own intervals leave open (their median).
/// Contains the metrics that criteria can judge, except drift and those of health. Throws
/// base::Error{runtime_error} for a sweep, which has more than one deck, and for results without a
/// figure.
Baseline baseline(const std::vector<Result>& results, std::optional<double> below);

}  // namespace overlap::results
