#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/in_sequence.hpp"
#include "base/statistics.hpp"

/// The metrics. A metric consists of an enumerator and its row here; criteria, tables, result lines
/// and files derive from the row.
namespace overlap::deck {

/// Input of the metrics: one repetition of a run, with the same repetition of the runs that it is
/// compared with, or one measurement of the device. (Orders take turns, so that all of them see the
/// same state of the machine.) NaN: not available; a metric that needs the value is not available
/// either.
struct Repetition {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  double time_s = none;
  double sequential_s = none;      ///< of the baseline with the same host work
  double undisturbed_s = none;     ///< of the same order without disturbance and host work
  double host_work_s = none;       ///< duration of the host work
  double bound_s = none;           ///< see model::Bounds
  double schedule_bound_s = none;  ///< see model::Bounds
  double hideable_s = none;        ///< sequential_s - bound_s; not available for the baseline
  double bytes = none;             ///< copied, both directions
  double flops = none;             ///< of a matrix product, including tiles computed on the host
  double max_error = none;         ///< maximum over all repetitions, stored in the first
  double alone_s = none;           ///< in phase together: the time of the same order in phase alone

  // Link measurements: copies of `link_bytes` in each direction.
  double link_bytes = none;
  double h2d_s = none;
  double d2h_s = none;
  // Both directions at the same time: each for itself, and their harmonic mean.
  double duplex_h2d_s = none;
  double duplex_d2h_s = none;
  double duplex_s = none;

  // Device health over all scored runs.
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
  duplex_h2d_rate,
  duplex_d2h_rate,
  pcie_replays,
  ecc_errors,
  throttled,
};

/// What a metric needs. Rows from `link` on concern the device, all others a run. Metrics with
/// `baseline` do not apply to the baseline and are inconclusive where overlap could save little;
/// metrics with `alone` apply to phase together; only metrics with `host_work` apply to runs with
/// host work.
enum class Needs { nothing, baseline, host_work, alone, link, health };
constexpr bool of_device(Needs needs) { return needs >= Needs::link; }

/// Whether smaller or larger values are better.
enum class Better { less, more };

/// Summary of a metric over all repetitions, in chronological order; empty: not available.
using SummaryFormula = std::optional<base::Summary> (*)(std::span<const Repetition>);

/// Minimum number of repetitions for drift. With smaller thirds chance dominates: 5 samples are
/// completely separated from 5 others with probability 1 / 126.
inline constexpr int least_for_drift = 15;

/// Median time of the last third of the repetitions / that of the first third - 1. The interval
/// combines both intervals and covers the drift with more than 95 %. Empty below `least_for_drift`.
std::optional<base::Summary> drift(std::span<const Repetition> repetitions);

/// Time in phase together / time in phase alone, see base::ratio(). Empty without times of phase
/// alone.
std::optional<base::Summary> contention(std::span<const Repetition> repetitions);

/// What only some metrics have.
struct MetricOptions {
  bool is_fraction = false;                  ///< part of a whole: exceeds 1 only by noise
  bool uses_bound = false;                   ///< is relative to a bound
  std::string_view file_key = {};            ///< key in `runs[]` of result files, if not `name`
  std::string_view file_column = {};         ///< column in CSV files, if not `name`
  SummaryFormula summary_formula = nullptr;  ///< set if the row's `formula` is null
};

struct MetricRow {
  Metric value;
  std::string_view name;
  std::string_view unit;
  std::string_view help;  ///< for docs and JSON Schema
  Needs needs;
  Better better;
  double (*formula)(const Repetition&);  ///< null: `summary_formula` computes the metric
  MetricOptions options = {};

