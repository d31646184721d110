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
  Launch launch{.id = job->id.value_or("") + " " + job->step.value_or("") + " ",
                .rank = *job->rank,
                .ranks = *job->ranks};
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

/// Adds what the results of one device, oldest first, show together.
void add_histories(const std::vector<Device>& results, const Member& member, Fleet& fleet) {
  for (const DeviceFigure& figure : results.back().figures) {
    if (!is_compared(results.back(), figure.key)) continue;
    History history{member, figure.key, 0, {}, 0, figure.value.median};
    for (const Device& result : results) {
      const DeviceFigure* const found = find(result, figure.key);
      if (found == nullptr || history.results++ > 0) continue;
      history.since = result.started;
      history.first = found->value.median;
    }
    if (history.results > 1 && history.first > 0) fleet.histories.push_back(history);
  }
  Unsteady unsteady{member, results.back().deck_name, 0, static_cast<int>(results.size()), {}};
  for (std::size_t i = 0; i + 1 < results.size(); ++i) {
    if (verdict_of(exit_code_of(results[i])) != Verdict::fail) continue;
    if (exit_code_of(results[i + 1]) != base::ExitCode::pass) continue;
    ++unsteady.times;
    unsteady.last = results[i].started;
  }
  if (unsteady.times > 0) fleet.unsteady.push_back(unsteady);
}

/// Moves the newest result of each device and deck into the fleet, sorted by host and slot.
void add_devices(std::vector<Device> devices, Fleet& fleet) {
  std::map<std::array<std::string, 4>, std::vector<Device>> by_device;
  for (Device& device : devices) {
    by_device[{device.device(), device.deck_name, device.machine.deck, device.criteria}].push_back(
        std::move(device));
  }
  std::map<std::array<std::string, 6>, std::vector<Device>> sorted;
  for (auto& [key, results] : by_device) {
    std::ranges::sort(results, {},
                      [](const Device& result) { return std::tie(result.started, result.file); });
    const Device& newest = results.back();
    const std::array place = {natural_key(newest.host), natural_key(newest.slot),
                              natural_key(newest.unit), natural_key(newest.deck_name),
                              natural_key(newest.file), key[0] + key[2] + key[3]};
    sorted[place] = std::move(results);
  }
  for (auto& [key, results] : sorted) {
    fleet.superseded += results.size() - 1;
    add_histories(results, {fleet.devices.size(), results.back().host, results.back().unit}, fleet);
    fleet.devices.push_back(std::move(results.back()));
  }
}

/// Adds the start of their identity to the names of decks that have the same.
void tell_decks_apart(std::vector<Device>& devices) {
  std::map<std::string, std::set<std::string>> identities;  // by name
  for (const Device& device : devices) {
    identities[device.deck_name].insert(device.machine.deck);
  }
  for (Device& device : devices) {
    if (identities[device.deck_name].size() > 1) {
      device.deck_name += deck::mark_of(device.machine.deck);
    }
  }
}

/// See fleet_of().
void judge_by(const Reference& reference, Device& device) {
  // How much worse a figure may be, once per criterion; empty: the tolerance of the reference.
  std::map<FigureKey, std::vector<std::optional<double>>> wanted;
  std::set<FigureKey> due;  // those that need an entry
  for (const Reason& reason : device.reasons) {
    if (!reason.undecided) continue;
    due.insert(*reason.undecided);
    wanted[*reason.undecided];
  }
  std::erase_if(device.reasons, [](const Reason& reason) { return reason.undecided.has_value(); });
  for (const DeviceFigure& figure : device.figures) {
    const FigureKey& key = figure.key;
    for (const deck::Criterion& criterion : device.referenced) {
      if (criterion.metric != key.metric || !criterion.covers(key.order, key.phase)) continue;
      wanted[key].push_back(criterion.below);
      due.insert(key);
    }
    if (device.referenced.empty() && is_compared(device, key)) wanted[key].emplace_back();
  }
  bool judged = device.figures.empty();
  const auto add = [&](base::ExitCode code, std::string text, const FigureKey& key) {
    device.reasons.push_back({.code = code, .text = std::move(text), .phase = key.phase});
    judged = true;
  };
  using enum base::ExitCode;
  for (auto& [key, parts] : wanted) {
    if (parts.empty()) parts.emplace_back();
    const Subject subject = subject_of(device.machine, key);
    const Entry* const entry = find(reference, subject);
    const DeviceFigure* const figure = find(device, key);
    if (entry == nullptr) {
      if (due.contains(key)) add(inconclusive, missing_entry(reference, subject), key);
    } else if (figure == nullptr) {
      add(inconclusive, name_with_phase(key) + " was not measured", key);
    } else {
      for (const std::optional<double> below : parts) {
        Check check{.metric = key.metric, .order = key.order, .value = figure->value};
        limit_by(reference, *entry, below, check);
        check.reason = figure->unjudgeable;
        check.verdict = check.reason.empty() ? judge(check.value, check.at_least, check.limit)
                                             : Verdict::inconclusive;
        judged = true;
        if (decides(check)) add(code_of(check.metric, check.verdict), check_text(check), key);
      }
    }
  }
  if (judged) return;
  const std::string nothing =
      wanted.empty() ? reference.path +
                           " judges nothing: no criterion with a reference is about "
                           "a figure that was measured"
                     : missing_entry(reference, subject_of(device.machine, wanted.begin()->first));
  device.reasons.push_back({.code = inconclusive, .text = nothing, .phase = {}});
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
  device.criteria =
      base::sha256(deck.value("acceptance", Json()).dump() + deck.value("require", Json()).dump());
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

bool is_compared(const Device& device, const FigureKey& key) {
  const deck::MetricRow& row = deck::row_of(key.metric);
  if (key.metric == deck::Metric::time) {
    const DeviceFigure* const rate = find(device, {key.phase, key.order, deck::Metric::throughput});
    return rate == nullptr || rate->value.median <= 0;
  }
  return row.needs == deck::Needs::alone || (row.unit != "1" && row.needs != deck::Needs::health);
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
  tell_decks_apart(input.devices);
  add_devices(std::move(input.devices), fleet);
  if (reference != nullptr) {
    for (Device& device : fleet.devices) judge_by(*reference, device);
  }
  add_groups(fleet);
  return fleet;
}

std::string natural_key(const std::string& text) {
  constexpr std::string_view digits = "0123456789";
  std::string key;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(digits, at), text.size());
    if (end == at) {
      key += text[at++];
      continue;
    }
    const std::size_t number = std::min(text.find_first_not_of('0', at), end);
    key += '0';  // where digits sort
    key += static_cast<char>(end - number);
    key.append(text, number, end - number);
    at = end;
  }
  return key + '\0' + text;
}

}  // namespace overlap::results
