#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/predict.hpp"

/// Schedules written down by hand for the simulator, and its answers as text. A byte takes a second
/// to copy, so that every number in them is a time.
namespace overlap::model {

using schedule::Schedule;
using schedule::Stage;
using schedule::Task;
using schedule::TaskId;

inline Task h2d(int lane, std::size_t bytes, std::vector<TaskId> after = {}) {
  return {.stage = Stage::h2d, .lane = lane, .bytes = bytes, .after = std::move(after)};
}
inline Task d2h(int lane, std::size_t bytes, std::vector<TaskId> after = {}) {
  return {.stage = Stage::d2h, .lane = lane, .bytes = bytes, .after = std::move(after)};
}
inline Task kernel(int lane, double seconds, double share = 1, std::vector<TaskId> after = {}) {
  return {.stage = Stage::kernel,
          .lane = lane,
          .duration_s = seconds,
          .share = share,
          .after = std::move(after)};
}
inline Task host(double seconds, std::vector<TaskId> after = {}) {
  return {.stage = Stage::host, .duration_s = seconds, .after = std::move(after)};
}
inline Task query(int lane) { return {.stage = Stage::query, .lane = lane}; }
inline Task blocking(Task task) {
  task.blocking = true;
  return task;
}

inline Schedule schedule_of(std::vector<Task> tasks) {
  Schedule schedule;
  for (const Task& task : tasks) schedule.lanes = std::max(schedule.lanes, task.lane + 1);
  schedule.instances = schedule.lanes;
  schedule.tasks = std::move(tasks);
  return schedule;
}

/// Two copy engines unless `copy_engines` says otherwise; what the host does takes no time.
inline Device device_of(Queues queues, int copy_engines = 2) {
  Device device;
  device.queues = queues;
  device.copy_engines = copy_engines;
  device.h2d.pinned = device.d2h.pinned = Curve::line(0, 1);
  device.concurrent_kernels = 16;
  return device;
}

/// "SM 2-3.5" for each task: engine, start and stop.
inline std::vector<std::string> text(const timeline::Timeline& timeline) {
  std::vector<std::string> lines;
  for (const timeline::Span& span : timeline.spans) {
    lines.push_back(fmt::format("{} {:.6g}-{:.6g}",
                                timeline.engines[static_cast<std::size_t>(span.engine)],
                                span.start_s, span.stop_s));
  }
  return lines;
}

inline std::vector<std::string> predicted(std::vector<Task> tasks, const Device& device,
                                          deck::Mechanism mechanism = deck::Mechanism::streams) {
  Schedule schedule = schedule_of(std::move(tasks));
  schedule.mechanism = mechanism;
  return text(predict(schedule, device));
}

}  // namespace overlap::model
