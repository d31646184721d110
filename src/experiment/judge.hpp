#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "deck/words.hpp"
#include "experiment/diagnosis.hpp"
#include "experiment/plan.hpp"
#include "experiment/reference.hpp"

/// From samples to an outcome: pure, without Kokkos and devices.
namespace overlap::experiment {

enum class Verdict { pass, fail, inconclusive, error, skipped, interrupted };

constexpr auto words_of(Verdict) {
  return yaml::in_order<Verdict>("PASS", "FAIL", "INCONCLUSIVE", "ERROR", "SKIPPED", "INTERRUPTED");
}

/// Reasons for the end of the repetitions.
enum class StopReason { repetitions, precision, at_most, budget, duration };

constexpr auto words_of(StopReason) {
  return yaml::in_order<StopReason>("repetitions", "precision", "at_most", "budget", "duration");
}

/// The end of the repetitions of a point.
struct Stop {
  StopReason reason = StopReason::repetitions;
  int repetitions = 0;   ///< of each order
  double elapsed_s = 0;  ///< since the start of the first one, including verification
  /// With `precision`: the widest ratio of 95 % interval to median among the judged metrics; empty:
  /// too few repetitions.
  std::optional<double> width;
};

/// "precision 0.8 % reached after 37 repetitions", "precision not reached: 1.9 % after 200
/// repetitions (at_most)"; of every reason but `repetitions`.
std::string words(const Stop& stop);

/// Timing of each repetition on the ranks of a node in phase together, seconds.
struct Window {
  std::vector<double> skew_s;    ///< from the first start to the last
  std::vector<double> shared_s;  ///< from the last start to the last stop
};

/// Measurements of a plan.
struct Samples {
  std::vector<Run> runs;  ///< one per case; empty: nothing ran
  int verified_runs = 0;
  double reference_s = 0;  ///< total time of reference results and comparisons
  DeviceSamples device;    ///< empty: not measured
  Conditions conditions;
  std::optional<Stop> stopped;  ///< empty: interrupted
  bool interrupted = false;     ///< before the last repetition
};

/// Why a metric of a run cannot be judged: overlap could save too little. Empty: it can.
std::string unjudgeable(deck::Metric metric, const Run& run, const std::vector<Run>& runs);

/// Origin of a limit that is not in the deck.
struct LimitSource {
  std::string file;  ///< reference file
  double value = 0;  ///< reference value
  double below = 0;  ///< relative tolerance
};

/// One limit of a criterion, applied to one order or to the device.
struct Check {
  deck::Metric metric = deck::Metric::time;
  std::optional<deck::Order> order;  ///< empty: a metric of the device
  std::string device = {};           ///< of a prediction; empty: the device at hand
  base::Summary value;               ///< NaN: unknown
  bool at_least = false;             ///< true: `limit` is a minimum; false: a maximum
  double limit = 0;                  ///< NaN: not in the reference
  Verdict verdict = Verdict::pass;
  std::string reason;  ///< why it is inconclusive or skipped regardless of its value; else empty
  std::optional<LimitSource> source = {};  ///< empty: the limit is in the deck
};

/// The exit code of a check of a metric. A violated limit on max_error means wrong data: the user
/// defines what is correct.
base::ExitCode code_of(deck::Metric metric, Verdict verdict);

/// The verdict of an exit code.
Verdict verdict_of(base::ExitCode code);

/// An error that ended an experiment.
struct Failure {
  base::ExitCode code = base::ExitCode::runtime_error;
  std::string text;
};

/// The outcome of one point.
struct Outcome : Setup, Samples {
  Window window = {};
  std::vector<Check> checks = {};
  std::optional<Failure> failure = {};  ///< empty: completed or interrupted

  bool ran() const;  ///< whether anything was measured
  base::ExitCode exit_code() const;
  Verdict verdict() const { return verdict_of(exit_code()); }
};

/// Whether criteria judge this metric of this run. Disturbed runs are never judged; of runs with
/// host work only host_work_hidden.
bool applies_to(deck::Metric metric, const Run& run);

/// Sets the limit of a check of the entry's metric: worse than the entry by the part `below`, or
/// else by its own tolerance.
void limit_by(const Reference& reference, const Entry& entry, std::optional<double> below,
              Check& check);

/// PASS if the whole interval of the value meets the limit, FAIL if none of it does, otherwise
/// INCONCLUSIVE.
Verdict judge(const base::Summary& value, bool at_least, double limit);

/// Applies every criterion to the orders that it names, or to all to which its metric applies.
/// Predictions are judged only by criteria that name their device. Where a criterion does not hold,
/// its check is SKIPPED. Otherwise a check is INCONCLUSIVE if its metric needs the baseline and
/// overlap could save less than `least_potential`, if the metric was not measured, or if its limit
/// has no entry in `references` (whose `machine` is the subject of the runs, including the phase).
/// Empty if nothing ran.
std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<Run>& runs, const DeviceSamples& device = {},
                             const References& references = {}, bool on_gpu = true);

/// The order of a check; "-" for the device.
std::string_view order_word(const Check& check);

/// A check with interval and limit in one line.
std::string words(const Check& check);

/// ">= 93.12 (96 - 3 % of h200.yaml)", "unknown".
std::string limit_words(const Check& check);

/// Adds bounds, findings and checks, and predicts the runs again with the host costs measured
/// between them. Without samples the runs are predictions. Phase together is compared with `alone`
/// (null: none).
Outcome judge(Plan plan, Samples samples, References references = {},
              const Outcome* alone = nullptr);

/// The outcome of a point that an error ended.
Outcome failed(const deck::Point& point, const base::Error& error);

/// The worst verdict of the checks of one run, or "WRONG DATA".
std::string_view verdict_of(const Run& run, const std::vector<Check>& checks);

/// Reasons for the verdict, one per line; empty for PASS.
std::vector<std::string> reasons(const Outcome& outcome);

}  // namespace overlap::experiment
