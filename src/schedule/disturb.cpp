#include "schedule/disturb.hpp"

#include <algorithm>
#include <cmath>

#include "schedule/insert.hpp"

namespace overlap::schedule {

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

}  // namespace overlap::schedule
