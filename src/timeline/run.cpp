#include "timeline/run.hpp"

#include <algorithm>

namespace overlap::timeline {

base::Summary time_s(const Run& run) { return base::summarize(run.samples_s); }

base::Summary throughput(const Run& run) {
  std::vector<double> rates;
  for (const double s : run.samples_s) rates.push_back(static_cast<double>(run.bytes) / s * 1e-9);
  return base::summarize(std::move(rates));
}

std::optional<base::Summary> speedup(const Run& run, const std::vector<Run>& runs) {
  const auto baseline = std::find_if(runs.begin(), runs.end(), [](const Run& other) {
    return other.order == deck::Order::sequential;
  });
  if (baseline == runs.end() || run.samples_s.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(run.samples_s.size(), baseline->samples_s.size()); ++i) {
    ratios.push_back(baseline->samples_s[i] / run.samples_s[i]);
  }
  return base::summarize(std::move(ratios));
}

}  // namespace overlap::timeline
