#include "base/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace overlap::base {
namespace {

/// The largest k (counted from 0) with P(X <= k) <= 2.5 % for X ~ Binomial(n, 1/2): the interval
/// from the (k+1)-th smallest to the (k+1)-th largest sample then covers the median with >= 95 %.
/// -1 when even the extremes do not reach it.
int order_statistic(int n) {
  double log_probability = -n * std::log(2.0);  // of X = k
  double tail = 0;
  for (int k = 0; k <= n; ++k) {
    tail += std::exp(log_probability);
    if (tail > 0.025) return k - 1;
    log_probability += std::log((n - k) / (k + 1.0));
  }
  return -1;
}

/// The largest k with P(U <= k) <= 2.5 % for the statistic U of Mann and Whitney, the number of
/// pairs of two samples of one population in which the value of the first is larger. Empty when
/// even U = 0 is likelier than that.
std::optional<std::size_t> pairs_below(std::size_t m, std::size_t n) {
  const auto real = [](std::size_t number) { return static_cast<double>(number); };
  constexpr std::size_t most_exact = 50;
  if (std::max(m, n) > most_exact) {
    const double pairs = real(m) * real(n);
    const double sigma = std::sqrt(pairs * real(m + n + 1) / 12);
    return static_cast<std::size_t>(std::max(0.0, pairs / 2 - 1.959964 * sigma - 0.5));
  }
  // probability[j][u] of U = u, with i values of the first sample and j of the second: the largest
  // of all belongs to the first with i / (i + j), and then exceeds all j.
  std::vector<std::vector<double>> probability(n + 1, std::vector<double>(m * n + 1));
  for (std::vector<double>& row : probability) row[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t j = 1; j <= n; ++j) {
      const double first = real(i) / real(i + j);
      for (std::size_t u = i * j + 1; u-- > 0;) {
        probability[j][u] =
            (u >= j ? first * probability[j][u - j] : 0) + (1 - first) * probability[j - 1][u];
      }
    }
  }
  double tail = probability[n][0];
  if (tail > 0.025) return std::nullopt;
  std::size_t k = 0;
  while ((tail += probability[n][k + 1]) <= 0.025) ++k;
  return k;
}

/// The ratio with index `rank` (from 0) among all a_i / b_j of two samples in ascending order.
/// Bisects the bit patterns of doubles, because there may be too many ratios to store.
double ratio_of_rank(const std::vector<double>& a, const std::vector<double>& b, std::size_t rank) {
  const auto up_to = [&](double limit) {
    std::size_t count = 0;
    std::size_t j = 0;
    for (const double x : a) {
      while (j < b.size() && x / b[j] > limit) ++j;
      count += b.size() - j;
    }
    return count;
  };
  // Doubles above 0 are in the order of their bits.
  auto lo = std::bit_cast<std::uint64_t>(a.front() / b.back());
  auto hi = std::bit_cast<std::uint64_t>(a.back() / b.front());
  while (lo < hi) {
    const std::uint64_t middle = lo + (hi - lo) / 2;
    if (up_to(std::bit_cast<double>(middle)) > rank) {
      hi = middle;
    } else {
      lo = middle + 1;
    }
  }
  return std::bit_cast<double>(lo);
}

}  // namespace

double median(std::vector<double> samples) { return summarize(std::move(samples)).median; }

double median_deviation(std::vector<double> samples, double center) {
  for (double& sample : samples) sample = std::abs(sample - center);
  return median(std::move(samples));
}

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

std::optional<Summary> summary_if_any(std::vector<double> samples) {
  return samples.empty() ? std::nullopt : std::optional(summarize(std::move(samples)));
}

std::optional<Estimate> ratio(std::vector<double> a, std::vector<double> b) {
  for (std::vector<double>* sample : {&a, &b}) {
    std::sort(sample->begin(), sample->end());
    if (sample->empty() || !(sample->front() > 0)) return std::nullopt;
  }
  const std::size_t last = a.size() * b.size() - 1;
  const auto reached = pairs_below(a.size(), b.size());
  const std::size_t k = reached.value_or(0);
  // Of an even number of ratios the geometric mean: as the median of logarithms' differences is.
  const double below = ratio_of_rank(a, b, last / 2);
  const double above = ratio_of_rank(a, b, (last + 1) / 2);
  return Estimate{.value = below == above ? below : std::sqrt(below * above),
                  .lo = ratio_of_rank(a, b, k),
                  .hi = ratio_of_rank(a, b, last - k),
                  .covers = reached.has_value()};
}

}  // namespace overlap::base
