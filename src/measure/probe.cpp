#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "lanes/api.hpp"
#include "measure/bench.hpp"
#include "measure/calibration.hpp"
#include "measure/health.hpp"
#include "measure/measure.hpp"
#include "measure/session.hpp"

namespace overlap::measure {
namespace {

using experiment::Draft;
using experiment::Facts;

/// The device arrays of all orders, bytes each.
std::vector<std::size_t> device_bytes(const Draft& draft) {
  const auto& layout = draft.layout;
  const std::int64_t units =
      layout.out_of_core ? layout.slots * layout.largest_chunk_units : draft.costs.units;
  return schedule::device_bytes(draft.costs, layout, units);
}

/// The chunks of the deck in one lane, whatever orders and lanes it lists; copied, also with zero
/// copy.
schedule::Schedule chunked(const Draft& draft) {
  schedule::Layout layout = draft.layout;
  layout.transfer = deck::copying_transfer(layout.host_memory);
  return schedule::build(draft.costs, layout, deck::Order::depth_first, 1);
}

/// Throws base::Error{precondition} if the machine does not meet `require`, base::Error{skipped} in
/// a build without a GPU back end.
void require_machine(const deck::Require& require, Session& session, const Hooks& hooks) {
  if (require == deck::Require()) return;
  if (!on_gpu()) {
    throw workload::no_gpu(
        fmt::format("{} needs a GPU", fmt::join(experiment::required(require), ", ")));
  }
  hooks.show("checking what the deck requires");
  const auto unmet = experiment::unmet(require, readings(session));
  if (unmet.empty()) return;
  throw base::Error(base::ExitCode::precondition, fmt::format("{}", fmt::join(unmet, "; ")));
}

/// Determines the facts of one deck step by step: each step may need the previous ones.
struct Probe {
  const deck::Deck& deck;
  Session& session;
  const Hooks& hooks;
  Bench& bench = *session.bench;
  workload::Workload& workload = bench.workload;
  Facts facts = experiment::facts_of(deck);
  Draft draft = {};

  Facts run() {
    if (Kokkos::Tools::profileLibraryLoaded()) {
      note("warning", "a Kokkos tool is loaded and may fence every kernel");
    }
    // On host back ends host memory is the limit.
    facts.free_bytes = on_gpu() ? session.device.array_bytes() : std::nullopt;
    draft = experiment::draft(deck, facts);
    if (schedule::has_timed_copies(deck.workload)) find_copies();
    allocate();
    if (!on_gpu() && !bench.executor->lanes().trace(false).empty()) {
      note("workers",
           fmt::format("one per lane, for up to {} on {}", base::counted(draft.lanes, "lane"),
                       base::counted(cores(), "core")));
    }
    if (deck.workload.kind == deck::WorkloadKind::custom) find_steps();
    if (deck.host_work) calibrate_host_steps(workload);
    if (deck.workload.intensity.balance > 0) find_balance();
    return std::move(facts);
  }

  static int cores() { return lanes::max_concurrent_lanes(); }
  void note(const std::string& name, const std::string& text) {
    facts.notes.emplace_back(name, text);
  }

  /// Sizes copies given by their duration, by the times of such copies on the lanes of the deck.
  void find_copies() {
    const std::int64_t most_bytes = on_gpu() ? 64 << 20 : 16 << 20;
    deck::Deck plain = plain_deck(most_bytes);
    const bool pageable = deck.memory.host == deck::HostMemory::pageable;
    if (pageable) plain.memory.host = deck::HostMemory::pageable;
    workload = resident_workload(plain);
    const Meter meter{bench.executor.emplace(draft.lanes), workload,
                      with_progress({.most_bytes = most_bytes}, hooks)};
    meter.wake();
    const auto curve = [&](Stage stage) {
      return pageable ? pageable_curve(meter, stage) : meter.curve(stage);
    };
    experiment::size_copies(facts, deck, curve(Stage::h2d), curve(Stage::d2h));
    draft = experiment::draft(deck, facts);
  }

  void allocate() {
    bench = Bench();  // what was measured with so far
    if (deck.memory.host == deck::HostMemory::managed &&
        !session.device.concurrent_managed_access.value_or(false)) {
      throw deck::error_at(deck, base::ExitCode::skipped, "memory.host",
                           "managed memory needs a device that uses it while the host does "
                           "(concurrentManagedAccess); this one cannot");
    }
    const auto arrays = device_bytes(draft);
    // On host back ends device arrays are in host memory, too.
    std::size_t host_bytes = on_gpu() ? 0 : std::reduce(arrays.begin(), arrays.end());
    for (const auto& array : draft.costs.arrays) host_bytes += array.host_bytes;
    require_host_memory(static_cast<std::int64_t>(host_bytes), hooks.ranks);
    hooks.call([] {});  // memory that one rank has taken must not count against the others
    if (on_gpu()) note("wake-up", "the device is busy for 0.1 s before the warm-up");
    workload = workload::make(deck, draft.costs, arrays, facts.repeats);
    if (!workload.kernel.empty()) note("kernel", workload.kernel);
    if (!workload.blas.empty()) note("BLAS", workload.blas);
    bench.executor.emplace(draft.lanes, deck::Issue(), deck.memory);
    if (deck.memory.host == deck::HostMemory::registered) {
      page_lock(workload, deck.memory.transfer == deck::Transfer::zero_copy);
    }
  }

  void find_steps() {
    calibrate_steps(*bench.executor, workload);
    note("busy", "a step of the busy loop takes " +
                     base::format_seconds(1 / static_cast<double>(workload.repeats)) +
                     " in a kernel, " + base::format_seconds(1 / workload.host_steps_per_s) +
                     " on the host");
  }

  void find_balance() {
    facts.balance =
        measure::find_balance(*bench.executor, chunked(draft), workload,
                              deck.workload.intensity.balance, with_progress({}, hooks).step);
    facts.repeats = workload.repeats;
    draft = experiment::draft(deck, facts);
  }
};

}  // namespace

experiment::Facts probe(const deck::Deck& deck, Session& session, const Hooks& hooks) {
  return session.use([&] {
    lanes::wait_for(workload::Space(), "probe");  // or freeing would abort
    session.bench.reset();                        // frees its memory before the next takes some
    session.bench = std::make_shared<Bench>();
    require_machine(deck.require, session, hooks);
    workload::require_available(deck);
    lanes::require_options(deck);
    return Probe{deck, session, hooks}.run();
  });
}

}  // namespace overlap::measure
