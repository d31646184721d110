#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "deck/words.hpp"
#include "experiment/run.hpp"

/// What is measured of a run, once: criteria, tables, result lines and files follow these rows.
namespace overlap::experiment {

/// How a metric stands in a result file's `runs[]`.
enum class Form { summary, median };

struct Metric {
  deck::Metric id;       ///< its name and unit are deck::words<deck::Metric>
  std::string_view key;  ///< in `runs[]` of result files
  Form form;
  std::string_view column;  ///< of a CSV file; a summary's are median_s, min_s, ...
  std::string_view help;    ///< what it is, for the JSON Schema
  bool needs_overlap;       ///< says nothing where overlap could save less than `least_potential`
  std::optional<base::Summary> (*value)(const Run&, const std::vector<Run>&);
};

inline constexpr auto metrics = std::to_array<Metric>({
    {deck::Metric::time, "time_s", Form::summary, "", "wall-clock time of a repetition, seconds",
     false,
     [](const Run& run, const std::vector<Run>&) {
       return run.samples_s.empty() ? std::nullopt : std::optional(time_s(run));
     }},
    {deck::Metric::throughput, "throughput", Form::median, "throughput_gb_per_s",
     "bytes of both directions per second of the run, decimal GB/s", false,
     [](const Run& run, const std::vector<Run>&) {
       const bool none = run.samples_s.empty() || run.bytes == 0;
       return none ? std::nullopt : std::optional(throughput(run));
     }},
    {deck::Metric::speedup, "speedup", Form::median, "speedup",
     "sequential time / time, repetition by repetition", true, speedup},
    {deck::Metric::max_error, "max_error", Form::median, "max_error",
     "largest relative error of any element; null: not verified", false,
     [](const Run& run, const std::vector<Run>&) {
       return run.verified ? std::optional(base::summarize({run.max_error})) : std::nullopt;
     }},
    {deck::Metric::overlap_efficiency, "overlap_efficiency", Form::median, "overlap_efficiency",
     "(T_sequential - T) / (T_sequential - bound_s), repetition by repetition", true,
     overlap_efficiency},
    {deck::Metric::bound_fraction, "bound_fraction", Form::median, "bound_fraction",
     "bound_s / time", false,
     [](const Run& run, const std::vector<Run>&) { return bound_fraction(run); }},
    {deck::Metric::schedule_bound_fraction, "schedule_bound_fraction", Form::median,
     "schedule_bound_fraction", "schedule_bound_s / time", false,
     [](const Run& run, const std::vector<Run>&) { return schedule_bound_fraction(run); }},
    {deck::Metric::host_work_hidden, "host_work_hidden", Form::median, "host_work_hidden",
     "part of the host's work that cost no time, repetition by repetition", false,
     host_work_hidden},
});

/// The row of a metric.
const Metric& metric(deck::Metric id);

/// Its name and unit.
const yaml::Word<deck::Metric>& word(const Metric& metric);

}  // namespace overlap::experiment
