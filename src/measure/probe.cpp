#include <algorithm>
#include <set>

#include "base/units.hpp"
#include "deck/words.hpp"
#include "measure/calibration.hpp"
#include "measure/measure.hpp"
#include "measure/session_parts.hpp"
#include "model/predict.hpp"
#include "workload/workload.hpp"

namespace overlap::measure {
namespace {

using experiment::Draft;
using experiment::Facts;

/// Host memory that the deck's arrays take; on host back ends the device's arrays, too.
std::int64_t host_bytes(const schedule::Costs& costs,
                        const std::vector<std::size_t>& device_bytes) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < costs.arrays.size(); ++i) {
    bytes += schedule::host_bytes(costs.arrays[i]);
    if (!on_gpu()) bytes += device_bytes[i];
  }
  return static_cast<std::int64_t>(bytes);
}

/// Units that the device arrays must hold for every order; `auto` may want all that fit.
std::int64_t most_device_units(const deck::Deck& deck, const Draft& draft) {
  const auto& [costs, layout, schedules, lanes] = draft;
  if (!layout.out_of_core) return costs.units;
  if (!deck.issue.has(deck::Order::automatic)) return layout.slots * layout.slot_units;
  std::int64_t unit_bytes = 0;
  for (const schedule::Array& array : costs.arrays) {
    unit_bytes += static_cast<std::int64_t>(array.unit_bytes);
  }
  return std::min(costs.units, layout.device_limit / unit_bytes);
}

/// Sizes of kernels whose times the model should know: those of the deck's chunks, of the whole
/// data and, to see what a start costs, of few units; for `auto` everything between, too.
std::vector<std::int64_t> kernel_sizes(const deck::Deck& deck, const schedule::Layout& layout,
                                       std::int64_t device_units) {
  std::set<std::int64_t> sizes = {layout.slot_units};
  if (deck.issue.has(deck::Order::automatic)) {
    for (std::int64_t units = device_units; units > 1024; units /= 4) sizes.insert(units);
  }
  if (deck.chunks.profile == deck::Profile::ramp) {
    const std::int64_t smallest = layout.borders[1];
    for (std::int64_t units = layout.slot_units; units > smallest; units /= 4) sizes.insert(units);
    sizes.insert(smallest);
  }
  if (!layout.out_of_core) sizes.insert(device_units);
  sizes.insert(std::max<std::int64_t>(1, *sizes.begin() / 4));
  return {sizes.begin(), sizes.end()};
}

/// The deck's chunks one after the other, whatever its orders.
schedule::Schedule chunked(const deck::Deck& deck, const Draft& draft) {
  return schedule::build(draft.costs, draft.layout, deck::Order::depth_first, deck.issue.lanes);
}

/// Finds out one deck's facts, one after the other: each may need those before it.
class Probe {
 public:
  Probe(const deck::Deck& deck, const model::Device* model, Session::Parts& parts,
        const Hooks& hooks)
      : deck_(deck),
        model_(model),
        parts_(parts),
        hooks_(hooks),
        facts_(experiment::facts_of(deck)) {}

  Facts run() {
    find_device();
    allocate();
    if (custom()) find_steps();
    if (deck_.workload.intensity.balance > 0) find_balance();
    parts_.workload.generate(0);
    if (draft_.costs.tiling) {
      if (model_ == nullptr) find_product_rates();
      if (deck_.issue.has(deck::Order::four_way)) find_host_share();
    } else if (model_ == nullptr && !custom()) {
      find_kernel_rate();
    }
    if (deck_.issue.has(deck::Order::automatic)) find_automatic();
    return std::move(facts_);
  }

 private:
  bool custom() const { return deck_.workload.kind == deck::WorkloadKind::custom; }
  model::Device& device() { return *facts_.device; }
  void choose(const std::string& name, const std::string& words) {
    facts_.choices.emplace_back(name, words);
  }
  CalibrationPlan brief() const { return {.repetitions = 5, .step = base::check_interrupt}; }

