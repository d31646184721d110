#include "timeline/run.hpp"

#include <algorithm>
#include <utility>

namespace overlap::timeline {

Run new_run(deck::Order order, schedule::Schedule schedule) {
  Run run;
  const schedule::Traffic traffic = schedule::traffic(schedule);
  run.order = order;
  run.bytes = static_cast<std::int64_t>(traffic.h2d + traffic.d2h);
  run.schedule = std::move(schedule);
  return run;
}

std::optional<double> predicted_s(const Run& run) {
  if (!run.predicted) return std::nullopt;
  return run.predicted->complete_s;
}

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
