#include "experiment/series.hpp"

#include <algorithm>
#include <bit>

namespace overlap::experiment {
namespace {

/// Distance between kept values at this number.
std::int64_t step_of(std::int64_t number, std::int64_t most) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(number / most + 1)));
}

}  // namespace

void add_thinned(std::vector<double>& kept, double value, std::int64_t number, std::int64_t most) {
  const std::int64_t step = step_of(number, most);
  if (step != step_of(number - 1, most)) {
    const std::size_t half = kept.size() / 2;
    for (std::size_t i = 0; i < half; ++i) kept[i] = kept[2 * i];
    kept.resize(half);
  }
  if (number % step == 0) kept.push_back(value);
}

void add(std::vector<Stretch>& series, double duration_s, double at_s, double seconds) {
  constexpr std::int64_t most = 64;
  const auto stretch = [&](double time_s) {
    return std::min(most_stretches - 1, static_cast<int>(time_s / duration_s * most_stretches));
  };
  if (series.empty() || stretch(series.back().at_s) != stretch(at_s)) {
    series.push_back({.at_s = at_s, .min_s = seconds, .max_s = seconds, .kept_s = {}});
  }
  Stretch& last = series.back();
  add_thinned(last.kept_s, seconds, last.repetitions++, most);
  last.min_s = std::min(last.min_s, seconds);
  last.max_s = std::max(last.max_s, seconds);
}

}  // namespace overlap::experiment
