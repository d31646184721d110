// Inserts disturbances and host work into schedules.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "schedule/build.hpp"

namespace overlap::schedule {

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
