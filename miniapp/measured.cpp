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
  const measure::Hooks hooks = hooks_of(terminal_);
  if (member_ == nullptr) return measured(study, point, hooks);
  return session_.use([&] {
    return member_->run(point.phase, hooks,
                        [&](const measure::Hooks& own) { return measured(study, point, own); });
  });
}

experiment::Outcome Measured::measured(const report::Study& study, const deck::Point& point,
                                       const measure::Hooks& hooks) {
  const experiment::Outcome* const alone = study.done.empty() ? nullptr : study.outcome();
  const bool again = point.phase == deck::Phase::together && alone != nullptr && plan_;
  if (!again) plan_ = experiment::plan(point, measure::probe(point.deck, device_, session_, hooks));
  plan_->phase = point.phase;
  if (!study.sweeps() && !again) terminal_.shown(report::heading(study, *plan_));
  experiment::Samples samples = measure::measure(*plan_, session_, hooks);
  return experiment::judge(*plan_, std::move(samples), references_, again ? alone : nullptr);
}

}  // namespace overlap
