#pragma once

#include <optional>
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

/// The median of a sample that is not empty.
double median(std::vector<double> samples);

/// Summary of a sample in any order; all zero for an empty one.
Summary summarize(std::vector<double> samples);

/// An estimate with its 95 % interval.
struct Estimate {
  double value = 0;
  double lo = 0;
  double hi = 0;
  bool covers = true;  ///< false: too few samples for 95 %; the interval is that of the extremes
};

/// By what factor the values of `a` exceed those of `b`: the median of all a_i / b_j (Hodges and
/// Lehmann) with the distribution-free interval that inverts the test of Mann and Whitney (Moses);
/// see Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, sections 4.2 and 4.3. Empty
/// where a sample is empty or has a value that is not above 0.
std::optional<Estimate> ratio(std::vector<double> a, std::vector<double> b);

}  // namespace overlap::base
