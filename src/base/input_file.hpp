#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace overlap::base {

/// Reads a whole file. A folder and more than `most_bytes` are errors that name `allowed`, such as
/// "a deck in YAML". Throws Error{code}.
std::string read_file(const std::string& path, std::size_t most_bytes, const std::string& allowed,
                      ExitCode code);

}  // namespace overlap::base
