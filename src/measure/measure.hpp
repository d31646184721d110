#pragma once

#include <vector>

#include "measure/executor.hpp"
#include "measure/hooks.hpp"

namespace overlap::measure {

/// What verifying cost, outside the timed region.
struct Checking {
  double reference_s = 0;  ///< computing the reference and comparing, all runs together
  int runs = 0;
};

/// New input data on the host; no right result anywhere: device arrays (but for what a run finds
/// there) and host outputs are poisoned. Pages that the processor has just written lie in its
/// caches, and the first transfer over them is slower (on an H200's host up to 4 times at 16 MiB):
/// one untimed transfer of every byte, in the direction in which the run will move it, brings back
/// the state of data at rest.
void reset(const workload::InstanceRef& instance, const workload::Workload& workload,
           std::uint32_t repetition);

/// Page-locks the workload's host arrays for as long as it lives. Throws what page_lock() of memory
/// throws.
void page_lock(workload::Workload& workload);

/// Throws base::Error{runtime_error} when host memory is not of the kind that the schedule's times
/// are to be about, as far as the back end knows: data and order would still be right.
void require_host_kind(const schedule::Schedule& schedule, const workload::Workload& workload);

/// The one measurement loop: the schedules take turns, so that drift of the machine meets all of
/// them; each run is warm-up or a sample, and verified on data of its own as the deck asks. A
/// schedule whose data were wrong keeps the first wrong element. Throws base::Error{interrupted}
/// after Ctrl-C, and what require_host_kind() throws.
Checking measure(Executor& executor, std::vector<experiment::Run>& runs,
                 const workload::Workload& workload, const deck::Measure& plan,
                 const Hooks& hooks = {});

}  // namespace overlap::measure
