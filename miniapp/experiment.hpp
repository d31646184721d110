#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "measure/calibration.hpp"
#include "measure/host_worker.hpp"
#include "measure/measure.hpp"
#include "measure/platform.hpp"
#include "model/bounds.hpp"
#include "model/predict.hpp"
#include "predict.hpp"
#include "report/console.hpp"
#include "report/progress.hpp"
#include "report/result.hpp"
#include "schedule/build.hpp"
#include "verdict/verdict.hpp"
#include "workload/workload.hpp"

namespace overlap {

/// Host memory that the deck's arrays take; on host back ends the device's arrays, too.
inline std::int64_t host_bytes(const schedule::Costs& costs,
                               const std::vector<std::size_t>& device_bytes) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < costs.arrays.size(); ++i) {
    bytes += schedule::host_bytes(costs.arrays[i], costs.units * costs.iterations);
    if (!measure::on_gpu()) bytes += device_bytes[i];
  }
  return static_cast<std::int64_t>(bytes);
}

/// What a deck needs on the device. When the device is lost, nothing of it can be freed any more:
/// its owner must outlive the handling of that error.
struct Bench {
  std::optional<measure::HostWorker> host_worker;
  std::optional<measure::Executor> executor;
  std::optional<measure::Executor> meter;
  workload::Workload workload;
};

/// Units that the device arrays must hold for every order; `auto` may want all that fit.
inline std::int64_t most_device_units(const deck::Deck& deck, const schedule::Costs& costs,
                                      const schedule::Layout& layout) {
  if (!layout.out_of_core) return costs.units;
  const auto& orders = deck.issue.orders;
  if (std::find(orders.begin(), orders.end(), deck::Order::automatic) == orders.end()) {
    return layout.slots * layout.slot_units;
  }
  std::int64_t unit_bytes = 0;
  for (const schedule::Array& array : costs.arrays) {
    unit_bytes += static_cast<std::int64_t>(array.unit_bytes);
  }
  return std::min(costs.units, layout.device_limit / unit_bytes);
}

