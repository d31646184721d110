#pragma once

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"
#include "executor/executor.hpp"

namespace overlap::executor {

/// Repeats of the arithmetic that make a kernel last about `balance` times as long as the copies of
/// its chunk to the device, and the ratio that was reached.
struct Balance {
  std::int64_t repeats = 1;
  double copy_s = 0;    ///< one chunk's copies to the device
  double kernel_s = 0;  ///< its kernel with `repeats`
  double ratio() const { return kernel_s / copy_s; }
};

/// Measures the copies and the kernel of the schedule's first chunk, alone on the device, and
/// solves for the repeats; the kernel's time is linear in them but for a constant.
template <class Space>
Balance find_balance(Executor<Space>& executor, const schedule::Schedule& schedule,
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
    constexpr int warmup = 2;
    constexpr int repetitions = 7;
    std::vector<double> samples;
    for (int i = 0; i < warmup + repetitions; ++i) {
      base::check_interrupt();
      const double seconds = executor.run(part, workload);
      if (i >= warmup) samples.push_back(seconds);
    }
    return base::summarize(std::move(samples)).median;
  };
  const auto kernel_time = [&](std::int64_t repeats) {
    workload.repeats = repeats;
    return time(schedule::Stage::kernel);
  };

  workload.generate(0);
  Balance result;
  result.copy_s = time(schedule::Stage::h2d);
  const double wanted = balance * result.copy_s;
  const double one = kernel_time(1);
  result.kernel_s = one;
  std::int64_t repeats = 1;
  // Two secant steps from the origin and from one repeat land on the nearest whole number.
  double slope = one;
  for (int step = 0; step < 3 && wanted > one; ++step) {
    repeats = std::max<std::int64_t>(
        1, 1 + static_cast<std::int64_t>(std::llround((wanted - one) / slope)));
    if (repeats == 1) break;
    slope = std::max(1e-12, (kernel_time(repeats) - one) / static_cast<double>(repeats - 1));
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
