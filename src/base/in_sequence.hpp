#pragma once

#include <cstddef>

namespace overlap::base {

/// Whether a table has one row per enumerator up to `last`, in their sequence.
constexpr bool in_sequence(const auto& rows, auto last) {
  std::size_t number = 0;
  for (const auto& row : rows) {
    if (static_cast<std::size_t>(row.value) != number++) return false;
  }
  return number == static_cast<std::size_t>(last) + 1;
}

}  // namespace overlap::base
