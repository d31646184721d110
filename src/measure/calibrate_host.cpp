#include <algorithm>
#include <map>
#include <optional>

#include "measure/calibration.hpp"
#include "measure/measure.hpp"
#include "measure/sampling.hpp"

namespace overlap::measure {
namespace {

/// Task times of a stage by bytes.
using Times = std::map<double, double>;

std::vector<timeline::Timeline> traced(const StageMeter& meter,
                                       const schedule::Schedule& schedule) {
  meter.executor.lanes().trace(true);
  auto timelines = sample({.samples = 15, .enough_s = 0.5, .step = meter.plan.step}, [&] {
    return meter.executor.run_traced(schedule, meter.workload, {.workers = schedule.lanes});
  });
  meter.executor.lanes().trace(false);
  return timelines;
}

/// Visits copies and kernels with a size: use(stage, bytes, seconds).
template <class Use>
void for_each_task(const schedule::Schedule& schedule, const timeline::Timeline& timeline,
                   const Use& use) {
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const bool kernel = task.stage == Stage::kernel && task.bytes > 0;
    if (!kernel && !schedule::is_copy(task.stage)) continue;
    const timeline::Span& span = timeline.spans[id];
    use(task.stage, static_cast<double>(task.bytes), span.stop_s - span.start_s);
  }
}

/// Median task times over all schedules, by stage and bytes.
std::map<Stage, Times> times_alone(const StageMeter& meter,
                                   const std::vector<schedule::Schedule>& schedules) {
  std::map<Stage, std::map<double, std::vector<double>>> samples;
  for (const schedule::Schedule& schedule : schedules) {
    for (const timeline::Timeline& timeline : traced(meter, schedule)) {
      for_each_task(schedule, timeline, [&](Stage stage, double bytes, double seconds) {
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
std::vector<double> slowed_in_crowd(const StageMeter& meter, const schedule::Schedule& schedule,
                                    std::map<Stage, Times>& alone, double cores) {
  std::vector<double> factors = {};
  for (const timeline::Timeline& timeline : traced(meter, schedule)) {
    double work_s = 0, busy_s = 0;
    for_each_task(schedule, timeline, [&](Stage stage, double bytes, double seconds) {
      work_s += alone[stage][bytes];
      busy_s += seconds;
    });
    factors.push_back(std::min(busy_s, cores * timeline.complete_s) / work_s);
  }
  return factors;
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
  std::map<Stage, Times> times = times_alone(meter, alone);
  auto factors = slowed_in_crowd(meter, crowded, times, double(device.cores) / cores_of_lane);
  std::ranges::sort(factors);
  // Other processes only lengthen runs.
  const double quartile = factors[factors.size() / 4];
  const double spread = (factors[factors.size() * 3 / 4] - quartile) / 2 / quartile;
  device.spread = {.copies = spread, .kernels = spread};
  std::optional<double> slowed;
  if (crowded.lanes > 1) slowed = std::max(1.0, quartile);
  for (auto& [stage, sizes] : times) {
    for (auto& [bytes, seconds] : sizes) seconds *= cores_of_lane;
    if (stage == Stage::kernel) {
      // Products of tiles of several shapes have one curve per intensity, measured before.
      auto& roofs = device.kernels.at(crowded.kernel).roofs;
      if (roofs.size() == 1) roofs.front().time = with(sizes, roofs.front().time);
      device.kernels_slowed = slowed.value_or(device.kernels_slowed);
    } else {
      model::Copies& copies = stage == Stage::h2d ? device.h2d : device.d2h;
      const double before = copies.slowed(sizes.rbegin()->first);
      copies.pinned = with(sizes, copies.pinned);
      copies.duplex = model::slower(copies.pinned, slowed.value_or(before));
      if (!copies.pageable.points().empty()) copies.pageable = copies.pinned;
    }
  }
}

void scale_copies_in_place(const StageMeter& meter, const schedule::Schedule& alone,
                           int cores_of_lane, model::Device& device) {
  for (const auto& [stage, sizes] : times_alone(meter, {alone})) {
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
