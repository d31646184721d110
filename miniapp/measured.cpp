#include "measured.hpp"

#include "report/console.hpp"

namespace overlap {

measure::Hooks hooks_of(Terminal& terminal) {
  measure::Hooks hooks;
  hooks.progress = [&](int done, int total, const std::string& what) {
    terminal.progress(done, total, what);
  };
  return hooks;
}

experiment::Outcome Measured::operator()(const report::Study& study, const deck::Point& point) {
  const measure::Hooks hooks = hooks_of(terminal);
  if (member == nullptr) return measured(study, point, hooks);
  if (const auto devices = point.deck.fleet.devices) member->require_devices(*devices);
  return session.use([&] {
    return member->run(point.phase, hooks,
                       [&](const measure::Hooks& own) { return measured(study, point, own); });
  });
}

experiment::Outcome Measured::measured(const report::Study& study, const deck::Point& point,
                                       const measure::Hooks& hooks) {
  const experiment::Outcome* const alone = study.done.empty() ? nullptr : study.outcome();
  const bool again = point.phase == deck::Phase::together && alone != nullptr && plan;
  if (!again) plan = experiment::plan(point, measure::probe(point.deck, device, session, hooks));
  plan->phase = point.phase;
  if (!study.sweeps() && !again) terminal.shown(report::heading(study, *plan));
  experiment::Samples samples = measure::measure(*plan, session, hooks);
  return experiment::judge(*plan, std::move(samples), references, again ? alone : nullptr);
}

}  // namespace overlap
