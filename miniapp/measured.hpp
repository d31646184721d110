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
class Measured {
 public:
  /// `device`: device of the model (null: the current one); `member`: null without --fleet.
  Measured(measure::Session& session, const model::Device* device,
           experiment::References references, fleet::Member* member, Terminal& terminal)
      : session_(session),
        device_(device),
        references_(std::move(references)),
        member_(member),
        terminal_(terminal) {}

  /// In a fleet a point is a phase: together reuses the plan of alone and is compared with its
  /// outcome.
  experiment::Outcome operator()(const report::Study& study, const deck::Point& point);

 private:
  experiment::Outcome measured(const report::Study& study, const deck::Point& point,
                               const measure::Hooks& hooks);

  measure::Session& session_;
  const model::Device* device_;
  experiment::References references_;
  fleet::Member* member_;
  Terminal& terminal_;
  std::optional<experiment::Plan> plan_;
};

}  // namespace overlap
