#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "deck/words.hpp"
#include "experiment/diagnosis.hpp"
#include "experiment/plan.hpp"

/// From samples to an outcome: pure, no Kokkos and no device.
namespace overlap::experiment {

enum class Verdict { pass, fail, inconclusive, error, skipped, interrupted };

constexpr auto words_of(Verdict) {
  return yaml::in_order<Verdict>("PASS", "FAIL", "INCONCLUSIVE", "ERROR", "SKIPPED", "INTERRUPTED");
}

/// What was measured of a plan.
struct Samples {
  std::vector<Run> runs;  ///< one for each case; none where nothing ran
  int verified_runs = 0;
  double reference_s = 0;  ///< spent on reference results and comparing, all runs together
  Conditions conditions;
  bool interrupted = false;  ///< before all repetitions were done
};

/// One limit of a criterion applied to one order.
struct Check {
  deck::Metric metric = deck::Metric::time;
  deck::Order order = deck::Order::sequential;
  base::Summary value;
  bool at_least = false;  ///< the limit is a minimum, else a maximum
  double limit = 0;
  Verdict verdict = Verdict::pass;
  std::string reason;  ///< why the verdict is not what the value says; else empty
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
  std::vector<Check> checks = {};
  std::optional<Failure> failure = {};  ///< empty: it came to its end
  bool interrupted = false;

  bool ran() const;  ///< whether anything was measured
  bool data_right() const;
  Verdict verdict() const;
  base::ExitCode exit_code() const;
};

/// PASS when the value's whole interval keeps the limit, FAIL when none of it does, INCONCLUSIVE
/// when the interval straddles it.
Verdict judge(const base::Summary& value, bool at_least, double limit);

/// Applies every criterion to the orders that it names, or to all that its metric is about. Where
/// overlap could save less than `least_potential`, metrics that need the baseline are INCONCLUSIVE.
std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<Run>& runs);

/// Bounds, findings, checks. Without samples: predictions.
Outcome judge(Plan plan, Samples samples);

/// An outcome that an error ended.
Outcome failed(const deck::Point& point, const base::Error& error);

/// The worst verdict on one run: its checks, or "WRONG DATA".
std::string_view verdict_of(const Run& run, const std::vector<Check>& checks);

/// Why the verdict is what it is, one line per reason; empty for PASS.
std::vector<std::string> reasons(const Outcome& outcome);

}  // namespace overlap::experiment