  void find_device();
  void allocate();
  void find_steps();
  void find_balance();
  void find_product_rates();
  void find_kernel_rate();
  void find_host_share();
  void find_automatic();

  const deck::Deck& deck_;
  const model::Device* model_;
  Session::Parts& parts_;
  const Hooks& hooks_;
  Facts facts_;
  Draft draft_;
  std::int64_t device_units_ = 0;
};

/// The model's device, and copies by their duration as the present device makes them.
void Probe::find_device() {
  const bool pageable = deck_.memory.host == deck::HostMemory::pageable;
  choose("model", model_ == nullptr ? "device measured first, briefly (--device takes a file)"
                                    : "device of " + model_->path);
  if (model_ == nullptr || schedule::has_timed_copies(deck_.workload)) {
    const model::Device& present = present_device(parts_, pageable, hooks_);
    facts_.device = present;
    size_copies(facts_, deck_, present);
  }
  if (model_ != nullptr) facts_.device = *model_;
  facts_.free_bytes = parts_.runtime.free_device_bytes();
  draft_ = experiment::draft(deck_, facts_);
}

void Probe::allocate() {
  device_units_ = most_device_units(deck_, draft_);
  const auto device_bytes = schedule::device_bytes(draft_.costs, draft_.layout, device_units_);
  require_host_memory(host_bytes(draft_.costs, device_bytes));
  if (on_gpu()) choose("wake-up", "the device is busy for 0.1 s before the warm-up");
  if (parts_.runtime.tool_loaded()) {
    choose("warning", "a Kokkos tool is loaded and may fence every kernel");
  }
  if (model_ == nullptr && !custom() && on_gpu() && deck::page_locked(deck_.memory.host)) {
    calibrate_lines(line_sizes(chunked(deck_, draft_)), brief(), device());
  }
  workload::Workload& workload = parts_.workload;
  workload =
      workload::make(workload::default_space, deck_, draft_.costs, device_bytes, facts_.repeats);
  if (!workload.kernel.empty()) choose("kernel", workload.kernel);
  if (deck_.memory.host == deck::HostMemory::registered) page_lock(workload);
  parts_.executor.emplace(draft_.lanes, deck::Issue(), deck_.memory);
}

void Probe::find_steps() {
  workload::Workload& workload = parts_.workload;
  calibrate_steps(*parts_.executor, workload);
  choose("busy", "a step of a kernel takes " +
                     base::format_seconds(1 / static_cast<double>(workload.repeats)) +
                     ", of the host " + base::format_seconds(1 / workload.host_steps_per_s));
}

void Probe::find_balance() {
  facts_.balance = measure::find_balance(*parts_.executor, chunked(deck_, draft_), parts_.workload,
                                         deck_.workload.intensity.balance);
  facts_.repeats = parts_.workload.repeats;
  draft_ = experiment::draft(deck_, facts_);
}

void Probe::find_product_rates() {
  // Kernels may also compute the tiles that the host would.
  Facts all_on_device = facts_;
  all_on_device.host_share = experiment::HostShare();
  std::vector<schedule::Schedule> schedules;
  for (auto& schedule : experiment::draft(deck_, all_on_device).schedules) {
    schedules.push_back(*std::move(schedule));
  }
  device().kernels[draft_.costs.kernel] = calibrate_products(
      *parts_.executor, parts_.workload, schedules, device().cores_of_lane(draft_.lanes), brief());
}

void Probe::find_kernel_rate() {
  const schedule::Costs& costs = draft_.costs;
  const double flop_per_byte = costs.flops_per_unit / schedule::kernel_bytes_per_unit(costs);
  device().kernels[costs.kernel] = calibrate_kernel(
      *parts_.executor, parts_.workload, kernel_sizes(deck_, draft_.layout, device_units_),
      flop_per_byte, device().cores_of_lane(draft_.lanes), brief());
}

