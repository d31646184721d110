#pragma once

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "executor/balance.hpp"
#include "executor/durations.hpp"
#include "executor/measure.hpp"
#include "executor/platform.hpp"
#include "report/console.hpp"
#include "report/progress.hpp"
#include "report/result.hpp"
#include "schedule/build.hpp"
#include "schedule/hazard.hpp"
#include "verdict/verdict.hpp"
#include "workload/make.hpp"

namespace overlap {

/// The deck's schedules, each proved free of hazards. Throws base::Error{usage} when a custom
/// workload's list has hazards or cannot be issued in one of the orders.
inline std::vector<schedule::Schedule> build_schedules(const deck::Deck& deck,
                                                       const schedule::Costs& costs,
                                                       const schedule::Layout& layout) {
  std::vector<schedule::Schedule> schedules;
  for (std::size_t i = 0; i < deck.issue.orders.size(); ++i) {
    const deck::Order order = deck.issue.orders[i];
    const std::string name(deck::to_string(order));
    if (const auto reason = schedule::misplaced(costs, order)) {
      throw deck::error_at(deck, base::ExitCode::usage, "issue.orders[" + std::to_string(i) + "]",
                           "found '" + name + "', which " + *reason);
    }
    const schedule::Schedule& schedule =
        schedules.emplace_back(schedule::build(costs, layout, order, deck.issue.lanes));
    const auto hazards = schedule::find_hazards(schedule, 1);
    if (hazards.empty()) continue;
    const std::string why = "order " + name + " is not safe to run: " + hazards.front().message;
    if (costs.tasks.empty()) {
      throw base::Error(base::ExitCode::runtime_error, deck.path + ": " + why);
    }
    // The list is the user's own.
    const int listed = schedule.tasks[hazards.front().task].number;
    throw deck::error_at(deck, base::ExitCode::usage,
                         "workload.tasks[" + std::to_string(listed) + "]", why);
  }
  return schedules;
}

/// Host memory that the deck's arrays take; on host back ends the device's arrays, too.
inline std::int64_t host_bytes(const schedule::Costs& costs, std::int64_t device_units) {
  std::int64_t bytes = 0;
  for (const schedule::Array& array : costs.arrays) {
    bytes += static_cast<std::int64_t>(array.unit_bytes) *
             (costs.units * costs.iterations + (executor::on_gpu() ? 0 : device_units));
  }
  return bytes;
}

inline std::string gigabytes(double bytes_per_s) {
  return base::format_number(bytes_per_s * 1e-9) + " GB/s";
}

/// What a deck needs on the device. When the device is lost, nothing of it can be freed any more:
/// its owner must outlive the handling of that error.
template <class Space>
struct Bench {
  std::optional<executor::Executor<Space>> executor;
  workload::Workload<Space> workload;
};

/// Runs one deck: build, allocate, balance, measure, judge. Prints the heading before it measures.
template <class Space>
report::Result run_deck(const deck::Deck& deck, const executor::Runtime& runtime, bool quiet,
                        Bench<Space>& bench) {
  report::Result result;
  result.deck = deck;
  result.build = executor::build_info();
  result.host = executor::host_info();
  if (executor::on_gpu()) result.device = runtime.device();

  const std::int64_t wanted_repeats = deck.workload.intensity.repeats;
  schedule::Costs costs = schedule::costs(deck.workload, wanted_repeats);
  result.layout = schedule::layout(deck, costs, runtime.free_device_bytes());
  std::vector<schedule::Schedule> schedules = build_schedules(deck, costs, result.layout);
  int lanes = 1;
  std::int64_t device_units = 0;
  for (const schedule::Schedule& schedule : schedules) {
    lanes = std::max(lanes, schedule.lanes);
    device_units = std::max(device_units, schedule.device_units);
  }

  if (runtime.tool_loaded()) {
    result.choices.emplace_back("warning", "a Kokkos tool is loaded and may fence every kernel");
  }

  executor::Executor<Space>& executor = bench.executor.emplace(lanes);
  if (schedule::has_timed_copies(deck.workload)) {
    const executor::CopyRates rates = executor::copy_rates(executor, deck);
    costs =
        schedule::costs(schedule::size_copies(deck.workload, rates.h2d, rates.d2h), wanted_repeats);
    result.layout = schedule::layout(deck, costs, runtime.free_device_bytes());
    schedules = build_schedules(deck, costs, result.layout);
    result.choices.emplace_back(
        "copy rates", "to the device " + gigabytes(rates.h2d) + ", back " + gigabytes(rates.d2h));
  }
  executor::require_host_memory(host_bytes(costs, device_units));
  workload::Workload<Space>& workload = bench.workload;
  workload = workload::make<Space>(deck, costs, device_units, wanted_repeats);
  if (!workload.kernel.empty()) result.choices.emplace_back("kernel", workload.kernel);
  if (deck.workload.kind == deck::WorkloadKind::custom) {
    executor::calibrate_steps(executor, workload);
    const double kernel_step_s = 1 / static_cast<double>(workload.repeats);
    result.choices.emplace_back("busy", "a step of a kernel takes " +
                                            base::format_seconds(kernel_step_s) + ", of the host " +
                                            base::format_seconds(1 / workload.host_steps_per_s));
  }
  if (deck.workload.intensity.balance > 0) {
    const auto chunked =
        schedule::build(costs, result.layout, deck::Order::depth_first, deck.issue.lanes);
    result.balance =
        executor::find_balance(executor, chunked, workload, deck.workload.intensity.balance);
    schedules =
        build_schedules(deck, schedule::costs(deck.workload, workload.repeats), result.layout);
  }
  if (!quiet) std::cout << report::heading(result) << std::flush;

  executor::Checking checking;
  report::ProgressLine line;
  result.runs = executor::measure(
      executor, schedules, workload, deck.measure,
      [&](const executor::Progress& at) {
        line.update(at.done, at.total, std::string(deck::to_string(at.order)));
      },
      checking);
  result.reference_s = checking.reference_s;
  result.verified_runs = checking.runs;
  result.checks = verdict::judge_all(deck.acceptance, result.runs);
  result.verdict = verdict::overall(result.runs, result.checks);
  result.exit_code = verdict::exit_code(result.runs, result.checks);
  return result;
}

}  // namespace overlap
