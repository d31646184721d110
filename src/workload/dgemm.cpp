#include "workload/dgemm.hpp"

#include "workload/make.hpp"

namespace overlap::workload {

template <>
void set_up<deck::WorkloadKind::dgemm>(const AnyWorkload& workload, const deck::Workload& deck) {
  to_each(workload, [&](auto& w) { set_up_dgemm(w, deck); });
}

}  // namespace overlap::workload
