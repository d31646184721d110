#pragma once

#include <algorithm>
#include <vector>

#include "lanes/lanes.hpp"
#include "lanes/perform.hpp"

namespace overlap::lanes {

/// Lanes for any Kokkos space, with nothing but instances and fences: a task that depends on
/// another lane is issued when the host has seen that lane drained. Right everywhere, asynchronous
/// as far as the space is.
template <class Space>
class FencedLanes final : public Lanes {
 public:
  /// No more instances than the space has threads, which some versions cannot part further.
  explicit FencedLanes(int lanes)
      : instances_(Kokkos::Experimental::partition_space(
            Space(),
            std::vector<int>(static_cast<std::size_t>(std::min(lanes, Space().concurrency())), 1))),
        issued_(static_cast<std::size_t>(lanes)),
        complete_(issued_.size()) {}

  workload::InstanceRef instance(int lane) const override {
    return instances_[static_cast<std::size_t>(lane) % instances_.size()];
  }

  void bind(const schedule::Schedule& schedule, const workload::Workload& workload) override {
    schedule_ = &schedule;
    workload_ = &workload;
    std::fill(issued_.begin(), issued_.end(), 0);
    std::fill(complete_.begin(), complete_.end(), 0);
  }

  void issue(schedule::TaskId id) override {
    const schedule::Task& task = schedule_->tasks[id];
    for (const schedule::TaskId other : task.after) {
      const int lane = schedule_->tasks[other].lane;
      if (other >= complete_[static_cast<std::size_t>(lane)]) wait(lane);
    }
    try {
      perform(instance(task.lane), *workload_, *schedule_, task);
    } catch (const std::exception& error) {
      throw lane_error(*schedule_, id, error.what());
    }
    issued_[static_cast<std::size_t>(task.lane)] = id + 1;
  }

  void wait(int lane) override {
    if (query(lane)) return;
    const schedule::TaskId issued = issued_[static_cast<std::size_t>(lane)];
    try {
      instance(lane).fence("overlap::wait");
    } catch (const std::exception& error) {
      throw lane_error(*schedule_, issued - 1, error.what());
    }
    complete_[static_cast<std::size_t>(lane)] = issued;
  }

  /// Spaces have no query: only what a wait has seen complete is known.
  bool query(int lane) override {
    const auto at = static_cast<std::size_t>(lane);
    return issued_[at] == complete_[at];
  }

 private:
  std::vector<Space> instances_;
  std::vector<schedule::TaskId> issued_;    ///< each lane's tasks below this were issued
  std::vector<schedule::TaskId> complete_;  ///< and those below this seen complete
  const schedule::Schedule* schedule_ = nullptr;
  const workload::Workload* workload_ = nullptr;
};

}  // namespace overlap::lanes
