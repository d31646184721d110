#pragma once

#include <optional>
#include <vector>

#include "base/machine.hpp"
#include "measure/executor.hpp"
#include "model/bounds.hpp"

namespace overlap::measure {

/// Measures the schedule's stages alone and together, with its own tasks: on host back ends on the
/// lanes that runs have, elsewhere on two.
model::Rates rates_of(Executor& executor, const workload::Workload& workload,
                         const schedule::Schedule& schedule);

/// Gives every run the rates of its stages; runs whose chunks are alike share them. One whose
/// kernels move the data themselves has those of the first that copies, if there is one. What the
/// runs left in the arrays is lost.
void measure_rates(Executor& executor, const workload::Workload& workload,
                   std::vector<experiment::Run>& runs);

/// What executes tasks on this many lanes of the space.
timeline::Engines engines_of(const std::optional<base::DeviceInfo>& device, int lanes,
                         workload::SpaceId space = workload::default_space);

}  // namespace overlap::measure
