#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics.hpp"
#include "executor/executor.hpp"
#include "executor/platform.hpp"
#include "executor/wake.hpp"
#include "model/device.hpp"
#include "schedule/build.hpp"
#include "workload/make.hpp"

namespace overlap::executor {

/// How much of the device a calibration measures.
struct CalibrationPlan {
  std::int64_t most_bytes = 0;  ///< largest copy
  int repetitions = 7;          ///< of each measurement, after a warm-up; medians count
  bool pageable = false;        ///< copies of pageable host memory, too
  std::function<void()> step;   ///< called before each measurement
};

namespace detail {

using schedule::Stage;
using schedule::TaskId;

/// A schedule made by hand on the arrays of a workload. Every task has data of its own, those
/// behind its predecessor's, until the arrays end and the first come again.
template <class Space>
class Probe {
 public:
  explicit Probe(const workload::Workload<Space>& workload) : workload_(workload) {
    schedule_.arrays = workload.arrays;
    schedule_.cuts.resize(1);
    schedule_.lanes = 0;
  }

  /// Adds a task on `units` units.
  TaskId add(Stage stage, std::int64_t units, int lane, std::vector<TaskId> after = {}) {
    const auto id = static_cast<TaskId>(schedule_.tasks.size());
    const auto chunk = static_cast<int>(id);
    schedule::Task task{.stage = stage, .chunk = chunk, .lane = lane, .after = std::move(after)};
    task.uses.begin = static_cast<std::uint32_t>(schedule_.uses.size());
    for (std::size_t i = 0; i < workload_.arrays.size(); ++i) {
      const schedule::Array& array = workload_.arrays[i];
      const bool kernel = stage == Stage::kernel;
      if (kernel
              ? array.op == 0
              : task.uses.count == 0 && (stage == Stage::h2d ? array.to_device : array.to_host)) {
        schedule_.uses.push_back({.array = static_cast<int>(i), .piece = chunk, .slot = chunk});
        ++task.uses.count;
        task.bytes += array.unit_bytes * static_cast<std::size_t>(units) *
                      (kernel ? std::size_t{array.to_device} + std::size_t{array.to_host} : 1);
      }
    }
    const std::int64_t begin = place(next_host_, units, host_units());
    schedule_.cuts[0].pieces.push_back({.begin = begin, .end = begin + units});
    schedule_.cuts[0].slots.push_back(place(next_device_, units, device_units()));
    schedule_.lanes = std::max(schedule_.lanes, lane + 1);
    schedule_.tasks.push_back(std::move(task));
    return id;
  }

  /// Adds a copy of about `bytes`, or of all there is.
  void add_bytes(Stage stage, std::int64_t bytes, int lane) {
    const auto unit = static_cast<std::int64_t>(workload_.arrays[0].unit_bytes);
    add(stage, std::clamp<std::int64_t>(bytes / unit, 1, device_units()), lane);
  }

  const schedule::Schedule& schedule() const { return schedule_; }

 private:
  std::int64_t device_units() const { return units(workload_.device[0].size()); }
  std::int64_t host_units() const { return units(workload_.host[0].region.bytes()); }
  std::int64_t units(std::size_t bytes) const {
    return static_cast<std::int64_t>(bytes / workload_.arrays[0].unit_bytes);
  }
  static std::int64_t place(std::int64_t& next, std::int64_t units, std::int64_t all) {
    const std::int64_t begin = next + units <= all ? next : 0;
    next = begin + units;
    return begin;
  }

  const workload::Workload<Space>& workload_;
  schedule::Schedule schedule_;
  std::int64_t next_host_ = 0;
  std::int64_t next_device_ = 0;
};

/// Numbers of units from 1024 on, four times as many each, up to `most`.
inline std::vector<std::int64_t> sizes_up_to(std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t units = 1024; units < most; units *= 4) sizes.push_back(units);
  sizes.push_back(most);
  return sizes;
}

/// Noise makes times longer; what is larger has less of it in proportion, and bounds the smaller.
inline model::Curve curve_of(std::vector<model::Curve::Point> points) {
  for (std::size_t i = points.size(); i-- > 1;) {
    points[i - 1].seconds = std::min(points[i - 1].seconds, points[i].seconds * (1 - 1e-6));
  }
  return model::Curve(std::move(points));
}

/// Measures a device through the same lanes and copies that experiments use.
template <class Space>
class Calibration {
 public:
  Calibration(Executor<Space>& executor, int lanes, const CalibrationPlan& plan)
      : executor_(executor), lanes_(lanes), plan_(plan) {}

