#pragma once

#include <functional>

#include "base/interrupt.hpp"
#include "model/device.hpp"
#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

namespace overlap::model {

/// Predicts the timeline of a schedule by discrete-event simulation of the issuing host thread, the
/// queues and the engines. The queue rules are those of seeds 000, 002 and 004: an operation leaves
/// its queue when its predecessor in the lane is complete, its predecessor in the queue has been
/// dispatched, and the engine has room; until then it blocks all operations behind it. Time O(n log
/// n), memory O(n) in tasks. Throws base::Error{usage} if the device has no rate for the kernels of
/// the schedule, and what `step` throws, which is called before each event.
timeline::Timeline predict(const schedule::Schedule& schedule, const Device& device,
                           const std::function<void()>& step = base::check_interrupt);

/// A schedule as the device sees it. Tiles of the host take their time at its rate, which must be
/// known. A disturbing call that drains lanes becomes a task of one more lane, the default stream:
/// it waits for all earlier tasks, and all later ones wait for it. Any other call holds only the
/// host, for its cost.
schedule::Schedule with_effects(schedule::Schedule schedule, const Device& device);

/// Time of one task without concurrent tasks, seconds. Throws as predict().
double seconds_alone(const schedule::Schedule& schedule, const schedule::Task& task,
                     const Device& device);

}  // namespace overlap::model
