#include "measure/steps.hpp"

#include <cmath>

#include "measure/sampling.hpp"
#include "workload/steps.hpp"

namespace overlap::measure {

// From two sizes, so that what every launch costs apart from its work falls out, and from the
// shortest times, as others on the machine can only make them longer. The sizes grow until the
// smaller takes long enough to be measured well.
double seconds_per_step(const std::function<double(std::int64_t)>& time) {
  constexpr double long_enough = 3e-4;
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const auto least = [&](std::int64_t steps) {
    const auto samples = sample({.warmup = 0, .samples = 10}, [&] { return time(steps); });
    return *std::min_element(samples.begin(), samples.end());
  };
  std::int64_t steps = 1 << 14;
  time(steps);  // the first of anything is slower
  while (steps < most && least(steps) < long_enough) steps *= 2;
  const double all_s = least(4 * steps);
  const double more_s = all_s - least(steps);
  // Where something else took longer than the work, at least half of the time was work.
  return std::max(more_s / static_cast<double>(3 * steps), all_s / static_cast<double>(8 * steps));
}

void calibrate_steps(Executor& executor, workload::Workload& workload) {
  // It works on nothing, and without a duration its steps are the workload's repeats.
  schedule::Schedule kernel;
  kernel.tasks = {{.stage = schedule::Stage::default_stream, .share = 1}};
  workload.repeats = std::llround(1 / seconds_per_step([&](std::int64_t steps) {
                                    workload.repeats = steps;
                                    return executor.run(kernel, workload).complete_s;
                                  }));
  workload.host_steps_per_s = 1 / seconds_per_step([](std::int64_t steps) {
                                const auto start = lanes::Clock::now();
                                [[maybe_unused]] const volatile auto end =
                                    workload::custom::chain(steps);
                                return lanes::seconds_since(start);
                              });
}

}  // namespace overlap::measure