  constexpr std::string_view key() const {
    return options.file_key.empty() ? name : options.file_key;
  }
  constexpr std::string_view column() const {
    return options.file_column.empty() ? name : options.file_column;
  }
};

inline constexpr auto metrics = std::to_array<MetricRow>({
    {Metric::time, "time", "s",
     "wall-clock time of one run of the order, from the first issue until the last lane has "
     "finished",
     Needs::nothing, Better::less, [](const Repetition& r) { return r.time_s; },
     MetricOptions{.file_key = "time_s"}},
    {Metric::throughput, "throughput", "GB/s", "bytes copied in both directions / time, decimal",
     Needs::nothing, Better::more, [](const Repetition& r) { return 1e-9 * r.bytes / r.time_s; },
     MetricOptions{.file_column = "throughput_gb_per_s"}},
    {Metric::speedup, "speedup", "1", "time of `sequential` / time, repetition by repetition",
     Needs::baseline, Better::more, [](const Repetition& r) { return r.sequential_s / r.time_s; }},
    {Metric::max_error, "max_error", "1",
     "largest absolute difference from the correct result in any verified run", Needs::nothing,
     Better::less, [](const Repetition& r) { return r.max_error; }},
    {Metric::overlap_efficiency, "overlap_efficiency", "1",
     "time that overlap saves / time that it could save, repetition by repetition: "
     "(T_sequential - T) / (T_sequential - bound_s)",
     Needs::baseline, Better::more,
     [](const Repetition& r) { return (r.sequential_s - r.time_s) / r.hideable_s; },
     MetricOptions{.is_fraction = true, .uses_bound = true}},
    {Metric::bound_fraction, "bound_fraction", "1",
     "bound_s, the least time that the hardware allows, / time, repetition by repetition",
     Needs::nothing, Better::more, [](const Repetition& r) { return r.bound_s / r.time_s; },
     MetricOptions{.is_fraction = true, .uses_bound = true}},
    {Metric::schedule_bound_fraction, "schedule_bound_fraction", "1",
     "schedule_bound_s, the least time of this schedule, / time, repetition by repetition",
     Needs::nothing, Better::more,
     [](const Repetition& r) { return r.schedule_bound_s / r.time_s; },
     MetricOptions{.is_fraction = true, .uses_bound = true}},
    {Metric::host_work_hidden, "host_work_hidden", "1",
     "share of the host work that adds no time, repetition by repetition", Needs::host_work,
     Better::more,
     [](const Repetition& r) { return 1 - (r.time_s - r.undisturbed_s) / r.host_work_s; },
     MetricOptions{.is_fraction = true}},
    {Metric::drift, "drift", "1",
     "median time of the last third of the repetitions / that of the first third - 1; needs at "
     "least 15 repetitions",
     Needs::nothing, Better::less, nullptr, MetricOptions{.summary_formula = drift}},
    {Metric::contention, "contention", "1",
     "time while all devices of the node work / time while this one works alone, same order; in "
     "phase `together` of a fleet",
     Needs::alone, Better::less, nullptr, MetricOptions{.summary_formula = contention}},
    {Metric::h2d_rate, "h2d_rate", "GB/s",
     "rate of copies to the device while the other direction is idle; copies as large as the "
     "largest chunk, at least 64 MiB, at most 1 GiB",
     Needs::link, Better::more, [](const Repetition& r) { return 1e-9 * r.link_bytes / r.h2d_s; }},
    {Metric::d2h_rate, "d2h_rate", "GB/s",
     "rate of copies back while the other direction is idle; size as for `h2d_rate`", Needs::link,
     Better::more, [](const Repetition& r) { return 1e-9 * r.link_bytes / r.d2h_s; }},
    {Metric::duplex_rate, "duplex_rate", "GB/s",
     "sum of both directions' rates while both copy; size as for `h2d_rate`", Needs::link,
     Better::more, [](const Repetition& r) { return 2e-9 * r.link_bytes / r.duplex_s; }},
    {Metric::duplex_h2d_rate, "duplex_h2d_rate", "GB/s",
     "rate of copies to the device while copies back are under way; size as for `h2d_rate`",
     Needs::link, Better::more,
     [](const Repetition& r) { return 1e-9 * r.link_bytes / r.duplex_h2d_s; }},
    {Metric::duplex_d2h_rate, "duplex_d2h_rate", "GB/s",
     "rate of copies back while copies to the device are under way; size as for `h2d_rate`",
     Needs::link, Better::more,
     [](const Repetition& r) { return 1e-9 * r.link_bytes / r.duplex_d2h_s; }},
    {Metric::pcie_replays, "pcie_replays", "1",
     "packets that the link had to resend during the runs", Needs::health, Better::less,
     [](const Repetition& r) { return r.pcie_replays; }},
    {Metric::ecc_errors, "ecc_errors", "1",
     "memory errors during the runs, corrected and uncorrected", Needs::health, Better::less,
     [](const Repetition& r) { return r.ecc_errors; }},
    {Metric::throttled, "throttled", "s",
     "scored time with clocks reduced by power, temperature or hardware protection", Needs::health,
     Better::less, [](const Repetition& r) { return r.throttled_s; },
     MetricOptions{.file_key = "throttled_s"}},
});

static_assert(base::in_sequence(metrics, Metric::throttled), "one row for each metric");

/// Metrics of runs, and metrics of the device, which follow them in the table.
inline constexpr std::span<const MetricRow> run_metrics =
    std::span(metrics).first<static_cast<std::size_t>(Metric::h2d_rate)>();
inline constexpr std::span<const MetricRow> device_metrics =
    std::span(metrics).subspan<run_metrics.size()>();

static_assert(std::ranges::all_of(metrics,
                                  [](const MetricRow& row) {
                                    return of_device(row.needs) == (row.value >= Metric::h2d_rate);
                                  }),
              "metrics of runs before those of the device");

constexpr const MetricRow& row_of(Metric metric) {
  return metrics[static_cast<std::size_t>(metric)];
}

/// Whether a reference can have it: not events and changes, which no device should reach.
constexpr bool has_reference(Metric metric) {
  return row_of(metric).needs != Needs::health && metric != Metric::drift;
}

}  // namespace overlap::deck
