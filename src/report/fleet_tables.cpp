#include "report/fleet_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/units.hpp"

namespace overlap::report {
namespace {

using deck::Phase;
using experiment::DeviceRecord;
using experiment::Distribution;
using experiment::FigureKey;
using experiment::Fleet;
using experiment::Group;
using experiment::Standing;

std::string words_of_value(double value, deck::Metric metric) {
  return deck::row_of(metric).unit == "s" ? base::format_seconds(value)
                                          : base::format_number(value);
}

bool is_compared(const Distribution& of) { return !of.slowest.empty(); }

/// Cuts a table to its first rows and says how many are missing; empty without any.
Rows cut(Rows rows, std::size_t most) {
  if (rows.size() == 1) return {};
  if (rows.size() <= most + 1) return rows;
  const std::size_t more = rows.size() - 1 - most;
  rows.resize(most + 1);
  rows.push_back({fmt::format("and {} more", more)});
  rows.back().resize(rows.front().size());
  return rows;
}

/// Node, slot and unit of a device, as the first cells of its row, and the others.
std::vector<std::string> row_of(const DeviceRecord& device,
                                const std::vector<std::string>& others = {}) {
  std::vector<std::string> row = {device.host, device.slot.empty() ? "-" : device.slot,
                                  device.unit};
  row.insert(row.end(), others.begin(), others.end());
  return row;
}

/// "throughput of by_engine, GB/s", "h2d_rate, GB/s".
std::string figure_words(const FigureKey& key) {
  const std::string_view unit = deck::row_of(key.metric).unit;
  return name_of(key) + (unit == "1" || unit == "s" ? "" : fmt::format(", {}", unit));
}

std::string phase_of(const FigureKey& key) { return std::string(deck::to_string(key.phase)); }

std::string spread(const Distribution& of) {
  return fmt::format("{:.2f} %", 100 * of.mad / of.median);
}

std::string device_words(const DeviceRecord& device) {
  return device.unit == device.host ? device.host : device.host + " " + device.unit;
}

std::string reasons(const DeviceRecord& device) {
  if (device.troubles.empty()) return "";
  const auto code = exit_code_of(device);
  const auto worst = std::ranges::find(device.troubles, code, &experiment::Trouble::code);
  const std::string text =
      worst == device.troubles.end() ? device.troubles.front().text : worst->text;
  const std::size_t more = device.troubles.size() - 1;
  return more == 0 ? text : fmt::format("{} (and {} more)", text, more);
}

/// The compared figures of all phases, once for all phases.
std::vector<FigureKey> columns_of(const Group& group) {
  std::vector<FigureKey> keys;
  for (const Distribution& of : group.distributions) {
    FigureKey key = of.key;
    key.phase = deck::Phase::alone;
    if (is_compared(of) && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

std::size_t hosts_in(const Fleet& fleet, const Group& group) {
  std::set<std::string_view> hosts;
  for (const std::size_t device : group.devices) hosts.insert(fleet.devices[device].host);
  return hosts.size();
}

}  // namespace

std::string host_words(const experiment::MissingDevices& missing) {
  return missing.host.empty() ? "unknown host" : missing.host;
}

std::string device_verdict(const DeviceRecord& device) {
  return std::string(deck::to_string(experiment::verdict_of(exit_code_of(device))));
}

bool several_decks(const Fleet& fleet) {
  return std::ranges::any_of(fleet.devices, [&](const DeviceRecord& device) {
    return device.deck_name != fleet.devices.front().deck_name;
  });
}

std::string group_words(const Fleet& fleet, const Group& group) {
  const experiment::Subject& of = group.machine;
  return fmt::format("{} on {}: {}, {}{}, deck {}, program {}",
                     base::counted(group.devices.size(), "device"),
                     base::counted(hosts_in(fleet, group), "host"), of.device,
                     of.link ? *of.link + ", " : "", of.backend, group.deck_name, group.build);
}

std::string summary_words(const Fleet& fleet) {
  std::set<std::pair<std::string_view, std::string_view>> devices, failing;  // host and unit
  for (const DeviceRecord& device : fleet.devices) {
    devices.emplace(device.host, device.unit);
    if (exit_code_of(device) != base::ExitCode::pass) failing.emplace(device.host, device.unit);
  }
  std::string words = fmt::format("{}: {}, {} not passed", base::counted(fleet.files, "file"),
                                  base::counted(devices.size(), "device"), failing.size());
  const auto add = [&](auto n, const char* what, const char* state) {
    if (n > 0) words += fmt::format(", {}{}", base::counted(n, what), state);
  };
  add(fleet.superseded, "older result", " of them");
  add(fleet.unsteady.size(), "device", " unsteady");
  add(fleet.missing.size(), "expected host", " missing");
  std::int64_t missing = 0;
  for (const experiment::MissingDevices& of : fleet.missing_devices) missing += of.missing;
  add(missing, "device", " missing");
  add(fleet.broken.size(), "file", " broken");
  add(fleet.left_out.size(), "file", " skipped");
  return words;
}

Rows device_rows(const Fleet& fleet, const Group& group) {
  const std::vector<FigureKey> columns = columns_of(group);
  Rows rows = {{"host", "slot", "device"}};
  for (const FigureKey& key : columns) {
    const bool is_usual = key.metric == deck::Metric::throughput && key.order;
    rows[0].push_back(is_usual ? std::string(deck::to_string(*key.order)) : figure_words(key));
  }
  rows[0].emplace_back("verdict");
  for (const std::size_t number : group.devices) {
    const DeviceRecord& device = fleet.devices[number];
    std::vector<std::string>& row = rows.emplace_back(row_of(device));
    for (FigureKey key : columns) {
      std::string cell;
      for (const auto& phase : deck::words<deck::Phase>) {
        key.phase = phase.value;
        const experiment::Figure* const figure = find(device, key);
        if (figure == nullptr) continue;
        cell += (cell.empty() ? "" : " / ") + words_of_value(figure->value.median, key.metric);
      }
      row.push_back(cell.empty() ? "-" : cell);
    }
    row.push_back(device_verdict(device));
  }
  return rows;
}

Rows distribution_rows(const Fleet& fleet, const Group& group) {
  Rows rows = {{"figure", "phase", "devices", "median", "MAD", "min", "max", "slowest"}};
  for (const Distribution& of : group.distributions) {
    if (!is_compared(of)) continue;
    const auto words = [&](double value) { return words_of_value(value, of.key.metric); };
    const Standing& last = of.slowest.front();
    rows.push_back({figure_words(of.key), phase_of(of.key), std::to_string(of.devices),
                    words(of.median), spread(of), words(of.min), words(of.max),
                    of.devices == 1
                        ? "-"
                        : fmt::format("{} ({})", device_words(fleet.devices[last.device]),
                                      base::format_change(last.off))});
  }
  return cut(std::move(rows), all_rows);
}

Rows phase_rows(const Group& group) {
  Rows rows = {{"figure", "alone", "MAD", "together", "MAD", "together / alone"}};
  for (const Distribution& alone : group.distributions) {
    FigureKey key = alone.key;
    if (!is_compared(alone) ||
        std::exchange(key.phase, deck::Phase::together) != deck::Phase::alone)
      continue;
    const auto together = std::ranges::find(group.distributions, key, &Distribution::key);
    if (together == group.distributions.end() || !is_compared(*together)) continue;
    rows.push_back({figure_words(key), words_of_value(alone.median, key.metric), spread(alone),
                    words_of_value(together->median, key.metric), spread(*together),
                    base::format_percent(together->median / alone.median)});
  }
  return cut(std::move(rows), all_rows);
}

Rows slowest_rows(const Fleet& fleet, const Group& group) {
  struct Slow {
    const Distribution* of = nullptr;
    Standing standing;
    double behind;  ///< the median, relative
  };
  std::vector<Slow> all;
  for (const Distribution& of : group.distributions) {
    const bool more = deck::row_of(of.key.metric).better == deck::Better::more;
    for (const Standing& standing : of.slowest) {
      const double behind = more ? -standing.off : standing.off;
      if (behind > 0) all.push_back({&of, standing, behind});
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Slow::behind);
  Rows rows = {{"slowest", "slot", "device", "figure", "phase", "value", "off median", "verdict"}};
  std::set<std::size_t> shown;  // each device once, by its worst figure
  for (const auto& [of, standing, behind] : all) {
    if (shown.size() == experiment::most_slowest || !shown.insert(standing.device).second) continue;
    const DeviceRecord& device = fleet.devices[standing.device];
    rows.push_back(row_of(device, {figure_words(of->key), phase_of(of->key),
                                   words_of_value(standing.value, of->key.metric),
                                   base::format_change(standing.off), device_verdict(device)}));
  }
  return cut(std::move(rows), all_rows);
}

Rows outlier_rows(const Fleet& fleet, const Group& group, std::size_t most, bool fast_only) {
  struct Outlying {
    const Distribution* of = nullptr;
    Standing standing;
    std::size_t figures = 0;
  };
  std::map<std::pair<bool, std::size_t>, Outlying> by_device;  // slow ones first
  for (const Distribution& of : group.distributions) {
    for (const Standing& standing : of.outliers) {
      if (standing.slow && fast_only) continue;
      Outlying& one = by_device[{!standing.slow, standing.device}];
      ++one.figures;
      if (one.of != nullptr && std::abs(standing.off) <= std::abs(one.standing.off)) continue;
      one.of = &of;
      one.standing = standing;
    }
  }
  Rows rows = {{fast_only ? "fast outlier" : "outlier", "slot", "device", "side", "figure", "phase",
                "value", "median", "off", "score", "figures"}};
  for (const auto& [key, one] : by_device) {
    const auto& [of, standing, figures] = one;
    rows.push_back(
        row_of(fleet.devices[standing.device],
               {standing.slow ? "slow" : "fast", figure_words(of->key), phase_of(of->key),
                words_of_value(standing.value, of->key.metric),
                words_of_value(of->median, of->key.metric), base::format_change(standing.off),
                std::isfinite(standing.score) ? fmt::format("{:.1f}", standing.score) : "-",
                std::to_string(figures)}));
  }
  return cut(std::move(rows), most);
}

Rows node_rows(const Group& group, std::size_t most) {
  std::vector<experiment::NodeTotal> nodes = group.nodes;
  std::ranges::stable_sort(nodes, {}, [](const auto& of) { return of.together / of.alone; });
  Rows rows = {
      {"node", "order", "devices", "sum alone", "together, GB/s", "of alone", "of duplex bound"}};
  for (const experiment::NodeTotal& node : nodes) {
    const auto part = [&](double of) { return base::format_percent(node.together / of); };
    rows.push_back({node.host, std::string(deck::to_string(node.order)),
                    std::to_string(node.devices), base::format_number(node.alone),
                    base::format_number(node.together), part(node.alone),
                    node.bound ? part(*node.bound) : "-"});
  }
  return cut(std::move(rows), most);
}

Rows driver_rows(const Fleet& fleet, const Group& group, std::size_t most) {
  Rows rows = {{"driver", "devices", "which"}};
  if (group.drivers.size() < 2) return {};
  for (std::size_t i = 0; i < group.drivers.size(); ++i) {
    const auto& [driver, devices] = group.drivers[i];
    std::string which;
    for (std::size_t j = 0; i > 0 && j < std::min(devices.size(), most); ++j) {
      which += (j > 0 ? ", " : "") + device_words(fleet.devices[devices[j]]);
    }
    if (i > 0 && devices.size() > most)
      which += fmt::format(", and {} more", devices.size() - most);
    rows.push_back({driver.empty() ? "unknown" : driver, std::to_string(devices.size()),
                    i == 0 ? "all others" : which});
  }
  return cut(std::move(rows), all_rows);
}

Rows trouble_rows(const Fleet& fleet, std::size_t most) {
  Rows rows = {{"not passed", "slot", "device", "verdict", "reason"}};
  const bool several = several_decks(fleet);
  for (const DeviceRecord& device : fleet.devices) {
    if (device.troubles.empty()) continue;
    rows.push_back(row_of(device, {device_verdict(device),
                                   (several ? device.deck_name + ": " : "") + reasons(device)}));
  }
  return cut(std::move(rows), most);
}

Rows missing_rows(const Fleet& fleet, std::size_t most) {
  Rows rows = {{"missing host"}};
  for (const std::string& host : fleet.missing) rows.push_back({host});
  return cut(std::move(rows), most);
}

Rows missing_device_rows(const Fleet& fleet, std::size_t most) {
  Rows rows = {{"missing devices", "how many"}};
  for (const experiment::MissingDevices& of : fleet.missing_devices) {
    rows.push_back({host_words(of), words(of)});
  }
  return cut(std::move(rows), most);
}

Rows broken_rows(const Fleet& fleet, std::size_t most) {
  Rows rows = {{"broken file"}};
  for (const experiment::BrokenFile& file : fleet.broken) rows.push_back({file.text});
  return cut(std::move(rows), most);
}

Rows unsteady_rows(const Fleet& fleet, std::size_t most) {
  Rows rows = {{"unsteady", "slot", "device", "failed, then passed", "results", "last failed"}};
  for (const experiment::Unsteady& of : fleet.unsteady) {
    rows.push_back(row_of(fleet.devices[of.device],
                          {std::to_string(of.times), std::to_string(of.results), of.last}));
  }
  return cut(std::move(rows), most);
}

Rows history_rows(const Fleet& fleet, std::size_t most) {
  std::vector<experiment::History> all = fleet.histories;
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const auto& of) { return std::abs(of.change()); });
  Rows rows = {{"drift", "slot", "device", "figure", "phase", "results", "since", "first", "last",
                "change"}};
  for (const experiment::History& of : all) {
    rows.push_back(
        row_of(fleet.devices[of.device],
               {figure_words(of.key), phase_of(of.key), std::to_string(of.results),
                of.since.substr(0, 10), words_of_value(of.first, of.key.metric),
                words_of_value(of.last, of.key.metric), base::format_change(of.change())}));
  }
  return cut(std::move(rows), most);
}

std::string histogram(const Fleet& fleet, const Group& group) {
  const Distribution* widest = nullptr;
  const auto width = [](const Distribution& of) { return (of.max - of.min) / of.median; };
  for (const Distribution& of : group.distributions) {
    if (!is_compared(of) || of.max <= of.min) continue;
    if (widest == nullptr || width(of) > width(*widest)) widest = &of;
  }
  if (widest == nullptr) return "";
  constexpr std::size_t bins = 12, longest = 50;
  std::array<std::size_t, bins> counts{};
  const double step = (widest->max - widest->min) / bins;
  for (const std::size_t device : group.devices) {
    const experiment::Figure* const figure = find(fleet.devices[device], widest->key);
    if (figure == nullptr) continue;
    const auto bin = static_cast<std::size_t>((figure->value.median - widest->min) / step);
    ++counts[std::min(bin, bins - 1)];
  }
  const std::size_t most = std::ranges::max(counts);
  Rows rows;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double from = widest->min + static_cast<double>(bin) * step;
    const std::size_t length = (counts[bin] * longest + most - 1) / most;  // 1 for any device
    rows.push_back({words_of_value(from, widest->key.metric),
                    counts[bin] == 0 ? "" : std::to_string(counts[bin]), std::string(length, '#')});
  }
  return fmt::format("{}, {}: number of devices per bin, by its lower end\n{}",
                     figure_words(widest->key), phase_of(widest->key), base::align(rows, false));
}

}  // namespace overlap::report
