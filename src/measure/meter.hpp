#pragma once

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "measure/executor.hpp"
#include "model/device.hpp"

/// The meter: the time of tasks through the same lanes and copies as experiments. Probe,
/// calibration, the rates between the rounds and balancing all use it, and every measurement but
/// the scored runs its sampling. All times in seconds.
namespace overlap::measure {

using schedule::Stage;
using schedule::TaskId;

/// Sampling parameters.
struct Sampling {
  int warmup = 1;
  int samples = 7;
  /// Stops after three samples if they and the warm-up took longer than this.
  double enough_s = std::numeric_limits<double>::infinity();
  std::function<void()> step = base::check_interrupt;  ///< called before each sample; may be empty
};

/// The results of repeated calls of once(), without those of the warm-up.
template <class Once>
auto sample(const Sampling& sampling, const Once& once) {
  std::vector<decltype(once())> samples;
  const auto start = lanes::Clock::now();
  for (int i = -sampling.warmup; i < sampling.samples; ++i) {
    if (i >= 3 && lanes::seconds_since(start) > sampling.enough_s) break;
    if (sampling.step) sampling.step();
    auto result = once();
    if (i >= 0) samples.push_back(std::move(result));
  }
  return samples;
}

/// The median of value(sample) over all samples.
template <class Samples, class Value = std::identity>
double median(const Samples& samples, Value value = {}) {
  std::vector<double> values;
  for (const auto& sample : samples) values.push_back(std::invoke(value, sample));
  return base::median(std::move(values));
}

/// Runs the schedule on a GPU for 0.1 s to raise its clocks: they fall while the host prepares
/// data, which can lengthen an operation of microseconds by half (H200, 1 MiB).
inline void wake(Executor& executor, const schedule::Schedule& schedule,
                 const workload::Workload& workload) {
  constexpr double wake_s = 0.1;
  if (workload::is_host) return;
  for (double busy_s = 0; busy_s < wake_s;) {
    base::check_interrupt();
    busy_s += executor.run(schedule, workload).complete_s;
  }
}

/// A small schedule on the arrays of a workload, written task by task.
class HandSchedule {
 public:
  explicit HandSchedule(const workload::Workload& workload);

  /// Adds a task on `units` units; `after` as in schedule::Task. Each task uses its own data, which
  /// follow those of the previous task; at the end of the arrays they start over.
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
  std::int64_t next_ = 0;       ///< first unit of the next task
  std::int64_t next_slot_ = 0;  ///< the same on the device
};

/// Tasks of a schedule without their dependencies, one lane per row, issued in turn, so that the
/// lanes start together.
schedule::Schedule row_schedule(const schedule::Schedule& schedule,
                                const std::vector<std::vector<schedule::Task>>& rows);

/// The only estimator of the time of a task or of a row of tasks: the median time of `many` of them
/// less the median time of `few`, which excludes the overhead of a run. Both run in turn, so that
/// drift affects both. If `few` take more than 50 ms, only these are run.
class Marginal {
 public:
  using Build = std::function<schedule::Schedule(int times)>;
  Marginal() = default;  ///< without tasks
  Marginal(const Build& build, int few, int many, double Elapsed::* time = &Elapsed::complete_s);
  /// Of one task and as many more as take some milliseconds: one sample is precise.
  explicit Marginal(Build build);

  /// Runs both once; before the first sample a warm-up. Does nothing without tasks.
  void add_sample(Executor& executor, const workload::Workload& workload,
                  const std::function<void()>& step = base::check_interrupt);

  /// Of one task, by the last sample alone; 0 without tasks.
  double last_s() const;
  /// Of one task; noise can make it negative. 0 without samples.
  double difference_s() const;
  /// The same, but at most the mean time of `many`, which it is if noise dominates.
  double seconds() const;

  bool empty() const { return shorter_.tasks.empty(); }

 private:
  double seconds(double few_s, double many_s) const;

  schedule::Schedule shorter_, longer_;
  Build build_;  ///< of `longer_` after the warm-up; empty: it is built
  double few_ = 1, many_ = 2;
  std::function<double(const Elapsed&)> time_ = &Elapsed::complete_s;
  bool is_long_ = false;
  std::vector<double> shorter_s_, longer_s_;
};

/// Extent of a calibration.
struct CalibrationPlan {
  std::int64_t most_bytes = 0;                         ///< largest copy
  int repetitions = 5;                                 ///< per measurement, after a warm-up
  std::function<void()> step = base::check_interrupt;  ///< called before each measurement
};

/// Measures on the lanes of an executor with the arrays of a workload, which it overwrites.
struct Meter {
  using Fill = std::function<void(HandSchedule&)>;
  using Add = std::function<void(HandSchedule&, int number)>;

  Executor& executor;
  const workload::Workload& workload;
  CalibrationPlan plan = {};

  /// Raises the clocks by the largest copies.
  void wake() const;

  /// Median time of a schedule in the repetitions of the plan; a long one runs fewer times.
  double seconds(const schedule::Schedule& schedule) const;
  double seconds(const Fill& fill) const;

  /// Marginal time of one more task, from rows of `few` and of `many` tasks, with `times` times the
  /// repetitions of the plan.
  Marginal marginal(const Marginal::Build& build, int few, int many, int times = 1,
                    double Elapsed::* time = &Elapsed::complete_s) const;
  /// Rows of `add`. One copy per entry of `covers`, each in its own lane, delays the row until all
  /// of it is issued.
  Marginal::Build row(const std::vector<Stage>& covers, const Add& add) const;

  /// Marginal cost of one more `add`, from rows of `few` and of `many`. Short compared to noise,
  /// and then at least 0.
  double call_s(double Elapsed::* time, int few, int many, const Add& add,
                const std::vector<Stage>& covers = {Stage::h2d}) const;

  /// Marginal time of one more `add`.
  double slope(const std::vector<Stage>& covers, const Add& add) const;

  /// Marginal time of one more task of the stage in one lane.
  double slope(Stage stage, std::int64_t units) const;

  /// Curve of `seconds(units)` over increasing sizes up to `plan.most_bytes`.
  model::Curve curve(const std::function<double(std::int64_t units)>& seconds) const;
  /// That of slope() of a stage.
  model::Curve curve(Stage stage) const;
};

/// Numbers of units 1024, 4096, ... below `most`, then `most`.
std::vector<std::int64_t> sizes_up_to(std::int64_t most);

}  // namespace overlap::measure
