#pragma once

#include "workload/workload.hpp"

namespace overlap::workload {

/// Gives a workload that has its buffers its kernels, data and check. Each kind specializes this in
/// a file of its own.
template <deck::WorkloadKind>
void set_up(Workload& workload, const deck::Workload& deck);

}  // namespace overlap::workload
