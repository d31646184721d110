#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "hand_schedule.hpp"
#include "schedule/build.hpp"

/// What must hold for every schedule, tried on random ones.
namespace overlap::model {
namespace {

constexpr double rounding = 1e-9;
constexpr int trials = 300;

using Random = std::mt19937;

int pick(Random& random, int least, int most) {
  return std::uniform_int_distribution(least, most)(random);
}

/// Up to 30 tasks on up to 5 lanes, of 1 to 8 s each; some come after earlier tasks of other lanes.
Schedule random_schedule(Random& random) {
  const int lanes = pick(random, 1, 5);
  std::vector<Task> tasks(static_cast<std::size_t>(pick(random, 2, 30)));
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    const int lane = pick(random, 0, lanes - 1);
    const int size = pick(random, 1, 8);
    constexpr std::array shares = {0.1, 0.25, 0.5, 0.7, 1.0};
    const double share = shares[static_cast<std::size_t>(pick(random, 0, 4))];
    const auto bytes = static_cast<std::size_t>(size);
    const int stage = pick(random, 0, 2);
    Task& task = tasks[id];
    task = stage == 0   ? h2d(lane, bytes)
           : stage == 1 ? d2h(lane, bytes)
                        : kernel(lane, size, share);
    for (int i = 0; id > 0 && i < pick(random, 0, 2); ++i) {
      const auto other = static_cast<TaskId>(pick(random, 0, static_cast<int>(id) - 1));
      if (tasks[other].lane != lane) task.after.push_back(other);
    }
  }
  return schedule_of(std::move(tasks));
}

/// Before Hyper-Q, in all variants, without slow-downs.
Device random_fifo_device(Random& random) {
  Device device = device_of(Queues::engine, pick(random, 1, 2));
  device.delayed_signal = pick(random, 0, 1) == 1;
  device.window = pick(random, 0, 1) * pick(random, 1, 6);
  device.concurrent_kernels = pick(random, 1, 4);
  return device;
}

/// Any device.
Device random_device(Random& random) {
  Device device = random_fifo_device(random);
  device.queues = std::array{Queues::engine, Queues::connection,
                             Queues::worker}[static_cast<std::size_t>(pick(random, 0, 2))];
  if (device.queues != Queues::engine) device.delayed_signal = false;
  if (device.queues == Queues::worker) device.window = 0;
  device.connections = pick(random, 1, 4);
  device.copy_connections = pick(random, 1, 4);
  device.cores = pick(random, 1, 4);
  device.h2d.duplex = slower(device.h2d.pinned, 1 + 0.25 * pick(random, 0, 4));
  device.d2h.duplex = slower(device.d2h.pinned, 1 + 0.25 * pick(random, 0, 4));
  device.kernels_slowed = 1 + 0.25 * pick(random, 0, 2);
  for (double* cost : {&device.host.copy_s, &device.host.kernel_s, &device.host.record_s,
                       &device.host.wait_s, &device.host.synchronize_s}) {
    *cost = 0.125 * pick(random, 0, 1) * pick(random, 0, 4);
  }
  for (double* delay : {&device.latency.start_s, &device.latency.lane_s, &device.latency.event_s,
                        &device.latency.notice_s}) {
    *delay = 0.125 * pick(random, 0, 1) * pick(random, 0, 4);
  }
  return device;
}

/// What must be complete before the task: those it names and the one before it in its lane.
std::vector<TaskId> predecessors(const Schedule& schedule, TaskId id) {
  std::vector<TaskId> found = schedule.tasks[id].after;
  for (TaskId before = id; before-- > 0;) {
    if (schedule.tasks[before].lane != schedule.tasks[id].lane) continue;
    found.push_back(before);
    break;
  }
  return found;
}

/// For every trial a schedule, a device and the timeline.
template <class Check>
void for_random_schedules(const Check& check) {
  Random random(20240817);  // NOLINT: the same trials every time
  for (int trial = 0; trial < trials; ++trial) {
    SCOPED_TRACE(trial);
    const Schedule schedule = random_schedule(random);
    const Device device = random_device(random);
    check(schedule, device, predict(schedule, device));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomSchedules, AreNotFasterThanTheirCriticalPath) {
  for_random_schedules([](const Schedule& schedule, const Device& device, const auto& timeline) {
    std::vector<double> earliest;
    for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
      double start = 0;
      for (const TaskId other : predecessors(schedule, id)) {
        start = std::max(start, earliest[other]);
      }
      earliest.push_back(start + seconds_alone(schedule, schedule.tasks[id], device));
      EXPECT_GE(timeline.spans[id].stop_s, earliest[id] - rounding) << id;
      EXPECT_GE(timeline.complete_s, timeline.spans[id].stop_s - rounding) << id;
    }
  });
}

TEST(RandomSchedules, AreNotFasterThanTheBusiestEngine) {
  for_random_schedules([](const Schedule& schedule, const Device& device, const auto& timeline) {
    std::vector<double> busy(timeline.engines.size());
    double all = 0;
    for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
      const Task& task = schedule.tasks[id];
      const double alone = seconds_alone(schedule, task, device);
      const bool shared = device.queues != Queues::worker && schedule::is_kernel(task.stage);
      busy[static_cast<std::size_t>(timeline.spans[id].engine)] +=
          shared ? alone * task.share : alone;
      all += alone;
    }
    for (const double seconds : busy) EXPECT_GE(timeline.complete_s, seconds - rounding);
    if (device.queues == Queues::worker) {
      EXPECT_GE(timeline.complete_s, all / device.cores - rounding);
    }
  });
}

