#include <cmath>

#include "measure/measure.hpp"
#include "measure/sampling.hpp"
#include "workload/arithmetic.hpp"

namespace overlap::measure {
namespace {

/// The tasks of one stage of the first chunk, as a schedule of their own.
schedule::Schedule first_of(const schedule::Schedule& schedule, schedule::Stage stage) {
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
  return part;
}

}  // namespace

std::vector<double> try_out(Executor& executor, const std::vector<schedule::Schedule>& schedules,
                            const workload::Workload& workload) {
  wake(executor, schedules.front(), workload);
  const auto rounds = sample({.samples = 15, .enough_s = 2}, [&] {
    std::vector<double> times;
    for (const schedule::Schedule& schedule : schedules) {
      base::check_interrupt();
      times.push_back(executor.run(schedule, workload).complete_s);
    }
    return times;
  });
  std::vector<double> medians;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    medians.push_back(median(rounds, [&](const auto& times) { return times[i]; }));
  }
  return medians;
}

experiment::Balance find_balance(Executor& executor, const schedule::Schedule& schedule,
                                 workload::Workload& workload, double balance) {
  const auto time = [&](schedule::Stage stage) {
    return median_s(executor, first_of(schedule, stage), workload, {.warmup = 2, .samples = 7});
  };
  struct Trial {
    std::int64_t repeats;
    double seconds;
  };
  const auto kernel = [&](std::int64_t repeats) {
    workload.repeats = repeats;
    return Trial{repeats, time(schedule::Stage::kernel)};
  };

  workload.repeats = 1;
  workload.generate(0);
  wake(executor, schedule, workload);
  const double copy_s = time(schedule::Stage::h2d);
  const double wanted = balance * copy_s;
  const Trial one = kernel(1);
  // The kernel's time is linear in the repeats but for a constant. Grow until the kernel is long
  // enough, then close in: the noise of a short kernel cannot lead far away, and no trial takes
  // more than about 8 times what is wanted.
  constexpr std::int64_t most_repeats = std::int64_t{1} << 24;
  Trial low = one;
  Trial high = one;
  while (high.seconds < wanted && high.repeats < most_repeats) {
    low = high;
    high = kernel(8 * high.repeats);
  }
  const auto between = [&]() -> std::int64_t {
    if (high.seconds <= wanted || high.seconds <= low.seconds) return high.repeats;
    const double part = (wanted - low.seconds) / (high.seconds - low.seconds);
    return low.repeats + std::llround(part * static_cast<double>(high.repeats - low.repeats));
  };
  std::int64_t repeats = between();
  for (int step = 0; step < 2 && low.repeats < repeats && repeats < high.repeats; ++step) {
    const Trial trial = kernel(repeats);
    (trial.seconds < wanted ? low : high) = trial;
    repeats = between();
  }
  Trial best = one;
  for (std::int64_t near = std::max<std::int64_t>(2, repeats - 1);
       near <= repeats + 1 && wanted > one.seconds; ++near) {
    const Trial trial = kernel(near);
    if (std::abs(trial.seconds - wanted) < std::abs(best.seconds - wanted)) best = trial;
  }
  workload.repeats = best.repeats;
  return {best.repeats, copy_s, best.seconds};
}

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
                                [[maybe_unused]] const volatile auto end = workload::chain(steps);
                                return lanes::seconds_since(start);
                              });
}

}  // namespace overlap::measure
