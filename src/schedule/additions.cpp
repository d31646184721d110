// Inserts fences, disturbances and host work into schedules.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "schedule/build.hpp"

namespace overlap::schedule {

Schedule fenced(const Schedule& schedule) {
  Schedule result = schedule;
  result.tasks.clear();
  result.names.clear();
  // Per lane: one past the last task issued, and one past the last task seen complete.
  std::vector<TaskId> issued(static_cast<std::size_t>(schedule.lanes));
  std::vector<TaskId> complete = issued;
  const auto lane_of = [&](TaskId id) { return static_cast<std::size_t>(schedule.tasks[id].lane); };
  const auto wait_for = [&](TaskId id) { complete[lane_of(id)] = issued[lane_of(id)]; };
  std::vector<TaskId> places;  // new index of each task
  const auto append = [&](Task task, const std::string& name) {
    for (TaskId& other : task.after) other = places[other];
    result.tasks.push_back(std::move(task));
    if (!schedule.names.empty()) result.names.push_back(name);
  };
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    Task task = schedule.tasks[id];
    if (waits_for_lanes(task.stage)) std::ranges::for_each(task.after, wait_for);
    if (!on_host(task.stage)) {
      Task fence{.stage = Stage::fence, .chunk = task.chunk, .number = task.number};
      for (const TaskId other : std::exchange(task.after, {})) {
        if (other < complete[lane_of(other)]) continue;
        wait_for(other);
        fence.after.push_back(other);
      }
      if (!fence.after.empty()) append(std::move(fence), to_string(Stage::fence));
      issued[lane_of(id)] = id + 1;
      if (task.blocking) wait_for(id);
    }
    places.push_back(static_cast<TaskId>(result.tasks.size()));
    append(std::move(task), schedule.names.empty() ? "" : schedule.names[id]);
  }
  return result;
}

Schedule disturbed(Schedule schedule, const deck::Disturb& disturb) {
  std::vector<Task>& tasks = schedule.tasks;
  const auto place = std::lround(disturb.at * static_cast<double>(tasks.size()));
  const Task& next = tasks[std::min(static_cast<std::size_t>(place), tasks.size() - 1)];
  const Task call{.stage = Stage::disturbance,
                  .chunk = next.chunk,
                  .lane = next.lane,
                  .call = disturb.operation};
  for (Task& task : tasks) {
    for (TaskId& other : task.after) {
      if (other >= place) other += static_cast<TaskId>(disturb.times);
    }
  }
  tasks.insert(tasks.begin() + place, static_cast<std::size_t>(disturb.times), call);
  return schedule;
}

Schedule with_host_work(Schedule schedule, double per_chunk_s, std::int64_t pieces) {
  Task work{.stage = Stage::host,
            .duration_s = per_chunk_s * static_cast<double>(pieces / schedule.chunks)};
  if (schedule.order != Order::sequential) {
    for (; work.chunk < schedule.chunks; ++work.chunk) schedule.tasks.push_back(work);
    return schedule;
  }
  // On one lane `after` is empty, so that no index needs an update.
  std::vector<Task> tasks;
  for (Task& task : schedule.tasks) {
    const bool last_kernel = task.stage == Stage::kernel && task.op == schedule.arrays.back().op;
    work.chunk = task.chunk;
    if (last_kernel) task.blocking = false;
    tasks.push_back(std::move(task));
    if (last_kernel) tasks.push_back(work);
  }
  schedule.tasks = std::move(tasks);
  return schedule;
}

}  // namespace overlap::schedule
