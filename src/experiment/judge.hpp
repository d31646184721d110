#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "experiment/criteria.hpp"
#include "experiment/diagnosis.hpp"
#include "experiment/plan.hpp"

/// From samples to an outcome: pure, no Kokkos and no device.
namespace overlap::experiment {

/// What was measured of a plan.
struct Samples {
  std::vector<CaseSamples> cases;  ///< of each case; none where nothing ran
  int verified_runs = 0;
  double reference_s = 0;  ///< spent on reference results and comparing, all runs together
  Conditions conditions;
  bool interrupted = false;  ///< before all repetitions were done
};

/// What ended an experiment early.
struct Failure {
  base::ExitCode code = base::ExitCode::runtime_error;
  std::string text;
};

/// One point, done.
struct Outcome {
  deck::Deck deck;
  std::vector<deck::Point::Value> point;  ///< of a sweep; empty: the deck has none
  schedule::Layout layout;
  std::optional<Balance> balance;
  Choices choices;
  std::vector<Run> runs;
  int verified_runs = 0;
  double reference_s = 0;
  std::vector<Check> checks;
  std::optional<Failure> failure;  ///< empty: it came to its end
  bool interrupted = false;

  bool ran() const;  ///< whether anything was measured
  bool data_right() const;
  Verdict verdict() const;
  base::ExitCode exit_code() const;
};

/// Bounds, findings, checks. Without samples: predictions.
Outcome judge(Plan plan, Samples samples);

/// An outcome that an error ended.
Outcome failed(const deck::Point& point, const base::Error& error);

/// Why the verdict is what it is, one line per reason; empty for PASS.
std::vector<std::string> reasons(const Outcome& outcome);

}  // namespace overlap::experiment
