#pragma once

#include <functional>
#include <map>

#include "options.hpp"
#include "print.hpp"
#include "results/fleet.hpp"

/// The subcommands for results of earlier runs; they need no device.
namespace overlap {

/// A file that a command writes.
struct OutputFile {
  std::string_view option;
  std::string path;
  std::function<std::string()> text = {};
};
using Outputs = std::vector<OutputFile>;

/// What the files of some options hold.
using Texts = std::map<std::string_view, std::function<std::string()>>;

/// The files about a fleet, which must outlive them.
Texts texts_of(const results::Fleet& fleet);

/// Writes the files of a fleet and prints it. Files that cannot be written are broken files of it.
base::ExitCode finish(const Outputs& outputs, results::Fleet& fleet, const Options& options,
                      Terminal& terminal);

/// Runs baseline, compare, merge or show. Throws base::Error.
base::ExitCode work_on_results(const Options& options, Terminal& terminal);

}  // namespace overlap
