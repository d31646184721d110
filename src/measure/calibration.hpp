#pragma once

#include <functional>
#include <set>
#include <vector>

#include "base/interrupt.hpp"
#include "base/machine.hpp"
#include "measure/executor.hpp"
#include "model/device.hpp"

/// Measuring what a device file says of a device: thoroughly for a file, briefly for predictions of
/// one deck.
namespace overlap::measure {

/// How much of the device a calibration measures.
struct CalibrationPlan {
  std::int64_t most_bytes = 0;  ///< largest copy
  int repetitions = 5;          ///< of each measurement, after a warm-up; medians count
  bool pageable = false;        ///< copies of pageable host memory, too
  std::function<void()> step = base::check_interrupt;  ///< called before each measurement
};

/// Measures the device with an increment's arrays, on lanes of its own: everything of its
/// description but lines and kernel rates.
model::Device calibrate(const base::DeviceInfo& info, const CalibrationPlan& plan);

/// Sizes in bytes of lines that lie apart, of the schedule's copies.
std::set<std::size_t> line_sizes(const schedule::Schedule& schedule);

/// Adds to the device's description the times of lines of such sizes that lie apart: in copies of
/// up to 64 MiB, each after a kernel on twice as much as the cache holds. Sizes above 1 MiB are
/// measured as that.
void calibrate_lines(const std::set<std::size_t>& sizes, const CalibrationPlan& plan,
                     model::Device& device, workload::SpaceId space = workload::default_space);

/// The rate of a workload's kernel as it is now, at increasing numbers of units as long as they are
/// short, for one core where lanes have several.
model::Roof calibrate_kernel(Executor& executor, const workload::Workload& workload,
                             const std::vector<std::int64_t>& sizes, const schedule::Costs& costs,
                             int cores_of_lane, const CalibrationPlan& plan);

/// The rates of a product's kernels, of every size and shape that the schedules have, for one core
/// where lanes have several.
model::Kernel calibrate_products(Executor& executor, const workload::Workload& workload,
                                 const std::vector<schedule::Schedule>& schedules,
                                 int cores_of_lane, const CalibrationPlan& plan);

/// How fast the host computes a product's tiles, in flops per second: by a part of one tile's
/// columns that takes moments.
double host_flops_per_s(const workload::Workload& workload, schedule::Product tile);

/// Adds the kernel rates of every workload, by type and, where it has one, by intensity.
void calibrate_kernels(const CalibrationPlan& plan, model::Device& device);

}  // namespace overlap::measure
