#include "schedule/costs.hpp"

namespace overlap::schedule {

Costs costs(const deck::Workload& workload, std::int64_t repeats) {
  switch (workload.kind) {
#define OVERLAP_WORKLOAD(name, ...) \
  case deck::WorkloadKind::name:    \
    return name##_costs(workload, repeats);
#include "deck/workloads.def"
#undef OVERLAP_WORKLOAD
  }
  return {};
}

std::size_t size_of(deck::Type type) {
  return type == deck::Type::int32 || type == deck::Type::float32 ? 4 : 8;
}

}  // namespace overlap::schedule
