#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <optional>

namespace overlap::base {

/// The number as an integer: the only conversion of numbers from outside. Empty where it has a
/// fraction or is none of T.
template <std::integral T>
std::optional<T> whole(double number) {
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);  // exactly, unlike the most
  const double least = std::numeric_limits<T>::min();
  if (!(number >= least && number < end) || number != std::trunc(number)) return std::nullopt;
  return static_cast<T>(number);
}

}  // namespace overlap::base
