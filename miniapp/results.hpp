#pragma once

#include "options.hpp"
#include "print.hpp"
#include "results/fleet.hpp"

/// The subcommands for results of earlier runs; they need no device.
namespace overlap {

/// Writes the files of a fleet and prints it. Files that cannot be written are broken files of it.
base::ExitCode finish(const std::vector<Output>& outputs, results::Fleet& fleet,
                      const Options& options, Terminal& terminal);

/// Runs baseline, compare, merge or show. Throws base::Error.
base::ExitCode work_on_results(const Options& options, Terminal& terminal);

}  // namespace overlap
