#pragma once

#include <optional>
#include <vector>

namespace overlap::base {

/// Median and spread of a sample. [`lo`, `hi`] is a distribution-free 95 % confidence interval of
/// the population median from order statistics (Conover, Practical Nonparametric Statistics,
/// section 3.2). With fewer than 6 samples no pair of order statistics reaches 95 %; the interval
/// is then [min, max].
struct Summary {
  int n = 0;
  double median = 0;
  double min = 0;
  double max = 0;
  double lo = 0;
  double hi = 0;
};

/// The median of a non-empty sample.
double median(std::vector<double> samples);

/// The median absolute deviation from `center` of a non-empty sample.
double median_deviation(std::vector<double> samples, double center);

/// Summary of an unsorted sample; all zero for an empty one.
Summary summarize(std::vector<double> samples);

/// Summary of an unsorted sample; empty for an empty one.
std::optional<Summary> summary_if_any(std::vector<double> samples);

/// An estimate with its 95 % interval.
struct Estimate {
  double value = 0;
  double lo = 0;
  double hi = 0;
  bool covers = true;  ///< false: too few samples for 95 %; [lo, hi] are the extremes
};

/// Hodges-Lehmann estimate of the factor between two samples: the median of all a_i / b_j, with the
/// distribution-free interval that inverts the Mann-Whitney test (Moses); see Hollander, Wolfe and
/// Chicken, Nonparametric Statistical Methods, sections 4.2 and 4.3. Empty if a sample is empty or
/// contains a value that is not positive.
std::optional<Estimate> ratio(std::vector<double> a, std::vector<double> b);

}  // namespace overlap::base
