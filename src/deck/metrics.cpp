#include "deck/metrics.hpp"

#include <cmath>
#include <vector>

namespace overlap::deck {

std::optional<base::Summary> drift(std::span<const Repetition> repetitions) {
  while (!repetitions.empty() && std::isnan(repetitions.back().time_s)) {
    repetitions = repetitions.first(repetitions.size() - 1);  // phase alone had more
  }
  if (repetitions.size() < least_for_drift) return std::nullopt;
  const std::size_t third = repetitions.size() / 3;
  const auto time_s = [](std::span<const Repetition> part) {
    std::vector<double> samples;
    for (const Repetition& repetition : part) samples.push_back(repetition.time_s);
    return base::summarize(std::move(samples));
  };
  const base::Summary first = time_s(repetitions.first(third));
  const base::Summary last = time_s(repetitions.last(third));
  return base::Summary{.n = static_cast<int>(repetitions.size()),
                       .median = last.median / first.median - 1,
                       .min = last.min / first.max - 1,
                       .max = last.max / first.min - 1,
                       .lo = last.lo / first.hi - 1,
                       .hi = last.hi / first.lo - 1};
}

std::optional<base::Summary> contention(std::span<const Repetition> repetitions) {
  std::vector<double> together, alone;
  for (const Repetition& repetition : repetitions) {
    // One of the phases may have fewer.
    if (!std::isnan(repetition.time_s)) together.push_back(repetition.time_s);
    if (!std::isnan(repetition.alone_s)) alone.push_back(repetition.alone_s);
  }
  const auto ratio = base::ratio(together, alone);
  if (!ratio) return std::nullopt;
  return base::Summary{.n = static_cast<int>(together.size()),
                       .median = ratio->value,
                       .min = ratio->lo,
                       .max = ratio->hi,
                       .lo = ratio->lo,
                       .hi = ratio->hi};
}

}  // namespace overlap::deck
