#include <cstdlib>
#include <memory>
#include <optional>

#include "base/interrupt.hpp"
#include "measure/session.hpp"
#include "model/load.hpp"
#include "options.hpp"
#include "report/console.hpp"
#include "report/output_file.hpp"
#include "results.hpp"
#include "run.hpp"

namespace overlap {
namespace {

measure::Hooks hooks_of(Terminal& terminal) {
  return {.progress = [&](int done, int total,
                          const std::string& what) { terminal.progress(done, total, what); },
          .before_sample = {}};
}

/// Measures a point: probe, plan, measure, judge.
experiment::Outcome measured(const report::Study& study, const deck::Point& point,
                             const model::Device* device, const experiment::References& references,
                             measure::Session& session, Terminal& terminal) {
  const measure::Hooks hooks = hooks_of(terminal);
  const experiment::Facts facts = measure::probe(point.deck, device, session, hooks);
  experiment::Plan plan = experiment::plan(point, facts);
  if (!study.sweeps()) terminal.shown(report::heading(study, plan));
  experiment::Samples samples = measure::measure(plan, session, hooks);
  return experiment::judge(std::move(plan), std::move(samples), references);
}

/// All that options ask for. The session outlives it: a lost device cannot be freed.
base::ExitCode run(const Options& options, std::optional<measure::Session>& session,
                   Terminal& terminal) {
  if (const std::string text = answer(options); !text.empty()) {
    terminal.text(text);
    return base::ExitCode::pass;
  }
  if (options.command != Command::run) return work_on_results(options, terminal);
  Inputs inputs = read_inputs(options);
  if (options.dry_run) {
    terminal.text(dry_run(inputs));
    return base::ExitCode::pass;
  }
  require_writable(options, inputs);
  const bool predicts = !inputs.predicted.empty();
  std::optional<base::Error> unusable;  // why there is no session: the reason of every point
  try {
    if (!predicts) session.emplace(options.kokkos);
  } catch (const base::Error& error) {
    if (error.code() == base::ExitCode::usage || !options.calibrate.empty()) throw;
    unusable = error;
  }
  if (!options.calibrate.empty()) {
    inputs.device = measure::calibrate(*session, hooks_of(terminal));
    inputs.device->path = options.calibrate;
    report::write_file(options.calibrate,
                       model::to_yaml(*inputs.device, calibration_note(session->machine())));
    terminal.shown("wrote " + options.calibrate + "\n");
  }

  std::vector<std::string> names;
  for (const model::Device& device : inputs.predicted) names.push_back(device.name);
  const model::Device* const device = inputs.device ? &*inputs.device : nullptr;
  std::vector<report::Study> studies;
  std::unique_ptr<report::Journal> journal;
  base::check_interrupt();
  for (std::size_t i = 0; i < inputs.decks.size() && !base::interrupted(); ++i) {
    const base::Machine machine = machine_of(session);
    const experiment::References references{experiment::subject_of(machine), inputs.references[i]};
    report::Study& study = studies.emplace_back(report::new_study(machine, inputs.decks[i], names));
    study.started = now_utc();
    if (unusable) study.points.resize(1);  // it says all
    journal = open_journal(options, inputs, study, terminal);
    if (study.sweeps()) terminal.shown(report::sweep_heading(study));
    run_points(
        study,
        [&](const report::Study& of, const deck::Point& point) {
          if (unusable) throw *unusable;
          return predicts ? experiment::judge(experiment::predictions(point, inputs.predicted), {})
                          : measured(of, point, device, references, *session, terminal);
        },
        journal.get(), terminal);
    terminal.shown(report::table(study, terminal.width()));
  }
  return finish(options, studies, journal.get(), terminal);
}

}  // namespace
}  // namespace overlap

int main(int argc, char** argv) {
  using namespace overlap;
  using base::ExitCode;
  occupy_standard_streams();
  base::catch_interrupts();
  auto code = ExitCode::pass;
  std::optional<measure::Session> session;
  Terminal terminal;
  try {
    const Options options = parse_options(argc, argv);
    if (options.quiet) terminal.be_quiet();
    code = run(options, session, terminal);
  } catch (const std::exception& error) {
    terminal.error(error.what());
    const auto* const ours = dynamic_cast<const base::Error*>(&error);
    code = ours != nullptr ? ours->code() : ExitCode::runtime_error;
  }
  if (!terminal.flush()) {
    terminal.error("standard output: cannot write");
    code = base::worst(code, ExitCode::runtime_error);
  }
  // Freeing what is on a lost device, and finalizing, would fail with a stack trace.
  if (session && session->lost) std::_Exit(static_cast<int>(code));
  return static_cast<int>(code);
}
