#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <set>

#include "base/units.hpp"
#include "results/fleet.hpp"

namespace overlap::results {
namespace {

/// The name of a host without its domain.
std::string label(const std::string& name) { return name.substr(0, name.find('.')); }

using Names = std::set<std::string>;

/// The ranks of one launch that have a result with one deck.
struct Launch {
  struct Node {
    int local_ranks = 0;  ///< as announced; 0: not
    Names devices;
    std::set<int> ranks, ranks_of_node;
  };
  std::string started;
  int ranks = 0;
  std::map<std::string, Node> nodes;  ///< by host
};

/// The first numbers below `count` that were not found.
std::vector<int> numbers_without(int count, const std::set<int>& found) {
  std::vector<int> numbers;
  for (int number = 0; number < count && numbers.size() < most_ranks; ++number) {
    if (!found.contains(number)) numbers.push_back(number);
  }
  return numbers;
}

std::vector<MissingDevices> missing_of(const Launch& launch) {
  std::vector<MissingDevices> missing;
  std::set<int> found;
  std::int64_t others = launch.ranks;
  for (const auto& [host, node] : launch.nodes) {
    found.insert(node.ranks.begin(), node.ranks.end());
    const auto devices = static_cast<int>(node.devices.size());
    others -= node.local_ranks > 0 ? node.local_ranks : std::ssize(node.ranks);
    if (devices >= node.local_ranks) continue;
    missing.push_back({.host = host,
                       .missing = node.local_ranks - devices,
                       .expected = node.local_ranks,
                       .local_ranks = numbers_without(node.local_ranks, node.ranks_of_node)});
  }
  if (others > 0) missing.push_back({.host = "", .missing = others, .expected = launch.ranks});
  // Of several, whose rank is whose is not known.
  if (missing.size() == 1) missing[0].ranks = numbers_without(launch.ranks, found);
  return missing;
}

/// The launches with one deck, by id, ranks and, where it has only one node, host.
using Launches = std::map<std::array<std::string, 3>, Launch>;

/// Whether a later launch found as many ranks on the host, or on one of the hosts.
bool is_superseded(const MissingDevices& missing, const Launch& launch, const Launches& launches) {
  const bool unknown = missing.host.empty();
  return std::ranges::any_of(launches | std::views::values, [&](const Launch& other) {
    if (other.started <= launch.started) return false;
    return std::ranges::any_of(other.nodes, [&](const auto& node) {
      const bool again = unknown ? launch.nodes.contains(node.first) : missing.host == node.first;
      return again && (unknown ? other.ranks : node.second.local_ranks) >= missing.expected;
    });
  });
}

std::map<std::array<std::string, 3>, Launches> launches_by_deck(
    const std::vector<Device>& devices) {
  std::map<std::array<std::string, 3>, Launches> by_deck;
  for (const Device& device : devices) {
    const auto [id, step, rank, ranks] = device.job.value_or(base::Job());
    if (!rank || ranks.value_or(1) == 1) continue;
    const base::Placement placement = device.placement.value_or(base::Placement());
    const int local_ranks = device.placement ? placement.local_ranks : 0;
    const bool one_node = *ranks <= local_ranks;
    Launch& launch = by_deck[{device.deck_name, device.subject.deck, device.criteria}]
                            [{id.value_or("") + " " + step.value_or("") + " " + placement.launch,
                              std::to_string(*ranks), one_node ? device.host : ""}];
    launch.started = std::max(launch.started, device.started);
    launch.ranks = *ranks;
    Launch::Node& node = launch.nodes[device.host];
    node.local_ranks = std::max(node.local_ranks, local_ranks);
    node.devices.insert(device.device());
    node.ranks.insert(*rank);
    node.ranks_of_node.insert(placement.local_rank);
  }
  return by_deck;
}

}  // namespace

std::string text_of(const MissingDevices& missing) {
  const bool global = !missing.ranks.empty();
  const std::vector<int>& ranks = global ? missing.ranks : missing.local_ranks;
  const std::string count = fmt::format("{} of {} without a result", missing.missing,
                                        base::counted(missing.expected, "device"));
  if (ranks.empty()) return count;
  return fmt::format("{}: {}rank{} {}{}", count, global ? "" : "local ",
                     ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "),
                     ranks.size() == most_ranks ? ", ..." : "");
}

void add_missing(const std::vector<ExpectedHost>& expected, Fleet& fleet) {
  std::map<std::pair<Natural, std::string>, MissingDevices> by_place;  // by host, else by launch
  const auto add = [&](MissingDevices missing, const std::string& launch) {
    MissingDevices& largest = by_place[{Natural{missing.host}, missing.host.empty() ? launch : ""}];
    if (largest.missing < missing.missing) largest = std::move(missing);
  };
  for (const auto& [deck, launches] : launches_by_deck(fleet.devices)) {
    for (const auto& [key, launch] : launches) {
      for (const MissingDevices& missing : missing_of(launch)) {
        if (!is_superseded(missing, launch, launches)) add(missing, key[0] + "\n" + key[1]);
      }
    }
  }
  std::map<std::string, std::map<std::string, Names>> hosts;  // by label
  for (const Device& device : fleet.devices) {
    hosts[label(device.host)][device.host].insert(device.device());
  }
  for (const auto& [name, count] : expected) {
    const auto denotes = [&, &wanted = name](const auto& host) {
      return wanted == host.first || wanted == label(wanted) || host.first == label(host.first);
    };
    const auto& alike = hosts[label(name)];
    const auto found = std::ranges::find_if(alike, denotes);
    if (found != alike.end()) {
      const auto missing = count - std::ssize(found->second);
      add({.host = found->first, .missing = missing, .expected = count}, "");
    } else if (std::ranges::find(fleet.missing, name) == fleet.missing.end()) {
      fleet.missing.push_back(name);
    }
  }
  for (const auto& [place, missing] : by_place) {
    if (missing.missing > 0) fleet.missing_devices.push_back(missing);
  }
}

}  // namespace overlap::results
