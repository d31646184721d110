#pragma once

#include <optional>

#include "fleet/member.hpp"
#include "measure/session.hpp"
#include "model/device.hpp"
#include "print.hpp"
#include "study.hpp"

namespace overlap {

measure::Hooks hooks_of(Terminal& terminal);

/// Runs the points of one deck on this machine: probe, plan, measure, judge.
struct Measured {
  measure::Session& session;
  measure::Bench& bench;
  const model::Device* device;  ///< of the model; null: the current one
  results::References references;
  fleet::Member* member;  ///< null: without --fleet
  Terminal& terminal;
  std::optional<experiment::Plan> plan = {};  ///< of the last phase

  /// In a fleet a point is a phase: together reuses the plan of alone and is compared with its
  /// outcome.
  results::Part operator()(const Study& study, const deck::Point& point);
  results::Part measured(const Study& study, const deck::Point& point, const measure::Hooks& hooks);
};

}  // namespace overlap
