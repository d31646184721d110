#pragma once

#include "schedule/schedule.hpp"

namespace overlap::schedule {

/// The schedule with the calls between its tasks, on the lane of the task that they stand before.
Schedule disturbed(const Schedule& schedule, const deck::Disturb& disturb);

}  // namespace overlap::schedule
