#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "measure/session.hpp"
#include "model/device.hpp"
#include "options.hpp"
#include "print.hpp"
#include "report/journal.hpp"
#include "report/study.hpp"

namespace overlap {

/// From a point to its outcome, by measuring or predicting.
using RunPoint = std::function<experiment::Outcome(const report::Study&, const deck::Point&)>;

/// What the command line asks for, read.
struct Inputs {
  std::vector<std::vector<deck::Point>> decks;  ///< of each deck its points
  std::vector<std::map<std::string, experiment::Reference>> references;  ///< of each deck
  std::optional<model::Device> device;                                   ///< of --device
  std::vector<model::Device> predicted;                                  ///< of --predict
};

/// The machine, without its device where there is no session.
base::Machine machine_of(const std::optional<measure::Session>& session);

/// The text of an option that runs nothing; empty: there is none.
std::string answer(const Options& options);

/// The time as result files have it: "2026-01-31T12:00:00Z".
std::string now_utc();

/// How a device file came to be.
std::string calibration_note(const base::Machine& machine);

/// Reads decks and device files. Throws base::Error{usage}, also for what no device could run.
Inputs read_inputs(const Options& options);

/// Throws base::Error when a result file could not be written afterwards, or is written twice.
void require_writable(const Options& options, const Inputs& inputs);

/// Runs what is left of a study, point by point; in a sweep every point that is done is in the
/// journal, if there is one, and one that this machine cannot run is skipped. What ends a point or
/// the study early is in its outcome.
void run_points(report::Study& study, const RunPoint& run_point, report::Journal* journal,
                Terminal& terminal);

/// Writes all result files, then prints the verdicts; the journal goes when all that it has is in
/// result files. A file that cannot be written is an error of the last study. Returns the worst
/// exit code.
base::ExitCode finish(const Options& options, std::vector<report::Study>& studies,
                      report::Journal* journal, Terminal& terminal);

/// The journal of a sweep, next to its first result file; null: none. It has the points of an
/// interrupted run, which are done in the study then.
std::unique_ptr<report::Journal> open_journal(const Options& options, const Inputs& inputs,
                                              report::Study& study, Terminal& terminal);

/// --dry-run: every schedule, or the points of a sweep.
std::string dry_run(const Inputs& inputs);

}  // namespace overlap
