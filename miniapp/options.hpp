#pragma once

#include <string>
#include <vector>

namespace overlap {

/// The command line.
struct Options {
  std::vector<std::string> decks;
  std::vector<std::string> overrides;  ///< of --set
  std::string json;                    ///< file name; empty: none
  std::string csv;                     ///< file name; empty: none
  std::vector<std::string> timelines;  ///< pictures' file names, .svg or .html
  std::string trace;                   ///< file name; empty: none
  std::vector<std::string> predict;    ///< devices of --predict: no execution
  std::string device;                  ///< the model's device for a real run; empty: measured
  std::string calibrate;               ///< file for this device's description; empty: none
  bool list = false;
  bool resume = false;  ///< a sweep goes on where it was interrupted
  bool dry_run = false;
  bool quiet = false;
  bool version = false;
  std::string help;                 ///< text to print instead of running; empty: run
  std::vector<std::string> kokkos;  ///< --kokkos-... arguments, for Kokkos itself
};

/// Throws base::Error{usage} for anything that is not in the contract.
Options parse_options(int argc, char** argv);

}  // namespace overlap
