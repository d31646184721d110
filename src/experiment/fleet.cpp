#include "experiment/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "deck/fields.hpp"

namespace overlap::experiment {
namespace {

/// Compared figures over the results of one device, oldest first.
std::vector<History> histories_of(const std::vector<DeviceRecord>& results) {
  std::vector<History> histories;
  for (const Figure& figure : results.back().figures) {
    if (!is_compared(results.back(), figure.key)) continue;
    History history{.key = figure.key, .last = figure.value.median};
    for (const DeviceRecord& result : results) {
      const Figure* const found = find(result, figure.key);
      if (found == nullptr) continue;
      if (history.results++ > 0) continue;
      history.since = result.started;
      history.first = found->value.median;
    }
    if (history.results > 1 && history.first > 0) histories.push_back(history);
  }
  return histories;
}

/// How often a result failed and the next one passed, oldest first.
Unsteady unsteadiness(const std::vector<DeviceRecord>& results) {
  Unsteady unsteady{.results = static_cast<int>(results.size())};
  for (std::size_t i = 0; i + 1 < results.size(); ++i) {
    if (verdict_of(exit_code_of(results[i])) != Verdict::fail) continue;
    if (exit_code_of(results[i + 1]) != base::ExitCode::pass) continue;
    ++unsteady.times;
    unsteady.last = results[i].started;
  }
  return unsteady;
}

/// Moves the newest result of each device and deck into the fleet, sorted by host and slot.
void add_devices(std::vector<DeviceRecord> records, Fleet& fleet) {
  std::map<std::array<std::string, 4>, std::vector<DeviceRecord>> by_device;
  for (DeviceRecord& record : records) {
    by_device[{record.device(), record.deck_name, record.machine.deck, record.criteria}].push_back(
        std::move(record));
  }
  struct Newest {
    DeviceRecord record;
    std::vector<History> histories;
    Unsteady unsteady;
  };
  std::vector<Newest> newest;
  for (auto& [key, results] : by_device) {
    std::ranges::sort(results, {}, [](const DeviceRecord& result) {
      return std::tie(result.started, result.file);
    });
    fleet.superseded += results.size() - 1;
    std::vector<History> histories = histories_of(results);
    Unsteady unsteady = unsteadiness(results);
    newest.push_back({std::move(results.back()), std::move(histories), std::move(unsteady)});
  }
  std::ranges::sort(newest, [](const Newest& a, const Newest& b) {
    using Part = std::string DeviceRecord::*;
    for (const Part part :
         std::initializer_list<Part>{&DeviceRecord::host, &DeviceRecord::slot, &DeviceRecord::unit,
                                     &DeviceRecord::deck_name, &DeviceRecord::file}) {
      if (comes_before(a.record.*part, b.record.*part)) return true;
      if (comes_before(b.record.*part, a.record.*part)) return false;
    }
    return false;
  });
  for (auto& [record, histories, unsteady] : newest) {
    unsteady.device = fleet.devices.size();
    if (unsteady.times > 0) fleet.unsteady.push_back(std::move(unsteady));
    for (History& history : histories) {
      history.device = fleet.devices.size();
      fleet.histories.push_back(std::move(history));
    }
    fleet.devices.push_back(std::move(record));
  }
}

/// Adds the start of their identity to the names of decks that have the same.
void tell_decks_apart(std::vector<DeviceRecord>& devices) {
  std::map<std::string, std::set<std::string>> identities;  // by name
  for (const DeviceRecord& device : devices) {
    identities[device.deck_name].insert(device.machine.deck);
  }
  for (DeviceRecord& device : devices) {
    if (identities[device.deck_name].size() == 1) continue;
    device.deck_name += deck::mark_of(device.machine.deck);
  }
}

}  // namespace

std::string name_of(const FigureKey& key) {
  const std::string metric(deck::to_string(key.metric));
  return key.order ? fmt::format("{} of {}", metric, deck::to_string(*key.order)) : metric;
}

std::string words(const FigureKey& key) {
  return fmt::format("{}, {}", name_of(key), deck::to_string(key.phase));
}

const Figure* find(const DeviceRecord& record, const FigureKey& key) {
  const auto figure = std::ranges::lower_bound(record.figures, key, {}, &Figure::key);
  return figure == record.figures.end() || figure->key != key ? nullptr : &*figure;
}

std::vector<deck::Phase> phases_of(const DeviceRecord& record) {
  std::vector<deck::Phase> phases;
  for (const auto& word : deck::words<deck::Phase>) {
    const deck::Phase phase = word.value;
    const auto has = [&](const Figure& figure) { return figure.key.phase == phase; };
    const auto fails = [&](const Trouble& trouble) { return trouble.phase == phase; };
    if (std::ranges::any_of(record.figures, has) || std::ranges::any_of(record.troubles, fails)) {
      phases.push_back(phase);
    }
  }
  if (phases.empty()) phases.push_back(deck::Phase::alone);
  return phases;
}

base::ExitCode exit_code_of(const DeviceRecord& record, std::optional<deck::Phase> phase) {
  auto code = base::ExitCode::pass;
  for (const Trouble& trouble : record.troubles) {
    const bool counts = !phase || !trouble.phase || trouble.phase == phase;
    if (counts) code = base::worst(code, trouble.code);
  }
  return code;
}

bool compares(deck::Metric metric) {
  const deck::MetricRow& row = deck::row_of(metric);
  if (row.needs == deck::Needs::health) return false;
  return row.unit != "1" || row.needs == deck::Needs::alone;
}

bool is_compared(const DeviceRecord& record, const FigureKey& key) {
  if (key.metric != deck::Metric::time) return compares(key.metric);
  const Figure* const rate = find(record, {key.phase, key.order, deck::Metric::throughput});
  return rate == nullptr || rate->value.median <= 0;
}

base::ExitCode Fleet::exit_code() const {
  auto code =
      broken.empty() && !devices.empty() ? base::ExitCode::pass : base::ExitCode::runtime_error;
  if (!missing.empty() || !missing_devices.empty())
    code = base::worst(code, base::ExitCode::performance);
  for (const DeviceRecord& device : devices) code = base::worst(code, exit_code_of(device));
  return code;
}

Fleet fleet_of(FleetInput input, const std::vector<ExpectedHost>& expected,
               const Reference* reference) {
  Fleet fleet;
  add_missing(input.records, expected, fleet);
  fleet.files = input.files;
  fleet.broken = std::move(input.broken);
  fleet.left_out = std::move(input.left_out);
  add_devices(std::move(input.records), fleet);
  tell_decks_apart(fleet.devices);
  if (reference != nullptr) {
    for (DeviceRecord& device : fleet.devices) judge_by(*reference, device);
  }
  add_groups(fleet);
  return fleet;
}

bool comes_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](std::string_view text) {  // digits without leading zeros
    const auto end = std::ranges::find_if_not(text, is_digit);
    std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return std::tuple(digits.size(), digits, static_cast<std::size_t>(end - text.begin()));
  };
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    std::size_t skip_a = 1, skip_b = 1;
    if (is_digit(a[0]) && is_digit(b[0])) {
      const auto [size_a, digits_a, all_a] = number(a);
      const auto [size_b, digits_b, all_b] = number(b);
      const auto order = std::tie(size_a, digits_a) <=> std::tie(size_b, digits_b);
      if (order != 0) return order < 0;
      skip_a = all_a;
      skip_b = all_b;
    } else if (a[0] != b[0]) {
      return a[0] < b[0];
    }
    a.remove_prefix(skip_a);
    b.remove_prefix(skip_b);
  }
  return a.empty() != b.empty() ? a.empty() : whole_a < whole_b;
}

}  // namespace overlap::experiment
