#pragma once

#include <vector>

namespace overlap::base {

/// Median of a sample with its spread. `lo` and `hi` bound the median of the population with 95 %
/// confidence, whatever its distribution: order statistics, after Conover, Practical Nonparametric
/// Statistics, section 3.2. Below 6 samples no pair of order statistics reaches 95 %: minimum and
/// maximum stand in.
struct Summary {
  int n = 0;
  double median = 0;
  double min = 0;
  double max = 0;
  double lo = 0;
  double hi = 0;
};

/// Summary of a sample in any order; all zero for an empty one.
Summary summarize(std::vector<double> samples);

}  // namespace overlap::base
