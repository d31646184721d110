#include "workload/custom.hpp"

#include "workload/make.hpp"

namespace overlap::workload {

template <>
void set_up<deck::WorkloadKind::custom>(const AnyWorkload& workload, const deck::Workload& deck) {
  to_each(workload, [&](auto& w) { set_up_custom(w, deck); });
}

}  // namespace overlap::workload
