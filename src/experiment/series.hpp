#pragma once

#include <cstdint>
#include <vector>

/// Bounded subsets of the samples of long runs.
namespace overlap::experiment {

inline constexpr std::int64_t most_kept = 4096;  ///< of the samples of a soak

/// Appends a value to a list that keeps at most `most` (a power of two) evenly spaced values: all
/// of them first, from number `most` on every second, then every fourth, and so on. `number` counts
/// all values from 0. Lists with the same numbers keep the same values.
void add_thinned(std::vector<double>& kept, double value, std::int64_t number, std::int64_t most);

/// One time interval of a long run.
struct Stretch {
  double at_s = 0;  ///< start of its first repetition, since that of the run
  std::int64_t repetitions = 0;
  double min_s = 0;
  double max_s = 0;
  std::vector<double> kept_s;  ///< thinned samples, for the median
};

inline constexpr int most_stretches = 512;

/// Adds a repetition that started at `at_s` and took `seconds` to the series of a run of
/// `duration_s`.
void add(std::vector<Stretch>& series, double duration_s, double at_s, double seconds);

}  // namespace overlap::experiment
