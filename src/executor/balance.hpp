#pragma once

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"
#include "executor/executor.hpp"
#include "executor/wake.hpp"
#include "experiment/run.hpp"

namespace overlap::executor {

/// Measures the copies and the kernel of the schedule's first chunk, alone on the device, and
/// solves for the repeats; the kernel's time is linear in them but for a constant.
template <class Space>
experiment::Balance find_balance(Executor<Space>& executor, const schedule::Schedule& schedule,
                                 workload::Workload<Space>& workload, double balance) {
  // The tasks of one stage of the first chunk, as a schedule of their own.
  const auto time = [&](schedule::Stage stage) {
    schedule::Schedule part = schedule;
    std::erase_if(part.tasks, [&](const schedule::Task& task) {
      return task.stage != stage || task.chunk != 0 || task.op != 0;
    });
    for (schedule::Task& task : part.tasks) {
      task.after.clear();
      task.lane = 0;
    }
    part.lanes = 1;
    part.mechanism = deck::Mechanism::streams;
    constexpr int warmup = 2;
    constexpr int repetitions = 7;
    std::vector<double> samples;
    for (int i = 0; i < warmup + repetitions; ++i) {
      base::check_interrupt();
      const double seconds = executor.run(part, workload).complete_s;
      if (i >= warmup) samples.push_back(seconds);
    }
    return base::summarize(std::move(samples)).median;
  };
  const auto kernel_time = [&](std::int64_t repeats) {
    workload.repeats = repeats;
    return time(schedule::Stage::kernel);
  };

  workload.repeats = 1;
  workload.generate(0);
  wake(executor, schedule, workload);
  experiment::Balance result;
  result.copy_s = time(schedule::Stage::h2d);
  const double wanted = balance * result.copy_s;
  const double one = kernel_time(1);
  result.kernel_s = one;
  // Grow until the kernel is long enough, then close in: the noise of a short kernel cannot lead
  // far away, and no trial takes more than about 8 times what is wanted.
  constexpr std::int64_t most_repeats = std::int64_t{1} << 24;
  struct Trial {
    std::int64_t repeats;
    double seconds;
  };
  Trial low{1, one};
  Trial high{1, one};
  while (high.seconds < wanted && high.repeats < most_repeats) {
    low = high;
    high.repeats *= 8;
    high.seconds = kernel_time(high.repeats);
  }
  const auto between = [&]() -> std::int64_t {
    if (high.seconds <= wanted || high.seconds <= low.seconds) return high.repeats;
    const double part = (wanted - low.seconds) / (high.seconds - low.seconds);
    return low.repeats + std::llround(part * static_cast<double>(high.repeats - low.repeats));
  };
  std::int64_t repeats = between();
  for (int step = 0; step < 2 && low.repeats < repeats && repeats < high.repeats; ++step) {
    const Trial trial{repeats, kernel_time(repeats)};
    (trial.seconds < wanted ? low : high) = trial;
    repeats = between();
  }
  double best = std::abs(one - wanted);
  for (std::int64_t r = std::max<std::int64_t>(2, repeats - 1); r <= repeats + 1 && wanted > one;
       ++r) {
    const double seconds = kernel_time(r);
    if (std::abs(seconds - wanted) < best) {
      best = std::abs(seconds - wanted);
      result.repeats = r;
      result.kernel_s = seconds;
    }
  }
  workload.repeats = result.repeats;
  return result;
}

}  // namespace overlap::executor
