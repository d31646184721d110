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

/// The name of a host without case and without the number of its node, as lists may spell it.
std::string spelled(std::string name) {
  name.resize(std::min(name.find('#'), name.size()));
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

/// The name of a host without its domain.
std::string label(const std::string& name) { return name.substr(0, name.find('.')); }

/// What the ranks of one launch announce, and which have a result with one deck.
struct LaunchRanks {
  struct Node {
    int local_ranks = 0;  ///< as announced; 0: not
    std::set<DeviceId> devices;
    std::set<int> ranks, ranks_of_node;

    /// One per rank, unless ranks share a device.
    int found() const { return static_cast<int>(std::min(devices.size(), ranks.size())); }
  };
  std::string id;  ///< empty: unknown
  int ranks = 0;
  std::map<int, std::string> files;   ///< by rank
  std::map<std::string, Node> nodes;  ///< by host
  std::vector<FleetDevice*> devices;
  std::string doubt;  ///< why these cannot be the ranks of one launch, the first one found
};

/// The first numbers below `count` that were not found.
std::vector<int> numbers_without(int count, const auto& found) {
  std::vector<int> numbers;
  for (int number = 0; number < count && numbers.size() < most_ranks; ++number) {
    if (!found.contains(number)) numbers.push_back(number);
  }
  return numbers;
}

std::vector<MissingDevices> missing_of(const LaunchRanks& launch) {
  std::vector<MissingDevices> missing;
  std::int64_t others = launch.ranks;
  for (const auto& [host, node] : launch.nodes) {
    others -= std::max(node.local_ranks, node.found());
    if (node.found() >= node.local_ranks) continue;
    missing.push_back({.host = host,
                       .missing = node.local_ranks - node.found(),
                       .expected = node.local_ranks,
                       .local_ranks = numbers_without(node.local_ranks, node.ranks_of_node)});
  }
  if (others > 0) {
    missing.push_back(
        {.host = "", .missing = others, .expected = launch.ranks, .launch = launch.id});
  }
  // Of several, whose rank is whose is not known.
  if (missing.size() == 1) missing[0].ranks = numbers_without(launch.ranks, launch.files);
  return missing;
}

/// Adds a rank, and why it cannot be one of the launch.
void add_rank(FleetDevice& device, LaunchRanks& launch) {
  const int rank = *device.job->rank, ranks = *device.job->ranks;
  const auto [found, is_new] = launch.files.emplace(rank, device.file);
  std::string doubt;
  if (launch.id.empty()) {
    doubt =
        "unknown launch: its launcher does not tell it from others, so its ranks may be those of "
        "several; give --fleet";
  } else if (!is_new) {
    doubt = fmt::format("launch {}: found rank {} in {} and in {}", launch.id, rank, found->second,
                        device.file);
  } else if (launch.ranks > 0 && launch.ranks != ranks) {
    doubt = fmt::format("launch {}: found ranks of {} and of {}", launch.id, launch.ranks, ranks);
  }
  if (launch.doubt.empty()) launch.doubt = doubt;
  launch.ranks = std::max(launch.ranks, ranks);
  launch.devices.push_back(&device);
  LaunchRanks::Node& node = launch.nodes[device.host];
  node.devices.insert(device.device());
  node.ranks.insert(rank);
  if (!device.placement) return;
  node.local_ranks = std::max(node.local_ranks, device.placement->local_ranks);
  node.ranks_of_node.insert(device.placement->local_rank);
}

/// The launches of several ranks with each deck, by deck and launch.
std::map<std::array<std::string, 4>, LaunchRanks> launches_of(std::vector<FleetDevice>& devices) {
  std::map<std::array<std::string, 4>, LaunchRanks> launches;
  for (FleetDevice& device : devices) {
    if (!device.job || !device.job->rank || device.job->ranks.value_or(1) == 1) continue;
    const std::string id = device.job->launch.value_or("");
    LaunchRanks& launch = launches[{device.deck_name, device.subject.deck, device.criteria, id}];
    launch.id = id;
    add_rank(device, launch);
  }
  return launches;
}

}  // namespace

std::string text_of(const MissingDevices& missing) {
  const bool global = !missing.ranks.empty();
  const std::vector<int>& ranks = global ? missing.ranks : missing.local_ranks;
  const std::string count = fmt::format(
      "{} of {}{} without a result", missing.missing, base::counted(missing.expected, "device"),
      missing.launch.empty() ? "" : " of launch " + missing.launch);
  if (ranks.empty()) return count;
  return fmt::format("{}: {}rank{} {}{}", count, global ? "" : "local ",
                     ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "),
                     ranks.size() == most_ranks ? ", ..." : "");
}

void add_missing(const std::vector<ExpectedHost>& expected, Fleet& fleet) {
  std::map<std::pair<Natural, std::string>, MissingDevices> by_place;  // by host, else by launch
  const auto add = [&](MissingDevices missing) {
    MissingDevices& largest = by_place[{Natural{missing.host}, missing.launch}];
    if (largest.missing < missing.missing) largest = std::move(missing);
  };
  for (const auto& [key, launch] : launches_of(fleet.devices)) {
    for (MissingDevices& missing : missing_of(launch)) add(std::move(missing));
    for (FleetDevice* const device : launch.devices) {
      if (launch.doubt.empty()) break;
      device->reasons.push_back({base::ExitCode::inconclusive, launch.doubt, {}});
    }
  }
  std::map<std::string, std::map<std::string, std::set<DeviceId>>> hosts;  // by label
  for (const FleetDevice& device : fleet.devices) {
    hosts[label(spelled(device.host))][device.host].insert(device.device());
  }
  for (const auto& [name, count] : expected) {
    const std::string wanted = spelled(name);
    std::string found;
    std::int64_t devices = 0;
    for (const auto& [name_found, of_host] : hosts[label(wanted)]) {
      const std::string host = spelled(name_found);
      if (wanted != host && wanted != label(wanted) && host != label(host)) continue;
      found = name_found;
      devices += std::ssize(of_host);
    }
    if (devices > 0) {
      add({.host = found, .missing = count - devices, .expected = count});
    } else if (std::ranges::find(fleet.missing, name) == fleet.missing.end()) {
      fleet.missing.push_back(name);
    }
  }
  for (auto& [place, missing] : by_place) {
    if (missing.missing > 0) fleet.missing_devices.push_back(std::move(missing));
  }
}

}  // namespace overlap::results
