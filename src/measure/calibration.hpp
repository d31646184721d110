#pragma once

#include <functional>
#include <initializer_list>
#include <set>
#include <vector>

#include "base/interrupt.hpp"
#include "base/machine.hpp"
#include "measure/executor.hpp"
#include "model/device.hpp"

/// Measures the device description of the model: thoroughly for a device file, briefly for the
/// predictions of one deck.
namespace overlap::measure {

using schedule::Stage;
using schedule::TaskId;

/// Extent of a calibration.
struct CalibrationPlan {
  std::int64_t most_bytes = 0;     ///< largest copy
  int repetitions = 5;             ///< per measurement, after a warm-up
  bool pageable = false;           ///< also measure copies of pageable host memory
  double longest_kernel_s = 5e-3;  ///< times of longer kernels are extrapolated
  std::function<void()> step = base::check_interrupt;  ///< called before each measurement
};

/// Measures copies, host costs, latencies, contention and queues of the device with the arrays of
/// an increment, on its own lanes. Not measured: strided copies, kernel rates, and the rules of
/// queues that only device files describe (query cost, delayed signals, window).
model::Device calibrate(const base::DeviceInfo& info, const CalibrationPlan& plan);

/// The title of the current device's description.
std::string title_of(const base::DeviceInfo& info);

/// Calls `pass` this many times and combines what it measured.
model::Device in_passes(int passes, const std::function<model::Device()>& pass);

/// Adds the kernel rates of increment, pipeline, rowsum and (with Kokkos Kernels) dgemm, by type
/// and intensity.
void calibrate_kernels(const CalibrationPlan& plan, model::Device& device);

/// Adds the times of kernels on host memory, which must be page-locked, up to a sixteenth of the
/// largest copy.
void calibrate_zero_copy(const CalibrationPlan& plan, model::Device& device);

/// Sizes in bytes of the lines in lines_apart() of all copies of the schedule.
std::set<std::size_t> line_sizes(const schedule::Schedule& schedule);

/// Adds the times per line of strided copies (see model::Copies::lines) with these line sizes in
/// bytes: copies of up to 64 MiB, each after a kernel on twice the cache size. Sizes above 1 MiB
/// are measured as 1 MiB.
void calibrate_lines(const std::set<std::size_t>& sizes, const CalibrationPlan& plan,
                     model::Device& device, workload::SpaceId space = workload::default_space);

/// A hand-written schedule on the arrays of a workload. Each task uses its own data, which follow
/// those of the previous task; at the end of the arrays they start over.
class HandSchedule {
 public:
  explicit HandSchedule(const workload::Workload& workload);

  /// Adds a task on `units` units; `after` as in schedule::Task.
  TaskId add(Stage stage, std::int64_t units, int lane, std::vector<TaskId> after = {});

  /// Adds a copy that keeps its lane busy while the host issues the tasks behind it. Those begin in
  /// the middle of small arrays, because the first elements of an increment take the least time.
  void cover(Stage stage = Stage::h2d, int lane = 0);

  const schedule::Schedule& schedule() const { return schedule_; }

 private:
  /// Units in at most `bytes` of the first device array.
  std::int64_t device_units(std::size_t bytes) const;

  std::int64_t host_units() const;

  const workload::Workload& workload_;
  schedule::Schedule schedule_;
  std::int64_t next_ = 0;  ///< first unit of the next task
};

/// Measures the host cost of issuing a schedule, repeatedly during a run: it depends on the order
/// of the calls and varies over time by up to a factor of two, unlike the other costs.
class IssueMeter {
 public:
  IssueMeter(const schedule::Schedule& schedule, const model::Device& device);

  /// The cost of a chunk now, as model::HostCosts::chunk_s(), if all calls cost in proportion to
  /// those of the device; 0 if those are unknown or schedule::calls_of() is empty. Overwrites the
  /// arrays.
  double chunk_s(Executor& executor, const workload::Workload& workload) const;