  /// Everything but kernel rates, with an increment's arrays of plan.most_bytes.
  void measure_device(const workload::Workload<Space>& increment, model::Device& device) {
    constexpr std::int64_t tiny = 1024;  // units of 4 bytes
    const std::int64_t most = plan_.most_bytes / 4;
    const auto make = [&] { return Probe<Space>(increment); };
    const auto median = [&](const Probe<Space>& probe) { return time(probe, increment); };
    auto copy = make();
    copy.add(Stage::h2d, most, 0);
    wake(executor_, copy.schedule(), increment);
    device.h2d.pinned = curve(increment, Stage::h2d, most);
    device.d2h.pinned = curve(increment, Stage::d2h, most);

    // What a call costs the host: in a row of tasks, as a rule behind one that keeps the device
    // busy.
    const auto issue = [&](const auto& add, bool covered = true) {
      constexpr int few = 8;
      constexpr int many = 40;
      const auto row = [&](int n) {
        auto probe = make();
        if (covered) cover(probe);
        for (int i = 0; i < n; ++i) add(probe, i);
        return median(probe).issued_s;
      };
      return std::max(0.0, (row(many) - row(few)) / (many - few));
    };
    model::HostCosts& host = device.host;
    host.copy_s = issue([&](auto& probe, int) { probe.add(Stage::h2d, tiny, 0); });
    // A kernel is issued between copies, on a few lanes in turn: on one lane alone it costs less,
    // behind a busy device more. It limits only what the device keeps up with.
    const auto chunk = [&](auto& probe, int i) {
      for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
        probe.add(stage, tiny, i % std::min(lanes_, 4));
      }
    };
    const double chunk_s = issue(chunk, false);
    host.kernel_s = std::max(0.0, chunk_s - 2 * host.copy_s);
    // The first copy, in lane 0, has its event; each further task waits for it.
    const double waiting = issue([&](auto& probe, int) { probe.add(Stage::h2d, tiny, 1, {0}); });
    host.wait_s = std::max(0.0, waiting - host.copy_s);
    // Each task waits for the one before, in the other lane: a wait and a record each.
    const double ring = issue([&](auto& probe, int i) {
      probe.add(Stage::h2d, tiny, (i + 1) % 2, {static_cast<TaskId>(i)});
    });
    host.record_s = std::max(0.0, ring - host.copy_s - host.wait_s);

    // Lanes that are complete when the host comes to them.
    const auto finished = [&](int lanes) {
      auto probe = make();
      cover(probe);
      for (int lane = 1; lane < lanes; ++lane) probe.add(Stage::d2h, tiny, lane);
      return median(probe).complete_s;
    };
    if (lanes_ > 2)
      host.synchronize_s = std::max(0.0, (finished(lanes_) - finished(2)) / (lanes_ - 2));

    // Chains: what passes between a task and the next, beside the tasks themselves.
    const auto chain = [&](int lanes) {
      const auto row = [&](int n) {
        auto probe = make();
        cover(probe);
        for (int i = 0; i < n; ++i) {
          const Stage stage =
              std::array{Stage::kernel, Stage::d2h, Stage::h2d}[static_cast<std::size_t>(i % 3)];
          const auto before = static_cast<TaskId>(i);
          probe.add(stage, tiny, (i + 1) % lanes,
                    lanes > 1 ? std::vector<TaskId>{before} : std::vector<TaskId>{});
        }
        return median(probe).complete_s;
      };
      return (row(36) - row(6)) / 30;
    };
    const double kernel_s = slope(increment, Stage::kernel, tiny);
    const double own =
        (device.h2d.pinned.seconds(4 * tiny) + device.d2h.pinned.seconds(4 * tiny) + kernel_s) / 3;
    const bool workers = workload::is_host<Space>;
    if (!workers) device.latency.lane_s = std::max(0.0, chain(1) - own);
    if (lanes_ > 1) device.latency.event_s = std::max(0.0, chain(std::min(3, lanes_)) - own);

