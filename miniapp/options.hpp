#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/writers.hpp"

namespace overlap {

/// A result file that is asked for.
struct Output {
  const report::Writer* writer;
  std::string path;
  std::optional<std::size_t> deck = {};  ///< that it is about; empty: all
};

/// What to do: run decks, or something with the results of earlier runs.
enum class Command { run, baseline, compare, merge };

/// The command line.
struct Options {
  Command command = Command::run;
  std::vector<std::string> results;  ///< baseline and merge: files or folders; compare: files
  std::string output;                ///< of baseline
  std::string json;                  ///< of compare and merge; empty: none
  std::string report;                ///< the same, and of fleets
  std::string csv;                   ///< of compare; empty: none
  bool side_by_side = false;         ///< compare judges nothing
  std::string to = "1";              ///< then: the column that ratios refer to
  std::string junit, node_check;     ///< of merge; empty: none
  std::string expected;              ///< file of hosts for merge; empty: none
  std::optional<double> below;       ///< of baseline and compare
  std::vector<std::string> decks;
  std::vector<std::string> overrides;  ///< of --set
  std::vector<Output> outputs;
  std::vector<std::string> predict;  ///< devices of --predict: no execution
  std::string device;                ///< the model's device for a real run; empty: measured
  std::string reference;             ///< file of --reference; empty: none
  std::string calibrate;             ///< file for this device's description; empty: none
  bool fleet = false;                ///< all ranks that the launcher started, as one
  bool list = false;
  bool resume = false;  ///< a sweep continues where it was interrupted
  bool dry_run = false;
  bool quiet = false;
  bool version = false;
  std::string help;                 ///< text to print instead of running; empty: run
  std::vector<std::string> kokkos;  ///< --kokkos-... arguments, for Kokkos itself
};

/// Throws base::Error{usage} for anything that is not in the contract.
Options parse_options(int argc, char** argv);

}  // namespace overlap
