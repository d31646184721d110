#include "schedule/insert.hpp"

namespace overlap::schedule {

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

}  // namespace overlap::schedule
