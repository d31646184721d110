#include "results/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/sha256.hpp"
#include "deck/fields.hpp"
#include "results/checks.hpp"
#include "results/consistent.hpp"

namespace overlap::results {
namespace {

/// Of a rank among others.
std::optional<Launch> launch_of(const base::Machine& machine) {
  const auto& [build, host, device, job, placement] = machine;
  if (!job || !job->rank || job->ranks.value_or(1) == 1) return {};
  Launch launch;
  launch.ranks = *job->ranks;
  launch.rank = *job->rank;
  launch.id = job->id.value_or("") + " " + job->step.value_or("") + " ";
  if (!placement) return launch;
  launch.local_ranks = placement->local_ranks;
  launch.local_rank = placement->local_rank;
  launch.id += placement->launch;
  return launch;
}

/// The text of a check with its phase.
std::string text_with_phase(const Check& check, const FigureKey& key) {
  const std::size_t colon = check.text.find(": ");
  return colon == std::string::npos ? check.text : name_with_phase(key) + check.text.substr(colon);
}

void add_reasons(const Result& result, Device& device) {
  for (const Run& run : result.runs) {
    if (!run.wrong) continue;
    device.reasons.push_back({.code = base::ExitCode::wrong_data,
                              .text = name(run) + " left wrong data",
                              .phase = run.phase});
  }
  for (const Check& check : result.checks) {
    if (!decides(check)) continue;
    const FigureKey key{check.phase, check.order, check.metric};
    Reason reason{.code = code_of(check.metric, check.verdict),
                  .text = text_with_phase(check, key),
                  .phase = check.phase};
    if (std::isnan(check.limit)) reason.undecided = key;
    device.reasons.push_back(std::move(reason));
  }
  if (!result.error.empty()) {
    device.reasons.push_back({.code = result.code, .text = result.error, .phase = {}});
  }
  if (result.interrupted) {
    device.reasons.push_back(
        {.code = base::ExitCode::interrupted, .text = "interrupted", .phase = {}});
  }
}

/// Compared figures over the results of one device, oldest first.
std::vector<History> histories_of(const std::vector<Device>& results) {
  std::vector<History> histories;
  for (const DeviceFigure& figure : results.back().figures) {
    if (!is_compared(results.back(), figure.key)) continue;
    History history{.key = figure.key, .last = figure.value.median};
    for (const Device& result : results) {
      const DeviceFigure* const found = find(result, figure.key);
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
Unsteady unsteadiness(const std::vector<Device>& results) {
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
void add_devices(std::vector<Device> devices, Fleet& fleet) {
  std::map<std::array<std::string, 4>, std::vector<Device>> by_device;
  for (Device& device : devices) {
    by_device[{device.device(), device.deck_name, device.machine.deck, device.criteria}].push_back(
        std::move(device));
  }
  struct Newest {
    Device device;
    std::vector<History> histories;
    Unsteady unsteady;
  };
  std::vector<Newest> newest;
  for (auto& [key, results] : by_device) {
    std::ranges::sort(results, {},
                      [](const Device& result) { return std::tie(result.started, result.file); });
    fleet.superseded += results.size() - 1;
    std::vector<History> histories = histories_of(results);
    Unsteady unsteady = unsteadiness(results);
    newest.push_back({std::move(results.back()), std::move(histories), std::move(unsteady)});
  }
  std::ranges::sort(newest, [](const Newest& a, const Newest& b) {
    using Part = std::string Device::*;
    for (const Part part : std::initializer_list<Part>{&Device::host, &Device::slot, &Device::unit,
                                                       &Device::deck_name, &Device::file}) {
      if (comes_before(a.device.*part, b.device.*part)) return true;
      if (comes_before(b.device.*part, a.device.*part)) return false;
    }
    return false;
  });
  for (auto& [device, histories, unsteady] : newest) {
    unsteady.device = fleet.devices.size();
    unsteady.host = device.host;
    unsteady.unit = device.unit;
    if (unsteady.times > 0) fleet.unsteady.push_back(std::move(unsteady));
    for (History& history : histories) {
      history.device = fleet.devices.size();
      history.host = device.host;
      history.unit = device.unit;
      fleet.histories.push_back(std::move(history));
    }
    fleet.devices.push_back(std::move(device));
  }
}

/// Adds the start of their identity to the names of decks that have the same.
void tell_decks_apart(std::vector<Device>& devices) {
  std::map<std::string, std::set<std::string>> identities;  // by name
  for (const Device& device : devices) {
    identities[device.deck_name].insert(device.machine.deck);
  }
  for (Device& device : devices) {
    if (identities[device.deck_name].size() == 1) continue;
    device.deck_name += deck::mark_of(device.machine.deck);
  }
}

}  // namespace

Device device_of(const Result& result) {
  Device device;
  static_cast<Origin&>(device) = origin(result);
  const base::BuildInfo& build = result.machine.build;
  device.build = build.version;
  if (!build.git_sha.empty()) device.build += " " + build.git_sha.substr(0, 12);
  device.launch = launch_of(result.machine);
  const Json& deck = result.deck.resolved;
  const Json none;
  const auto dumped = [&](const char* key) {
    return (deck.contains(key) ? deck.at(key) : none).dump();
  };
  device.criteria = base::sha256(dumped("acceptance") + dumped("require"));
  for (deck::Criterion& criterion : criteria(result)) {
    if (criterion.reference) device.referenced.push_back(std::move(criterion));
  }
  const Figures figures(result);
  for (const Figures::Row& row : figures.rows) {
    if (!row.judged || !row.value) continue;
    device.figures.push_back({row.key, *row.value, figures.unjudgeable(row)});
  }
  std::ranges::stable_sort(device.figures, {}, &DeviceFigure::key);
  add_reasons(result, device);
  return device;
}

const DeviceFigure* find(const Device& device, const FigureKey& key) {
  const auto figure = std::ranges::lower_bound(device.figures, key, {}, &DeviceFigure::key);
  return figure == device.figures.end() || figure->key != key ? nullptr : &*figure;
}

std::vector<deck::Phase> phases_of(const Device& device) {
  std::vector<deck::Phase> phases;
  for (const auto& word : deck::words<deck::Phase>) {
    const deck::Phase phase = word.value;
    const auto has = [&](const DeviceFigure& figure) { return figure.key.phase == phase; };
    const auto fails = [&](const Reason& reason) { return reason.phase == phase; };
    if (std::ranges::any_of(device.figures, has) || std::ranges::any_of(device.reasons, fails)) {
      phases.push_back(phase);
    }
  }
  if (phases.empty()) phases.push_back(deck::Phase::alone);
  return phases;
}

base::ExitCode exit_code_of(const Device& device, std::optional<deck::Phase> phase) {
  auto code = base::ExitCode::pass;
  for (const Reason& reason : device.reasons) {
    const bool counts = !phase || !reason.phase || reason.phase == phase;
    if (counts) code = base::worst(code, reason.code);
  }
  return code;
}

bool compares(deck::Metric metric) {
  const deck::MetricRow& row = deck::row_of(metric);
  if (row.needs == deck::Needs::health) return false;
  return row.unit != "1" || row.needs == deck::Needs::alone;
}

bool is_compared(const Device& device, const FigureKey& key) {
  if (key.metric != deck::Metric::time) return compares(key.metric);
  const DeviceFigure* const rate = find(device, {key.phase, key.order, deck::Metric::throughput});
  return rate == nullptr || rate->value.median <= 0;
}

base::ExitCode Fleet::exit_code() const {
  auto code =
      broken.empty() && !devices.empty() ? base::ExitCode::pass : base::ExitCode::runtime_error;
  if (!missing.empty() || !missing_devices.empty())
    code = base::worst(code, base::ExitCode::performance);
  for (const Device& device : devices) code = base::worst(code, exit_code_of(device));
  return code;
}

Fleet fleet_of(FleetInput input, const std::vector<ExpectedHost>& expected,
               const Reference* reference) {
  Fleet fleet;
  add_missing(input.devices, expected, fleet);
  fleet.files = input.files;
  fleet.broken = std::move(input.broken);
  fleet.left_out = std::move(input.left_out);
  add_devices(std::move(input.devices), fleet);
  tell_decks_apart(fleet.devices);
  for (Unsteady& unsteady : fleet.unsteady) {
    unsteady.deck_name = fleet.devices[unsteady.device].deck_name;
  }
  if (reference != nullptr) {
    for (Device& device : fleet.devices) judge_by(*reference, device);
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

}  // namespace overlap::results
