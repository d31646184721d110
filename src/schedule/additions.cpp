#include "schedule/additions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace overlap::schedule {
namespace {

/// The schedule with more tasks, each issued before the task whose place it names; the number of
/// tasks is the place behind the last. Places rise.
Schedule with_inserted(const Schedule& schedule,
                       const std::vector<std::pair<TaskId, Task>>& inserted) {
  Schedule changed = schedule;
  changed.tasks.clear();
  std::vector<TaskId> moved;  // where each task went
  auto next = inserted.begin();
  for (TaskId id = 0; id <= schedule.tasks.size(); ++id) {
    for (; next != inserted.end() && next->first == id; ++next) {
      changed.tasks.push_back(next->second);
    }
    if (id == schedule.tasks.size()) break;
    moved.push_back(static_cast<TaskId>(changed.tasks.size()));
    changed.tasks.push_back(schedule.tasks[id]);
    for (TaskId& other : changed.tasks.back().after) other = moved[other];
  }
  return changed;
}

}  // namespace

Schedule disturbed(const Schedule& schedule, const deck::Disturb& disturb) {
  const auto& tasks = schedule.tasks;
  const auto place =
      static_cast<TaskId>(std::lround(disturb.at * static_cast<double>(tasks.size())));
  const Task& next = tasks[std::min<std::size_t>(place, tasks.size() - 1)];
  const Task call{.stage = Stage::disturbance,
                  .chunk = next.chunk,
                  .lane = next.lane,
                  .call = disturb.operation};
  return with_inserted(schedule, std::vector<std::pair<TaskId, Task>>(
                                     static_cast<std::size_t>(disturb.times), {place, call}));
}

Schedule with_host_work(const Schedule& schedule, double per_chunk_s, std::int64_t pieces) {
  const auto chunks = static_cast<std::size_t>(schedule.chunks);
  const bool baseline = schedule.order == Order::sequential;
  std::vector<TaskId> place(chunks, static_cast<TaskId>(schedule.tasks.size()));
  Schedule changed = schedule;
  for (TaskId id = 0; baseline && id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    if (task.stage == Stage::kernel) place[static_cast<std::size_t>(task.chunk)] = id + 1;
  }
  std::vector<std::pair<TaskId, Task>> inserted;
  const double seconds = per_chunk_s * static_cast<double>(pieces / schedule.chunks);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const TaskId before = place[chunk];
    if (baseline) changed.tasks[before - 1].blocking = false;
    inserted.emplace_back(
        before,
        Task{.stage = Stage::host, .chunk = static_cast<int>(chunk), .duration_s = seconds});
  }
  return with_inserted(changed, inserted);
}

}  // namespace overlap::schedule
