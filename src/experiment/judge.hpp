#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/words.hpp"
#include "experiment/diagnosis.hpp"
#include "experiment/plan.hpp"
#include "results/reference.hpp"

/// From samples to an outcome: pure, without Kokkos and devices.
namespace overlap::experiment {

using results::Check;
using results::Outcome;
using results::Reference;
using results::References;
using results::Stop;
using results::StopReason;

/// Timing of each repetition on the ranks of a node in phase together, seconds.
struct RankWindow {
  std::vector<double> skew_s;    ///< from the first start to the last
  std::vector<double> shared_s;  ///< from the last start to the last stop
};

/// Measurements of a plan.
struct Samples {
  std::vector<Case> cases;  ///< of the plan, measured; empty: nothing ran
  int verified_runs = 0;
  double verification_s = 0;  ///< total time of reference results and comparisons
  double rates_s = 0;         ///< time to measure rates after every round; 0: not after each
  DeviceSamples device;       ///< empty: not measured
  Conditions conditions;
  std::optional<Stop> stopped;  ///< empty: interrupted
  bool interrupted = false;     ///< before the last repetition
};

/// Applies every criterion to the orders that it names, or to all to which its metric applies.
/// Predictions are judged only by criteria that name their device. Where a criterion does not hold,
/// its check is SKIPPED. Otherwise a check is INCONCLUSIVE if its metric needs the baseline and
/// overlap could save less than `least_potential`, if the metric was not measured, or if its limit
/// has no entry in `references` (whose `subject` is that of the runs, including the phase).
/// Empty if nothing ran.
std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<results::Run>& runs,
                             const DeviceSamples& device = {}, const References& references = {},
                             bool on_gpu = true);

/// Adds bounds to all runs with rates, except those without any work (queries only): from the least
/// rates of all runs, without those whose host computes tiles. With rates of the rounds also the
/// bound of each.
void add_bounds(std::vector<Case>& cases, const timeline::Engines& engines);

/// What a point found: adds bounds, findings, metrics and checks. Without samples the runs are
/// predictions. `alone`: in phase together, the runs alone, with which they are compared.
results::Point judge(Plan plan, Samples samples, References references = {},
                     const std::vector<results::Run>& alone = {});

// What results say of a deck, its points and their ends.

/// A result of a deck of which nothing ran yet.
results::Result new_result(const std::vector<deck::DeckPoint>& points, base::Machine machine);

/// What a result says of a plan before anything runs.
results::Point planned_point(const Plan& plan);

/// A point that an error ended.
results::Point failed_point(const deck::DeckPoint& point, const base::Error& error);

/// Marks a point as interrupted after what it has was measured.
void interrupt(results::Point& point);

/// Sets exit code and reasons of the outcome of a point. `code`: that of an error that ended it.
void conclude(results::Point& point, base::ExitCode code = base::ExitCode::pass);

}  // namespace overlap::experiment
