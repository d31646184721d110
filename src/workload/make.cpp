#include "workload/make.hpp"

#include <array>
#include <utility>

#include "deck/words.hpp"
#include "workload/gemm.hpp"

namespace overlap::workload {
namespace {

/// Calls the kind's own function; one without a specialization does not link.
template <std::size_t... kinds>
void dispatch(const AnyWorkload& workload, const deck::Workload& deck,
            std::index_sequence<kinds...>) {
  constexpr std::array of = {&set_up<deck::words<deck::WorkloadKind>[kinds].value>...};
  of[static_cast<std::size_t>(deck.kind)](workload, deck);
}

}  // namespace

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
  constexpr std::size_t kinds = deck::words<deck::WorkloadKind>.size();
  dispatch(AnyWorkload(&workload), deck.workload, std::make_index_sequence<kinds>());
  return workload;
}

#define OVERLAP_SPACE(space)                                                      \
  template Workload<space> make<space>(const deck::Deck&, const schedule::Costs&, \
                                       const std::vector<std::size_t>&, std::int64_t);
#include "workload/spaces.def"
#undef OVERLAP_SPACE

}  // namespace overlap::workload
