#pragma once

#include <cstdint>
#include <vector>

/// What is kept of a run that may take hours: a bounded part of its samples.
namespace overlap::experiment {

/// Adds a value to a list that keeps at most `most`, a power of two, evenly spaced: all of them,
/// from the `most`-th on every second, then every fourth, and so on. `number` counts the values
/// from 0, those included that were not kept. Lists that are given the same numbers keep the same
/// ones.
void add_thinned(std::vector<double>& kept, double value, std::int64_t number, std::int64_t most);

/// A stretch of a long run.
struct Stretch {
  double at_s = 0;  ///< when its first repetition began, since the first of all
  std::int64_t repetitions = 0;
  double min_s = 0;
  double max_s = 0;
  std::vector<double> kept_s;  ///< thinned samples, for the median
};

inline constexpr int most_stretches = 512;

/// Adds a repetition that began `at_s` and took `seconds` to the series of a run that is to take
/// `duration_s`.
void add(std::vector<Stretch>& series, double duration_s, double at_s, double seconds);

}  // namespace overlap::experiment
