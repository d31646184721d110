#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/predict.hpp"

namespace overlap::model {

inline constexpr double never = std::numeric_limits<double>::infinity();

/// Running tasks, with speeds that depend on concurrent tasks.
class RunningTasks {
 public:
  RunningTasks(const schedule::Schedule& schedule, const Device& device)
      : schedule_(schedule),
        device_(device),
        kernel_(device.kernel(schedule.kernel)),
        cores_per_lane_(device.cores_per_lane(schedule.instances)) {}

  void start(schedule::TaskId id) {
    const schedule::Task& task = schedule_.tasks[id];
    const double alone_s = seconds_alone(schedule_, task, device_);
    const bool is_kernel = schedule::is_kernel(task.stage);
    // A kernel given by its duration uses all cores of its lane.
    const bool uses_all_cores = is_kernel && task.duration_s > 0;
    const double slowed = is_kernel
                              ? device_.kernels_slowed
                              : device_.copies(task.stage).slowed(static_cast<double>(task.bytes));
    running_.push_back({.id = id,
                        .stage = task.stage,
                        .left_s = uses_all_cores ? alone_s : alone_s / cores_per_lane_,
                        .share = is_kernel ? share_of(task) : 0,
                        .slowed = slowed});
    changed_ = true;
  }

  /// The issuing thread begins or ends work of its own, which takes a core from the workers.
  void set_host_busy(bool busy) {
    host_busy_ = busy;
    changed_ = true;
  }

  /// When the first task ends at the current speeds.
  double next_end(double now) {
    if (std::exchange(changed_, false)) {
      device_.queues == Queues::worker ? share_cores() : share_device();
    }
    first_ = std::ranges::min_element(running_, {}, &Running::wait_s);
    return first_ == running_.end() ? never : now + first_->wait_s();
  }

  void advance(double from, double to) {
    constexpr double rounding = 1e-12;
    for (Running& running : running_) {
      running.left_s -= (to - from) * running.speed;
      if (running.left_s < rounding * to) running.left_s = 0;
    }
  }

  /// Whether a task ends now.
  bool has_ended() const {
    return std::ranges::any_of(running_, [](const Running& task) { return task.left_s == 0; });
  }

  /// Removes the task that next_end() is about.
  schedule::TaskId finish() {
    const schedule::TaskId id = first_->id;
    running_.erase(first_);
    changed_ = true;
    return id;
  }

  /// Whether the running kernels leave a part of the device free.
  bool has_room() const {
    constexpr double rounding = 1e-9;
    double share = 0;
    for (const Running& running : running_) share += running.share;
    return share < 1 - rounding;
  }

 private:
  struct Running {
    schedule::TaskId id;
    schedule::Stage stage;
    double left_s;     ///< remaining time at speed 1
    double speed = 1;  ///< seconds of `left_s` per second
    double share;      ///< kernels: fraction of the device when alone
    double slowed;     ///< time factor during opposite copies, or with all cores busy
    double wait_s() const { return left_s / speed; }
  };

  double share_of(const schedule::Task& task) const {
    if (task.share > 0) return task.share;
    if (device_.unit_s > 0 || kernel_ == nullptr) return 1;
    if (!deck::has_copies(schedule_.transfer)) return 1;  // the link is the limit
    return kernel_->share(static_cast<double>(task.bytes), task.flops);
  }

  void share_device() {
    bool up = false, down = false;
    for (const Running& running : running_) {
      up |= running.stage == schedule::Stage::h2d;
      down |= running.stage == schedule::Stage::d2h;
    }
    // Kernels receive shares of the device in the order of their starts.
    double free_share = 1;
    for (Running& running : running_) {
      if (schedule::is_copy(running.stage)) {
        running.speed = up && down ? 1 / running.slowed : 1;
        continue;
      }
      const double given = std::min(running.share, free_share);
      free_share -= given;
      const int copies = int{up} + int{down};
      running.speed = given / running.share / (1 + (running.slowed - 1) * copies);
    }
  }

  void share_cores() {
    const double wanted =
        static_cast<double>(running_.size()) * cores_per_lane_ + (host_busy_ ? 1 : 0);
    const double busy = std::min(wanted, static_cast<double>(device_.cores));
    const double time_factor = std::max(1.0, wanted / device_.cores);
    const double crowd = device_.cores > 1 ? (busy - 1) / (device_.cores - 1) : 0;
    for (Running& running : running_) {
      running.speed = 1 / (time_factor * (1 + (running.slowed - 1) * crowd));
    }
  }

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
