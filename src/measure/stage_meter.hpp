#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "measure/calibration.hpp"

/// Times of single stages, from schedules made by hand.
namespace overlap::measure {

using schedule::Stage;
using schedule::TaskId;

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

/// Measures through the same lanes and copies that experiments use.
struct StageMeter {
  using Add = std::function<void(HandSchedule&)>;

  Executor& executor;
  const workload::Workload& workload;
  const CalibrationPlan& plan;

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

/// Lanes that a calibration needs: one for each engine, or one for each core of a host.
int calibration_lanes();

/// Numbers of units from 1024 on, four times as many each, up to `most`.
std::vector<std::int64_t> sizes_up_to(std::int64_t most);

/// A curve through measured points. Noise makes times longer; what is larger has less of it in
/// proportion, and bounds the smaller.
model::Curve curve_of(std::vector<model::Curve::Point> points);

/// A deck of one workload on arrays of at most `bytes`, everything else by default.
deck::Deck plain_deck(deck::WorkloadKind kind, deck::Type type, std::int64_t bytes);

/// The deck's workload, all of it on the device, with data.
workload::Workload resident_workload(const deck::Deck& deck,
                                     workload::SpaceId space = workload::default_space);

}  // namespace overlap::measure
