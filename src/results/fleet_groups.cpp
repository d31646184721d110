#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <span>

#include "results/fleet.hpp"

namespace overlap::results {
namespace {

double score_of(double value, const Distribution& among) {
  const double difference = value - among.median;
  if (among.mad > 0) return 0.6745 * difference / among.mad;
  return difference == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), difference);
}

bool is_outlier(const Standing& standing) {
  return std::abs(standing.score) > outlier_score && std::abs(standing.off) > outlier_part;
}

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

struct FigureValues {
  std::vector<std::size_t> devices;
  std::vector<double> values;
  bool compared = true;
};

void add_distributions(const std::vector<Device>& devices, Group& group) {
  std::map<FigureKey, FigureValues> by_key;
  for (const std::size_t device : group.devices) {
    for (const DeviceFigure& figure : devices[device].figures) {
      FigureValues& all = by_key[figure.key];
      all.devices.push_back(device);
      all.values.push_back(figure.value.median);
      all.compared = all.compared && is_compared(devices[device], figure.key);
    }
  }
  for (const auto& [key, all] : by_key) {
    Distribution& made =
        group.distributions.emplace_back(distribution_of(key, all.devices, all.values));
    if (!all.compared) {
      made.slowest.clear();
      made.outliers.clear();
    }
    for (std::vector<Standing>* const standings : {&made.slowest, &made.outliers}) {
      for (Standing& standing : *standings) {
        standing.host = devices[standing.device].host;
        standing.unit = devices[standing.device].unit;
      }
    }
  }
}

/// Adds the sums over the devices of each node, per order.
void add_nodes(const std::vector<Device>& devices, Group& group) {
  std::map<std::pair<std::string, deck::Order>, NodeTotal> totals;
  for (const std::size_t number : group.devices) {
    const Device& device = devices[number];
    const DeviceFigure* const duplex =
        find(device, {deck::Phase::together, std::nullopt, deck::Metric::duplex_rate});
    for (const DeviceFigure& figure : device.figures) {
      const auto& [phase, order, metric] = figure.key;
      if (phase != deck::Phase::together || !order || metric != deck::Metric::throughput) continue;
      const DeviceFigure* const alone = find(device, {deck::Phase::alone, order, metric});
      if (alone == nullptr) continue;
      NodeTotal& node =
          totals
              .try_emplace({device.host, *order},
                           NodeTotal{.host = device.host, .order = *order, .bound = 0})
              .first->second;
      ++node.devices;
      node.alone += alone->value.median;
      node.together += figure.value.median;
      node.bound = duplex != nullptr && node.bound
                       ? std::optional(*node.bound + duplex->value.median)
                       : std::nullopt;
    }
  }
  for (const auto& [key, node] : totals) group.nodes.push_back(node);
  std::ranges::stable_sort(group.nodes, [](const NodeTotal& a, const NodeTotal& b) {
    return comes_before(a.host, b.host);
  });
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

Distribution distribution_of(const FigureKey& key, const std::vector<std::size_t>& numbers,
                             const std::vector<double>& values) {
  Distribution made{.key = key, .devices = static_cast<int>(values.size())};
  if (values.empty()) return made;
  made.median = base::median(values);
  made.min = std::ranges::min(values);
  made.max = std::ranges::max(values);
  made.mad = base::median_deviation(values, made.median);
  if (!(made.median > 0)) return made;  // relative deviations are undefined

  const bool more = deck::row_of(key.metric).better == deck::Better::more;
  std::vector<Standing> standings;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] / made.median - 1;
    standings.push_back({.device = numbers[i],
                         .host = {},
                         .unit = {},
                         .value = values[i],
                         .off = off,
                         .score = score_of(values[i], made),
                         .slow = more ? off < 0 : off > 0});
  }
  std::ranges::stable_sort(standings, [more](const Standing& a, const Standing& b) {
    return more ? a.value < b.value : a.value > b.value;
  });
  const auto shown = static_cast<std::ptrdiff_t>(std::min(standings.size(), most_slowest));
  made.slowest.assign(standings.begin(), standings.begin() + shown);
  if (values.size() < least_for_outliers) return made;
  std::ranges::copy_if(standings, std::back_inserter(made.outliers),
                       [](const Standing& s) { return s.slow && is_outlier(s); });
  std::reverse(standings.begin(), standings.end());
  std::ranges::copy_if(standings, std::back_inserter(made.outliers),
                       [](const Standing& s) { return !s.slow && is_outlier(s); });
  return made;
}

void add_groups(Fleet& fleet) {
  std::map<std::string, std::size_t> numbers;  // index of each group
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) {
    const Device& device = fleet.devices[i];
    if (device.figures.empty()) continue;
    const Subject& machine = device.machine;
    const auto [found, is_new] = numbers.emplace(
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", machine.device, machine.link.value_or(""),
                    machine.backend, device.deck_name, machine.deck, device.criteria, device.build),
        fleet.groups.size());
    if (is_new) {
      fleet.groups.push_back(
          {.machine = machine, .deck_name = device.deck_name, .build = device.build});
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
