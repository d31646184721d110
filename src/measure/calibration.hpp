#pragma once

#include <functional>
#include <initializer_list>
#include <set>
#include <vector>

#include "base/interrupt.hpp"
#include "base/machine.hpp"
#include "measure/executor.hpp"
#include "model/device.hpp"

/// Measuring what a device file says of a device: thoroughly for a file, briefly for predictions of
/// one deck.
namespace overlap::measure {

using schedule::Stage;
using schedule::TaskId;

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

/// Adds the kernel rates of every workload, by type and, where it has one, by intensity.
void calibrate_kernels(const CalibrationPlan& plan, model::Device& device);

/// Sizes in bytes of lines that lie apart, of the schedule's copies.
std::set<std::size_t> line_sizes(const schedule::Schedule& schedule);

/// Adds to the device's description the times of lines of such sizes that lie apart: in copies of
/// up to 64 MiB, each after a kernel on twice as much as the cache holds. Sizes above 1 MiB are
/// measured as that.
void calibrate_lines(const std::set<std::size_t>& sizes, const CalibrationPlan& plan,
                     model::Device& device, workload::SpaceId space = workload::default_space);

/// A schedule made by hand on the arrays of a workload. Every task has data of its own, those
/// behind its predecessor's, until the arrays end and the first come again.
class HandSchedule {
 public:
  explicit HandSchedule(const workload::Workload& workload);

  /// Adds a task on `units` units.
  TaskId add(Stage stage, std::int64_t units, int lane, std::vector<TaskId> after = {});

  /// Adds a copy, a kernel and a copy back.
  void add_chunk(std::int64_t units, int lane);

  /// Adds a copy that keeps its lane busy while the host issues a row of tasks.
  void cover(Stage stage = Stage::h2d, int lane = 0);

  const schedule::Schedule& schedule() const { return schedule_; }

 private:
  /// In the device's first array, of `bytes` at most.
  std::int64_t device_units(std::size_t bytes) const;

  const workload::Workload& workload_;
  schedule::Schedule schedule_;
};

/// Measures stages through the same lanes and copies that experiments use.
struct StageMeter {
  using Add = std::function<void(HandSchedule&)>;

  Executor& executor;
  const workload::Workload& workload;
  CalibrationPlan plan = {};

  /// Medians after a warm-up of the schedule that `fill` makes; of long ones few runs are enough.
  Elapsed time(const Add& fill) const;
  double complete_s(const Add& fill) const { return time(fill).complete_s; }

  /// The time of another `add` at the end of a row of them, behind a copy in each lane that keeps
  /// them waiting until all are issued.
  double slope(std::initializer_list<Stage> covers, const Add& add) const;

  /// The time of another task of the stage in a row in one lane.
  double slope(Stage stage, std::int64_t units) const;

  /// Times by bytes, of copies of increasing size up to the plan's.
  model::Curve curve(const std::function<double(std::int64_t units)>& seconds) const;
};

/// The rate of a workload's kernel as it is now, at increasing numbers of units as long as they are
/// short, for one core where lanes have several.
model::Roof calibrate_kernel(const StageMeter& meter, const std::vector<std::int64_t>& sizes,
                             const schedule::Costs& costs, int cores_of_lane);

/// The rates of a product's kernels, of every size and shape that the schedules have, for one core
/// where lanes have several.
model::Kernel calibrate_products(const StageMeter& meter,
                                 const std::vector<schedule::Schedule>& schedules,
                                 int cores_of_lane);

/// On a host, puts into a description what the deck's own tasks take, where their data come from
/// memory or from the cache as they will: schedules of one lane say what copies and the kernel take
/// alone, for one core where lanes have several; the `crowded` one, of all lanes, by what factor
/// they are longer beside others.
void calibrate_in_place(const StageMeter& meter, const std::vector<schedule::Schedule>& alone,
                        const schedule::Schedule& crowded, int cores_of_lane,
                        model::Device& device);

/// The same for copies alone, whatever their sizes: all their times by one factor.
void scale_copies_in_place(const StageMeter& meter, const schedule::Schedule& alone,
                           int cores_of_lane, model::Device& device);

/// How fast the host computes a product's tiles, in flops per second: by a part of one tile's
/// columns that takes moments.
double host_flops_per_s(const workload::Workload& workload, schedule::Product tile);

/// Lanes that a calibration needs: one for each engine, or one for each core of a host.
int calibration_lanes();

/// Numbers of units from 1024 on, four times as many each, up to `most`.
std::vector<std::int64_t> sizes_up_to(std::int64_t most);

/// A curve through measured points. Noise makes times longer; what is larger has less of it in
/// proportion, and bounds the smaller.
model::Curve curve_of(std::vector<model::Curve::Point> points);

/// A deck of one workload in one chunk, on arrays of at most `bytes`, everything else by default.
deck::Deck plain_deck(deck::WorkloadKind kind, deck::Type type, std::int64_t bytes = 0);

/// The deck's workload, all of it on the device, with data.
workload::Workload resident_workload(const deck::Deck& deck,
                                     workload::SpaceId space = workload::default_space);

}  // namespace overlap::measure
