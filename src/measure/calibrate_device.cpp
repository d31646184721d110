#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/parallel.hpp"
#include "measure/calibration.hpp"
#include "measure/sampling.hpp"
#include "measure/stage_meter.hpp"

namespace overlap::measure {
namespace {

constexpr std::int64_t tiny = 1024;  // units of 4 bytes

double at_least_0(double seconds) { return std::max(0.0, seconds); }

/// Measures a device with an increment's arrays of plan.most_bytes.
class DeviceCalibration {
 public:
  DeviceCalibration(Executor& executor, const workload::Workload& increment,
                    const CalibrationPlan& plan, int lanes, model::Device& device)
      : executor_(executor),
        meter_(executor, increment, plan),
        host_(workload::on_host(increment.space)),
        lanes_(lanes),
        most_(plan.most_bytes / 4),
        device_(device) {}

  void run() {
    HandSchedule copy(meter_.workload());
    copy.add(Stage::h2d, most_, 0);
    wake(executor_, copy.schedule(), meter_.workload());
    device_.h2d.pinned = meter_.curve(Stage::h2d, most_);
    device_.d2h.pinned = meter_.curve(Stage::d2h, most_);
    measure_host_costs();
    measure_latencies();
    measure_slowing();
    if (host_) return;
    device_.connections = count_connections(Stage::kernel);
    device_.copy_connections = count_connections(Stage::h2d);
    measure_handover();
  }

 private:
  /// What a call costs the host: in a row of tasks, as a rule behind one that keeps the device
  /// busy.
  template <class Add>
  double issue_s(const Add& add, bool covered = true) const {
    constexpr int few = 8;
    constexpr int many = 40;
    const auto row = [&](int n) {
      return meter_
          .time([&](HandSchedule& hand) {
            if (covered) hand.cover();
            for (int i = 0; i < n; ++i) add(hand, i);
          })
          .issued_s;
    };
    return at_least_0((row(many) - row(few)) / (many - few));
  }

  void measure_host_costs() {
    model::HostCosts& host = device_.host;
    host.copy_s = issue_s([](HandSchedule& hand, int) { hand.add(Stage::h2d, tiny, 0); });
    // A kernel is issued between copies, on a few lanes in turn: on one lane alone it costs less,
    // behind a busy device more. It limits only what the device keeps up with.
    const auto chunk = [&](HandSchedule& hand, int i) {
      for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
        hand.add(stage, tiny, i % std::min(lanes_, 4));
      }
    };
    host.kernel_s = at_least_0(issue_s(chunk, false) - 2 * host.copy_s);
    // The first copy, in lane 0, has its event; each further task waits for it.
    const double waiting =
        issue_s([](HandSchedule& hand, int) { hand.add(Stage::h2d, tiny, 1, {0}); });
    host.wait_s = at_least_0(waiting - host.copy_s);
    // Each task waits for the one before, in the other lane: a wait and a record each.
    const double ring = issue_s([](HandSchedule& hand, int i) {
      hand.add(Stage::h2d, tiny, (i + 1) % 2, {static_cast<TaskId>(i)});
    });
    host.record_s = at_least_0(ring - host.copy_s - host.wait_s);
    // Lanes that are complete when the host comes to them.
    const auto finished = [&](int lanes) {
      return meter_.complete_s([&](HandSchedule& hand) {
        hand.cover();
        for (int lane = 1; lane < lanes; ++lane) hand.add(Stage::d2h, tiny, lane);
      });
    };
    if (lanes_ > 2) {
      host.synchronize_s = at_least_0((finished(lanes_) - finished(2)) / (lanes_ - 2));
    }
  }

  /// The time between a task and the next in a chain over this many lanes, and the task's own.
  double chain_s(int lanes) const {
    const auto row = [&](int n) {
      return meter_.complete_s([&](HandSchedule& hand) {
        hand.cover();
        for (int i = 0; i < n; ++i) {
          const Stage stage =
              std::array{Stage::kernel, Stage::d2h, Stage::h2d}[static_cast<std::size_t>(i % 3)];
          std::vector<TaskId> after;
          if (lanes > 1) after.push_back(static_cast<TaskId>(i));
          hand.add(stage, tiny, (i + 1) % lanes, std::move(after));
        }
      });
    };
    return (row(36) - row(6)) / 30;
  }

  void measure_latencies() {
    const double up_s = device_.h2d.pinned.seconds(4 * tiny);
    const double down_s = device_.d2h.pinned.seconds(4 * tiny);
    const double own = (up_s + down_s + meter_.slope(Stage::kernel, tiny)) / 3;
    if (!host_) device_.latency.lane_s = at_least_0(chain_s(1) - own);
    if (lanes_ > 1) device_.latency.event_s = at_least_0(chain_s(std::min(3, lanes_)) - own);
    // One copy alone: the rest is from its issue to its start and from its end to the host.
    const double single =
        meter_.complete_s([](HandSchedule& hand) { hand.add(Stage::h2d, tiny, 0); });
    const double rest = at_least_0(single - device_.host.copy_s - up_s);
    device_.latency.start_s = rest / 2;
    device_.latency.notice_s = rest / 2;
  }

