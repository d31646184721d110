#pragma once

#include <vector>

#include "base/statistics.hpp"
#include "executor/executor.hpp"
#include "executor/wake.hpp"

namespace overlap::executor {

/// Median times of schedules that take turns, after a warm-up each, on the data that are there.
/// Three rounds at least; more where they are short.
template <class Space>
std::vector<double> try_out(Executor<Space>& executor,
                            const std::vector<schedule::Schedule>& schedules,
                            const workload::Workload<Space>& workload) {
  constexpr int most_rounds = 15;
  constexpr int least_rounds = 3;
  constexpr double long_enough_s = 2;
  wake(executor, schedules.front(), workload);
  std::vector<std::vector<double>> samples(schedules.size());
  double spent_s = 0;
  for (int round = 0; round <= most_rounds; ++round) {
    if (round > least_rounds && spent_s > long_enough_s) break;
    for (std::size_t i = 0; i < schedules.size(); ++i) {
      base::check_interrupt();
      const double seconds = executor.run(schedules[i], workload).complete_s;
      spent_s += seconds;
      if (round > 0) samples[i].push_back(seconds);
    }
  }
  std::vector<double> medians;
  for (auto& times : samples) medians.push_back(base::summarize(std::move(times)).median);
  return medians;
}

}  // namespace overlap::executor
