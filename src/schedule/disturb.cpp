#include "schedule/disturb.hpp"

#include <algorithm>
#include <cmath>

namespace overlap::schedule {

Schedule disturbed(const Schedule& schedule, const deck::Disturb& disturb) {
  Schedule changed = schedule;
  auto& tasks = changed.tasks;
  const auto place =
      static_cast<TaskId>(std::lround(disturb.at * static_cast<double>(schedule.tasks.size())));
  const auto times = static_cast<TaskId>(disturb.times);
  for (TaskId id = place; id < tasks.size(); ++id) {
    for (TaskId& other : tasks[id].after) {
      if (other >= place) other += times;
    }
  }
  const Task& next = tasks[std::min<std::size_t>(place, tasks.size() - 1)];
  const Task call{.stage = Stage::disturbance,
                  .chunk = next.chunk,
                  .lane = next.lane,
                  .call = disturb.operation};
  tasks.insert(tasks.begin() + place, times, call);
  return changed;
}

}  // namespace overlap::schedule