    // One copy alone: the rest is from its issue to its start and from its end to the host.
    auto single = make();
    single.add(Stage::h2d, tiny, 0);
    const double rest = std::max(
        0.0, median(single).complete_s - host.copy_s - device.h2d.pinned.seconds(4 * tiny));
    device.latency.start_s = rest / 2;
    device.latency.notice_s = rest / 2;

    measure_slowing(increment, most, device);
    if (!workers) {
      device.connections = count_connections(increment, Stage::kernel, most);
      device.copy_connections = count_connections(increment, Stage::h2d, most);
      measure_handover(increment, device);
    }
  }

  /// Copies of pageable memory; the host takes part, so each is measured alone.
  void measure_pageable(const workload::Workload<Space>& pageable, model::Device& device) {
    const auto alone = [&](Stage stage) {
      std::vector<model::Curve::Point> points;
      for (const std::int64_t units : sizes_up_to(plan_.most_bytes / 4)) {
        Probe<Space> probe(pageable);
        probe.add(stage, units, 0);
        const double seconds =
            time(probe, pageable).complete_s - device.host.copy_s - device.host.synchronize_s;
        points.push_back(
            {static_cast<double>(probe.schedule().tasks.front().bytes), std::max(1e-9, seconds)});
      }
      return curve_of(std::move(points));
    };
    device.h2d.pageable = alone(Stage::h2d);
    device.d2h.pageable = alone(Stage::d2h);
    device.h2d.unblocked_bytes = workload::is_host<Space> ? 0 : 64 << 10;
  }

  /// The time of the workload's kernels by size at its present intensity: of some given numbers of
  /// units, increasing, as long as they take no more than `longest_s`.
  model::Curve kernel_curve(const workload::Workload<Space>& workload,
                            const std::vector<std::int64_t>& sizes, double longest_s) {
    std::vector<model::Curve::Point> points;
    for (const std::int64_t units : sizes) {
      Probe<Space> probe(workload);
      probe.add(Stage::kernel, units, 0);
      const auto bytes = static_cast<double>(probe.schedule().tasks.front().bytes);
      const bool enough = points.size() > 1;
      if (enough && points.back().seconds * bytes / points.back().bytes > longest_s) break;
      points.push_back({bytes, slope(workload, Stage::kernel, units)});
    }
    return curve_of(std::move(points));
  }

 private:
  /// Medians after a warm-up; of what takes long, fewer runs say enough.
  Elapsed time(const Probe<Space>& probe, const workload::Workload<Space>& workload) {
    if (plan_.step) plan_.step();
    constexpr double long_s = 20e-3;
    std::vector<double> issued;
    std::vector<double> complete;
    const double first = executor_.run(probe.schedule(), workload).complete_s;
    for (int i = 0; i < (first > long_s ? std::min(3, plan_.repetitions) : plan_.repetitions);
         ++i) {
      const Elapsed elapsed = executor_.run(probe.schedule(), workload);
      issued.push_back(elapsed.issued_s);
      complete.push_back(elapsed.complete_s);
    }
    return {.issued_s = base::summarize(issued).median,
            .complete_s = base::summarize(complete).median};
  }

  /// A copy that keeps its lane busy while the host issues a row of tasks.
  static void cover(Probe<Space>& probe, Stage stage = Stage::h2d, int lane = 0) {
    constexpr std::int64_t bytes = workload::is_host<Space> ? 2 << 20 : 16 << 20;
    probe.add_bytes(stage, bytes, lane);
  }

  /// What another task of the stage adds to a row of them in a lane.
  double slope(const workload::Workload<Space>& workload, Stage stage, std::int64_t units) {
    return slope(workload, {Stage::h2d}, [&](Probe<Space>& probe) { probe.add(stage, units, 0); });
  }

  /// What another pair of copies adds, one in each direction, each in a lane of its own.
  double pair_slope(const workload::Workload<Space>& workload, std::int64_t units) {
    return slope(workload, {Stage::h2d, Stage::d2h}, [&](Probe<Space>& probe) {
      probe.add(Stage::h2d, units, 0);
      probe.add(Stage::d2h, units, 1);
    });
  }

