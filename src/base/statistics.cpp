#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace overlap::base {
namespace {

/// The largest k (counted from 0) with P(X <= k) <= 2.5 % for X ~ Binomial(n, 1/2): the interval
/// from the (k+1)-th smallest to the (k+1)-th largest sample then covers the median with >= 95 %.
/// -1 when even the extremes do not reach it.
int order_statistic(int n) {
  const double log_half_power = -n * std::log(2.0);
  double tail = 0;
  for (int k = 0; k <= n; ++k) {
    tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) +
                     log_half_power);
    if (tail > 0.025) return k - 1;
  }
  return -1;
}

}  // namespace

Summary summarize(std::vector<double> samples) {
  Summary summary;
  if (samples.empty()) return summary;
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  summary.n = static_cast<int>(n);
  summary.min = samples.front();
  summary.max = samples.back();
  summary.median = n % 2 == 1 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
  const auto k = static_cast<std::size_t>(std::max(0, order_statistic(summary.n)));
  summary.lo = samples[k];
  summary.hi = samples[n - 1 - k];
  return summary;
}

}  // namespace overlap::base
