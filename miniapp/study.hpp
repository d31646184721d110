#pragma once

#include <optional>
#include <vector>

#include "fleet/member.hpp"
#include "inputs.hpp"
#include "measure/session.hpp"
#include "options.hpp"
#include "print.hpp"
#include "report/output_file.hpp"
#include "report/reports.hpp"

namespace overlap {

/// Resources of runs. Must outlive the error handling.
struct Machinery {
  std::optional<fleet::Meetings> meetings;  ///< of --fleet
  std::optional<measure::Session> session;
  std::optional<fleet::Member> member;  ///< of --fleet; freed before the session
  report::Files files;                  ///< locked until the end
  bool broken = false;                  ///< an error ended the program

  /// Whether a regular shutdown would crash or hang: a lost device cannot be freed, and MPI waits
  /// for lost ranks.
  bool cannot_end() const {
    return (session && session->lost) || (meetings && (broken || !meetings->ended_in_order()));
  }
};

/// The machine; without a session, without its device.
base::Machine machine_of(const Machinery& machinery);

measure::Hooks progress_hooks(Terminal& terminal);

/// A deck while it runs: its points, and what they found so far.
struct Study {
  std::vector<deck::DeckPoint> points;
  results::Result result;
  std::string file = {};  ///< of a sweep: the result file that keeps its points; empty: none
  /// What the points that --resume took over share, as far as it is known with the device: name,
  /// value; empty: none were.
  std::vector<std::pair<const char*, describe::Json>> shared = {};
  bool ended = false;  ///< whether nothing will be added to the result
};

/// Whether no point is left to measure here.
bool is_over(const results::Result& result);

/// The studies of the decks, of which nothing ran yet.
std::vector<Study> new_studies(const Inputs& inputs, const base::Machine& machine);

/// The results so far, of all decks or one. Those that have not ended have the error "did not
/// finish".
report::Results results_of(const std::vector<Study>& studies, std::optional<std::size_t> deck = {});

/// The time as in result files.
std::string now_utc();

/// Runs the decks one after the other, and of a sweep the points that are left. Writes JSON files
/// after each point of a sweep, and all files with a deck when it ends, except streams; the last
/// deck's are left to the caller. Errors are stored in the results; base::Error{usage} is thrown.
/// The reports of a fleet are made from all ranks at the end. `error`: why nothing can run here; it
/// ends the first point of each deck.
void run_decks(const Options& options, const Inputs& inputs, std::vector<Study>& studies,
               Machinery& machinery, const std::optional<base::Error>& error, Terminal& terminal);

}  // namespace overlap