  /// What another `add` adds to a row of them, behind a copy in each lane that keeps them waiting
  /// until all are issued.
  template <class Add>
  double slope(const workload::Workload<Space>& workload, std::initializer_list<Stage> covers,
               const Add& add) {
    const auto row = [&](int n) {
      Probe<Space> probe(workload);
      int lane = 0;
      for (const Stage stage : covers) cover(probe, stage, lane++);
      for (int i = 0; i < n; ++i) add(probe);
      return time(probe, workload).complete_s;
    };
    double long_row = 0;
    int many = 1;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const double once = row(1);
      many = rows_for(once);
      long_row = row(many);
      if (long_row > once) return (long_row - once) / (many - 1);
    }
    return long_row / many;  // the noise has won: not more than this
  }

  /// How many tasks stand out from the noise: of long ones few.
  static int rows_for(double once_s) { return once_s > 5e-3 ? 3 : once_s > 1e-3 ? 9 : 33; }

  model::Curve curve(const workload::Workload<Space>& workload, Stage stage,
                     std::int64_t most_units) {
    std::vector<model::Curve::Point> points;
    const auto unit = static_cast<double>(workload.arrays[0].unit_bytes);
    for (const std::int64_t units : sizes_up_to(most_units)) {
      points.push_back({unit * static_cast<double>(units), slope(workload, stage, units)});
    }
    return curve_of(std::move(points));
  }

  /// FIFOs that the stage's engine has for the lanes: as many as must be blocked by a task that
  /// waits for another engine until a further lane's task stands behind one of them. 32, as many as
  /// Hyper-Q has, when that never happens.
  int count_connections(const workload::Workload<Space>& increment, Stage stage,
                        std::int64_t most) {
    const Stage other = stage == Stage::kernel ? Stage::h2d : Stage::kernel;
    const auto seconds = [&](int blocked, bool free) {
      Probe<Space> probe(increment);
      if (blocked > 0) {
        const TaskId long_one = probe.add(other, other == Stage::kernel ? most : most / 4, 0);
        probe.add(stage, 1024, 0);
        for (int lane = 1; lane < blocked; ++lane) probe.add(stage, 1024, lane, {long_one});
      }
      if (free) probe.add(stage, stage == Stage::kernel ? most : most / 4, blocked);
      return time(probe, increment).complete_s;
    };
    const double a = seconds(1, false);
    const double b = seconds(0, true);
    for (int blocked = 1; blocked < lanes_; ++blocked) {
      if (seconds(blocked, true) > std::max(a, b) + std::min(a, b) / 2) return blocked;
    }
    return 32;
  }

  /// What a row of whole chunks takes beyond the copies, which are busy all the time.
  void measure_handover(const workload::Workload<Space>& increment, model::Device& device) {
    constexpr std::int64_t units = 1 << 18;
    const auto row = [&](int n) {
      Probe<Space> probe(increment);
      for (int i = 0; i < n; ++i) {
        for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
          probe.add(stage, units, i % std::min(lanes_, 8));
        }
      }
      return time(probe, increment).complete_s;
    };
    const double chunk = (row(48) - row(16)) / 32;
    const double copies =
        std::max(device.h2d.duplex.seconds(4 * units), device.d2h.duplex.seconds(4 * units));
    device.latency.handover_s = std::max(0.0, chunk - copies);
  }

  /// How copies and kernels slow each other down.
  void measure_slowing(const workload::Workload<Space>& increment, std::int64_t most,
                       model::Device& device) {
    const int crowded = workload::is_host<Space> ? std::min(device.cores, lanes_) : 1;
    constexpr int n = 4;
    const std::int64_t piece = most / (n * crowded);
    const auto together = [&](const std::vector<std::pair<Stage, int>>& rows) {
      Probe<Space> probe(increment);
      for (std::size_t lane = 0; lane < rows.size(); ++lane) {
        for (int i = 0; i < rows[lane].second; ++i) {
          probe.add(rows[lane].first, piece, static_cast<int>(lane));
        }
      }
      return time(probe, increment).complete_s;
    };
    const double up = together({{Stage::h2d, n}});
    const double down = together({{Stage::d2h, n}});
    const double kernels = together({{Stage::kernel, n}});
    if constexpr (workload::is_host<Space>) {
      const auto crowd = [&](Stage stage) {
        return together(
            std::vector<std::pair<Stage, int>>(static_cast<std::size_t>(crowded), {stage, n}));
      };
      device.h2d.duplex = model::slower(device.h2d.pinned, std::max(1.0, crowd(Stage::h2d) / up));
      device.d2h.duplex = model::slower(device.d2h.pinned, std::max(1.0, crowd(Stage::d2h) / down));
      device.kernels_slowed = std::max(1.0, crowd(Stage::kernel) / kernels);
    } else if (lanes_ > 1) {
      std::vector<model::Curve::Point> pairs;
      for (const auto& [bytes, seconds] : device.h2d.pinned.points()) {
        const auto units = static_cast<std::int64_t>(bytes) / 4;
        pairs.push_back({bytes, pair_slope(increment, units)});
      }
      device.h2d.duplex = device.d2h.duplex = curve_of(std::move(pairs));
      // Kernels for about as long as the copies take.
      const int count = std::max(1, static_cast<int>(up / kernels * n * 1.2));
      const double alone = together({{Stage::kernel, count}});
      const double beside = together({{Stage::kernel, count}, {Stage::h2d, n}});
      device.kernels_slowed = std::max(1.0, 1 + (beside - alone) / std::min(up, alone));
    }
  }

  Executor<Space>& executor_;
  int lanes_;
  const CalibrationPlan& plan_;
};

