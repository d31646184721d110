#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/statistics.hpp"

/// The metrics of a run. A metric is an enumerator and its row here; criteria, tables, result lines
/// and files follow.
namespace overlap::deck {

/// What metrics are made from: one repetition of a run and the same repetition of those that it is
/// compared with, or one of the device's own measurements. (Orders take turns, so all of them saw
/// the same state of the machine.) NaN: there is none, and no metric either that needs it.
struct Repetition {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  double time_s = none;
  double sequential_s = none;      ///< of the baseline that does the same
  double undisturbed_s = none;     ///< of a disturbed run, or one with host work: its order alone
  double host_work_s = none;       ///< the time of that work
  double bound_s = none;           ///< see model::Bounds
  double schedule_bound_s = none;  ///< of this schedule
  double hideable_s = none;        ///< sequential_s - bound_s; the baseline itself hides nothing
  double bytes = none;             ///< copied, both directions
  double flops = none;             ///< of a matrix product, the host's included
  double max_error = none;         ///< of all repetitions; the first one has it
  double alone_s = none;           ///< of the same order in phase alone, in phase together

  // Of the device: copies of `link_bytes` each way.
  double link_bytes = none;
  double h2d_s = none;
  double d2h_s = none;
  double duplex_s = none;  ///< both directions at the same time

  // Of the device's health, over all scored runs.
  double pcie_replays = none;
  double ecc_errors = none;
  double throttled_s = none;
};

enum class Metric {
  time,
  throughput,
  speedup,
  max_error,
  overlap_efficiency,
  bound_fraction,
  schedule_bound_fraction,
  host_work_hidden,
  drift,
  contention,
  h2d_rate,
  d2h_rate,
  duplex_rate,
  pcie_replays,
  ecc_errors,
  throttled,
};

/// What a metric is made from. From `link` on it is about the device, not about a run. Those that
/// need the baseline say nothing about it, and are inconclusive where overlap could save little;
/// those that need the phase alone are of phase together; the others than `host_work` say nothing
/// about runs with host work.
enum class Needs { nothing, baseline, host_work, alone, link, health };
constexpr bool of_device(Needs needs) { return needs >= Needs::link; }

/// Which of two values is the better one.
enum class Better { less, more };

/// What a metric gives for all repetitions of a run, in the order of time; empty: nothing.
using OfAll = std::optional<base::Summary> (*)(std::span<const Repetition>);

/// With fewer repetitions their thirds are too small: chance alone keeps 5 samples apart from 5
/// others once in 126 times.
inline constexpr int least_for_drift = 15;

/// Median time of the last third / that of the first - 1. Its interval is made from theirs; it
/// covers the drift with more than 95 %.
std::optional<base::Summary> drift(std::span<const Repetition> repetitions);

/// Time together / time alone, from their medians.
std::optional<base::Summary> contention(std::span<const Repetition> repetitions);

struct MetricRow {
  Metric value;
  std::string_view name;
  std::string_view unit;
  std::string_view help;  ///< for the docs and the JSON Schema
  Needs needs;
  Better better;
  double (*formula)(const Repetition&);  ///< null: it is about all repetitions together
  bool whole = false;                    ///< files have its summary, else its median
  std::string_view file_key = {};        ///< in `runs[]` of result files, where not its name
  std::string_view file_column = {};     ///< the same of CSV files
  OfAll of_all = nullptr;                ///< where there is no formula

