#pragma once

#include <optional>

#include "fleet/member.hpp"
#include "measure/session.hpp"
#include "model/device.hpp"
#include "print.hpp"
#include "report/study.hpp"

namespace overlap {

measure::Hooks hooks_of(Terminal& terminal);

/// Runs the points of one deck on this machine: probe, plan, measure, judge.
struct Measured {
  measure::Session& session;
  const model::Device* device;  ///< of the model; null: the current one
  experiment::References references;
  fleet::Member* member;  ///< null: without --fleet
  Terminal& terminal;
  std::optional<experiment::Plan> plan = {};  ///< of the last phase

  /// In a fleet a point is a phase: together reuses the plan of alone and is compared with its
  /// outcome.
  experiment::Outcome operator()(const report::Study& study, const deck::Point& point);
  experiment::Outcome measured(const report::Study& study, const deck::Point& point,
                               const measure::Hooks& hooks);
};

}  // namespace overlap