/// A deck of one workload on arrays of at most `bytes`, everything else by default.
inline deck::Deck plain_deck(deck::WorkloadKind kind, deck::Type type, std::int64_t bytes) {
  deck::Deck deck;
  deck.workload.kind = kind;
  deck.workload.type = type;
  deck.workload.iterations = 1;
  deck.workload.elements = bytes / static_cast<std::int64_t>(schedule::size_of(type));
  deck.workload.rows = deck.workload.elements / deck.workload.columns;
  return deck;
}

/// Beyond this a kernel's time grows in proportion.
inline constexpr double longest_kernel_s = 5e-3;

}  // namespace detail

/// Lanes that a calibration needs: one for each engine, and one for each core of a host.
template <class Space>
int calibration_lanes() {
  return workload::is_host<Space> ? std::max(3, base::usable_cpus()) : 16;
}

/// Measures the present device with an increment's arrays, on lanes of its own: everything of its
/// description but kernel rates.
template <class Space>
model::Device calibrate(const DeviceInfo* info, const CalibrationPlan& plan) {
  model::Device device;
  if constexpr (workload::is_host<Space>) {
    device.name = "host";
    device.title = "The host's workers, measured";
    device.queues = model::Queues::worker;
    const int threads = Space().concurrency();
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
  const deck::Deck deck =
      detail::plain_deck(deck::WorkloadKind::increment, deck::Type::float32, plan.most_bytes);
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  const auto arrays = schedule::device_bytes(costs, {}, costs.units);
  const auto workload = workload::make<Space>(deck, costs, arrays, 1);
  workload.generate(0);
  const int lanes = calibration_lanes<Space>();
  Executor<Space> executor(lanes);
  detail::Calibration<Space>(executor, lanes, plan).measure_device(workload, device);
  if (plan.pageable) {
    deck::Deck staged = deck;
    staged.memory.host = deck::HostMemory::pageable;
    const auto pageable = workload::make<Space>(staged, costs, arrays, 1);
    pageable.generate(0);
    detail::Calibration<Space>(executor, lanes, plan).measure_pageable(pageable, device);
  }
  return device;
}

/// Sizes of lines that lie apart, in bytes, among the schedule's copies.
inline std::set<std::size_t> line_sizes(const schedule::Schedule& schedule) {
  std::set<std::size_t> sizes;
  for (const schedule::Task& task : schedule.tasks) {
    if (!schedule::is_copy(task.stage)) continue;
    if (const auto lines = schedule::lines_apart(schedule, task)) sizes.insert(lines->line_bytes);
  }
  return sizes;
}

/// Adds to the device's description how long lines of such sizes take that lie apart: in copies of
/// up to 64 MiB, each after a kernel on twice as much as the cache holds. Sizes above 1 MiB are
/// measured as that.
template <class Space>
void calibrate_lines(const std::set<std::size_t>& sizes, const CalibrationPlan& plan,
                     model::Device& device) {
  std::set<std::int64_t> measured;
  for (const std::size_t bytes : sizes) {
    measured.insert(std::min<std::int64_t>(static_cast<std::int64_t>(bytes), 1 << 20));
  }
  if (measured.empty()) return;
  const auto workload_of = [](const deck::Deck& deck) {
    const schedule::Costs costs = schedule::costs(deck.workload, 1);
    auto workload =
        workload::make<Space>(deck, costs, schedule::device_bytes(costs, {}, costs.units), 1);
    workload.generate(0);
    return workload;
  };
  Executor<Space> executor(1);
  const auto filled = std::max<std::int64_t>(4096, std::llround(2 * device.cache_bytes));
  const auto filling =
      workload_of(detail::plain_deck(deck::WorkloadKind::increment, deck::Type::float32, filled));
  detail::Probe<Space> fill(filling);
  fill.add(schedule::Stage::kernel, filled / 4, 0);

  std::vector<model::Curve::Point> up, down;
  for (const std::int64_t bytes : measured) {
    constexpr std::int64_t most_bytes = 64 << 20;
    constexpr std::int64_t most_lines = 4096;
    const std::int64_t lines = std::min(most_lines, most_bytes / bytes);
    const std::int64_t distance = std::max<std::int64_t>(64 << 10, 4 * bytes);
    deck::Deck deck =
        detail::plain_deck(deck::WorkloadKind::increment, deck::Type::float32, lines * bytes);
    deck.workload.box = {.extent = {lines, 1, bytes / 4}, .array = {lines, 1, distance / 4}};
    const auto box = workload_of(deck);
    for (auto [stage, points] :
         {std::pair{schedule::Stage::h2d, &up}, std::pair{schedule::Stage::d2h, &down}}) {
      detail::Probe<Space> copy(box);
      copy.add(stage, lines, 0);
      std::vector<double> samples;
      for (int i = 0; i < plan.repetitions; ++i) {
        if (plan.step) plan.step();
        executor.run(fill.schedule(), filling);
        samples.push_back(executor.run(copy.schedule(), box).complete_s);
      }
      const double copy_s = base::summarize(std::move(samples)).median - device.host.copy_s -
                            device.host.synchronize_s;
      points->push_back(
          {static_cast<double>(bytes), std::max(1e-9, copy_s / static_cast<double>(lines))});
    }
  }
  device.h2d.lines = detail::curve_of(std::move(up));
  device.d2h.lines = detail::curve_of(std::move(down));
}

/// The rate of a workload's kernel as it is now, at some numbers of units, for one core where lanes
/// have several.
template <class Space>
model::Kernel calibrate_kernel(Executor<Space>& executor, const workload::Workload<Space>& workload,
                               const std::vector<std::int64_t>& sizes, double flop_per_byte,
                               int cores_of_lane, const CalibrationPlan& plan) {
  detail::Calibration<Space> calibration(executor, 1, plan);
  const model::Curve curve = calibration.kernel_curve(workload, sizes, detail::longest_kernel_s);
  return {{{flop_per_byte, model::slower(curve, cores_of_lane)}}};
}

/// What one task alone takes, for the median of a few; where it is short, by what another one adds,
/// so that what a run costs beside its tasks falls out.
template <class Space>
double task_seconds(Executor<Space>& executor, const workload::Workload<Space>& workload,
                    const schedule::Schedule& schedule, schedule::TaskId id,
                    const CalibrationPlan& plan) {
  const auto median = [&](int times) {
    schedule::Schedule row = schedule;
    schedule::Task task = schedule.tasks[id];
    task.lane = 0;
    task.after.clear();
    task.blocking = false;
    row.mechanism = deck::Mechanism::streams;
    row.lanes = 1;
    row.tasks.assign(static_cast<std::size_t>(times), task);
    std::vector<double> samples;
    for (int i = 0; i < plan.repetitions; ++i) {
      if (plan.step) plan.step();
      samples.push_back(executor.run(row, workload).complete_s);
    }
    return base::summarize(std::move(samples)).median;
  };
  constexpr double long_s = 20e-3;
  const double once = median(1);
  if (once > long_s) return once;
  const double more = (median(4) - once) / 3;
  return more > 0 ? std::min(once, more) : once;
}

/// How fast the host computes a product's tiles, flops a second: by as many columns of one as take
/// moments.
template <class Space>
double host_flops_per_s(const workload::Workload<Space>& workload, schedule::Product tile) {
  using detail::Clock;
  constexpr double moments_s = 30e-3;
  const std::int64_t all = tile.n;
  for (tile.n = std::min<std::int64_t>(all, 8);; tile.n = std::min(2 * tile.n, all)) {
    const auto start = Clock::now();
    workload.compute_on_host({.product = tile});
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (seconds < moments_s && tile.n < all) continue;
    return 2 * static_cast<double>(tile.m) * static_cast<double>(tile.n) *
           static_cast<double>(tile.k) / seconds;
  }
}

/// The rates of a product's kernels, of every size and shape that the schedules have, for one core
/// where lanes have several.
template <class Space>
model::Kernel calibrate_products(Executor<Space>& executor,
                                 const workload::Workload<Space>& workload,
                                 const std::vector<schedule::Schedule>& schedules,
                                 int cores_of_lane, const CalibrationPlan& plan) {
  std::map<double, std::map<double, double>> seconds;  // by flop per byte, then by bytes
  for (const schedule::Schedule& schedule : schedules) {
    for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
      const schedule::Task& task = schedule.tasks[id];
      if (task.stage != schedule::Stage::kernel) continue;
      const auto bytes = static_cast<double>(task.bytes);
      const auto [entry, is_new] = seconds[task.flops / bytes].emplace(bytes, 0);
      if (is_new) entry->second = task_seconds(executor, workload, schedule, id, plan);
    }
  }
  model::Kernel kernel;
  for (const auto& [flop_per_byte, sizes] : seconds) {
    std::vector<model::Curve::Point> points;
    for (const auto& [bytes, time] : sizes) {
      if (points.empty() || time > points.back().seconds) points.push_back({bytes, time});
    }
    kernel.roofs.push_back({flop_per_byte, model::slower(model::Curve(points), cores_of_lane)});
  }
  return kernel;
}

