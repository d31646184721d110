#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.hpp"

/// For faults planted into what a task uses.
namespace overlap::schedule {

/// A task's uses, or those of another, as its own: other tasks on the same data share them.
inline std::span<Use> own_uses(Schedule& schedule, Task& task, const Task& of) {
  const std::vector<Use> copied(uses(schedule, of).begin(), uses(schedule, of).end());
  task.uses = {static_cast<std::uint32_t>(schedule.uses.size()), of.uses.count};
  schedule.uses.insert(schedule.uses.end(), copied.begin(), copied.end());
  return std::span(schedule.uses).last(copied.size());
}
inline std::span<Use> own_uses(Schedule& schedule, Task& task) {
  return own_uses(schedule, task, task);
}

}  // namespace overlap::schedule
