#pragma once

#include "workload/workload.hpp"

/// What gives a workload that has its buffers its functions, for make(); one per kind.
namespace overlap::workload {

void set_up_increment(Workload& workload, const deck::Workload& deck);
void set_up_rowsum(Workload& workload, const deck::Workload& deck);
void set_up_pipeline(Workload& workload, const deck::Workload& deck);
void set_up_dgemm(Workload& workload, const deck::Workload& deck);
void set_up_custom(Workload& workload, const deck::Workload& deck);

}  // namespace overlap::workload
