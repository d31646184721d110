#pragma once

#include "model/device.hpp"
#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

namespace overlap::model {

/// What the schedule does on the device: a discrete-event simulation of the issuing host thread,
/// the queues and the engines. The rules of the queues are those of Rennich's slides (seed 004) and
/// of NVIDIA's articles on overlap (seeds 000 and 002): an operation leaves its queue when what
/// precedes it in its lane is complete and what precedes it in its queue was dispatched, and when
/// the engine has room; until then it blocks all that is behind it.
/// Time n log n, memory linear in tasks. Throws base::Error{usage} when the device has no rate for
/// the schedule's kernels.
timeline::Timeline predict(const schedule::Schedule& schedule, const Device& device);

/// Seconds that one task takes alone on the device.
double seconds_alone(const schedule::Schedule& schedule, const schedule::Task& task,
                     const Device& device);

}  // namespace overlap::model
