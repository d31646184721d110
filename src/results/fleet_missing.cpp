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

/// The ranks of one launch with one deck.
struct LaunchRanks {
  struct Node {
    std::int64_t announced = 0, found = 0;
  };
  std::string id;                     ///< empty: unknown
  int ranks = 0;                      ///< as announced
  std::map<int, FleetDevice*> files;  ///< by rank
  std::set<int> found;                ///< ranks with a device of their own
  std::set<DeviceId> devices;         ///< of ranks; those after the first on one are not `found`
  std::map<std::string, Node> nodes;  ///< by host
  std::vector<FleetDevice*> members;
  std::string doubt;  ///< why these cannot be the ranks of one launch
};

void add_rank(FleetDevice& device, LaunchRanks& launch) {
  const int rank = *device.job.rank, ranks = *device.job.ranks;
  const auto [other, is_new] = launch.files.emplace(rank, &device);
  if (launch.id.empty()) {
    launch.doubt =
        "unknown launch: its launcher does not tell it from others, so its ranks may be those of "
        "several; give --fleet";
  } else if (!is_new) {
    launch.doubt = fmt::format("launch {}: found rank {} in {} and in {}", launch.id, rank,
                               other->second->file, device.file);
  } else if (!launch.members.empty() && launch.ranks != ranks) {
    launch.doubt =
        fmt::format("launch {}: found ranks of {} and of {}", launch.id, launch.ranks, ranks);
  }
  launch.ranks = std::max(launch.ranks, ranks);
  launch.members.push_back(&device);
  LaunchRanks::Node& node = launch.nodes[device.host];
  node.announced = std::max<std::int64_t>(node.announced, device.local_ranks);
  if (!launch.devices.insert(device.device()).second) return;
  ++node.found;
  launch.found.insert(rank);
}

/// Calls `add` for each host that lacks devices, and for the launch if others do.
void add_missing_of(const LaunchRanks& launch, const auto& add) {
  std::vector<int> ranks;
  for (int rank = 0; rank < launch.ranks && ranks.size() < most_ranks; ++rank) {
    if (!launch.found.contains(rank)) ranks.push_back(rank);
  }
  const std::int64_t all = launch.ranks - std::ssize(launch.found);
  std::int64_t others = all;
  for (const auto& [host, node] : launch.nodes) {
    const std::int64_t missing = std::max<std::int64_t>(0, node.announced - node.found);
    const bool may_be_others = missing < all && ranks.size() == most_ranks;  // the list ends early
    add(MissingDevices{host, "", missing, node.announced,
                       may_be_others ? std::vector<int>() : ranks});
    others -= missing;
  }
  add(MissingDevices{"", launch.id, others, launch.ranks, ranks});
}

}  // namespace

std::string text_of(const MissingDevices& missing) {
  const auto& [host, launch, count, expected, ranks] = missing;
  if (missing.whole_host()) return host + ": no result of this host";
  const std::string text =
      fmt::format("{}: {} of {}{} without a result", host.empty() ? "unknown host" : host, count,
                  base::counted(expected, "device"), launch.empty() ? "" : " of launch " + launch);
  if (ranks.empty()) return text;
  const bool of_others = count < std::ssize(ranks);
  return fmt::format("{}: {}rank{} {}{}", text, of_others ? "among " : "",
                     ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "),
                     ranks.size() == most_ranks ? ", ..." : "");
}

void add_missing(const std::vector<ExpectedHost>& expected, Fleet& fleet) {
  std::map<std::pair<Natural, std::string>, MissingDevices> by_place;  // by host, else by launch
  const auto add = [&](const MissingDevices& missing) {
    MissingDevices& largest = by_place[{Natural{missing.host}, missing.launch}];
    if (largest.missing < missing.missing) largest = missing;
  };
  std::map<std::array<std::string, 4>, LaunchRanks> launches;  // of several ranks, by deck
  std::map<std::string, std::map<std::string, std::set<DeviceId>>> hosts;  // by label
  for (FleetDevice& device : fleet.devices) {
    hosts[label(spelled(device.host))][device.host].insert(device.device());
    if (!device.job.rank || device.job.ranks.value_or(1) == 1) continue;
    const std::string id = device.job.launch.value_or("");
    LaunchRanks& launch = launches[{device.deck_name, device.subject.deck, device.criteria, id}];
    launch.id = id;
    add_rank(device, launch);
  }
  for (const auto& [key, launch] : launches) {
    add_missing_of(launch, add);
    for (FleetDevice* const device : launch.members) {
      if (!launch.doubt.empty()) {
        device->reasons.push_back({base::ExitCode::inconclusive, launch.doubt});
      }
    }
  }
  for (const auto& [name, count] : expected) {
    const std::string wanted = spelled(name);
    std::string found = name;
    std::int64_t devices = 0;
    for (const auto& [name_found, of_host] : hosts[label(wanted)]) {
      const std::string host = spelled(name_found);
      if (wanted != host && wanted != label(wanted) && host != label(host)) continue;
      found = name_found;
      devices += std::ssize(of_host);
    }
    add({found, "", count - devices, count});
  }
  for (const auto& [place, missing] : by_place) {
    if (missing.missing > 0) fleet.missing.push_back(missing);
  }
}

}  // namespace overlap::results
