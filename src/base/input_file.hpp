#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace overlap::base {

/// All of a file that the user names. It is a regular one, or what the process has open
/// (/dev/stdin, the /dev/fd/63 of a shell's <(command)): a pipe or a device by its own name may
/// have no end. `allowed` instead of more than `most_bytes`, for the error: "a deck in YAML".
/// Throws Error{code}.
std::string read_file(const std::string& path, std::size_t most_bytes, const std::string& allowed,
                      ExitCode code);

}  // namespace overlap::base
