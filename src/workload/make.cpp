#include "workload/make.hpp"

#include "workload/custom.hpp"
#include "workload/increment.hpp"
#include "workload/pipeline.hpp"
#include "workload/rowsum.hpp"

namespace overlap::workload {

template <class Space>
Workload<Space> make(const deck::Deck& deck, const schedule::Costs& costs,
                     std::int64_t device_units, std::int64_t repeats) {
  Workload<Space> workload = allocate<Space>(costs, device_units, deck.memory.host);
  workload.repeats = repeats;
  switch (deck.workload.kind) {
#define OVERLAP_WORKLOAD(name, ...)         \
  case deck::WorkloadKind::name:            \
    set_up_##name(workload, deck.workload); \
    break;
#include "deck/workloads.def"
#undef OVERLAP_WORKLOAD
  }
  return workload;
}

#define OVERLAP_SPACE(space)                                                                    \
  template Workload<space> make<space>(const deck::Deck&, const schedule::Costs&, std::int64_t, \
                                       std::int64_t);
#include "workload/spaces.def"
#undef OVERLAP_SPACE

}  // namespace overlap::workload
