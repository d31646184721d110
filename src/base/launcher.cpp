#include "base/launcher.hpp"

#include <cstdlib>
#include <limits>

#include "base/units.hpp"

namespace overlap::base {
namespace {

/// A number, or Slurm's list by node if it has one number for all nodes: "2(x8)".
std::optional<int> number_in(std::string_view variable) {
  if (variable.empty()) return std::nullopt;
  const char* const value = std::getenv(std::string(variable).c_str());
  const std::string text = value == nullptr ? "" : value;
  if (text.find(',') != text.npos) return std::nullopt;
  const auto count = parse_count(text.substr(0, text.find('(')));
  const bool fits = count && *count >= 0 && *count <= std::numeric_limits<int>::max();
  return fits ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

}  // namespace

std::string Launch::label() const { return ranks > 1 ? counted(*ranks, "rank") : "several ranks"; }

Launch launch() {
  Launch launch;
  for (const Launcher& launcher : launchers) {
    if (!launch.rank) launch.rank = number_in(launcher.rank);
  }
  for (const Launcher& launcher : launchers) {
    if (number_in(launcher.rank) != launch.rank) continue;  // an outer launch
    if (!launch.ranks) launch.ranks = number_in(launcher.size);
    if (!launch.local_rank) launch.local_rank = number_in(launcher.local_rank);
    if (!launch.local_ranks) launch.local_ranks = number_in(launcher.local_size);
  }
  return launch;
}

}  // namespace overlap::base
