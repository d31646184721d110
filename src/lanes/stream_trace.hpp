#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lanes/lanes.hpp"
#include "schedule/hazard.hpp"

namespace overlap::lanes {

/// Device times of the tasks that threads launch, from activity records of the vendor: on
/// CUDA from CUPTI, whose library is loaded with the first object.
class ActivityTrace {
 public:
  static constexpr const char* source = "CUPTI";

  /// Null if activity records are unavailable or in use by another tool.
  static std::unique_ptr<ActivityTrace> load();

  /// Starts recording, discards earlier records, and returns the start time.
  Clock::time_point start();
  /// Attributes everything that the calling thread launches until end() to the task.
  void begin(schedule::TaskId task);
  void end();
  /// Collects the records after all tasks are complete: sets start and stop of each task with
  /// records, from its first start to its last stop in seconds since start(). Returns which tasks
  /// have records.
  std::vector<bool> stop(std::vector<timeline::Span>& spans);

 private:
  [[maybe_unused]] std::uint64_t start_ns_ = 0;  // unused without activity records
  std::unique_ptr<void, void (*)(void*)> recording_{nullptr, nullptr};
};

/// Times of tasks in streams: from activity records if available, otherwise from events around each
/// task.
template <class Api>
class StreamTrace {
 public:
  explicit StreamTrace(deck::HostMemory memory = deck::HostMemory::pinned)
      : has_activities_(memory != deck::HostMemory::managed) {}

  std::string turn(bool on) {
    on_ = on;
    activities_.reset();  // only one can exist
    if (on && has_activities_) activities_ = ActivityTrace::load();
    if (activities_) return ActivityTrace::source;
    return std::string(Api::vendor) + " events, whose times include the wait for an engine";
  }

  void bind(const schedule::Schedule& schedule) {
    schedule_ = &schedule;
    events_.clear();
    if (!on_ || activities_) return;
    for (std::size_t i = 0; i < 2 * schedule.tasks.size() + 1; ++i) {
      events_.push_back(Api::make_event(Api::timed));
    }
  }

  /// Sets the origin of times; `first` is the instance of the first lane.
  Clock::time_point mark(const workload::Space& first) {
    if (activities_) return activities_->start();
    Api::record(events_.back(), Api::stream_of(first));
    return Clock::now();
  }

  /// Surround the issue of a task.
  void begin(schedule::TaskId id, const workload::Space& lane) {
    if (!events_.empty()) Api::record(events_[2 * id], Api::stream_of(lane));
    if (activities_) activities_->begin(id);
  }
  void end(schedule::TaskId id, const workload::Space& lane) {
    if (activities_) activities_->end();
    if (!events_.empty()) Api::record(events_[2 * id + 1], Api::stream_of(lane));
  }

  /// See Lanes::collect().
  void collect(std::vector<timeline::Span>& spans) {
    std::vector<bool> recorded;
    if (activities_) recorded = activities_->stop(spans);
    const auto seconds = [&](const auto& event) {
      return std::max(0.0, Api::seconds(events_.back(), event));
    };
    for (schedule::TaskId id = 0; id < spans.size(); ++id) {
      if (schedule::on_host(schedule_->tasks[id].stage)) continue;
      if (!events_.empty()) {
        spans[id].start_s = seconds(events_[2 * id]);
        spans[id].stop_s = seconds(events_[2 * id + 1]);
      } else if (!recorded[id]) {
        throw TraceLost(base::ExitCode::runtime_error, std::string(ActivityTrace::source) +
                                                           " lost the record of " +
                                                           schedule::describe(*schedule_, id));
      }
    }
  }

 private:
  bool has_activities_;  ///< pages that move have no records of a task
  bool on_ = false;
  std::unique_ptr<ActivityTrace> activities_;  ///< null: timing with events
  std::vector<typename Api::Event> events_;  ///< before and after each task; the last: at the mark
  const schedule::Schedule* schedule_ = nullptr;
};

}  // namespace overlap::lanes
