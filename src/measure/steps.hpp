#pragma once

#include <functional>

#include "measure/executor.hpp"

/// What the durations in a custom workload come to on this machine, measured before it runs.
namespace overlap::measure {

/// The time of one more step, from `time(steps)`.
double seconds_per_step(const std::function<double(std::int64_t steps)>& time);

/// Sets the workload's steps per second, of kernels that fill the device and of the issuing thread.
void calibrate_steps(Executor& executor, workload::Workload& workload);

}  // namespace overlap::measure
