#include "base/launcher.hpp"

#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "base/units.hpp"

namespace overlap::base {
namespace {

std::string text_in(std::string_view variable) {
  const char* const value = variable.empty() ? nullptr : std::getenv(std::string(variable).c_str());
  return value == nullptr ? "" : value;
}

/// A number, or Slurm's list by node if it has one number for all nodes: "2(x8)".
std::optional<int> number_in(std::string_view variable) {
  const std::string text = text_in(variable);
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
    const auto ranks = number_in(launcher.size);
    const bool is_outer = launch.ranks && ranks && *launch.ranks != *ranks;
    if (is_outer || number_in(launcher.rank) != launch.rank) continue;
    if (!launch.ranks) launch.ranks = ranks;
    if (!launch.local_rank) launch.local_rank = number_in(launcher.local_rank);
    if (!launch.local_ranks) launch.local_ranks = number_in(launcher.local_size);
    if (launch.id.empty()) launch.id = text_in(launcher.launch);
  }
  return launch;
}

std::vector<std::string> node_names(const std::vector<Node>& nodes) {
  std::map<std::string, std::set<std::string>> boots;
  for (const auto& [host, boot] : nodes) {
    if (!boot.empty()) boots[host].insert(boot);
  }
  std::vector<std::string> names;
  for (const auto& [host, boot] : nodes) {
    const std::set<std::string>& known = boots[host];
    const auto before = boot.empty() ? 0 : std::distance(known.begin(), known.find(boot));
    names.push_back(host + (before > 0 ? "#" + std::to_string(before + 1) : ""));
  }
  return names;
}

}  // namespace overlap::base
