#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "base/interrupt.hpp"
#include "measure/executor.hpp"

/// Taking samples of a time or of whatever else a run yields; all measurements but the scored runs
/// go through here.
namespace overlap::measure {

/// How samples are taken.
struct Sampling {
  int warmup = 1;
  int samples = 7;
  /// Once `few` samples have taken this long with the warm-up, they are enough.
  double enough_s = std::numeric_limits<double>::infinity();
  int few = 3;
  std::function<void()> step = base::check_interrupt;  ///< called before each; may be empty
};

/// What `once()` returns, warm-up left out.
template <class Once>
auto sample(const Sampling& how, const Once& once) {
  std::vector<decltype(once())> samples;
  const auto start = lanes::Clock::now();
  for (int i = -how.warmup; i < how.samples; ++i) {
    if (i >= how.few && lanes::seconds_since(start) > how.enough_s) break;
    if (how.step) how.step();
    auto one = once();
    if (i >= 0) samples.push_back(std::move(one));
  }
  return samples;
}

/// The median of value(sample).
template <class Samples, class Value = std::identity>
double median(const Samples& samples, Value value = {}) {
  std::vector<double> values;
  for (const auto& one : samples) values.push_back(std::invoke(value, one));
  return base::summarize(std::move(values)).median;
}

/// The median time of a schedule.
inline double median_s(Executor& executor, const schedule::Schedule& schedule,
                       const workload::Workload& workload, const Sampling& how) {
  return median(sample(how, [&] { return executor.run(schedule, workload); }),
                &Elapsed::complete_s);
}

/// Keeps a GPU busy for 0.1 s, until its clocks are up: they fall while the host prepares data, and
/// what takes microseconds then takes half as long again (seen on an H200 at 1 MiB).
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
