#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fleet/member.hpp"
#include "measure/session.hpp"
#include "model/device.hpp"
#include "names.hpp"
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

/// What runs need. It outlives the handling of errors.
struct Machinery {
  std::optional<fleet::Member> member;  ///< of --fleet
  std::optional<measure::Session> session;
  std::optional<base::Error> unusable;  ///< why nothing can run here: the reason of every point
  bool broken = false;                  ///< an error ended the program

  /// Whether ending in order would fail with a stack trace, or never end: a lost device cannot be
  /// freed, and MPI waits for lost ranks.
  bool cannot_end() const {
    return (session && session->lost) || (member && (broken || !member->whole()));
  }
};

/// Makes what the options need. Throws base::Error{usage}; what else keeps this machine, or this
/// rank, from running becomes `unusable`.
void start(const Options& options, const Inputs& inputs, Machinery& machinery, Terminal& terminal);

/// The machine, without its device where there is no session.
base::Machine machine_of(const Machinery& machinery);

/// The text of an option that runs nothing; empty: there is none.
std::string answer(const Options& options);

/// The time as result files have it: "2026-01-31T12:00:00Z".
std::string now_utc();

/// How a device file came to be.
std::string calibration_note(const base::Machine& machine);

/// Reads decks and device files. Throws base::Error{usage}, also for what no device could run.
Inputs read_inputs(const Options& options);

/// The options with the result files of this process, {deck} and the like filled in. With --fleet
/// those of rank 0 about all ranks are left out, and checked there. Throws base::Error.
Options own_files(const Options& options, const Inputs& inputs, const FileNames& names);

/// Throws base::Error when a result file could not be written afterwards, or is written twice; a
/// rank's file that cannot be written makes it unusable.
void require_writable(const Options& options, const Inputs& inputs, Machinery& machinery);

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
