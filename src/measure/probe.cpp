#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "lanes/api.hpp"
#include "measure/calibration.hpp"
#include "measure/health.hpp"
#include "measure/session.hpp"
#include "model/spread.hpp"

namespace overlap::measure {
namespace {

using experiment::Draft;
using experiment::Facts;

/// Units that device arrays must hold for all orders.
std::int64_t most_device_units(const Draft& draft) {
  const auto& layout = draft.layout;
  return layout.out_of_core ? layout.slots * layout.largest_chunk_units : draft.costs.units;
}

/// Kernel sizes to measure: the chunks of the deck, all that device arrays hold, which shows how
/// much of the device a chunk leaves free, sizes in between, and few units, for the start cost.
std::vector<std::int64_t> kernel_sizes(const schedule::Layout& layout, std::int64_t device_units) {
  const std::int64_t chunk = layout.largest_chunk_units;
  std::set<std::int64_t> sizes = {device_units, chunk, std::max<std::int64_t>(1, chunk / 4)};
  for (std::int64_t units = device_units; units > chunk; units /= 4) sizes.insert(units);
  return {sizes.begin(), sizes.end()};
}

/// The chunks of the deck in one lane, whatever orders and lanes it lists; copied, also with zero
/// copy.
schedule::Schedule chunked(const Draft& draft) {
  schedule::Layout layout = draft.layout;
  layout.transfer = deck::copying_transfer(layout.host_memory);
  return schedule::build(draft.costs, layout, deck::Order::depth_first, 1);
}

/// The plan with progress display.
CalibrationPlan with_progress(CalibrationPlan plan, const Hooks& hooks,
                              const std::string& pass = "") {
  plan.step = [&hooks, text = "measuring the device" + pass] {
    base::check_interrupt();
    hooks.show(text);
  };
  return plan;
}

/// The device from several passes.
model::Device in_passes(const CalibrationPlan& plan, const Hooks& hooks,
                        const std::function<model::Device(const CalibrationPlan&)>& pass) {
  constexpr int passes = 3;
  std::vector<model::Device> devices;
  for (int number = 1; number <= passes; ++number) {
    devices.push_back(
        pass(with_progress(plan, hooks, fmt::format(", pass {} of {}", number, passes))));
  }
  return model::combine(devices);
}

/// Throws base::Error{precondition} if the machine does not meet `require`, base::Error{skipped} in
/// a build without a GPU back end.
void require_machine(const deck::Require& require, const Session& session, const Hooks& hooks) {
  if (require == deck::Require()) return;
  if (!on_gpu()) {
    throw workload::no_gpu(
        workload::default_space,
        fmt::format("{} needs a GPU", fmt::join(experiment::required(require), ", ")));
  }
  hooks.show("checking what the deck requires");
  const auto unmet = experiment::unmet(require, readings(session.device, session.monitor));
  if (unmet.empty()) return;
  throw base::Error(base::ExitCode::precondition, fmt::format("{}", fmt::join(unmet, "; ")));
}

/// Determines the facts of one deck step by step: each step may need the previous ones.
struct Probe {
  const deck::Deck& deck;
  const model::Device* model;  ///< null: predict for the current device
  Session& session;
  Bench& bench;
  const Hooks& hooks;
  workload::Workload& workload = bench.workload;
  Facts facts = experiment::facts_of(deck);
  Draft draft = {};
  std::int64_t device_units = 0;

  Facts run() {
    find_device();
    allocate();
    if (!on_gpu() && !bench.executor->lanes().trace(false).empty()) {
      note("workers",
           fmt::format("one per lane, for up to {} on {}", base::counted(draft.lanes, "lane"),
                       base::counted(cores(), "core")));
    }
    if (custom()) find_steps();
    if (deck.host_work) calibrate_host_steps(workload);
    if (deck.workload.intensity.balance > 0) find_balance();
    workload.generate(0);
    if (draft.costs.tiling) {
      if (model == nullptr) find_product_rates();
    } else if (model == nullptr && !custom()) {
      find_kernel_rate();
    }
    return std::move(facts);
  }

  static int cores() { return lanes::max_concurrent_lanes(workload::default_space); }
  bool custom() const { return deck.workload.kind == deck::WorkloadKind::custom; }
  model::Device& device() { return *facts.device; }
  void note(const std::string& name, const std::string& text) {
    facts.notes.emplace_back(name, text);
  }

  /// Sets the device of the model; sizes copies given by their duration for the current device.
  void find_device() {
    if (Kokkos::Tools::profileLibraryLoaded()) {
      note("warning", "a Kokkos tool is loaded and may fence every kernel");
    }
    note("model", model == nullptr
                      ? "device measured first, briefly (--device DEVICE replaces that)"
                      : "device file " + model->path);
    if (model == nullptr || schedule::has_timed_copies(deck.workload)) {
      facts.device = calibrated_device();
      size_copies(facts, deck, device());
    }
    if (model != nullptr) facts.device = *model;
    facts.is_current_device = model == nullptr || model->title == title_of(session.device);
    if (facts.device && !facts.device->doubtful.empty()) {
      note(
          "doubtful",
          fmt::format("{} of the model's figures{}", facts.device->doubtful.size(),
                      facts.device->path.empty() ? "" : ": see doubtful in " + facts.device->path));
    }
    // On host back ends host memory is the limit.
    facts.free_bytes = on_gpu() ? session.device.array_bytes() : std::nullopt;
    draft = experiment::draft(deck, facts);
  }

