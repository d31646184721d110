#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

/// Metrics of runs and devices, from their samples, and their checks.
namespace overlap::results {

/// The runs of a point, which are compared with each other.
struct Runs : std::vector<const Run*> {
  using std::vector<const Run*>::vector;
  Runs(const std::vector<Run>& runs) {
    for (const Run& run : runs) push_back(&run);
  }
};

/// Values of a metric of a run, or of the device, for all repetitions with the necessary inputs.
/// Empty for metrics over all repetitions (drift, contention).
std::vector<double> values(deck::Metric metric, const Run& run, const Runs& runs);
std::vector<double> values(deck::Metric metric, const DeviceSamples& device);

/// A metric of a run, or of the device; empty if it does not apply or was not measured.
std::optional<base::Summary> value(deck::Metric metric, const Run& run, const Runs& runs);
std::optional<base::Summary> value(deck::Metric metric, const DeviceSamples& device);

/// A metric of a predicted run; empty if it cannot be predicted.
std::optional<base::Summary> predicted(deck::Metric metric, const Run& run, const Runs& runs);

/// Sets the metrics of runs of a point from their samples; `alone`: in phase together, the same
/// runs alone. Of max_error, which is the most of all verified runs, the value stays.
void evaluate(std::vector<Run>& runs, const std::vector<Run>& alone = {});

/// Whether criteria judge this metric of this run. Disturbed runs are never judged; of runs with
/// host work only host_work_hidden.
bool applies_to(deck::Metric metric, const Run& run);

/// The baseline with the same host work; null: none.
const Run* baseline_of(const Run& run, const Runs& runs);

/// Summary of the times of all repetitions, seconds.
base::Summary time_s(const Run& run);

/// Display name: the order with its disturbance or host work.
std::string name(const Run& run);

/// Relative cost of a disturbance per repetition: time / undisturbed time - 1. Empty for
/// undisturbed runs.
std::optional<base::Summary> disturbance_loss(const Run& run, const Runs& runs);

/// Minimum overlap_potential() for statements about overlap.
inline constexpr double least_potential = 0.1;

/// Maximum fraction of the baseline time that overlap can save: (T_sequential - bound_s) /
/// T_sequential. Empty without a baseline or a bound.
std::optional<double> overlap_potential(const Run& run, const Runs& runs);

/// The overlap efficiency for display: also empty if the potential is below `least_potential`,
/// where it would be noise. (Result lines and files always contain it, because harnesses rely on
/// it.)
std::optional<base::Summary> shown_efficiency(const Run& run, const Runs& runs);

/// A value of a metric with its unit: "5.670 ms", "93.1 GB/s", "0.98".
std::string spell(deck::Metric metric, double value);

// Limits of criteria, applied.

/// The criteria of a deck that hold for the results of its runs.
std::vector<deck::Criterion> criteria(const Result& result);

/// PASS if the whole interval of the value meets the limit, FAIL if none of it does, otherwise
/// INCONCLUSIVE.
Verdict judge(const base::Summary& value, bool at_least, double limit);

/// The exit code of a check of a metric. A violated limit on max_error means wrong data: the user
/// defines what is correct.
base::ExitCode code_of(deck::Metric metric, Verdict verdict);

/// Whether a check makes the verdict other than PASS.
bool decides(const Check& check);

/// The order of a figure; "-" for the device.
std::string_view order_name(const FigureKey& key);
/// "throughput of by_engine", "h2d_rate"; with the phase: "h2d_rate, alone".
std::string name(const FigureKey& key);
std::string name_with_phase(const FigureKey& key);

/// ">= 93.12 (96 - 3 % of h200.yaml)", "unknown".
std::string limit_text(const Check& check);

/// Why a metric of a run cannot be judged: overlap could save too little. Empty: it can.
std::string unjudgeable(deck::Metric metric, const Run& run, const Runs& runs);

/// A check with interval and limit in one line.
std::string check_text(const Check& check);

/// The worst verdict of the checks of one run, or "WRONG DATA".
std::string_view run_verdict(const Run& run, const std::vector<Check>& checks);

/// "precision 0.8 % reached after 37 repetitions", "precision not reached: 1.9 % after 200
/// repetitions (at_most)"; of every reason but `repetitions`.
std::string stop_text(const Stop& stop);

}  // namespace overlap::results