  constexpr std::string_view key() const { return file_key.empty() ? name : file_key; }
  constexpr std::string_view column() const { return file_column.empty() ? name : file_column; }
};

inline constexpr auto metrics = std::to_array<MetricRow>({
    {Metric::time, "time", "s",
     "wall-clock time of a repetition, from the first issue until the last lane has finished",
     Needs::nothing, Better::less, [](const Repetition& r) { return r.time_s; }, true, "time_s"},
    {Metric::throughput,
     "throughput",
     "GB/s",
     "bytes copied in both directions / time, decimal",
     Needs::nothing,
     Better::more,
     [](const Repetition& r) { return 1e-9 * r.bytes / r.time_s; },
     false,
     {},
     "throughput_gb_per_s"},
    {Metric::speedup, "speedup", "1", "time of `sequential` / time, repetition by repetition",
     Needs::baseline, Better::more, [](const Repetition& r) { return r.sequential_s / r.time_s; }},
    {Metric::max_error, "max_error", "1",
     "largest absolute difference from the reference in any verified run", Needs::nothing,
     Better::less, [](const Repetition& r) { return r.max_error; }},
    {Metric::overlap_efficiency, "overlap_efficiency", "1",
     "share of the time that overlap can hide and does hide, repetition by repetition: "
     "(T_sequential - T) / (T_sequential - bound_s)",
     Needs::baseline, Better::more,
     [](const Repetition& r) { return (r.sequential_s - r.time_s) / r.hideable_s; }},
    {Metric::bound_fraction, "bound_fraction", "1",
     "bound_s, the least time that the hardware allows, / time", Needs::nothing, Better::more,
     [](const Repetition& r) { return r.bound_s / r.time_s; }},
    {Metric::schedule_bound_fraction, "schedule_bound_fraction", "1",
     "schedule_bound_s, the least time of this schedule, / time", Needs::nothing, Better::more,
     [](const Repetition& r) { return r.schedule_bound_s / r.time_s; }},
    {Metric::host_work_hidden, "host_work_hidden", "1",
     "share of the host's work that costs no time, repetition by repetition", Needs::host_work,
     Better::more,
     [](const Repetition& r) { return 1 - (r.time_s - r.undisturbed_s) / r.host_work_s; }},
    {Metric::drift,
     "drift",
     "1",
     "median time of the last third of the repetitions / that of the first third - 1; from 15 "
     "repetitions on",
     Needs::nothing,
     Better::less,
     nullptr,
     false,
     {},
     {},
     drift},
    {Metric::contention,
     "contention",
     "1",
     "time while all devices of the node work / time while this one works alone, same order; of a "
     "fleet's phase `together`",
     Needs::alone,
     Better::less,
     nullptr,
     false,
     {},
     {},
     contention},
    {Metric::h2d_rate, "h2d_rate", "GB/s",
     "rate of copies to the device alone, of the deck's largest chunk and at least 64 MiB",
     Needs::link, Better::more, [](const Repetition& r) { return 1e-9 * r.link_bytes / r.h2d_s; }},
    {Metric::d2h_rate, "d2h_rate", "GB/s", "rate of such copies back, alone", Needs::link,
     Better::more, [](const Repetition& r) { return 1e-9 * r.link_bytes / r.d2h_s; }},
    {Metric::duplex_rate, "duplex_rate", "GB/s",
     "rate of such copies in both directions at the same time, together", Needs::link, Better::more,
     [](const Repetition& r) { return 2e-9 * r.link_bytes / r.duplex_s; }},
    {Metric::pcie_replays, "pcie_replays", "1",
     "packets that the link had to send again during the runs", Needs::health, Better::less,
     [](const Repetition& r) { return r.pcie_replays; }},
    {Metric::ecc_errors, "ecc_errors", "1",
     "memory errors during the runs, corrected and uncorrected", Needs::health, Better::less,
     [](const Repetition& r) { return r.ecc_errors; }},
    {Metric::throttled, "throttled", "s",
     "scored time with clocks held down by power, temperature or the hardware's protection",
     Needs::health, Better::less, [](const Repetition& r) { return r.throttled_s; }, false,
     "throttled_s"},
});

static_assert(
    [] {
      for (std::size_t i = 0; i < metrics.size(); ++i) {
        if (metrics[i].value != static_cast<Metric>(i)) return false;
      }
      return metrics.back().value == Metric::throttled;
    }(),
    "one row for each metric, in their sequence");

/// The metrics of runs; those of the device follow them.
inline constexpr std::span<const MetricRow> run_metrics =
    std::span(metrics).first<static_cast<std::size_t>(Metric::h2d_rate)>();
inline constexpr std::span<const MetricRow> device_metrics =
    std::span(metrics).subspan<run_metrics.size()>();

static_assert(
    [] {
      for (const MetricRow& row : run_metrics) {
        if (of_device(row.needs)) return false;
      }
      for (const MetricRow& row : device_metrics) {
        if (!of_device(row.needs)) return false;
      }
      return true;
    }(),
    "metrics of runs before those of the device");

constexpr const MetricRow& row_of(Metric metric) {
  return metrics[static_cast<std::size_t>(metric)];
}

}  // namespace overlap::deck