 private:
  std::optional<schedule::Schedule> calls_;
  double scale_ = 0;  ///< HostCosts::chunk_s() by the predicted time of these calls; 0: unknown
};

/// Measures stages through the same lanes and copies as experiments. All times in seconds.
struct StageMeter {
  using Add = std::function<void(HandSchedule&)>;
  using Fill = std::function<void(HandSchedule&, int tasks)>;

  Executor& executor;
  const workload::Workload& workload;
  CalibrationPlan plan = {};

  /// Lower quartile of the times of the schedule that `fill` builds, in the repetitions of the plan
  /// after a warm-up; long schedules run fewer times.
  double complete_s(const Add& fill) const;

  /// Difference of the times of two schedules, run in turn so that a disturbance affects both.
  /// Takes `times` times the repetitions of the plan.
  double difference_s(double Elapsed::* time, const schedule::Schedule& shorter,
                      const schedule::Schedule& longer, int times) const;

  /// Marginal time of one more task, from rows of `few` and of `many` tasks.
  double marginal_s(double Elapsed::* time, int few, int many, int times, const Fill& row) const;

  /// Marginal time of one more `add`. One copy per entry of `covers`, each in its own lane, delays
  /// the row until all of it is issued.
  double slope(std::initializer_list<Stage> covers, const Add& add) const;

  /// Marginal time of one more task of the stage in one lane.
  double slope(Stage stage, std::int64_t units) const;

  /// Curve of `seconds(units)` over increasing sizes up to `plan.most_bytes`.
  model::Curve curve(const std::function<double(std::int64_t units)>& seconds) const;
};

/// Measures the kernel of a workload with its present repeats at increasing `sizes` (units) up to
/// the longest kernel of the plan. Times are scaled to one core from `cores_of_lane` cores.
model::Roof calibrate_kernel(const StageMeter& meter, const std::vector<std::int64_t>& sizes,
                             const schedule::Costs& costs, int cores_of_lane);

/// Measures the kernels of a matrix product at all sizes and shapes in the schedules, scaled to one
/// core.
model::Kernel calibrate_products(const StageMeter& meter,
                                 const std::vector<schedule::Schedule>& schedules,
                                 int cores_of_lane);

/// On a host, replaces curves of the description by times of the tasks of the deck, with their data
/// in memory or cache as during runs. One-lane schedules `alone` give the times of copies and
/// kernel, scaled to one core; `crowded`, on all lanes, gives the slow-down by concurrent tasks: as
/// much as tasks lengthen, or as the prediction of this run lacks. Kernels with several intensities
/// keep their curves. Does nothing without copies and kernels.
void calibrate_in_place(const StageMeter& meter, const std::vector<schedule::Schedule>& alone,
                        const schedule::Schedule& crowded, int cores_of_lane,
                        model::Device& device);

/// The same for copies only: scales their curves in each direction by one factor.
void scale_copies_in_place(const StageMeter& meter, const schedule::Schedule& alone,
                           int cores_of_lane, model::Device& device);

/// Rate of the host for tiles of a product, flop/s; measured on part of the columns of one tile,
/// for about 30 ms.
double host_flops_per_s(const workload::Workload& workload, schedule::Product tile);

/// Lanes for a calibration: 16 on a GPU, at least one per core on a host.
int calibration_lanes();

/// Numbers of units 1024, 4096, ... below `most`, then `most`.
std::vector<std::int64_t> sizes_up_to(std::int64_t most);

/// A deck of one workload in one chunk on arrays of at most `bytes`, otherwise with defaults.
deck::Deck plain_deck(std::int64_t bytes, deck::WorkloadKind kind = deck::WorkloadKind::increment,
                      deck::ElementType type = deck::ElementType::float32);

/// The workload of a deck with device arrays for all data. Inputs are generated on the host;
/// nothing is copied.
workload::Workload resident_workload(const deck::Deck& deck,
                                     workload::SpaceId space = workload::default_space);

}  // namespace overlap::measure
