#include "workload/make.hpp"

#include "deck/words.hpp"
#include "workload/custom.hpp"
#include "workload/dgemm.hpp"
#include "workload/increment.hpp"
#include "workload/pipeline.hpp"
#include "workload/rowsum.hpp"

namespace overlap::workload {

std::optional<std::string> unavailable(deck::WorkloadKind kind) {
  if (kind != deck::WorkloadKind::dgemm || why_no_gemm() == nullptr) return std::nullopt;
  return why_no_gemm();
}

template <class Space>
Workload<Space> make(const deck::Deck& deck, const schedule::Costs& costs,
                     const std::vector<std::size_t>& device_bytes, std::int64_t repeats) {
  if (const auto why = unavailable(deck.workload.kind)) {
    throw deck::error_at(
        deck, base::ExitCode::skipped, "workload.kind",
        std::string(deck::to_string(deck.workload.kind)) + " cannot run in this program: " + *why);
  }
  Workload<Space> workload = allocate<Space>(costs, device_bytes, deck.memory.host);
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

#define OVERLAP_SPACE(space)                                                      \
  template Workload<space> make<space>(const deck::Deck&, const schedule::Costs&, \
                                       const std::vector<std::size_t>&, std::int64_t);
#include "workload/spaces.def"
#undef OVERLAP_SPACE

}  // namespace overlap::workload