  static std::int64_t most_brief_bytes() { return on_gpu() ? 64 << 20 : 16 << 20; }

  /// A brief calibration for predictions, measured once in about a second.
  const model::Device& calibrated_device() {
    const bool pageable = deck.memory.host == deck::HostMemory::pageable;
    std::optional<model::Device>& calibrated = session.calibrated;
    if (!calibrated || (pageable && calibrated->h2d.pageable.points().empty())) {
      calibrated = in_passes(
          {.most_bytes = most_brief_bytes(), .repetitions = 3, .pageable = pageable}, hooks,
          [&](const CalibrationPlan& plan) { return calibrate(session.device, plan); });
    }
    return *calibrated;
  }

  void allocate() {
    if (deck.memory.host == deck::HostMemory::managed &&
        !session.device.concurrent_managed_access.value_or(false)) {
      throw deck::error_at(deck, base::ExitCode::skipped, "memory.host",
                           "managed memory needs a device that uses it while the host does "
                           "(concurrentManagedAccess); this one cannot");
    }
    device_units = most_device_units(draft);
    const auto device_bytes = schedule::device_bytes(draft.costs, draft.layout, device_units);
    // On host back ends device arrays are in host memory, too.
    std::size_t host_bytes = on_gpu() ? 0 : std::reduce(device_bytes.begin(), device_bytes.end());
    for (const auto& array : draft.costs.arrays) host_bytes += array.host_bytes;
    require_host_memory(static_cast<std::int64_t>(host_bytes), hooks.ranks);
    hooks.call([] {});  // memory that one rank has taken must not count against the others
    if (on_gpu()) note("wake-up", "the device is busy for 0.1 s before the warm-up");
    if (model == nullptr && !custom() && on_gpu() && deck::page_locked(deck.memory.host)) {
      calibrate_lines(line_sizes(chunked(draft)), with_progress({}, hooks), device());
    }
    workload =
        workload::make(workload::default_space, deck, draft.costs, device_bytes, facts.repeats);
    if (!workload.kernel.empty()) note("kernel", workload.kernel);
    if (!workload.blas.empty()) note("BLAS", workload.blas);
    bench.executor.emplace(draft.lanes, deck::Issue(), deck.memory);
    if (deck.memory.host == deck::HostMemory::registered) {
      page_lock(workload, deck.memory.transfer == deck::Transfer::zero_copy);
    }
  }

  Meter meter(CalibrationPlan plan = {}) {
    return {*bench.executor, workload, with_progress(std::move(plan), hooks)};
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

  void find_product_rates() {
    // Kernels may also compute the tiles of the host.
    Facts all_on_device = facts;
    all_on_device.workload.host_share = 0;
    const experiment::Draft full = experiment::draft(deck, all_on_device);
    if (full.lanes > draft.lanes) bench.executor.emplace(full.lanes, deck::Issue(), deck.memory);
    const int cores_per_lane = device().cores_per_lane(draft.lanes);
    device().kernels[draft.costs.kernel] =
        calibrate_products(meter(), full.schedules, cores_per_lane);
  }

  void find_kernel_rate() {
    const int cores_per_lane = device().cores_per_lane(draft.lanes);
    device().kernels[draft.costs.kernel].roofs = {
        calibrate_kernel(meter({.longest_kernel_s = 50e-3}),
                         kernel_sizes(draft.layout, device_units), draft.costs, cores_per_lane)};
  }
};

}  // namespace

model::Device calibrate(Session& session, const Hooks& hooks) {
  constexpr std::size_t kib = 1 << 10;
  return session.use([&] {
    const CalibrationPlan full_plan = {
        .most_bytes = on_gpu() ? 256 << 20 : 64 << 20, .repetitions = 3, .pageable = true};
    return in_passes(full_plan, hooks, [&](const CalibrationPlan& plan) {
      model::Device device = calibrate(session.device, plan);
      calibrate_kernels(plan, device);
      if (on_gpu()) {
        calibrate_lines(
            {4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib, 1024 * kib},
            plan, device);
      }
      return device;
    });
  });
}

experiment::Facts probe(const deck::Deck& deck, const model::Device* model, Session& session,
                        Bench& bench, const Hooks& hooks) {
  return session.use([&] {
    lanes::require_not_lost(workload::default_space, "probe");  // or freeing would abort
    bench = Bench();
    require_machine(deck.require, session, hooks);
    workload::require_available(deck);
    lanes::require_options(workload::default_space, deck);
    return Probe{deck, model, session, bench, hooks}.run();
  });
}

}  // namespace overlap::measure
