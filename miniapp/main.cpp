#include <cstdlib>
#include <memory>
#include <optional>

#include "base/interrupt.hpp"
#include "fleet.hpp"
#include "measured.hpp"
#include "memory.hpp"
#include "names.hpp"
#include "options.hpp"
#include "results.hpp"
#include "run.hpp"

namespace overlap {
namespace {

/// Runs the decks one after the other. The reports of a fleet are made from all ranks at the end.
std::vector<Study> run_decks(const Options& options, const Inputs& inputs, Machinery& machinery,
                             std::unique_ptr<report::Journal>& journal, Terminal& terminal) {
  fleet::Member* const member = machinery.member ? &*machinery.member : nullptr;
  std::vector<Study> studies;
  std::size_t phases = 0;
  for (std::size_t i = 0; i < inputs.decks.size(); ++i) {
    const base::Machine machine = machine_of(machinery);
    Study& study = studies.emplace_back(new_study(inputs, i, machine));
    if (mark_interrupted(studies)) continue;
    journal = open_journal(options, inputs, study, machinery, terminal);
    if (study.result.sweeps()) terminal.shown(report::heading(study.result, {}));
    std::optional<Measured> measured;
    if (machinery.session) {
      measured.emplace(Measured{*machinery.session,
                                machinery.bench,
                                inputs.device ? &*inputs.device : nullptr,
                                {results::subject_of(machine), inputs.references[i]},
                                member,
                                terminal});
    }
    const auto run_point = [&](const Study& now, const deck::Point& point) {
      if (measured) return (*measured)(now, point);
      experiment::Plan plan = experiment::predictions(point, inputs.predicted);
      if (!now.result.sweeps()) {
        terminal.shown(report::heading(now.result, experiment::planned(plan)));
      }
      return experiment::judge(std::move(plan), {});
    };
    if (machinery.unusable) {
      fail_first(study, *machinery.unusable, terminal);
    } else {
      run_points(study, run_point, journal.get(), terminal);
    }
    if (member == nullptr) terminal.shown(report::findings(study.result));
    phases += inputs.decks[i].size();
    if (member != nullptr) member->skip_to(phases);  // skipped after an error
  }
  return studies;
}

/// Executes the command line.
base::ExitCode run(Options options, Machinery& machinery, Terminal& terminal) {
  if (const std::string text = answer(options); !text.empty()) {
    terminal.text(text);
    return base::ExitCode::pass;
  }
  if (options.command != Command::run) return work_on_results(options, terminal);
  require_own_files(options);
  std::optional<Inputs> read =
      options.fleet ? read_together(options, machinery, terminal) : read_inputs(options);
  if (!read) return base::ExitCode::usage;
  Inputs& inputs = *read;
  if (options.dry_run) {
    terminal.text(dry_run(inputs));
    return base::ExitCode::pass;
  }
  start(options, inputs, machinery, terminal);
  const FileNames names = names_of(machine_of(machinery));
  Options own = own_files(options, inputs, names);
  require_writable(own, inputs, common_files(options, names), machinery);
  if (!own.calibrate.empty() && !machinery.unusable) calibrate(own, inputs, machinery, terminal);
  std::unique_ptr<report::Journal> journal;
  std::vector<Study> studies = run_decks(own, inputs, machinery, journal, terminal);
  const base::ExitCode code = finish(own, studies, journal.get(), terminal);
  return machinery.member ? finish_fleet(options, names, studies, machinery, terminal) : code;
}

}  // namespace
}  // namespace overlap

int main(int argc, char** argv) {
  using namespace overlap;
  prepare_for_ends();
  occupy_standard_streams();
  base::catch_interrupts();
  auto code = base::ExitCode::pass;
  Machinery machinery;
  Terminal terminal;
  try {
    const Options options = parse_options(argc, argv);
    if (options.quiet) terminal.be_quiet();
    if (options.verbose) terminal.be_verbose();
    code = run(options, machinery, terminal);
  } catch (const std::exception& error) {
    const base::Error ours = base::error_of(error);
    terminal.error(ours.what());
    code = ours.code();
    if (code != base::ExitCode::usage) terminal.failed(code);
    machinery.broken = true;
  }
  if (!terminal.flush()) {
    terminal.error("standard output: cannot write");
    code = base::worst(code, base::ExitCode::runtime_error);
  }
  machinery.files = {};
  if (machinery.cannot_end()) std::_Exit(static_cast<int>(code));
  return static_cast<int>(code);
}