/// Measures how fast the host computes a product's tiles, and leaves as many to it as the model
/// says to be fastest, if the deck does not say how many.
void Probe::find_host_share() {
  schedule::Costs costs = draft_.costs;
  const auto build = [&](int tiles) {
    costs.host_tiles = tiles;
    return schedule::build(costs, draft_.layout, deck::Order::four_way, deck_.issue.lanes);
  };
  if (!deck_.workload.host_share && !on_gpu()) {
    choose("host share", "none: the device is the host itself");
    return;
  }
  const int given = costs.host_tiles;
  const auto tiles = static_cast<int>(costs.units);
  const schedule::Schedule one = build(1);
  costs.host_flops_per_s = host_flops_per_s(
      parts_.workload, *schedule::product(one, one.tasks.back(), schedule::Access::Side::host));
  const std::string rate = base::format_number(1e-9 * costs.host_flops_per_s) + " Gflop/s";
  const std::string of_all = " of " + std::to_string(tiles) + " tiles";
  facts_.host_share = experiment::HostShare{given, costs.host_flops_per_s};
  if (deck_.workload.host_share) {
    choose("host share", std::to_string(given) + of_all + ", as the deck says; " + rate);
    return;
  }
  const auto predicted = [&](int count) {
    base::check_interrupt();
    return model::predict(build(count), device()).complete_s;
  };
  const double none_s = predicted(0);
  const double tile_s = one.tasks.back().flops / costs.host_flops_per_s;
  int best = 0;
  double best_s = none_s;
  // What is gained must be worth what the host's work takes from the copies' memory.
  constexpr double worth = 0.98;
  const int step = 1 + tiles / 32;  // of very many tiles a few more or less do not matter
  for (int count = 1; count < tiles && count * tile_s < none_s; count += step) {
    const double seconds = predicted(count);
    if (seconds >= worth * none_s || seconds >= best_s) continue;
    best = count;
    best_s = seconds;
  }
  facts_.host_share->tiles = best;
  choose("host share", best > 0 ? std::to_string(best) + of_all +
                                      ", predicted to be fastest: the host computes " + rate
                                : "none" + of_all + ": the host, at " + rate + ", needs " +
                                      base::format_seconds(tile_s) + " for one, the device " +
                                      base::format_seconds(none_s) + " for all");
}

/// Tries the most promising candidates, unless predictions are for a device of the user's choice.
void Probe::find_automatic() {
  const auto candidates = experiment::candidates(deck_, facts_);
  if (model_ != nullptr) {
    facts_.automatic = candidates.front();
    choose("auto", experiment::why(candidates));
    return;
  }
  // As a deck may ask for them; disturbed twins are issued one by one, and so is what they are
  // compared with.
  const bool graphs = has_graphs() && deck::page_locked(deck_.memory.host) &&
                      deck_.issue.streams == deck::Streams::own && !deck_.disturb;
  const auto finalists = model::finalists(candidates, graphs);
  std::vector<schedule::Schedule> schedules;
  int lanes = 1;
  for (const model::Candidate& candidate : finalists) {
    schedules.push_back(model::build(deck_, draft_.costs, candidate, facts_.free_bytes));
    lanes = std::max(lanes, schedules.back().lanes);
  }
  parts_.executor.emplace(lanes, deck_.issue, deck_.memory);
  parts_.workload.generate(0);
  const auto times = try_out(*parts_.executor, schedules, parts_.workload);
  std::vector<experiment::Tried> tried;
  for (std::size_t i = 0; i < times.size(); ++i) tried.emplace_back(finalists[i], times[i]);
  std::stable_sort(tried.begin(), tried.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  facts_.automatic = tried.front().first;
  choose("auto", experiment::why(tried));
}

}  // namespace

experiment::Facts probe(const deck::Deck& deck, const model::Device* model, Session& session,
                        const Hooks& hooks) {
  return use(session.parts(), [&](Session::Parts& parts) {
    parts.meter.reset();
    parts.executor.reset();
    parts.host_worker.reset();
    parts.workload = {};
    return Probe(deck, model, parts, hooks).run();
  });
}

}  // namespace overlap::measure
