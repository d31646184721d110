#include "model/running_tasks.hpp"

#include <algorithm>
#include <utility>

#include "model/predict.hpp"

namespace overlap::model {

using schedule::Schedule;
using schedule::Stage;
using schedule::Task;
using schedule::TaskId;

RunningTasks::RunningTasks(const Schedule& schedule, const Device& device)
    : schedule_(schedule),
      device_(device),
      kernel_(device.kernel(schedule.kernel)),
      cores_per_lane_(device.cores_of_lane(schedule.instances)) {}

void RunningTasks::start(TaskId id) {
  const Task& task = schedule_.tasks[id];
  const double alone_s = seconds_alone(schedule_, task, device_);
  const bool is_kernel = schedule::is_kernel(task.stage);
  // A kernel given by its duration uses all cores of its lane.
  const bool whole = is_kernel && task.duration_s > 0;
  const double slowed = is_kernel
                            ? device_.kernels_slowed
                            : device_.copies(task.stage).slowed(static_cast<double>(task.bytes));
  running_.push_back({.id = id,
                      .stage = task.stage,
                      .left_s = whole ? alone_s : alone_s / cores_per_lane_,
                      .share = is_kernel ? share_of(task) : 0,
                      .slowed = slowed});
  changed_ = true;
}

void RunningTasks::set_host_busy(bool busy) {
  host_busy_ = busy;
  changed_ = true;
}

TaskId RunningTasks::finish() {
  const TaskId id = first_->id;
  running_.erase(first_);
  changed_ = true;
  return id;
}

void RunningTasks::set_speeds() {
  if (device_.queues == Queues::worker) {
    share_cores();
  } else {
    share_device();
  }
  for (Running& running : running_) running.wait_s = running.left_s / running.speed;
  first_ = std::ranges::min_element(running_, {}, &Running::wait_s);
}

void RunningTasks::share_device() {
  bool up = false, down = false;
  for (const Running& running : running_) {
    up |= running.stage == Stage::h2d;
    down |= running.stage == Stage::d2h;
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

void RunningTasks::advance(double from, double to) {
  constexpr double rounding = 1e-12;
  for (Running& running : running_) {
    running.left_s -= (to - from) * running.speed;
    if (running.left_s < rounding * to) running.left_s = 0;
  }
}

double RunningTasks::next_end(double now) {
  if (std::exchange(changed_, false)) set_speeds();
  return first_ == running_.end() ? never : now + first_->left_s / first_->speed;
}

bool RunningTasks::has_ended() const {
  if (!changed_) return first_ != running_.end() && first_->left_s == 0;
  return std::ranges::any_of(running_, [](const Running& running) { return running.left_s == 0; });
}

bool RunningTasks::has_room() const {
  constexpr double rounding = 1e-9;
  double share = 0;
  for (const Running& running : running_) share += running.share;
  return share < 1 - rounding;
}

double RunningTasks::share_of(const Task& task) const {
  if (task.share > 0) return task.share;
  if (device_.unit_s > 0 || kernel_ == nullptr) return 1;
  if (!deck::has_copies(schedule_.transfer)) return 1;  // the link is the limit
  return kernel_->share(static_cast<double>(task.bytes), task.flops);
}

void RunningTasks::share_cores() {
  const double wanted =
      static_cast<double>(running_.size()) * cores_per_lane_ + (host_busy_ ? 1 : 0);
  const double busy = std::min(wanted, static_cast<double>(device_.cores));
  const double time_factor = std::max(1.0, wanted / device_.cores);
  const double crowd = device_.cores > 1 ? (busy - 1) / (device_.cores - 1) : 0;
  for (Running& running : running_) {
    running.speed = 1 / (time_factor * (1 + (running.slowed - 1) * crowd));
  }
}

}  // namespace overlap::model
