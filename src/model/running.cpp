#include "model/running.hpp"

#include <algorithm>
#include <limits>

#include "model/predict.hpp"

namespace overlap::model {

using schedule::Stage;
using schedule::Task;
using schedule::TaskId;

RunningTasks::RunningTasks(const schedule::Schedule& schedule, const Device& device)
    : schedule_(schedule),
      device_(device),
      kernel_(device.kernel(schedule.kernel)),
      cores_per_lane_(device.cores_of_lane(schedule.instances)) {}

double RunningTasks::share_of(const Task& task) const {
  if (task.share > 0) return task.share;
  if (device_.unit_s > 0 || kernel_ == nullptr) return 1;
  if (schedule_.transfer == deck::Transfer::zero_copy) return 1;  // the link is the limit
  return kernel_->share(static_cast<double>(task.bytes), task.flops);
}

void RunningTasks::start(TaskId id) {
  const Task& t = task(id);
  Running running{.id = id, .left_s = seconds_alone(schedule_, t, device_)};
  // A kernel by its duration is on every core of its lane.
  const bool is_kernel = schedule::is_kernel(t.stage);
  if (!is_kernel || t.duration_s == 0) running.left_s /= cores_per_lane_;
  if (is_kernel) {
    running.share = share_of(t);
    running.slowed = device_.kernels_slowed;
  } else {
    const bool up = t.stage == Stage::h2d;
    ++(up ? up_ : down_);
    running.slowed = (up ? device_.h2d : device_.d2h).slowed(static_cast<double>(t.bytes));
  }
  running_.push_back(running);
}

void RunningTasks::share_cores() {
  const double wanted = static_cast<double>(running_.size()) * cores_per_lane_;
  const double busy = std::min(wanted, static_cast<double>(device_.cores));
  const double time_factor = std::max(1.0, wanted / device_.cores);
  const double crowd = device_.cores > 1 ? std::max(0.0, busy - 1) / (device_.cores - 1) : 0;
  for (Running& task : running_) {
    task.speed = 1 / (time_factor * (1 + (task.slowed - 1) * crowd));
  }
}

void RunningTasks::set_speeds() {
  if (device_.queues == Queues::worker) return share_cores();
  // Kernels share the device in the order in which they started.
  double free_share = 1;
  for (Running& running : running_) {
    const Stage stage = task(running.id).stage;
    if (schedule::is_copy(stage)) {
      const bool both = stage == Stage::h2d ? down_ > 0 : up_ > 0;
      running.speed = both ? 1 / running.slowed : 1;
      continue;
    }
    const double given = std::min(running.share, free_share);
    free_share -= given;
    const int copies = int{up_ > 0} + int{down_ > 0};
    running.speed = given / running.share / (1 + (running.slowed - 1) * copies);
  }
}

void RunningTasks::advance(double from, double to) {
  constexpr double rounding = 1e-12;
  for (Running& task : running_) {
    task.left_s -= (to - from) * task.speed;
    if (task.left_s < rounding * to) task.left_s = 0;
  }
}

double RunningTasks::next_end(double now) {
  first_ = std::min_element(running_.begin(), running_.end(), [](const auto& a, const auto& b) {
    return a.left_s / a.speed < b.left_s / b.speed;
  });
  if (first_ == running_.end()) return std::numeric_limits<double>::infinity();
  return now + first_->left_s / first_->speed;
}

TaskId RunningTasks::finish() {
  const TaskId id = first_->id;
  const Stage stage = task(id).stage;
  if (schedule::is_copy(stage)) --(stage == Stage::h2d ? up_ : down_);
  running_.erase(first_);
  return id;
}

bool RunningTasks::has_room() const {
  constexpr double rounding = 1e-9;
  double share = 0;
  for (const Running& other : running_) share += other.share;
  return share < 1 - rounding;
}

}  // namespace overlap::model
