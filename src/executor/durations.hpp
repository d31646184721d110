#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/statistics.hpp"
#include "executor/executor.hpp"

/// What the durations in a custom workload come to on this machine, measured before it runs.
namespace overlap::executor {

/// A few measurements `time(size)`.
template <class Time>
base::Summary times(std::int64_t size, const Time& time) {
  constexpr int repetitions = 10;
  std::vector<double> samples;
  for (int i = 0; i < repetitions; ++i) {
    base::check_interrupt();
    samples.push_back(time(size));
  }
  return base::summarize(std::move(samples));
}

/// The time that another step takes: from two sizes, so that what every launch costs beside its
/// work falls out, and from the shortest times, as others on the machine can only make them longer.
/// The sizes grow until the smaller takes long enough to be measured well.
template <class Time>
double seconds_per_step(const Time& time) {
  constexpr double long_enough = 3e-4;
  constexpr std::int64_t most = std::int64_t{1} << 30;
  std::int64_t steps = 1 << 14;
  time(steps);  // the first of anything is slower
  while (steps < most && times(steps, time).min < long_enough) steps *= 2;
  const double all_s = times(4 * steps, time).min;
  const double more_s = all_s - times(steps, time).min;
  // Where something else took longer than the work, at least half of the time was work.
  return std::max(more_s / static_cast<double>(3 * steps), all_s / static_cast<double>(8 * steps));
}

/// Sets the workload's steps a second, of kernels that fill the device and of the issuing thread.
template <class Space>
void calibrate_steps(Executor<Space>& executor, workload::Workload<Space>& workload) {
  workload.repeats =
      std::llround(1 / seconds_per_step([&](std::int64_t steps) {
                     schedule::Schedule kernel;
                     // It works on nothing, and without a duration its steps are the workload's
                     // repeats.
                     kernel.tasks = {{.stage = schedule::Stage::default_stream, .share = 1}};
                     workload.repeats = steps;
                     return executor.run(kernel, workload).complete_s;
                   }));
  workload.host_steps_per_s =
      1 / seconds_per_step([](std::int64_t steps) {
        const auto start = std::chrono::steady_clock::now();
        [[maybe_unused]] const volatile std::uint32_t end = workload::custom::chain(steps);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      });
}

}  // namespace overlap::executor
