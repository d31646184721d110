#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <span>
#include <tuple>

#include "results/fleet.hpp"

namespace overlap::results {
namespace {

void add_drivers(const std::vector<Device>& devices, Group& group) {
  std::map<std::string, std::vector<std::size_t>> by_driver;
  for (const std::size_t device : group.devices) {
    by_driver[devices[device].driver].push_back(device);
  }
  for (auto& [driver, users] : by_driver) group.drivers.push_back({driver, std::move(users), {}});
  std::ranges::stable_sort(group.drivers, std::ranges::greater{},
                           [](const DriverUse& use) { return use.devices.size(); });
  for (DriverUse& use : std::span(group.drivers).subspan(1)) {
    for (const std::size_t device : use.devices) use.units.push_back(devices[device].unit);
  }
}

void add_distributions(const std::vector<Device>& devices, Group& group) {
  std::map<FigureKey, std::vector<Standing>> by_key;
  std::set<FigureKey> incomparable;
  for (const std::size_t number : group.devices) {
    const Device& device = devices[number];
    for (const auto& [key, value, unjudgeable] : device.figures) {
      by_key[key].push_back({{number, device.host, device.unit}, value.median});
      if (!is_compared(device, key)) incomparable.insert(key);
    }
  }
  for (auto& [key, values] : by_key) {
    Distribution& made = group.distributions.emplace_back(distribution_of(key, std::move(values)));
    if (!incomparable.contains(key)) continue;
    made.slowest.clear();
    made.outliers.clear();
  }
}

/// Adds the sums over the devices of each node, per order.
void add_nodes(const std::vector<Device>& devices, Group& group) {
  std::map<std::pair<std::string, deck::Order>, NodeTotal> totals;
  for (const std::size_t number : group.devices) {
    const Device& device = devices[number];
    const DeviceFigure* const duplex =
        find(device, {deck::Phase::together, std::nullopt, deck::Metric::duplex_rate});
    for (const auto& [key, together, unjudgeable] : device.figures) {
      if (key.phase != deck::Phase::together || !key.order) continue;
      if (key.metric != deck::Metric::throughput) continue;
      const auto* const alone = find(device, {deck::Phase::alone, key.order, key.metric});
      if (alone == nullptr) continue;
      NodeTotal& node = totals[{natural_key(device.host), *key.order}];
      if (node.devices++ == 0) node = {device.host, *key.order, 1, 0, 0, 0};
      node.alone += alone->value.median;
      node.together += together.median;
      if (duplex == nullptr) node.bound.reset();
      if (node.bound) *node.bound += duplex->value.median;
    }
  }
  for (const auto& [key, node] : totals) group.nodes.push_back(node);
}

/// Adds a reason to the device of every slow outlier.
void add_outliers(const Group& group, std::vector<Device>& devices) {
  for (const Distribution& figure : group.distributions) {
    for (const Standing& outlier : figure.outliers) {
      if (!outlier.slow) continue;
      devices[outlier.device].reasons.push_back(
          {.code = base::ExitCode::performance,
           .text = fmt::format("{}: {}, {:.1f} % {} the median {} of {} devices",
                               name_with_phase(figure.key), spell(figure.key.metric, outlier.value),
                               100 * std::abs(outlier.off), outlier.off < 0 ? "below" : "above",
                               spell(figure.key.metric, figure.median), figure.devices),
           .phase = figure.key.phase});
    }
  }
}

}  // namespace

Distribution distribution_of(const FigureKey& key, std::vector<Standing> devices) {
  Distribution made{.key = key, .devices = static_cast<int>(devices.size())};
  std::vector<double> values;
  for (const Standing& device : devices) values.push_back(device.value);
  if (values.empty()) return made;
  made.median = base::median(values);
  made.mad = base::median_deviation(values, made.median);
  std::tie(made.min, made.max) = std::pair(std::ranges::min(values), std::ranges::max(values));
  if (!(made.median > 0)) return made;  // relative deviations are undefined

  const bool more = deck::row_of(key.metric).better == deck::Better::more;
  for (Standing& device : devices) {
    const double difference = device.value - made.median;
    device.off = device.value / made.median - 1;
    device.score =
        made.mad > 0 || difference == 0
            ? 0.6745 * difference / std::max(made.mad, std::numeric_limits<double>::min())
            : std::copysign(std::numeric_limits<double>::infinity(), difference);
    device.slow = more ? device.off < 0 : device.off > 0;
  }
  std::ranges::stable_sort(devices, {},
                           [&](const Standing& d) { return more ? d.value : -d.value; });
  const auto add = [&](const auto& sorted, bool slow) {
    std::ranges::copy_if(sorted, std::back_inserter(made.outliers), [&](const Standing& d) {
      return d.slow == slow && std::abs(d.score) > outlier_score && std::abs(d.off) > outlier_part;
    });
  };
  if (devices.size() >= least_for_outliers) {
    add(devices, true);
    add(std::views::reverse(devices), false);
  }
  devices.resize(std::min(devices.size(), most_slowest));
  made.slowest = std::move(devices);
  return made;
}

void add_groups(Fleet& fleet) {
  std::map<std::tuple<Subject, std::string, std::string, std::string>, std::size_t> numbers;
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) {
    const Device& device = fleet.devices[i];
    if (device.figures.empty()) continue;
    const auto [found, is_new] =
        numbers.emplace(std::tuple(device.machine, device.deck_name, device.criteria, device.build),
                        fleet.groups.size());
    if (is_new) {
      fleet.groups.push_back(
          {.machine = device.machine, .deck_name = device.deck_name, .build = device.build});
    }
    fleet.groups[found->second].devices.push_back(i);
  }
  for (Group& group : fleet.groups) {
    add_drivers(fleet.devices, group);
    add_distributions(fleet.devices, group);
    add_outliers(group, fleet.devices);
    add_nodes(fleet.devices, group);
  }
}

}  // namespace overlap::results