TEST(RandomSchedules, KeepEveryDependency) {
  for_random_schedules([](const Schedule& schedule, const Device&, const auto& timeline) {
    for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
      for (const TaskId other : predecessors(schedule, id)) {
        EXPECT_GE(timeline.spans[id].start_s, timeline.spans[other].stop_s - rounding)
            << id << " after " << other;
      }
    }
  });
}

TEST(RandomSchedules, KeepEveryDependencyByFences) {
  for_random_schedules([&](Schedule schedule, const Device& device, const auto&) {
    schedule.mechanism = deck::Mechanism::portable;
    const timeline::Timeline timeline = predict(schedule, device);
    for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
      for (const TaskId other : predecessors(schedule, id)) {
        EXPECT_GE(timeline.spans[id].start_s, timeline.spans[other].stop_s - rounding)
            << id << " after " << other;
      }
    }
  });
}

TEST(RandomSchedules, HaveOneTaskAtATimeOnWorkersAndCopyEngines) {
  for_random_schedules([](const Schedule& schedule, const Device& device, const auto& timeline) {
    for (TaskId a = 0; a < schedule.tasks.size(); ++a) {
      const timeline::Span& one = timeline.spans[a];
      if (device.queues != Queues::worker && schedule::is_kernel(schedule.tasks[a].stage)) continue;
      for (TaskId b = 0; b < a; ++b) {
        const timeline::Span& other = timeline.spans[b];
        if (other.engine != one.engine) continue;
        EXPECT_TRUE(one.start_s >= other.stop_s - rounding ||
                    other.start_s >= one.stop_s - rounding)
            << a << " beside " << b;
      }
    }
  });
}

