#pragma once

#include <limits>
#include <vector>

#include "model/device.hpp"
#include "schedule/schedule.hpp"

namespace overlap::model {

inline constexpr double never = std::numeric_limits<double>::infinity();

/// Running tasks, with speeds that depend on concurrent tasks.
class RunningTasks {
 public:
  RunningTasks(const schedule::Schedule& schedule, const Device& device);

  void start(schedule::TaskId id);
  /// The issuing thread begins or ends work of its own, which takes a core from the workers.
  void set_host_busy(bool busy);
  /// When the first task ends at the current speeds.
  double next_end(double now);
  void advance(double from, double to);
  /// Whether a task ends now.
  bool has_ended() const;
  /// Removes the task that next_end() is about.
  schedule::TaskId finish();

  /// Whether the running kernels leave a part of the device free.
  bool has_room() const;

 private:
  struct Running {
    schedule::TaskId id;
    schedule::Stage stage;
    double left_s;      ///< remaining time at speed 1
    double speed = 1;   ///< seconds of `left_s` per second
    double wait_s = 0;  ///< when the speeds were set: time until its end
    double share;       ///< kernels: fraction of the device when alone
    double slowed;      ///< time factor during opposite copies, or with all cores busy
  };

  double share_of(const schedule::Task& task) const;
  void set_speeds();
  void share_device();
  void share_cores();

  const schedule::Schedule& schedule_;
  const Device& device_;
  const Kernel* kernel_;
  int cores_per_lane_;
  bool host_busy_ = false;
  bool changed_ = true;                     ///< speeds must be set before time advances
  std::vector<Running> running_;            ///< in the order of their starts
  std::vector<Running>::iterator first_{};  ///< the first to end
};

}  // namespace overlap::model
