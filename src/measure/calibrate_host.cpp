#include <algorithm>
#include <map>

#include "measure/calibration.hpp"
#include "measure/measure.hpp"
#include "measure/sampling.hpp"
#include "model/predict.hpp"

namespace overlap::measure {
namespace {

/// Task times of a stage by size: bytes, or the given duration of kernels of task lists.
using Times = std::map<double, double>;

/// Traced runs of a schedule.
using Runs = std::vector<timeline::Timeline>;

/// Runs of each schedule. They take turns for a second or more: what else slows a host, for tenths
/// of a second, then affects few runs, and all schedules alike.
std::vector<Runs> traced(const StageMeter& meter,
                         const std::vector<schedule::Schedule>& schedules) {
  meter.executor.lanes().trace(true);
  const auto rounds = sample({.samples = 60, .enough_s = 1.5, .step = {}}, [&] {
    Runs round;
    for (const schedule::Schedule& schedule : schedules) {
      if (meter.plan.step) meter.plan.step();
      round.push_back(meter.executor.run_traced(schedule, meter.workload));
    }
    return round;
  });
  meter.executor.lanes().trace(false);
  std::vector<Runs> runs(schedules.size());
  for (const Runs& round : rounds) {
    for (std::size_t i = 0; i < round.size(); ++i) runs[i].push_back(round[i]);
  }
  return runs;
}

/// Visits copies and kernels: use(stage, size, seconds).
template <class Use>
void for_each_task(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                   const Use& use) {
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    if (task.stage != Stage::kernel && !schedule::is_copy(task.stage)) continue;
    const double size = task.bytes > 0 ? static_cast<double>(task.bytes) : task.duration_s;
    const timeline::Span& span = timeline.spans[id];
    if (size > 0) use(task.stage, size, span.stop_s - span.start_s);
  }
}

/// Median task times over the runs of each schedule, by stage and bytes.
std::map<Stage, Times> task_times(const std::vector<schedule::Schedule>& schedules,
                                  const std::vector<Runs>& runs) {
  std::map<Stage, std::map<double, std::vector<double>>> samples;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    for (const timeline::Timeline& timeline : runs[i]) {
      for_each_task(schedules[i], timeline, [&](Stage stage, double bytes, double seconds) {
        samples[stage][bytes].push_back(seconds);
      });
    }
  }
  std::map<Stage, Times> times;
  for (auto& [stage, sizes] : samples) {
    for (auto& [bytes, seconds] : sizes) {
      constexpr double any = 1e-18;  // per byte: below the resolution of any clock
      times[stage][bytes] = std::max(any * bytes, base::median(std::move(seconds)));
    }
  }
  return times;
}

/// Factors by which tasks took longer with all cores busy than on one core alone, one per run.
std::vector<double> slowed_in_crowd(const schedule::Schedule& schedule, const Runs& runs,
                                    std::map<Stage, Times>& alone, double cores) {
  std::vector<double> factors = {};
  for (const timeline::Timeline& timeline : runs) {
    double work_s = 0, busy_s = 0;
    for_each_task(schedule, timeline, [&](Stage stage, double size, double seconds) {
      work_s += alone[stage][size];
      busy_s += seconds;
    });
    factors.push_back(std::min(busy_s, cores * timeline.complete_s) / work_s);
  }
  return factors;
}

/// Sets the time factor of tasks while all cores are busy.
void set_slowed(double factor, model::Device& device) {
  device.kernels_slowed = factor;
  for (model::Copies* copies : {&device.h2d, &device.d2h}) {
    copies->duplex = model::slower(copies->pinned, factor);
  }
}

/// The curve with its points from half the smallest of these sizes on replaced by `times`.
model::Curve with(const Times& times, const model::Curve& curve) {
  std::vector<model::Curve::Point> points;
  for (const model::Curve::Point& point : curve.points()) {
    if (2 * point.bytes < times.begin()->first) points.push_back(point);
  }
  for (auto size = times.begin(); size != times.end(); ++size) {
    // Between nearly equal sizes noise would determine the slope.
    const bool close = std::next(size) != times.end() && 1.1 * size->first > std::next(size)->first;
    if (!close) points.push_back({size->first, size->second});
  }
  return model::increasing(std::move(points));
}

}  // namespace

void calibrate_in_place(const StageMeter& meter, const std::vector<schedule::Schedule>& alone,
                        const schedule::Schedule& crowded, int cores_of_lane,
                        model::Device& device) {
  std::vector<schedule::Schedule> schedules = alone;
  schedules.push_back(crowded);
  const std::vector<Runs> runs = traced(meter, schedules);
  std::map<Stage, Times> times = task_times(alone, runs);
  if (times.empty()) return;
  auto factors = slowed_in_crowd(crowded, runs.back(), times, double(device.cores) / cores_of_lane);
  std::ranges::sort(factors);
  // Other processes only lengthen runs.
  const double quartile = lower_quartile(factors);
  const double spread = (factors[factors.size() * 3 / 4] - quartile) / 2 / quartile;
  device.spread = {.copies = spread, .kernels = spread};
  for (auto& [stage, sizes] : times) {
    for (auto& [size, seconds] : sizes) seconds *= cores_of_lane;
    if (stage == Stage::kernel) {
      // Products of tiles of several shapes have one curve per intensity, measured before.
      const auto kernel = device.kernels.find(crowded.kernel);
      if (kernel != device.kernels.end() && kernel->second.roofs.size() == 1) {
        model::Curve& time = kernel->second.roofs.front().time;
        time = with(sizes, time);
      }
    } else {
      model::Copies& copies = stage == Stage::h2d ? device.h2d : device.d2h;
      const double before = copies.slowed(sizes.rbegin()->first);
      copies.pinned = with(sizes, copies.pinned);
      copies.duplex = model::slower(copies.pinned, before);
      if (!copies.pageable.points().empty()) copies.pageable = copies.pinned;
    }
  }
  if (crowded.lanes == 1) return;
  const double slowed = std::max(1.0, quartile);
  set_slowed(slowed, device);
  // The rest of the difference, such as lanes that take turns on the cores, lengthens tasks, too.
  const double complete_s = lower_quartile(runs.back(), &timeline::Timeline::complete_s);
  set_slowed(slowed * std::max(1.0, complete_s / model::predict(crowded, device).complete_s),
             device);
}

void scale_copies_in_place(const StageMeter& meter, const schedule::Schedule& alone,
                           int cores_of_lane, model::Device& device) {
  for (const auto& [stage, sizes] : task_times({alone}, traced(meter, {alone}))) {
    if (stage == Stage::kernel) continue;
    model::Copies& copies = stage == Stage::h2d ? device.h2d : device.d2h;
    std::vector<double> factors;
    for (const auto& [bytes, seconds] : sizes) {
      factors.push_back(cores_of_lane * seconds / copies.pinned.seconds(bytes));
    }
    const double factor = base::median(std::move(factors));
    for (model::Curve* curve : {&copies.pinned, &copies.pageable, &copies.duplex}) {
      *curve = model::slower(*curve, factor);
    }
  }
}

}  // namespace overlap::measure
