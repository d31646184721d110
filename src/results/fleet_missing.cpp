#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/units.hpp"
#include "results/fleet.hpp"

namespace overlap::results {
namespace {

/// The name of a host without its domain.
std::string_view label(std::string_view name) { return name.substr(0, name.find('.')); }

/// Whether both names denote the same host; either may lack its domain.
bool is_host(std::string_view expected, std::string_view host) {
  return expected == host || expected == label(host) || label(expected) == host;
}

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
  std::map<int, Names> hosts;         ///< by rank
};

/// Without an id, launches on other nodes look like one: each rank then has as many hosts.
int launches_in(const FoundRanks& found) {
  std::size_t most = 1;
  for (const auto& [rank, hosts] : found.hosts) most = std::max(most, hosts.size());
  return static_cast<int>(most);
}

/// The first numbers below `count` for which `has` does not hold.
template <class Has>
std::vector<int> numbers_without(int count, const Has& has) {
  std::vector<int> numbers;
  for (int number = 0; number < count && numbers.size() < most_ranks; ++number) {
    if (!has(number)) numbers.push_back(number);
  }
  return numbers;
}

std::vector<MissingDevices> missing_of(const FoundRanks& found) {
  const int launches = launches_in(found);
  std::vector<MissingDevices> missing;
  std::int64_t others = std::int64_t{launches} * found.ranks;
  for (const auto& [host, node] : found.nodes) {
    const auto devices = static_cast<int>(node.devices.size());
    others -= node.local_ranks > 0 ? node.local_ranks : static_cast<int>(node.ranks.size());
    if (devices >= node.local_ranks) continue;
    const auto has = [&](int rank) { return node.ranks_of_node.contains(rank); };
    missing.push_back({.host = host,
                       .missing = node.local_ranks - devices,
                       .expected = node.local_ranks,
                       .local_ranks = numbers_without(node.local_ranks, has)});
  }
  if (others > 0) {
    missing.push_back(
        {.host = "", .missing = others, .expected = std::int64_t{launches} * found.ranks});
  }
  if (missing.size() != 1) return missing;  // whose rank is whose is not known
  missing[0].ranks = numbers_without(found.ranks, [&](int rank) {
    const auto hosts = found.hosts.find(rank);
    return hosts != found.hosts.end() && static_cast<int>(hosts->second.size()) == launches;
  });
  return missing;
}

/// Whether a later launch found as many ranks on the host, or on one of the hosts.
bool is_superseded(const FoundRanks& found, const std::string& host,
                   const std::vector<FoundRanks>& all) {
  return std::ranges::any_of(all, [&](const FoundRanks& other) {
    if (other.started <= found.started) return false;
    return std::ranges::any_of(found.nodes, [&](const auto& node) {
      const auto again = other.nodes.find(node.first);
      if (again == other.nodes.end() || (!host.empty() && node.first != host)) return false;
      return host.empty() ? other.ranks >= found.ranks
                          : again->second.local_ranks >= node.second.local_ranks;
    });
  });
}

/// The launches of each deck.
std::vector<std::vector<FoundRanks>> launches_by_deck(const std::vector<Device>& devices) {
  std::map<std::array<std::string, 3>, std::map<std::array<std::string, 3>, FoundRanks>> by_deck;
  for (const Device& device : devices) {
    if (!device.launch) continue;
    const Launch& launch = *device.launch;
    const bool one_node = launch.ranks <= launch.local_ranks;
    auto& launches = by_deck[{device.deck_name, device.machine.deck, device.criteria}];
    FoundRanks& found =
        launches[{launch.id, std::to_string(launch.ranks), one_node ? device.host : ""}];
    found.started = std::max(found.started, device.started);
    found.ranks = launch.ranks;
    found.hosts[launch.rank].insert(device.host);
    FoundRanks::Node& node = found.nodes[device.host];
    node.local_ranks = std::max(node.local_ranks, launch.local_ranks);
    node.devices.insert(device.device());
    node.ranks.insert(launch.rank);
    node.ranks_of_node.insert(launch.local_rank);
  }
  std::vector<std::vector<FoundRanks>> all;
  for (auto& [deck, launches] : by_deck) {
    std::vector<FoundRanks>& of_deck = all.emplace_back();
    for (auto& [key, found] : launches) of_deck.push_back(std::move(found));
  }
  return all;
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

void add_missing(const std::vector<Device>& devices, const std::vector<ExpectedHost>& expected,
                 Fleet& fleet) {
  std::map<std::string, MissingDevices> by_host;
  std::vector<MissingDevices>& all = fleet.missing_devices;
  const auto add = [&](MissingDevices missing) {
    if (missing.host.empty()) {
      if (std::ranges::find(all, missing) == all.end()) all.push_back(std::move(missing));
      return;
    }
    MissingDevices& known = by_host[missing.host];
    if (known.missing < missing.missing) known = std::move(missing);
  };
  for (const std::vector<FoundRanks>& launches : launches_by_deck(devices)) {
    for (const FoundRanks& found : launches) {
      for (MissingDevices& missing : missing_of(found)) {
        if (!is_superseded(found, missing.host, launches)) add(std::move(missing));
      }
    }
  }
  std::map<std::string, Names> hosts;
  for (const Device& device : devices) hosts[device.host].insert(device.device());
  std::multimap<std::string_view, const decltype(hosts)::value_type*> by_label;
  for (const auto& host : hosts) by_label.emplace(label(host.first), &host);
  std::set<std::string_view> known;
  for (const auto& [name, count] : expected) {
    const auto [first, last] = by_label.equal_range(label(name));
    const auto found = std::find_if(first, last, [&expected_name = name](const auto& host) {
      return is_host(expected_name, host.second->first);
    });
    if (found != last) {
      const auto& [host, having] = *found->second;
      add({.host = host,
           .missing = count - static_cast<std::int64_t>(having.size()),
           .expected = count});
    } else if (known.insert(name).second) {
      fleet.missing.push_back(name);
    }
  }
  for (auto& [host, missing] : by_host) {
    if (missing.missing > 0) all.push_back(std::move(missing));
  }
  std::ranges::stable_sort(all, [](const MissingDevices& a, const MissingDevices& b) {
    return comes_before(a.host, b.host);
  });
}

}  // namespace overlap::results
