#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/writers.hpp"

namespace overlap {

/// A requested result file.
struct Output {
  const report::Writer* writer;
  std::string path;
  std::optional<std::size_t> deck = {};  ///< index of its deck; empty: all decks
  bool taken = false;                    ///< locked, and can be written
};

inline bool is_json(const Output& output) { return output.writer->option == "--json"; }

/// The subcommand: run decks, or process results of earlier runs.
enum class Command { run, baseline, compare, merge, show };

inline constexpr const char* no_device = "none";  ///< --device: no predictions

/// The command line.
struct Options {
  Command command = Command::run;
  std::vector<std::string> results;  ///< baseline, compare, merge: files or folders; show: files
  std::string output;                ///< baseline: output file
  bool side_by_side = false;         ///< compare: show side by side, judge nothing
  std::string to = "1";              ///< compare, side by side: number of the reference column
  std::string expected;              ///< merge: file of expected hosts; empty: none
  std::optional<double> below;       ///< baseline, compare: relative tolerance
  bool common = false;               ///< compare: judge what both results have
  std::vector<std::string> decks;
  std::vector<std::string> overrides;  ///< values of --set
  std::vector<Output> outputs;
  std::vector<std::string> predict;  ///< devices of --predict; nothing is executed
  std::string device;                ///< predicts measured runs, or no_device; empty: as matches
  std::string reference;             ///< file of --reference; empty: none
  std::string calibrate;             ///< file of --calibrate; empty: none
  bool fleet = false;                ///< run all ranks of the launcher as a fleet
  bool list = false;
  bool resume = false;  ///< continue an interrupted sweep
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
  bool version = false;
  std::string help;                 ///< text to print instead of running; empty: run
  std::vector<std::string> kokkos;  ///< --kokkos-... arguments
};

/// Parses the command line. Throws base::Error{usage} for anything that is not documented.
Options parse_options(int argc, char** argv);

}  // namespace overlap