  /// How copies and kernels slow each other down.
  void measure_slowing() {
    const int crowded = host_ ? std::min(device_.cores, lanes_) : 1;
    constexpr int n = 4;
    const auto together = [&](const std::vector<std::pair<Stage, int>>& rows) {
      return meter_.complete_s([&](HandSchedule& hand) {
        for (std::size_t lane = 0; lane < rows.size(); ++lane) {
          for (int i = 0; i < rows[lane].second; ++i) {
            hand.add(rows[lane].first, most_ / (n * crowded), static_cast<int>(lane));
          }
        }
      });
    };
    const double up = together({{Stage::h2d, n}});
    const double down = together({{Stage::d2h, n}});
    const double kernels = together({{Stage::kernel, n}});
    if (host_) {
      const auto slowed = [&](Stage stage, double alone) {
        return std::max(1.0,
                        together({static_cast<std::size_t>(crowded), std::pair(stage, n)}) / alone);
      };
      device_.h2d.duplex = model::slower(device_.h2d.pinned, slowed(Stage::h2d, up));
      device_.d2h.duplex = model::slower(device_.d2h.pinned, slowed(Stage::d2h, down));
      device_.kernels_slowed = slowed(Stage::kernel, kernels);
    } else if (lanes_ > 1) {
      device_.h2d.duplex = device_.d2h.duplex = duplex_curve();
      // Kernels for about as long as the copies take.
      const int count = std::max(1, static_cast<int>(up / kernels * n * 1.2));
      const double alone = together({{Stage::kernel, count}});
      const double both = together({{Stage::kernel, count}, {Stage::h2d, n}});
      device_.kernels_slowed = std::max(1.0, 1 + (both - alone) / std::min(up, alone));
    }
  }

  /// The time of another pair of copies, one in each direction, each in a lane of its own.
  model::Curve duplex_curve() const {
    std::vector<model::Curve::Point> pairs;
    for (const auto& [bytes, seconds] : device_.h2d.pinned.points()) {
      const auto units = static_cast<std::int64_t>(bytes) / 4;
      pairs.push_back({bytes, meter_.slope({Stage::h2d, Stage::d2h}, [&](HandSchedule& hand) {
                         hand.add(Stage::h2d, units, 0);
                         hand.add(Stage::d2h, units, 1);
                       })});
    }
    return curve_of(std::move(pairs));
  }

  /// FIFOs that the stage's engine has for the lanes: as many as must be blocked by a task that
  /// waits for another engine until a further lane's task stands behind one of them. 32, as many as
  /// Hyper-Q has, when that never happens.
  int count_connections(Stage stage) const {
    const Stage other = stage == Stage::kernel ? Stage::h2d : Stage::kernel;
    const auto long_units = [&](Stage of) { return of == Stage::kernel ? most_ : most_ / 4; };
    const auto seconds = [&](int blocked, bool free) {
      return meter_.complete_s([&](HandSchedule& hand) {
        if (blocked > 0) {
          const TaskId long_one = hand.add(other, long_units(other), 0);
          hand.add(stage, tiny, 0);
          for (int lane = 1; lane < blocked; ++lane) hand.add(stage, tiny, lane, {long_one});
        }
        if (free) hand.add(stage, long_units(stage), blocked);
      });
    };
    const double a = seconds(1, false);
    const double b = seconds(0, true);
    for (int blocked = 1; blocked < lanes_; ++blocked) {
      if (seconds(blocked, true) > std::max(a, b) + std::min(a, b) / 2) return blocked;
    }
    return 32;
  }

  /// The time of a row of whole chunks beyond the copies, which are busy all the time.
  void measure_handover() {
    constexpr std::int64_t units = 1 << 18;
    const auto row = [&](int n) {
      return meter_.complete_s([&](HandSchedule& hand) {
        for (int i = 0; i < n; ++i) {
          for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
            hand.add(stage, units, i % std::min(lanes_, 8));
          }
        }
      });
    };
    const double copies =
        std::max(device_.h2d.duplex.seconds(4 * units), device_.d2h.duplex.seconds(4 * units));
    device_.latency.handover_s = at_least_0((row(48) - row(16)) / 32 - copies);
  }

  Executor& executor_;
  StageMeter meter_;
  bool host_;
  int lanes_;
  std::int64_t most_;  ///< units
  model::Device& device_;
};

