#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "base/units.hpp"
#include "results/fleet.hpp"

namespace overlap::results {
namespace {

/// The name of a host without its domain.
std::string_view label(std::string_view name) { return name.substr(0, name.find('.')); }

using Names = std::set<std::string>;

/// The ranks of one launch that have a result with one deck.
struct FoundRanks {
  struct Node {
    int local_ranks = 0;  ///< as announced; 0: not
    Names devices;
    std::set<int> ranks, ranks_of_node;
  };
  std::string started;
  int ranks = 0;
  std::map<std::string, Node> nodes;  ///< by host
};

/// The first numbers below `count` for which `has` does not hold.
std::vector<int> numbers_without(int count, const std::function<bool(int)>& has) {
  std::vector<int> numbers;
  for (int number = 0; number < count && numbers.size() < most_ranks; ++number) {
    if (!has(number)) numbers.push_back(number);
  }
  return numbers;
}

std::vector<MissingDevices> missing_of(const FoundRanks& found) {
  // Without an id, launches on other nodes look like one: each rank then has as many hosts.
  int launches = 1;
  std::map<int, int> hosts;  // by rank
  for (const auto& [host, node] : found.nodes) {
    for (const int rank : node.ranks) launches = std::max(launches, ++hosts[rank]);
  }
  std::vector<MissingDevices> missing;
  const std::int64_t expected = std::int64_t{launches} * found.ranks;
  std::int64_t others = expected;
  for (const auto& [host, node] : found.nodes) {
    const auto devices = static_cast<int>(node.devices.size());
    others -= node.local_ranks > 0 ? node.local_ranks : static_cast<int>(node.ranks.size());
    if (devices >= node.local_ranks) continue;
    const auto has = [&](int rank) { return node.ranks_of_node.contains(rank); };
    missing.push_back({host,
                       node.local_ranks - devices,
                       node.local_ranks,
                       {},
                       numbers_without(node.local_ranks, has)});
  }
  if (others > 0) missing.push_back({.host = "", .missing = others, .expected = expected});
  if (missing.size() != 1) return missing;  // whose rank is whose is not known
  missing[0].ranks =
      numbers_without(found.ranks, [&](int rank) { return hosts[rank] == launches; });
  return missing;
}

/// The launches with one deck, by id, ranks and, where it has only one node, host.
using Launches = std::map<std::array<std::string, 3>, FoundRanks>;

/// Whether a later launch found as many ranks on the host, or on one of the hosts.
bool is_superseded(const FoundRanks& found, const std::string& host, const Launches& all) {
  return std::ranges::any_of(all, [&](const auto& launch) {
    const FoundRanks& other = launch.second;
    if (other.started <= found.started) return false;
    return std::ranges::any_of(found.nodes, [&](const auto& node) {
      const auto again = other.nodes.find(node.first);
      if (again == other.nodes.end() || (!host.empty() && node.first != host)) return false;
      return host.empty() ? other.ranks >= found.ranks
                          : again->second.local_ranks >= node.second.local_ranks;
    });
  });
}

std::map<std::array<std::string, 3>, Launches> launches_by_deck(
    const std::vector<Device>& devices) {
  std::map<std::array<std::string, 3>, Launches> by_deck;
  for (const Device& device : devices) {
    const auto [id, step, rank, ranks] = device.job.value_or(base::Job());
    if (!rank || ranks.value_or(1) == 1) continue;
    const int local_ranks = device.placement ? device.placement->local_ranks : 0;
    const std::string launch = id.value_or("") + " " + step.value_or("") + " " +
                               (device.placement ? device.placement->launch : "");
    const bool one_node = *ranks <= local_ranks;
    FoundRanks& found = by_deck[{device.deck_name, device.machine.deck, device.criteria}]
                               [{launch, std::to_string(*ranks), one_node ? device.host : ""}];
    found.started = std::max(found.started, device.started);
    found.ranks = *ranks;
    FoundRanks::Node& node = found.nodes[device.host];
    node.local_ranks = std::max(node.local_ranks, local_ranks);
    node.devices.insert(device.device());
    node.ranks.insert(*rank);
    node.ranks_of_node.insert(device.placement ? device.placement->local_rank : 0);
  }
  return by_deck;
}

}  // namespace

std::string text_of(const MissingDevices& missing) {
  const bool global = !missing.ranks.empty();
  const std::vector<int>& ranks = global ? missing.ranks : missing.local_ranks;
  const std::string what = fmt::format("{} of {} without a result", missing.missing,
                                       base::counted(missing.expected, "device"));
  if (ranks.empty()) return what;
  return fmt::format("{}: {}rank{} {}{}", what, global ? "" : "local ",
                     ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "),
                     ranks.size() == most_ranks ? ", ..." : "");
}

void add_missing(const std::vector<ExpectedHost>& expected, Fleet& fleet) {
  std::map<std::pair<Natural, std::string>, MissingDevices> all;  // by host, else by launch
  const auto add = [&](MissingDevices missing, const std::string& launch) {
    MissingDevices& known = all[{Natural{missing.host}, missing.host.empty() ? launch : ""}];
    if (known.missing < missing.missing) known = std::move(missing);
  };
  for (const auto& [deck, launches] : launches_by_deck(fleet.devices)) {
    for (const auto& [key, found] : launches) {
      for (const MissingDevices& missing : missing_of(found)) {
        if (!is_superseded(found, missing.host, launches)) add(missing, key[0] + "\n" + key[1]);
      }
    }
  }
  std::map<std::string_view, std::map<std::string, Names>> hosts;  // by label
  for (const Device& device : fleet.devices) {
    hosts[label(device.host)][device.host].insert(device.device());
  }
  std::set<std::string_view> known;
  for (const auto& [name, count] : expected) {
    const auto denotes = [&, &wanted = name](const auto& host) {
      return wanted == host.first || wanted == label(wanted) || host.first == label(host.first);
    };
    const auto& alike = hosts[label(name)];
    const auto found = std::ranges::find_if(alike, denotes);
    if (found != alike.end()) {
      const auto missing = count - std::ssize(found->second);
      add({.host = found->first, .missing = missing, .expected = count}, "");
    } else if (known.insert(name).second) {
      fleet.missing.push_back(name);
    }
  }
  for (const auto& [place, missing] : all) {
    if (missing.missing > 0) fleet.missing_devices.push_back(missing);
  }
}

}  // namespace overlap::results
