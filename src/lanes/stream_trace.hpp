#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lanes/activity_trace.hpp"
#include "lanes/lanes.hpp"
#include "schedule/hazard.hpp"

namespace overlap::lanes {

/// Times of tasks in streams: from the vendor's activity records where there are any, otherwise
/// from events around each task.
template <class Api>
class StreamTrace {
 public:
  TraceSource turn(bool on) {
    if (on && !on_) activities_ = ActivityTrace::load();
    const bool by_activities = activities_ != nullptr;
    if (!on) activities_.reset();
    on_ = on;
    if (by_activities) return {Api::activity_source, true};
    return {std::string(Api::vendor) +
            " events, for which a task also runs while it waits for its engine"};
  }

  void bind(const schedule::Schedule& schedule) {
    schedule_ = &schedule;
    timed_.assign(schedule.tasks.size(), true);
    times_.clear();
    if (!on_ || activities_) return;
    for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
      times_.emplace_back(Api::make_event(true), Api::make_event(true));
    }
    mark_.emplace(Api::make_event(true));
  }

  /// Times count from here; `first` is the first lane.
  Clock::time_point mark(typename Api::Stream first, const std::vector<bool>& timed) {
    timed_ = timed;
    if (!activities_) {
      Api::record(*mark_, first);
      return Clock::now();
    }
    activities_->start();
    const auto now = Clock::now();
    mark_ns_ = activities_->now_ns();
    return now;
  }

  /// Before and after a task is put into its lane.
  void begin(schedule::TaskId id, typename Api::Stream lane) {
    if (!times_.empty()) Api::record(times_[id].first, lane);
    if (!activities_) return;
    if (!timed_[id]) activities_->record_copies(false);
    activities_->tag(id);
  }
  void end(schedule::TaskId id, typename Api::Stream lane) {
    if (activities_) {
      activities_->tag({});
      if (!timed_[id]) activities_->record_copies(true);
    }
    if (!times_.empty()) Api::record(times_[id].second, lane);
  }

  /// As Lanes::collect().
  void collect(std::vector<timeline::Span>& spans) {
    if (activities_) return collect_activities(spans);
    const auto seconds = [&](const auto& event) {
      return std::max(0.0, Api::seconds(*mark_, event));
    };
    for (std::size_t id = 0; id < times_.size(); ++id) {
      if (schedule::on_host(schedule_->tasks[id].stage)) continue;
      spans[id].start_s = seconds(times_[id].first);
      spans[id].stop_s = seconds(times_[id].second);
    }
  }

 private:
  /// A task may have several activities: it lasts from the first's start to the last's end.
  void collect_activities(std::vector<timeline::Span>& spans) {
    std::vector<bool> seen(spans.size());
    const auto seconds = [&](std::uint64_t ns) {
      return std::max(0.0, (static_cast<double>(ns) - static_cast<double>(mark_ns_)) * 1e-9);
    };
    for (const ActivityTrace::Activity& activity : activities_->stop()) {
      const auto id = static_cast<std::size_t>(activity.tag);
      timeline::Span& span = spans[id];
      const double start_s = seconds(activity.start_ns);
      const double stop_s = seconds(activity.stop_ns);
      span.start_s = seen[id] ? std::min(span.start_s, start_s) : start_s;
      span.stop_s = seen[id] ? std::max(span.stop_s, stop_s) : stop_s;
      seen[id] = true;
    }
    for (schedule::TaskId id = 0; id < seen.size(); ++id) {
      if (seen[id] || !timed_[id] || schedule::on_host(schedule_->tasks[id].stage)) continue;
      throw TraceLost(base::ExitCode::runtime_error, std::string(Api::activity_source) +
                                                         " lost the record of " +
                                                         schedule::describe(*schedule_, id));
    }
  }

  bool on_ = false;
  std::unique_ptr<ActivityTrace> activities_;  ///< null: events take the times
  std::vector<bool> timed_;
  std::uint64_t mark_ns_ = 0;
  std::optional<typename Api::Event> mark_;
  std::vector<std::pair<typename Api::Event, typename Api::Event>> times_;  ///< around each task
  const schedule::Schedule* schedule_ = nullptr;
};

}  // namespace overlap::lanes
