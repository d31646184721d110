#pragma once

#include <string>
#include <string_view>

namespace overlap::base {

/// SHA-256 of `data` (FIPS 180-4) as 64 hexadecimal digits.
std::string sha256(std::string_view data);

}  // namespace overlap::base
