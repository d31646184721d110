#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "results/metrics.hpp"
#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

/// A run while it is planned, measured and judged.
namespace overlap::experiment {

using results::Balance;
using results::DeviceSamples;
using results::Finding;
using results::GraphCosts;
using results::HealthPoint;
using results::HealthRecord;
using results::name;
using results::ThrottledTime;
using results::Verdict;
using results::WrongData;

// Bounded subsets of the samples of long runs.

inline constexpr std::int64_t most_kept = 4096;  ///< of the samples of a soak

/// Distance between kept values at this number.
inline std::int64_t thinning(std::int64_t number, std::int64_t most) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(number / most + 1)));
}

/// Appends a value to a list that keeps at most `most` (a power of two) evenly spaced values: all
/// of them first, from number `most` on every second, then every fourth, and so on. `number` counts
/// all values from 0. Lists with the same numbers keep the same values.
template <class T>
void add_thinned(std::vector<T>& kept, T value, std::int64_t number, std::int64_t most) {
  const std::int64_t step = thinning(number, most);
  if (step != thinning(number - 1, most)) {
    const std::size_t half = kept.size() / 2;
    for (std::size_t i = 0; i < half; ++i) kept[i] = kept[2 * i];
    kept.resize(half);
  }
  if (number % step == 0) kept.push_back(value);
}

/// One order of a deck, with or without disturbance or host work, to be measured or predicted: what
/// its result will hold, and what that is made from.
struct Case {
  results::Run run = {};
  schedule::Schedule schedule = {};
  std::optional<timeline::Timeline> prediction = {}, traced = {};
  // Measured, beside the samples of the run.
  std::vector<double> issue_s;  ///< until everything is issued, including waits for blocking tasks
  double max_error = 0;         ///< of all verified runs
  /// Where a criterion judges a bound: the rates after each sample, NaN where not measured then.
  std::vector<model::Rates> round_rates;
  double cpu_s = 0, wanted_s = 0;  ///< on hosts, sums over all scored repetitions: see Elapsed
};

/// Sets the schedule, and what a result says of it.
void set_schedule(Case& planned, schedule::Schedule schedule);

/// The run as a result: with what files hold of its samples and, unless it is `swept`, with its
/// predicted timeline.
results::Run finished(const Case& ended, bool swept = false);

/// The runs of these cases, which are compared with each other.
results::Runs runs_of(const std::vector<Case>& cases);

/// Floating-point operations of a matrix product, including tiles of the host; 0 for other
/// workloads.
double product_flops(const schedule::Schedule& schedule);

/// Number of tiles that the host computes.
int host_tiles(const schedule::Schedule& schedule);

}  // namespace overlap::experiment
