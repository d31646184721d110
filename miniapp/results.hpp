#pragma once

#include "options.hpp"
#include "print.hpp"

/// The commands that work on results of earlier runs; they need no device.
namespace overlap {

/// Throws base::Error.
base::ExitCode work_on_results(const Options& options, Terminal& terminal);

}  // namespace overlap
