#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string_view>

/// The metrics of a run. A metric is an enumerator and its row here; criteria, tables, result lines
/// and files follow.
namespace overlap::deck {

/// What metrics are made from: one repetition of a run and the same repetition of those that it is
/// compared with. (Orders take turns, so all of them saw the same state of the machine.) NaN: there
/// is none, and no metric either that needs it.
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
};

/// What a deck must have for a metric. Those that need the baseline say nothing about it, and are
/// inconclusive where overlap could save little; the others than `host_work` say nothing about runs
/// with host work.
enum class Needs { nothing, baseline, host_work };

struct MetricRow {
  Metric value;
  std::string_view name;
  std::string_view unit;
  std::string_view help;  ///< for the docs and the JSON Schema
  Needs needs;
  double (*formula)(const Repetition&);
  bool whole = false;                 ///< files have its summary, else its median
  std::string_view file_key = {};     ///< in `runs[]` of result files, where not its name
  std::string_view file_column = {};  ///< the same of CSV files

  constexpr std::string_view key() const { return file_key.empty() ? name : file_key; }
  constexpr std::string_view column() const { return file_column.empty() ? name : file_column; }
};

inline constexpr auto metrics = std::to_array<MetricRow>({
    {Metric::time, "time", "s",
     "wall-clock time of a repetition, from the first issue until the last lane has finished",
     Needs::nothing, [](const Repetition& r) { return r.time_s; }, true, "time_s"},
    {Metric::throughput,
     "throughput",
     "GB/s",
     "bytes copied in both directions / time, decimal",
     Needs::nothing,
     [](const Repetition& r) { return 1e-9 * r.bytes / r.time_s; },
     false,
     {},
     "throughput_gb_per_s"},
    {Metric::speedup, "speedup", "1", "time of `sequential` / time, repetition by repetition",
     Needs::baseline, [](const Repetition& r) { return r.sequential_s / r.time_s; }},
    {Metric::max_error, "max_error", "1",
     "largest absolute difference from the reference in any verified run", Needs::nothing,
     [](const Repetition& r) { return r.max_error; }},
    {Metric::overlap_efficiency, "overlap_efficiency", "1",
     "share of the time that overlap can hide and does hide, repetition by repetition: "
     "(T_sequential - T) / (T_sequential - bound_s)",
     Needs::baseline,
     [](const Repetition& r) { return (r.sequential_s - r.time_s) / r.hideable_s; }},
    {Metric::bound_fraction, "bound_fraction", "1",
     "bound_s, the least time that the hardware allows, / time", Needs::nothing,
     [](const Repetition& r) { return r.bound_s / r.time_s; }},
    {Metric::schedule_bound_fraction, "schedule_bound_fraction", "1",
     "schedule_bound_s, the least time of this schedule, / time", Needs::nothing,
     [](const Repetition& r) { return r.schedule_bound_s / r.time_s; }},
    {Metric::host_work_hidden, "host_work_hidden", "1",
     "share of the host's work that costs no time, repetition by repetition", Needs::host_work,
     [](const Repetition& r) { return 1 - (r.time_s - r.undisturbed_s) / r.host_work_s; }},
});

static_assert(
    [] {
      for (std::size_t i = 0; i < metrics.size(); ++i) {
        if (metrics[i].value != static_cast<Metric>(i)) return false;
      }
      return metrics.back().value == Metric::host_work_hidden;
    }(),
    "one row for each metric, in their sequence");

constexpr const MetricRow& row_of(Metric metric) {
  return metrics[static_cast<std::size_t>(metric)];
}

}  // namespace overlap::deck
