#include "base/error.hpp"

#include <algorithm>
#include <array>

namespace overlap::base {

ExitCode worst(ExitCode a, ExitCode b) {
  constexpr std::array worst_first = {
      ExitCode::interrupted,   ExitCode::usage,        ExitCode::wrong_data,
      ExitCode::runtime_error, ExitCode::precondition, ExitCode::performance,
      ExitCode::inconclusive,  ExitCode::skipped,      ExitCode::pass};
  return std::find(worst_first.begin(), worst_first.end(), a) <
                 std::find(worst_first.begin(), worst_first.end(), b)
             ? a
             : b;
}

std::string to_string(const SourcePlace& place) {
  if (place.line == 0) return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

}  // namespace overlap::base
