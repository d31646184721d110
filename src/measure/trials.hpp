#pragma once

#include <vector>

#include "measure/executor.hpp"

namespace overlap::measure {

/// Median times of schedules that take turns, after a warm-up each, on the data that are there.
/// Three rounds at least; more where they are short.
std::vector<double> try_out(Executor& executor, const std::vector<schedule::Schedule>& schedules,
                            const workload::Workload& workload);

/// Measures the copies and the kernel of the schedule's first chunk, alone on the device, and
/// finds and sets the workload's repeats with which the kernel takes `balance` times as long as the
/// copies to the device.
experiment::Balance find_balance(Executor& executor, const schedule::Schedule& schedule,
                               workload::Workload& workload, double balance);

}  // namespace overlap::measure
