#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace overlap::base {

/// Reads a whole file that the user names: a regular file, or a descriptor that the process has
/// open
/// (/dev/stdin, /dev/fd/63 of a shell's <(command)). Other pipes and devices are errors, because
/// they may have no end. More than `most_bytes` is an error that names `allowed`, such as "a deck
/// in YAML". Throws Error{code}.
std::string read_file(const std::string& path, std::size_t most_bytes, const std::string& allowed,
                      ExitCode code);

}  // namespace overlap::base
