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

/// From samples to an outcome: pure, no Kokkos and no device.
namespace overlap::experiment {

enum class Verdict { pass, fail, inconclusive, error, skipped, interrupted };

constexpr auto words_of(Verdict) {
  return yaml::in_order<Verdict>("PASS", "FAIL", "INCONCLUSIVE", "ERROR", "SKIPPED", "INTERRUPTED");
}

/// What ends the repetitions of a point.
enum class StopReason { repetitions, precision, at_most, budget, duration };

constexpr auto words_of(StopReason) {
  return yaml::in_order<StopReason>("repetitions", "precision", "at_most", "budget", "duration");
}

/// What ended them.
struct Stop {
  StopReason reason = StopReason::repetitions;
  int repetitions = 0;   ///< of each order
  double elapsed_s = 0;  ///< since the first of them began, verification included
  /// With `precision`: the widest 95 % interval of what is judged / its median; empty: too few
  /// repetitions for one.
  std::optional<double> width;
};

/// "precision 0.8 % reached after 37 repetitions", "precision 1.9 % after 200 repetitions
/// (at_most): not reached".
std::string words(const Stop& stop);

/// How the ranks of a node shared each repetition of phase together, seconds.
struct Window {
  std::vector<double> skew_s;    ///< between the first start and the last
  std::vector<double> shared_s;  ///< from the last start until the last rank had its sample
};

/// What was measured of a plan.
struct Samples {
  std::vector<Run> runs;  ///< one for each case; none where nothing ran
  int verified_runs = 0;
  double reference_s = 0;  ///< spent on reference results and comparing, all runs together
  DeviceSamples device;    ///< empty: not measured
  Conditions conditions;
  Window window;
  std::optional<Stop> stopped;  ///< empty: it was interrupted
  bool interrupted = false;     ///< before all repetitions were done
};

/// Where a limit comes from that the deck does not say itself.
struct LimitSource {
  std::string file;  ///< of references
  double value = 0;  ///< that it has
  double below = 0;  ///< by what part of it a value may be worse
};

/// One limit of a criterion applied to one order, or to the device.
struct Check {
  deck::Metric metric = deck::Metric::time;
  std::optional<deck::Order> order;  ///< empty: a metric of the device
  base::Summary value;
  bool at_least = false;  ///< the limit is a minimum, else a maximum
  double limit = 0;       ///< NaN: the reference has none
  Verdict verdict = Verdict::pass;
  std::string reason;  ///< why the verdict is not what the value says; else empty
  std::optional<LimitSource> source = {};  ///< empty: the deck
};

/// What ended an experiment early.
struct Failure {
  base::ExitCode code = base::ExitCode::runtime_error;
  std::string text;
};

/// One point, done.
struct Outcome : Setup {
  std::vector<Run> runs = {};
  int verified_runs = 0;
  double reference_s = 0;
  DeviceSamples device = {};
  Window window = {};
  std::optional<Stop> stopped = {};  ///< empty: not run, or interrupted
  std::vector<Check> checks = {};
  std::optional<Failure> failure = {};  ///< empty: it came to its end
  bool interrupted = false;

  bool ran() const;  ///< whether anything was measured
  bool data_right() const;
  Verdict verdict() const;
  base::ExitCode exit_code() const;
};

/// Whether the metric is judged of such a run. The cost of a disturbance is shown, not judged; of a
/// run with host work only how much of that work was hidden.
bool is_judged(deck::Metric metric, const Run& run);

/// PASS when the value's whole interval keeps the limit, FAIL when none of it does, INCONCLUSIVE
/// when the interval straddles it.
Verdict judge(const base::Summary& value, bool at_least, double limit);

/// Applies every criterion to the orders that it names, or to all that its metric is about. Where
/// overlap could save less than `least_potential`, metrics that need the baseline are INCONCLUSIVE,
/// and so are one that was not measured and one that `references` has no entry for; their subject
/// is what the runs are about, in its phase. Nothing is judged where nothing ran.
std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<Run>& runs, const DeviceSamples& device = {},
                             const References& references = {});

/// The order that a check is about; "-" for the device.
std::string_view order_word(const Check& check);

/// A check with its interval and its limit, in one line.
std::string words(const Check& check);

/// ">= 93.12 (96 - 3 % of h200.yaml)", "unknown".
std::string limit_words(const Check& check);

/// Bounds, findings, checks. Without samples: predictions. Phase together is compared with `alone`,
/// null: with nothing.
Outcome judge(Plan plan, Samples samples, References references = {},
              const Outcome* alone = nullptr);

/// An outcome that an error ended.
Outcome failed(const deck::Point& point, const base::Error& error);

/// The worst verdict on one run: its checks, or "WRONG DATA".
std::string_view verdict_of(const Run& run, const std::vector<Check>& checks);

/// Why the verdict is what it is, one line per reason; empty for PASS.
std::vector<std::string> reasons(const Outcome& outcome);

}  // namespace overlap::experiment
