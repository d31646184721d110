#pragma once

#include <vector>

#include "model/device.hpp"
#include "schedule/schedule.hpp"

namespace overlap::model {

/// The tasks that engines of a device work on, each as fast as the others let it.
class RunningTasks {
 public:
  RunningTasks(const schedule::Schedule& schedule, const Device& device);

  /// Before time goes on, set_speeds() must follow.
  void start(schedule::TaskId id);
  void set_speeds();
  void advance(double from, double to);
  /// When the first of them ends at these speeds; infinite without any.
  double next_end(double now);
  /// Removes the one that next_end() found.
  schedule::TaskId finish();
  /// Whether kernels leave a part of the device to another one.
  bool has_room() const;

 private:
  struct Running {
    schedule::TaskId id;
    double left_s;      ///< of its time alone
    double speed = 1;   ///< seconds of that per second
    double share = 0;   ///< kernels: of the device, while alone
    double slowed = 1;  ///< time factor during copies the other way, or in a crowd of workers
  };

  double share_of(const schedule::Task& task) const;
  void share_cores();
  const schedule::Task& task(schedule::TaskId id) const { return schedule_.tasks[id]; }

  const schedule::Schedule& schedule_;
  const Device& device_;
  const Kernel* kernel_;
  int cores_per_lane_;
  std::vector<Running> running_;                           ///< in the order in which they started
  std::vector<Running>::iterator first_ = running_.end();  ///< the first to end
  int up_ = 0;                                             ///< copies to the device among them
  int down_ = 0;                                           ///< and back
};

}  // namespace overlap::model
