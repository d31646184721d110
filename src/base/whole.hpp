#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <optional>

namespace overlap::base {

/// The number as an integer of type T; empty if it has a fraction or is out of range. All numbers
/// from outside are converted here.
template <std::integral T>
std::optional<T> whole(double number) {
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);  // exact, unlike max()
  const double least = std::numeric_limits<T>::min();
  if (!(number >= least && number < end) || number != std::trunc(number)) return std::nullopt;
  return static_cast<T>(number);
}

}  // namespace overlap::base
