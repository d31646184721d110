#pragma once

#include "options.hpp"
#include "print.hpp"

/// The subcommands for results of earlier runs; they need no device.
namespace overlap {

/// Runs baseline, compare, merge or show. Throws base::Error.
base::ExitCode work_on_results(const Options& options, Terminal& terminal);

}  // namespace overlap
