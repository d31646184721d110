#pragma once

#include <vector>

#include "measure/executor.hpp"

namespace overlap::measure {

/// For every copy to the host, when the last kernel or copy to the device that it waits for
/// stopped.
std::vector<double> inputs_s(const schedule::Schedule& schedule,
                             const timeline::Timeline& timeline);

/// Copies to the host start no earlier than the one before them on their engine stops. Returns
/// whether that took little: the runs they are from may have had their chunks in different orders.
bool fit_copies(const schedule::Schedule& schedule, timeline::Timeline& timeline);

/// Traces a run. On a GPU a time stamp holds up the copies to the host alone (on an H200 by 6 us
/// each; kernels and copies to the device by nothing): where that slows the run down and turns
/// help, they take turns at it. A trace that fails leaves the run without one.
void trace_run(Executor& executor, experiment::Run& run, const workload::Workload& workload,
               deck::Verify verify, const timeline::Engines& engines);

}  // namespace overlap::measure
