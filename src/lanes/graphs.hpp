#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "lanes/lanes.hpp"

namespace overlap::lanes {

/// Number of tasks before the first one that the host executes.
inline schedule::TaskId device_tasks(const schedule::Schedule& schedule) {
  const auto& tasks = schedule.tasks;
  const auto first = std::ranges::find_if(tasks, schedule::on_host, &schedule::Task::stage);
  return static_cast<schedule::TaskId>(first - tasks.begin());
}

/// Whether a graph can contain all device tasks: there are some, no task blocks the host, and host
/// work, if any, is last.
inline bool is_capturable(const schedule::Schedule& schedule) {
  const auto first_host_task = schedule.tasks.begin() + device_tasks(schedule);
  return first_host_task != schedule.tasks.begin() &&
         std::ranges::none_of(schedule.tasks, &schedule::Task::blocking) &&
         std::all_of(first_host_task, schedule.tasks.end(), [](const schedule::Task& task) {
           return task.stage == schedule::Stage::host;
         });
}

/// Cache of schedules as graphs, captured from the streams of the lanes on first use. Graphs of
/// Kokkos (up to 5.2) have no nodes for copies.
template <class Api>
class Graphs {
 public:
  /// Everything that a graph depends on: the cache key.
  struct Content {
    std::vector<schedule::Task> tasks;
    const workload::Byte* data;  ///< of the first array on the device; null: there is none
    std::int64_t repeats;
    bool operator==(const Content&) const = default;
  };
  struct Graph {
    Content content;
    typename Api::GraphExec exec;
    experiment::GraphCosts costs;
  };

  /// The graph of a schedule; `issue(task)` issues a task to the stream of its lane.
  template <class Issue>
  const Graph& graph(const schedule::Schedule& schedule, const workload::Workload& workload,
                     const std::vector<typename Api::Stream>& streams, const Issue& issue) {
    Content content{schedule.tasks,
                    workload.device.empty() ? nullptr : workload.device.front().data(),
                    workload.repeats};
    const auto cached = std::ranges::find(graphs_, content, &Graph::content);
    if (cached != graphs_.end()) return *cached;
    const auto start = Clock::now();
    const auto captured = capture(schedule, streams, issue);
    const double capture_s = seconds_since(start);
    auto exec = Api::instantiate(captured, 0);
    const double instantiate_s = seconds_since(start) - capture_s;
    graphs_.push_back({std::move(content), std::move(exec), {capture_s, instantiate_s}});
    Api::upload(graphs_.back().exec, streams.front());
    Api::synchronize(streams.front());
    return graphs_.back();
  }

 private:
  /// Captures the tasks: all lanes fork from the first lane and join it at the end.
  template <class Issue>
  static typename Api::Graph capture(const schedule::Schedule& schedule,
                                     const std::vector<typename Api::Stream>& streams,
                                     const Issue& issue) {
    const auto event = Api::make_event(Api::untimed);
    const auto order = [&](std::size_t before, std::size_t after) {
      Api::record(event, streams[before]);
      Api::wait(streams[after], event, 0);
    };
    const auto lanes = static_cast<std::size_t>(schedule.lanes);
    const schedule::TaskId tasks = device_tasks(schedule);
    Api::begin_capture(streams.front(), Api::relaxed);
    try {
      for (std::size_t lane = 1; lane < lanes; ++lane) order(0, lane);
      for (schedule::TaskId id = 0; id < tasks; ++id) issue(id);
      for (std::size_t lane = 1; lane < lanes; ++lane) order(lane, 0);
    } catch (...) {
      try {
        Api::end_capture(streams.front());
      } catch (const base::Error&) {  // report the first error
      }
      throw;
    }
    return Api::end_capture(streams.front());
  }

  std::deque<Graph> graphs_;
};

}  // namespace overlap::lanes