/// Kernel rates of every workload, by type and, where it has one, by intensity.
template <class Space>
void calibrate_kernels(const CalibrationPlan& plan, model::Device& device) {
  Executor<Space> executor(calibration_lanes<Space>());
  for (const auto kind :
       {deck::WorkloadKind::increment, deck::WorkloadKind::pipeline, deck::WorkloadKind::rowsum}) {
    const bool sums = kind == deck::WorkloadKind::rowsum;
    std::vector<deck::Type> types = {deck::Type::float32, deck::Type::float64};
    if (sums) types.insert(types.end(), {deck::Type::int32, deck::Type::int64});
    for (const deck::Type type : types) {
      const deck::Deck deck = detail::plain_deck(kind, type, plan.most_bytes);
      schedule::Costs costs = schedule::costs(deck.workload, 1);
      const auto arrays = schedule::device_bytes(costs, {}, costs.units);
      auto workload = workload::make<Space>(deck, costs, arrays, 1);
      workload.generate(0);
      model::Kernel kernel;
      for (const std::int64_t repeats : {0, 1, 2, 8, 32}) {
        if (sums && repeats != 1) continue;
        workload.repeats = repeats;
        costs = schedule::costs(deck.workload, repeats);
        const auto rate = calibrate_kernel(
            executor, workload, detail::sizes_up_to(costs.units),
            costs.flops_per_unit / schedule::kernel_bytes_per_unit(costs), 1, plan);
        kernel.roofs.push_back(rate.roofs.front());
      }
      device.kernels[costs.kernel] = kernel;
    }
  }
  if (workload::unavailable(deck::WorkloadKind::dgemm)) return;
  for (const deck::Type type : {deck::Type::float32, deck::Type::float64}) {
    deck::Deck deck;
    deck.path = "calibration";
    deck.chunks.count = 1;
    deck::Workload& product = deck.workload;
    product.kind = deck::WorkloadKind::dgemm;
    product.type = type;
    product.m = product.n = product.tile_m = product.tile_n = workload::is_host<Space> ? 512 : 2048;
    model::Kernel kernel;
    for (const std::int64_t k : {16, 64, 256, 1024, 4096}) {
      product.k = k;
      const schedule::Costs costs = schedule::costs(product, 1);
      const auto layout = schedule::layout(deck, costs, std::nullopt);
      const auto schedule = schedule::build(costs, layout, deck::Order::sequential, 1);
      const auto workload =
          workload::make<Space>(deck, costs, schedule::device_bytes(costs, layout, 0), 1);
      workload.generate(0);
      kernel.roofs.push_back(
          calibrate_products(executor, workload, {schedule}, 1, plan).roofs.front());
      device.kernels[costs.kernel] = kernel;
    }
  }
}

}  // namespace overlap::executor
