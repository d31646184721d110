#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace overlap::base {

/// The allowed word nearest to `found` by edit distance, ignoring case; swapping two adjacent
/// characters counts as one edit. Empty unless the distance is at most a third of the length of the
/// word (at least 1), so that only likely typing errors match.
std::optional<std::string> nearest(std::string_view found, std::span<const std::string> allowed);

}  // namespace overlap::base
