#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "files.hpp"
#include "fleet.hpp"
#include "model/load.hpp"
#include "report/reports.hpp"
#include "results.hpp"

namespace overlap {
namespace {

using base::ExitCode;

/// Ends the program with an exit code where a library aborts, as Kokkos does on a lost device or a
/// wrong setting.
extern "C" void end_of_abort(int) {
  const auto print = [](int stream, std::string_view line) {
    const auto written = write(stream, line.data(), line.size());
    static_cast<void>(written);
  };
  print(STDERR_FILENO, "miniapp: error: a library ended the run, for the reason above\n");
  if (owes_result) print(STDOUT_FILENO, "OVERLAP_RESULT verdict=ERROR data=NONE exit=1\n");
  std::_Exit(static_cast<int>(ExitCode::runtime_error));
}

/// The text of an option that runs nothing; else empty.
std::string answer(const Options& options) {
  if (options.version) return report::version(measure::build_info());
  if (!options.list) return options.help;
  return report::list(measure::build_info(), measure::devices(), measure::on_gpu(),
                      measure::unavailable(), options.verbose);
}

/// Makes this process one without a fleet, because its ranks cannot meet. Files about all ranks are
/// then those of rank 0.
void go_on_alone(Options& options, Machinery& machinery, Terminal& terminal) {
  const auto job = base::job_info();
  const int rank = job ? job->rank.value_or(0) : 0;
  if (rank > 0) {
    std::erase_if(options.outputs, is_common_file);
    terminal.speak_for(fmt::format("rank {}", rank));
  }
  options.fleet = false;
  machinery.meetings.reset();
}

/// Finds the place of this rank of a fleet. Throws base::Error where it has none.
void find_place(const Inputs& inputs, Machinery& machinery, Terminal& terminal) {
  machinery.member.emplace(*machinery.meetings, deadline_s(inputs),
                           [&](const std::string& text) { terminal.error(text); });
  const auto& member = *machinery.member;
  if (member.rank() > 0) terminal.speak_for(member.name());
  if (member.unplaced()) throw *member.unplaced();
}

/// Starts Kokkos, unless nothing will run, and without --device chooses the shipped device that
/// predicts.
void start(const Options& options, Inputs& inputs, Machinery& machinery) {
  if (!inputs.predicted.empty()) return;
  machinery.session.emplace(machinery.member ? machinery.member->kokkos_arguments(options.kokkos)
                                             : options.kokkos);
  if (options.device.empty() && options.calibrate.empty()) {
    inputs.device = model::shipped_device(measure::match_of(*machinery.session));
  }
}

/// Origin of a device file, for its comment.
std::string calibration_note(const base::Machine& machine) {
  const base::BuildInfo& build = machine.build;
  return fmt::format("Measured by `miniapp --calibrate` on {}:\n{}{}; Kokkos {} {}, {}.",
                     now_utc().substr(0, 10), machine.device ? machine.device->name + ", " : "",
                     base::device_of(machine.host).name, build.kokkos_version, build.backend,
                     build.compiler);
}

/// Writes the file of --calibrate, which the decks then use.
void calibrate(const Options& options, Inputs& inputs, Machinery& machinery, Terminal& terminal) {
  const std::string& path = options.calibrate;
  if (path.empty()) return;
  model::Device device = measure::calibrate(*machinery.session, progress_hooks(terminal));
  device.path = path;
  device.name = describe::name_of(path);
  report::write_file(path, model::to_yaml(device, calibration_note(machine_of(machinery))));
  if (!report::is_stream(path)) terminal.show("wrote " + base::one_line(path) + "\n");
  inputs.device = std::move(device);
}

/// Writes all result files and prints the verdicts. A file that cannot be written counts as an
/// error of its deck's study, or of the last one. Returns the worst exit code.
ExitCode finish(const Options& options, std::vector<Study>& studies, Terminal& terminal) {
  report::write_each(options.outputs, &Output::path,
                     [&](const Output& output) { return write_output(output, studies, terminal); });
  auto code = ExitCode::pass;
  for (const Study& study : studies) code = base::worst(code, study.result.code);
  if (!options.fleet) terminal.verdict(results_of(studies));
  return code;
}

/// Executes the command line.
ExitCode run(Options options, Machinery& machinery, Terminal& terminal) {
  if (const std::string text = answer(options); !text.empty()) {
    terminal.text(text);
    return ExitCode::pass;
  }
  if (options.command != Command::run) return work_on_results(options, terminal);
  require_separate_files(options);
  Attempt attempt{.with_decks = !options.decks.empty()};
  std::optional<Inputs> inputs = options.fleet
                                     ? read_together(options, machinery, attempt.error, terminal)
                                     : read_inputs(options);
  if (!inputs) return ExitCode::usage;
  if (options.dry_run) {
    terminal.text(dry_run(*inputs));
    return ExitCode::pass;
  }
  if (options.fleet && !attempt.error) attempt([&] { find_place(*inputs, machinery, terminal); });
  if (options.fleet && !machinery.member) go_on_alone(options, machinery, terminal);
  std::vector<Study> studies = new_studies(*inputs, machine_of(machinery));
  // Before anything runs: what can be opened. {uuid} and {host} are known after the start.
  FileNames names = file_names(machine_of(machinery), true);
  Options rank_options = with_files_of_rank(options, *inputs, names);
  register_inputs(*inputs, machinery.files);
  take_files(rank_options, names, common_files(options, names), studies, machinery.files, attempt);
  if (!attempt.error) attempt([&] { start(options, *inputs, machinery); });
  names = file_names(machine_of(machinery));
  take_files(rank_options, names, {}, studies, machinery.files, attempt);
  if (!attempt.error) attempt([&] { calibrate(rank_options, *inputs, machinery, terminal); });
  run_decks(rank_options, *inputs, studies, machinery, attempt.error, terminal);
  const ExitCode code = finish(rank_options, studies, terminal);
  return machinery.member ? finish_fleet(options, names, studies, machinery, terminal) : code;
}

}  // namespace
}  // namespace overlap