/// Copies of pageable memory; the host takes part, so each is measured alone.
void measure_pageable(const StageMeter& meter, std::int64_t most, model::Device& device) {
  const auto alone = [&](Stage stage) {
    std::vector<model::Curve::Point> points;
    for (const std::int64_t units : sizes_up_to(most)) {
      double bytes = 0;
      const double seconds = meter.complete_s([&](HandSchedule& hand) {
        hand.add(stage, units, 0);
        bytes = hand.bytes();
      });
      points.push_back(
          {bytes, std::max(1e-9, seconds - device.host.copy_s - device.host.synchronize_s)});
    }
    return curve_of(std::move(points));
  };
  device.h2d.pageable = alone(Stage::h2d);
  device.d2h.pageable = alone(Stage::d2h);
  device.h2d.unblocked_bytes = workload::on_host(meter.workload().space) ? 0 : 64 << 10;
}

}  // namespace

model::Device calibrate(const base::DeviceInfo* info, const CalibrationPlan& plan,
                        workload::SpaceId space) {
  model::Device device;
  if (workload::on_host(space)) {
    device.name = "host";
    device.title = "The host's workers, measured";
    device.queues = model::Queues::worker;
    const int threads = workload::concurrency(space);
    device.lanes_divide = threads > 1;
    device.cores =
        device.lanes_divide ? std::min(threads, base::usable_cpus()) : base::usable_cpus();
  } else {
    device.name = info->name;
    device.title = info->name + ", measured";
    device.copy_engines = std::clamp(info->copy_engines.value_or(2), 1, 2);
    device.concurrent_kernels = info->concurrent_kernels.value_or(true) ? 128 : 1;
    device.cache_bytes = info->cache_bytes.value_or(0);
  }
  deck::Deck deck = plain_deck(deck::WorkloadKind::increment, deck::Type::float32, plan.most_bytes);
  const auto increment = resident_workload(space, deck);
  const int lanes = calibration_lanes(space);
  Executor executor(lanes, {}, {}, space);
  DeviceCalibration(executor, increment, plan, lanes, device).run();
  if (plan.pageable) {
    deck.memory.host = deck::HostMemory::pageable;
    const auto pageable = resident_workload(space, deck);
    measure_pageable(StageMeter(executor, pageable, plan), plan.most_bytes / 4, device);
  }
  return device;
}

std::set<std::size_t> line_sizes(const schedule::Schedule& schedule) {
  std::set<std::size_t> sizes;
  for (const schedule::Task& task : schedule.tasks) {
    if (!schedule::is_copy(task.stage)) continue;
    if (const auto lines = schedule::lines_apart(schedule, task)) sizes.insert(lines->line_bytes);
  }
  return sizes;
}

void calibrate_lines(const std::set<std::size_t>& sizes, const CalibrationPlan& plan,
                     model::Device& device, workload::SpaceId space) {
  std::set<std::int64_t> measured;
  for (const std::size_t bytes : sizes) {
    measured.insert(std::min<std::int64_t>(static_cast<std::int64_t>(bytes), 1 << 20));
  }
  if (measured.empty()) return;
  const auto increment = [&](std::int64_t bytes) {
    return plain_deck(deck::WorkloadKind::increment, deck::Type::float32, bytes);
  };
  Executor executor(1, {}, {}, space);
  const auto filled = std::max<std::int64_t>(4096, std::llround(2 * device.cache_bytes));
  const auto filling = resident_workload(space, increment(filled));
  HandSchedule fill(filling);
  fill.add(Stage::kernel, filled / 4, 0);

  std::vector<model::Curve::Point> up, down;
  for (const std::int64_t bytes : measured) {
    constexpr std::int64_t most_bytes = 64 << 20;
    constexpr std::int64_t most_lines = 4096;
    const std::int64_t lines = std::min(most_lines, most_bytes / bytes);
    const std::int64_t distance = std::max<std::int64_t>(64 << 10, 4 * bytes);
    deck::Deck deck = increment(lines * bytes);
    deck.workload.box = {.extent = {lines, 1, bytes / 4}, .array = {lines, 1, distance / 4}};
    const auto box = resident_workload(space, deck);
    for (auto [stage, points] : {std::pair{Stage::h2d, &up}, std::pair{Stage::d2h, &down}}) {
      HandSchedule copy(box);
      copy.add(stage, lines, 0);
      const auto samples =
          sample({.warmup = 0, .samples = plan.repetitions, .step = plan.step}, [&] {
            executor.run(fill.schedule(), filling);
            return executor.run(copy.schedule(), box).complete_s;
          });
      const double copy_s = median(samples) - device.host.copy_s - device.host.synchronize_s;
      points->push_back(
          {static_cast<double>(bytes), std::max(1e-9, copy_s / static_cast<double>(lines))});
    }
  }
  device.h2d.lines = curve_of(std::move(up));
  device.d2h.lines = curve_of(std::move(down));
}

}  // namespace overlap::measure
