#include "measured.hpp"

#include "report/run_report.hpp"

namespace overlap {

measure::Hooks hooks_of(Terminal& terminal) {
  measure::Hooks hooks;
  hooks.progress = [&](int done, int total, const std::string& what) {
    terminal.progress(done, total, what);
  };
  return hooks;
}

results::Part Measured::operator()(const Study& study, const deck::Point& point) {
  const measure::Hooks hooks = hooks_of(terminal);
  if (member == nullptr) return measured(study, point, hooks);
  if (const auto devices = point.deck.fleet.devices) member->require_devices(*devices);
  return session.use([&] {
    return member->run(point.phase, hooks,
                       [&](const measure::Hooks& own) { return measured(study, point, own); });
  });
}

results::Part Measured::measured(const Study& study, const deck::Point& point,
                                 const measure::Hooks& hooks) {
  const std::vector<results::Run>& alone = study.result.runs;
  const bool again = point.phase == deck::Phase::together && !alone.empty() && plan;
  if (!again)
    plan = experiment::plan(point, measure::probe(point.deck, device, session, bench, hooks));
  plan->phase = point.phase;
  if (!study.result.sweeps() && !again) {
    terminal.shown(report::heading(study.result, experiment::planned(*plan)));
  }
  experiment::Samples samples = measure::measure(*plan, session, bench, hooks);
  return experiment::judge(*plan, std::move(samples), references, again ? &alone : nullptr);
}

}  // namespace overlap