/// Sizes of kernels whose times the model should know: those of the deck's chunks, of the whole
/// data and, to see what a start costs, of few units; for `auto` everything between, too.
inline std::vector<std::int64_t> kernel_sizes(const deck::Deck& deck,
                                              const schedule::Layout& layout,
                                              std::int64_t device_units) {
  const auto& orders = deck.issue.orders;
  std::set<std::int64_t> sizes = {layout.slot_units};
  if (std::find(orders.begin(), orders.end(), deck::Order::automatic) != orders.end()) {
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

/// Measures the present device, as far as the plan says, and shows how far it is.
inline model::Device calibrate_device(const measure::Runtime& runtime,
                                      measure::CalibrationPlan plan, bool thorough) {
  report::ProgressLine line;
  plan.step = [&] {
    base::check_interrupt();
    line.update("measuring the device");
  };
  model::Device device = measure::calibrate(measure::on_gpu() ? &runtime.device() : nullptr, plan);
  if (thorough) {
    measure::calibrate_kernels(plan, device);
    if (measure::on_gpu()) {
      constexpr std::size_t kib = 1 << 10;
      measure::calibrate_lines(
          {4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib, 1024 * kib}, plan,
          device);
    }
  }
  return device;
}

/// The number in an environment variable; empty without one.
inline std::optional<int> environment_number(const char* name) {
  const char* const text = std::getenv(name);
  int number = 0;
  if (text == nullptr ||
      std::from_chars(text, text + std::strlen(text), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

/// What surrounds the runs; to be asked right after them, while the device is awake.
inline verdict::Environment environment(const measure::Runtime& runtime,
                                        const model::Hardware& hardware) {
  verdict::Environment found = {
      .gpu = measure::on_gpu(),
      .hardware = hardware,
      .launch_blocking = environment_number("CUDA_LAUNCH_BLOCKING") == 1,
      .max_connections = environment_number("CUDA_DEVICE_MAX_CONNECTIONS"),
      .tool_loaded = runtime.tool_loaded()};
  const base::DeviceInfo device = runtime.device_now();
  found.pcie_gen = device.pcie_gen;
  found.pcie_gen_max = device.pcie_gen_max;
  found.pcie_width = device.pcie_width;
  found.pcie_width_max = device.pcie_width_max;
  return found;
}

/// Runs the most promising candidates for `auto`; fastest first.
inline std::vector<report::Tried> try_candidates(const deck::Deck& deck,
                                                 const schedule::Costs& costs,
                                                 std::optional<std::int64_t> device_free_bytes,
                                                 const std::vector<model::Candidate>& candidates,
                                                 Bench& bench) {
  // As a deck may ask for them; disturbed twins are issued one by one, and so is what they are
  // compared with.
  const bool graphs = measure::has_graphs() && deck::page_locked(deck.memory.host) &&
                      deck.issue.streams == deck::Streams::own && !deck.disturb;
  const auto finalists = model::finalists(candidates, graphs);
  std::vector<schedule::Schedule> schedules;
  int lanes = 1;
  for (const model::Candidate& candidate : finalists) {
    schedules.push_back(model::build(deck, costs, candidate, device_free_bytes));
    lanes = std::max(lanes, schedules.back().lanes);
  }
  bench.executor.emplace(lanes, deck.issue, deck.memory);
  bench.workload.generate(0);
  const auto times = measure::try_out(*bench.executor, schedules, bench.workload);
  std::vector<report::Tried> tried;
  for (std::size_t i = 0; i < times.size(); ++i) tried.emplace_back(finalists[i], times[i]);
  std::stable_sort(tried.begin(), tried.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  return tried;
}

/// Measures the present device as far as predictions beside runs need it, in about a second.
inline model::Device measure_device(const measure::Runtime& runtime, bool pageable) {
  return calibrate_device(runtime,
                          {.most_bytes = measure::on_gpu() ? 64 << 20 : 16 << 20,
                           .repetitions = 5,
                           .pageable = pageable},
                          false);
}

/// Whether running a deck takes times of the present device, beside those of its own kernel.
inline bool needs_present_device(const deck::Deck& deck, const model::Device* device) {
  return device == nullptr || schedule::has_timed_copies(deck.workload);
}

/// Measures how fast the host computes a product's tiles, and leaves as many to it as the model
/// says to be fastest, if the deck does not say how many.
inline void share_product(const deck::Deck& deck, const schedule::Layout& layout,
                          const model::Device& device, Bench& bench, schedule::Costs& costs,
                          report::Choices& choices) {
  using deck::Order;
  const auto build = [&](int tiles) {
    costs.host_tiles = tiles;
    return schedule::build(costs, layout, Order::four_way, deck.issue.lanes);
  };
  const int wanted = costs.host_tiles;
  if (!deck.workload.host_share && !measure::on_gpu()) {
    choices.emplace_back("host share", "none: the device is the host itself");
    return;
  }
  const auto tiles = static_cast<int>(costs.units);
  const schedule::Schedule one = build(1);
  costs.host_flops_per_s = measure::host_flops_per_s(
      bench.workload, *schedule::product(one, one.tasks.back(), schedule::Access::Side::host));
  const std::string rate = base::format_number(1e-9 * costs.host_flops_per_s) + " Gflop/s";
  const std::string of_all = " of " + std::to_string(tiles) + " tiles";
  if (deck.workload.host_share) {
    costs.host_tiles = wanted;
    choices.emplace_back("host share",
                         std::to_string(wanted) + of_all + ", as the deck says; " + rate);
    return;
  }
  const auto predicted = [&](int count) {
    base::check_interrupt();
    return model::predict(build(count), device).complete_s;
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
  costs.host_tiles = best;
  choices.emplace_back(
      "host share",
      best > 0
          ? std::to_string(best) + of_all + ", predicted to be fastest: the host computes " + rate
          : "none" + of_all + ": the host, at " + rate + ", needs " + base::format_seconds(tile_s) +
                " for one, the device " + base::format_seconds(none_s) + " for all");
}

/// How a deck is run.
struct Conduct {
  const model::Device* device = nullptr;   ///< the model's; null: the present one
  const model::Device* present = nullptr;  ///< by measure_device(); null: measured first
  bool heading = true;                     ///< printed before anything is measured
  bool traced = true;
  report::ProgressLine* line = nullptr;  ///< null: one of its own
};

/// What a result knows before anything ran.
inline report::Result new_result(const deck::Deck& deck, const measure::Runtime& runtime) {
  report::Result result;
  result.deck = deck;
  result.build = measure::build_info();
  result.host = measure::host_info();
  if (measure::on_gpu()) result.device = runtime.device();
  return result;
}

/// Runs one deck: build, allocate, balance, predict, measure, judge.
inline report::Result run_deck(const deck::Deck& deck, const measure::Runtime& runtime,
                               const Conduct& conduct, Bench& bench) {
  report::Result result = new_result(deck, runtime);
  const model::Device* const device = conduct.device;

  const bool custom = deck.workload.kind == deck::WorkloadKind::custom;
  const bool measured = device == nullptr;
  model::Device own;
  if (conduct.present != nullptr) {
    own = *conduct.present;
  } else if (needs_present_device(deck, device)) {
    own = measure_device(runtime, deck.memory.host == deck::HostMemory::pageable);
  }
  result.choices.emplace_back("model",
                              measured ? "device measured first, briefly (--device takes a file)"
                                       : "device of " + device->path);

  const std::int64_t wanted_repeats = deck.workload.intensity.repeats;
  schedule::Costs costs = device_costs(deck, wanted_repeats, own, result.choices);
  if (!measured) own = *device;
  const auto free_bytes = runtime.free_device_bytes();
  result.layout = schedule::layout(deck, costs, free_bytes);
  const std::int64_t device_units = most_device_units(deck, costs, result.layout);
  const auto device_bytes = schedule::device_bytes(costs, result.layout, device_units);
  measure::require_host_memory(host_bytes(costs, device_bytes));

  if (measure::on_gpu()) {
    result.choices.emplace_back("wake-up", "the device is busy for 0.1 s before the warm-up");
  }
  if (runtime.tool_loaded()) {
    result.choices.emplace_back("warning", "a Kokkos tool is loaded and may fence every kernel");
  }

  if (measured && !custom && measure::on_gpu() && deck::page_locked(deck.memory.host)) {
    const auto chunked =
        schedule::build(costs, result.layout, deck::Order::depth_first, deck.issue.lanes);
    measure::calibrate_lines(measure::line_sizes(chunked),
                             {.repetitions = 5, .step = base::check_interrupt}, own);
  }

  workload::Workload& workload = bench.workload;
  workload = workload::make(workload::default_space, deck, costs, device_bytes, wanted_repeats);
  if (!workload.kernel.empty()) result.choices.emplace_back("kernel", workload.kernel);
  if (deck.memory.host == deck::HostMemory::registered) measure::page_lock(workload);
  const int lanes = lanes_of(deck, costs, result.layout);
  bench.executor.emplace(lanes, deck::Issue(), deck.memory);
  if (custom) {
    measure::calibrate_steps(*bench.executor, workload);
    const double kernel_step_s = 1 / static_cast<double>(workload.repeats);
    result.choices.emplace_back("busy", "a step of a kernel takes " +
                                            base::format_seconds(kernel_step_s) + ", of the host " +
                                            base::format_seconds(1 / workload.host_steps_per_s));
  }
  if (deck.workload.intensity.balance > 0) {
    const auto chunked =
        schedule::build(costs, result.layout, deck::Order::depth_first, deck.issue.lanes);
    result.balance =
        measure::find_balance(*bench.executor, chunked, workload, deck.workload.intensity.balance);
    costs = schedule::costs(deck.workload, workload.repeats);
  }
  if (costs.tiling) {
    workload.generate(0);
    const auto& orders = deck.issue.orders;
    if (measured) {
      // The host's tiles may be kernels' all the same.
      schedule::Costs on_device = costs;
      on_device.host_tiles = 0;
      std::vector<schedule::Schedule> schedules;
      for (const deck::Order order : orders) {
        schedules.push_back(schedule::build(on_device, result.layout, order, deck.issue.lanes));
      }
      own.kernels[costs.kernel] = measure::calibrate_products(
          *bench.executor, workload, schedules, own.cores_of_lane(lanes),
          {.repetitions = 5, .step = base::check_interrupt});
    }
    if (std::find(orders.begin(), orders.end(), deck::Order::four_way) != orders.end()) {
      share_product(deck, result.layout, own, bench, costs, result.choices);
    }
  } else if (measured && !custom) {
    workload.generate(0);
    const double flop_per_byte = costs.flops_per_unit / schedule::kernel_bytes_per_unit(costs);
    own.kernels[costs.kernel] = measure::calibrate_kernel(
        *bench.executor, workload, kernel_sizes(deck, result.layout, device_units), flop_per_byte,
        own.cores_of_lane(lanes), {.repetitions = 5, .step = base::check_interrupt});
  }
  const auto choose = [&](const std::vector<model::Candidate>& candidates,
                          report::Choices& choices) {
    if (!measured) return choose_predicted(candidates, choices);  // a device of the user's choice
    auto tried = try_candidates(deck, costs, free_bytes, candidates, bench);
    choices.emplace_back("auto", report::why(tried));
    return tried.front().first;
  };
  result.runs = build_runs(deck, costs, result.layout, free_bytes, &own, result.choices, choose);
  const std::int64_t pieces = pieces_of_host_work(result.layout, costs);
  if (deck.host_work) add_host_work(result.runs, *deck.host_work, pieces);
  predict_runs(result.runs, own);
  if (deck.disturb) add_disturbed(result.runs, *deck.disturb);
  if (conduct.heading) std::cout << report::heading(result) << std::flush;

  const int wanted_lanes = result.runs.front().schedule.instances;
  bench.executor.emplace(wanted_lanes, deck.issue, deck.memory);
  if (deck.host_work) {
    bench.host_worker.emplace(pieces, deck.host_work->per_chunk_s);
    bench.executor->set_host_worker(&*bench.host_worker);
  }
  const auto hardware = measure::hardware(result.device, wanted_lanes);
  std::optional<report::ProgressLine> own_line;
  report::ProgressLine& line = conduct.line != nullptr ? *conduct.line : own_line.emplace();
  const measure::Checking checking = measure::measure(
      *bench.executor, result.runs, workload, deck.measure,
      {.progress =
           [&](const measure::Progress& at) {
             line.update(at.done, at.total, std::string(deck::to_string(at.order)));
           },
       .before_sample = {}});
  // On a GPU stages need lanes of their own; on a host the runs' lanes share its cores out.
  line.update("measuring rates");
  if (measure::on_gpu()) bench.meter.emplace(2, deck::Issue(), deck.memory);
  measure::measure_rates(measure::on_gpu() ? *bench.meter : *bench.executor, workload, result.runs);
  for (timeline::Run& run : result.runs) {
    if (!conduct.traced) break;
    line.update("tracing " + timeline::name(run));
    const timeline::Engines engines = {.workers = measure::on_gpu() ? 0 : run.schedule.lanes,
                                       .copy_engines = hardware.copy_engines};
    measure::trace_run(*bench.executor, run, workload, deck.measure.verify, engines);
  }
  model::add_bounds(result.runs, hardware);
  result.environment = environment(runtime, hardware);
  result.reference_s = checking.reference_s;
  result.verified_runs = checking.runs;
  result.checks = verdict::judge_all(deck.acceptance, result.runs);
  result.verdict = verdict::overall(result.runs, result.checks);
  result.exit_code = verdict::exit_code(result.runs, result.checks);
  return result;
}

}  // namespace overlap