int main(int argc, char** argv) {
  using namespace overlap;
  std::signal(SIGABRT, end_of_abort);
  occupy_standard_streams();
  base::catch_interrupts();
  auto code = base::ExitCode::pass;
  Machinery machinery;
  Terminal terminal;
  try {
    const Options options = parse_options(argc, argv);
    if (options.quiet) terminal.be_quiet();
    if (options.verbose) terminal.be_verbose();
    if (options.fleet) std::signal(SIGUSR1, SIG_DFL);  // by which MPICH reports a dead rank
    const bool answers =
        options.dry_run || options.list || options.version || !options.help.empty();
    if (answers) std::signal(SIGPIPE, SIG_DFL);  // whose reader may have seen enough
    code = run(options, machinery, terminal);
  } catch (const std::exception& exception) {
    const base::Error error = base::error_of(exception);
    terminal.error(error.what());
    if (dynamic_cast<const model::UnknownDevice*>(&exception) != nullptr) {
      terminal.lines(fmt::format("Another device is a file of lines like these:\n\n{}",
                                 model::first_device_file));
    }
    code = error.code();
    if (code == base::ExitCode::usage) machinery.files.restore();
    if (code != base::ExitCode::usage) terminal.failed(code);
    machinery.broken = true;
    if (machinery.meetings) machinery.meetings->tell(machinery.meetings->peers, fleet::gone);
  }
  if (!terminal.flush()) {
    terminal.error("standard output: cannot write");
    code = base::worst(code, base::ExitCode::runtime_error);
  }
  machinery.files = {};
  if (machinery.cannot_end()) std::_Exit(static_cast<int>(code));
  return static_cast<int>(code);
}
