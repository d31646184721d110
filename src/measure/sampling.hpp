#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "base/interrupt.hpp"
#include "measure/executor.hpp"

/// Sampling of times or other results of runs, for all measurements except the scored runs.
namespace overlap::measure {

/// Sampling parameters.
struct Sampling {
  int warmup = 1;
  int samples = 7;
  /// Stops after three samples if they and the warm-up took longer than this.
  double enough_s = std::numeric_limits<double>::infinity();
  std::function<void()> step = base::check_interrupt;  ///< called before each sample; may be empty
};

/// The results of repeated calls of once(), without those of the warm-up.
template <class Once>
auto sample(const Sampling& how, const Once& once) {
  std::vector<decltype(once())> samples;
  const auto start = lanes::Clock::now();
  for (int i = -how.warmup; i < how.samples; ++i) {
    if (i >= 3 && lanes::seconds_since(start) > how.enough_s) break;
    if (how.step) how.step();
    auto one = once();
    if (i >= 0) samples.push_back(std::move(one));
  }
  return samples;
}

/// The median of value(sample) over all samples.
template <class Samples, class Value = std::identity>
double median(const Samples& samples, Value value = {}) {
  std::vector<double> values;
  for (const auto& one : samples) values.push_back(std::invoke(value, one));
  return base::median(std::move(values));
}

/// Runs the schedule on a GPU for 0.1 s to raise its clocks: they fall while the host prepares
/// data, which can lengthen an operation of microseconds by half (H200, 1 MiB).
inline void wake(Executor& executor, const schedule::Schedule& schedule,
                 const workload::Workload& workload) {
  constexpr double wake_s = 0.1;
  if (workload::on_host(workload.space)) return;
  for (double busy_s = 0; busy_s < wake_s;) {
    base::check_interrupt();
    busy_s += executor.run(schedule, workload).complete_s;
  }
}

}  // namespace overlap::measure