TEST(RandomSchedules, NeverGiveKernelsMoreThanTheDevice) {
  // Between any start and any stop no more work is done than the device can do.
  for_random_schedules([](const Schedule& schedule, const Device& device, const auto& timeline) {
    if (device.queues == Queues::worker) return;
    const auto kernels_between = [&](double begin, double end, const auto& what) {
      double sum = 0;
      for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
        const timeline::Span& span = timeline.spans[id];
        if (!schedule::is_kernel(schedule.tasks[id].stage)) continue;
        if (span.start_s >= begin - rounding && span.stop_s <= end + rounding) sum += what(id);
      }
      return sum;
    };
    for (const timeline::Span& first : timeline.spans) {
      for (const timeline::Span& last : timeline.spans) {
        if (last.stop_s <= first.start_s) continue;
        const double work = kernels_between(first.start_s, last.stop_s, [&](TaskId id) {
          return schedule.tasks[id].share * schedule.tasks[id].duration_s;
        });
        EXPECT_LE(work, last.stop_s - first.start_s + rounding);
      }
      // And no more of them run than may.
      int running = 0;
      for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
        const timeline::Span& span = timeline.spans[id];
        running += static_cast<int>(schedule::is_kernel(schedule.tasks[id].stage) &&
                                    span.start_s <= first.start_s + rounding &&
                                    span.stop_s > first.start_s + rounding);
      }
      EXPECT_LE(running, device.concurrent_kernels);
    }
  });
}

// Of queues that cannot overtake each other: with one FIFO an engine, no slow-downs and no costs of
// the host, later can only become later.

TEST(FifoSchedules, AreNotShortenedByAnotherDependency) {
  Random random(11);  // NOLINT: the same trials every time
  int longer = 0;
  for (int trial = 0; trial < trials; ++trial) {
    SCOPED_TRACE(trial);
    Schedule schedule = random_schedule(random);
    const Device device = random_fifo_device(random);
    const double before = predict(schedule, device).complete_s;
    const int tasks = static_cast<int>(schedule.tasks.size());
    const auto id = static_cast<TaskId>(pick(random, 1, tasks - 1));
    schedule.tasks[id].after.push_back(
        static_cast<TaskId>(pick(random, 0, static_cast<int>(id) - 1)));
    const double after = predict(schedule, device).complete_s;
    EXPECT_GE(after, before - rounding);
    longer += static_cast<int>(after > before + rounding);
  }
  EXPECT_GT(longer, trials / 20);  // the test tests something
}

TEST(FifoSchedules, AreNotLengthenedByAFasterEngine) {
  Random random(12);  // NOLINT: the same trials every time
  int shorter = 0;
  for (int trial = 0; trial < trials; ++trial) {
    SCOPED_TRACE(trial);
    Schedule schedule = random_schedule(random);
    Device device = random_fifo_device(random);
    const double before = predict(schedule, device).complete_s;
    const int engine = pick(random, 0, 2);
    if (engine == 0) device.h2d.pinned = slower(device.h2d.pinned, 0.5);
    if (engine == 1) device.d2h.pinned = slower(device.d2h.pinned, 0.5);
    for (Task& task : schedule.tasks) {
      if (engine == 2) task.duration_s *= 0.5;
    }
    const double after = predict(schedule, device).complete_s;
    EXPECT_LE(after, before + rounding);
    shorter += static_cast<int>(after < before - rounding);
  }
  EXPECT_GT(shorter, trials / 20);
}

// Where an engine chooses among queues, waiting can help (Graham's anomalies).

TEST(ConnectionSchedules, CanBeShortenedByADependency) {
  // Lane 0 has two copies, 0-1 and 1-4, then lane 1 its own, 4-12, and the kernel, 12-18. Had lane
  // 0's second copy waited for lane 1's, that would be at 1-9 and the kernel at 9-15, beside the
  // second copy at 9-12.
  const Device device = device_of(Queues::connection);
  const auto complete_s = [&](std::vector<TaskId> after) {
    return predict(schedule_of({d2h(0, 1), d2h(1, 8), d2h(0, 3, std::move(after)), kernel(1, 6)}),
                   device)
        .complete_s;
  };
  EXPECT_DOUBLE_EQ(complete_s({}), 18);
  EXPECT_DOUBLE_EQ(complete_s({1}), 15);
}

}  // namespace
}  // namespace overlap::model
