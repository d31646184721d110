#pragma once

#include "schedule/schedule.hpp"

/// Schedules with more tasks than their order issues.
namespace overlap::schedule {

/// The schedule with the calls between its tasks, on the lane of the task that they stand before.
Schedule disturbed(const Schedule& schedule, const deck::Disturb& disturb);

/// The schedule with work of the host between its tasks, `per_chunk_s` for each of `pieces` pieces
/// that its chunks have in equal parts: in the baseline while each chunk's last kernel runs, before
/// its copies back; in all others after the last task was issued.
Schedule with_host_work(const Schedule& schedule, double per_chunk_s, std::int64_t pieces);

}  // namespace overlap::schedule
