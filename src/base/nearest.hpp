#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace overlap::base {

/// The allowed word nearest to `found` by edit distance (a swap of neighbours counts 1, case
/// nothing), if it is near enough to be a likely slip of the pen: at most a third of the word's
/// length, at least 1.
std::optional<std::string> nearest(std::string_view found, std::span<const std::string> allowed);

}  // namespace overlap::base
