#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fleet/member.hpp"
#include "inputs.hpp"
#include "measure/session.hpp"
#include "names.hpp"
#include "options.hpp"
#include "print.hpp"
#include "report/journal.hpp"
#include "report/output_file.hpp"
#include "report/run_report.hpp"
#include "study.hpp"

namespace overlap {

/// Measures or predicts one point.
using RunPoint = std::function<results::Part(const Study&, const deck::Point&)>;

/// Resources of runs. Must outlive the error handling.
struct Machinery {
  std::optional<fleet::World> world;    ///< of --fleet
  std::optional<fleet::Member> member;  ///< of --fleet
  std::optional<measure::Session> session;
  measure::Bench bench;  ///< freed before the session
  report::Files files;   ///< locked until the end
  std::optional<base::Error>
      unusable;         ///< why nothing can run here; becomes the error of every point
  bool broken = false;  ///< an error ended the program

  /// Whether a regular shutdown would crash or hang: a lost device cannot be freed, and MPI waits
  /// for lost ranks.
  bool cannot_end() const {
    return (session && session->lost) || (world && (broken || !world->whole()));
  }
};

/// Creates the resources for the options, apart from the world. Throws base::Error{usage}; other
/// errors of this machine or rank are stored in `unusable` (without decks: thrown). If the ranks of
/// a fleet cannot meet, changes the options to those of one process.
void start(Options& options, const Inputs& inputs, Machinery& machinery, Terminal& terminal);

/// Writes the file of --calibrate, which the decks then use. With decks, errors are stored in
/// `unusable`.
void calibrate(const Options& options, Inputs& inputs, Machinery& machinery, Terminal& terminal);

/// The machine; without a session, without its device.
base::Machine machine_of(const Machinery& machinery);

/// The text of an option that runs nothing; else empty.
std::string answer(const Options& options);

/// A study of one of the decks that starts now.
Study new_study(const Inputs& inputs, std::size_t deck, const base::Machine& machine);

/// Stores an error that stands for all points of a study, and prints it.
void fail_first(Study& study, const base::Error& error, Terminal& terminal);

/// If an interrupt ended the study before the last one, marks the last one as interrupted before
/// its first point. Returns whether it did.
bool mark_interrupted(std::vector<Study>& studies);

/// The options with placeholders replaced in the names of the result files of this process. With
/// --fleet without the files about all ranks. Throws base::Error.
Options own_files(const Options& options, const Inputs& inputs, const FileNames& names);

/// Removes result files that cannot be written from the options, and makes the machinery unusable:
/// nothing runs, and the other files contain the error. Throws base::Error{usage} if a file would
/// overwrite another one of the command, and any error without a deck. `common`: the files about
/// all ranks.
void require_writable(Options& options, const Inputs& inputs,
                      const std::vector<std::pair<std::string, std::string>>& common,
                      Machinery& machinery);

/// Runs the remaining points of a study. In a sweep finished points go to the journal (null: none),
/// and points that this machine cannot run are skipped. Errors are stored in the outcome;
/// base::Error{usage} is thrown.
void run_points(Study& study, const RunPoint& run_point, report::Journal* journal,
                Terminal& terminal);

report::Results results_of(const std::vector<Study>& studies);

/// Writes all result files, prints the verdicts, and removes the journal if the result files are
/// complete. A file that cannot be written counts as an error of its deck's study, or of the last
/// one. Returns the worst exit code.
base::ExitCode finish(const Options& options, std::vector<Study>& studies, report::Journal* journal,
                      Terminal& terminal);

/// The journal of a sweep, next to its first result file; null: none. Restores the points of an
/// interrupted run into the study. One that cannot be opened makes the machinery unusable.
std::unique_ptr<report::Journal> open_journal(const Options& options, const Inputs& inputs,
                                              Study& study, Machinery& machinery,
                                              Terminal& terminal);

}  // namespace overlap
