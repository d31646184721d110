#pragma once

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <variant>
#include <vector>

#include "lanes/api.hpp"
#include "lanes/host_lanes.hpp"
#include "lanes/lanes.hpp"
#include "lanes/stream_trace.hpp"

namespace overlap::lanes {

/// Lanes for any Kokkos space that use instances, deep_copy and fences only. A task that depends on
/// another lane is issued after the host has fenced that lane; fenced() schedules contain no such
/// tasks, only explicit fences. Always correct; as asynchronous as the space.
template <class Space>
class FencedLanes final : public Lanes {
 public:
  explicit FencedLanes(int lanes, int threads = 1)
      : instances_(instances(lanes, threads)),
        issued_(static_cast<std::size_t>(lanes)),
        complete_(issued_.size()) {
    if constexpr (has_api<Space>) device_ = Api::device();
  }

  void attach_thread() override {
    if constexpr (has_api<Space>) Api::set_device(device_);
  }

  workload::InstanceRef instance(int lane) const override { return space_of(lane); }

  void bind(const schedule::Schedule& schedule, const workload::Workload& workload) override {
    schedule_ = &schedule;
    workload_ = &workload;
    for (auto& issued : issued_) issued = 0;
    for (auto& complete : complete_) complete = 0;
    if constexpr (has_api<Space>) trace_.bind(schedule);
  }

  /// Kokkos does not time tasks: uses the vendor API, in traced runs only.
  std::string trace([[maybe_unused]] bool on) override {
    if constexpr (has_api<Space>) return trace_.turn(on);
    return {};
  }
  Clock::time_point mark() override {
    if constexpr (has_api<Space>) return trace_.mark(Api::stream_of(space_of(0)));
    return Clock::now();
  }
  void collect([[maybe_unused]] std::vector<timeline::Span>& spans) override {
    if constexpr (has_api<Space>) trace_.collect(spans);
  }

  void issue(schedule::TaskId id) override {
    const schedule::Task& task = schedule_->tasks[id];
    for (const schedule::TaskId other : task.after) {
      const int lane = schedule_->tasks[other].lane;
      if (other >= complete_[static_cast<std::size_t>(lane)]) wait(lane);
    }
    std::atomic<schedule::TaskId>& issued = issued_[static_cast<std::size_t>(task.lane)];
    try {
      if constexpr (has_api<Space>) trace_.begin(id, Api::stream_of(space_of(task.lane)));
      perform(space_of(task.lane), *workload_, *schedule_, task, CopyCalls::kokkos);
      if constexpr (has_api<Space>) trace_.end(id, Api::stream_of(space_of(task.lane)));
      issued = id + 1;  // only now: other threads fence what is issued
    } catch (const std::exception& error) {
      issued = id + 1;
      throw lane_error(*schedule_, id, base::error_of(error).what());
    }
  }

  void wait(int lane) override {
    if (query(lane)) return;
    const schedule::TaskId issued = issued_[static_cast<std::size_t>(lane)];
    try {
      space_of(lane).fence("overlap::wait");
    } catch (const std::exception& error) {
      throw lane_error(*schedule_, issued - 1, base::error_of(error).what());
    }
    complete_[static_cast<std::size_t>(lane)] = issued;
  }

  /// Spaces have no query: returns what the last wait has established.
  bool query(int lane) override {
    const auto index = static_cast<std::size_t>(lane);
    return issued_[index] == complete_[index];
  }

 private:
  using Api = typename ApiOf<Space>::type;

  /// Of one thread at most as many as the space has threads, because some Kokkos versions cannot
  /// partition it further. Threads of a host need instances that do not lock each other.
  static std::vector<Space> instances(int lanes, [[maybe_unused]] int threads) {
    if constexpr (has_concurrent_instances<Space>) {
      std::vector<Space> result;
      while (threads > 1 && std::ssize(result) < lanes)
        result.push_back(lane_instance<Space>(lanes));
      if (!result.empty()) return result;
    }
    const auto count = static_cast<std::size_t>(std::min(lanes, Space().concurrency()));
    return Kokkos::Experimental::partition_space(Space(), std::vector<int>(count, 1));
  }

  const Space& space_of(int lane) const {
    return instances_[static_cast<std::size_t>(lane) % instances_.size()];
  }

  std::vector<Space> instances_;
  /// Per lane: one past the last task issued, and one past the last task seen complete.
  std::vector<std::atomic<schedule::TaskId>> issued_, complete_;
  int device_ = 0;
  const schedule::Schedule* schedule_ = nullptr;
  const workload::Workload* workload_ = nullptr;
  std::conditional_t<has_api<Space>, StreamTrace<Api>, std::monostate> trace_;
};

}  // namespace overlap::lanes
