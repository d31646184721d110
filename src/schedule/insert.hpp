#pragma once

#include <utility>
#include <vector>

#include "schedule/schedule.hpp"

namespace overlap::schedule {

/// The schedule with more tasks, each issued before the task whose place it names; the number of
/// tasks is the place behind the last. `places` rise.
Schedule with_inserted(const Schedule& schedule,
                       const std::vector<std::pair<TaskId, Task>>& inserted);

}  // namespace overlap::schedule
