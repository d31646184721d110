#include "results/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <span>
#include <tuple>

#include "base/sha256.hpp"
#include "deck/fields.hpp"
#include "results/metrics.hpp"

namespace overlap::results {
namespace {

/// The text of a check with its phase.
std::string text_with_phase(const Check& check, const FigureKey& key) {
  const std::size_t colon = check.text.find(": ");
  return colon == std::string::npos ? check.text : name_with_phase(key) + check.text.substr(colon);
}

void add_reasons(const Result& result, Device& device) {
  using enum base::ExitCode;
  for (const Run& run : result.runs) {
    if (run.wrong)
      device.reasons.push_back({wrong_data, name(run) + " left wrong data", run.phase});
  }
  for (const Check& check : result.checks) {
    if (!decides(check)) continue;
    const FigureKey key{check.phase, check.order, check.metric};
    device.reasons.push_back(
        {code_of(check.metric, check.verdict), text_with_phase(check, key), check.phase});
    if (std::isnan(check.limit)) device.reasons.back().undecided = key;
  }
  if (!result.error.empty()) device.reasons.push_back({result.code, result.error, {}});
  if (result.interrupted) device.reasons.push_back({interrupted, "interrupted", {}});
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
    by_device[{device.device(), device.deck_name, device.subject.deck, device.criteria}].push_back(
        std::move(device));
  }
  std::map<std::pair<std::array<Natural, 5>, std::string>, std::vector<Device>> sorted;
  for (auto& [key, results] : by_device) {
    std::ranges::sort(results, {},
                      [](const Device& result) { return std::tie(result.started, result.file); });
    const Device& newest = results.back();
    const std::array place = {Natural{newest.host}, Natural{newest.slot}, Natural{newest.unit},
                              Natural{newest.deck_name}, Natural{newest.file}};
    sorted[{place, key[0] + key[2] + key[3]}] = std::move(results);
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
    identities[device.deck_name].insert(device.subject.deck);
  }
  for (Device& device : devices) {
    if (identities[device.deck_name].size() > 1) {
      device.deck_name += deck::mark_of(device.subject.deck);
    }
  }
}

/// See fleet_of().
void judge_by(const Reference& reference, Device& device) {
  // What the run left undecided is decided here, if it was measured.
  std::erase_if(device.reasons, [&](const Reason& reason) {
    return reason.undecided && find(device, *reason.undecided) != nullptr;
  });
  bool judged = device.figures.empty();
  std::string missing = reference.path +
                        " judges nothing: no criterion with a reference is about a figure that "
                        "was measured";
  const auto add = [&](base::ExitCode code, std::string text, std::optional<deck::Phase> phase) {
    device.reasons.push_back({code, std::move(text), phase});
    judged = true;
  };
  for (const auto& [key, value, unjudgeable] : device.figures) {
    // How much worse it may be, once per criterion; empty: the tolerance of the reference.
    std::vector<std::optional<double>> tolerances;
    for (const deck::Criterion& criterion : device.referenced) {
      if (criterion.judges(key.metric, key.order, key.phase)) tolerances.push_back(criterion.below);
    }
    if (device.referenced.empty() && is_compared(device, key)) tolerances.emplace_back();
    for (const std::optional<double> below : tolerances) {
      Check check{.metric = key.metric, .order = key.order, .value = value};
      limit_by(reference, subject_of(device.subject, key), below, check);
      if (!check.reason.empty()) {
        missing = check.reason;
        if (!device.referenced.empty()) add(base::ExitCode::inconclusive, missing, key.phase);
        break;
      }
      check.reason = unjudgeable;
      check.verdict =
          unjudgeable.empty() ? judge(value, check.at_least, check.limit) : Verdict::inconclusive;
      judged = true;
      if (decides(check)) add(code_of(check.metric, check.verdict), check_text(check), key.phase);
    }
  }
  if (!judged) add(base::ExitCode::inconclusive, missing, {});
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
  std::map<std::pair<Natural, deck::Order>, NodeTotal> totals;
  for (const std::size_t number : group.devices) {
    const Device& device = devices[number];
    const DeviceFigure* const duplex =
        find(device, {deck::Phase::together, std::nullopt, deck::Metric::duplex_rate});
    for (const auto& [key, together, unjudgeable] : device.figures) {
      if (key.phase != deck::Phase::together || !key.order) continue;
      if (key.metric != deck::Metric::throughput) continue;
      const auto* const alone = find(device, {deck::Phase::alone, key.order, key.metric});
      if (alone == nullptr) continue;
      NodeTotal& node = totals[{Natural{device.host}, *key.order}];
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
  std::vector<double> cores;
  for (const std::size_t device : group.devices) cores.push_back(devices[device].cores);
  const double usual = base::median(cores);
  for (const Distribution& figure : group.distributions) {
    for (const Standing& outlier : figure.outliers) {
      if (!outlier.slow) continue;
      Device& device = devices[outlier.device];
      device.reasons.push_back(
          {.code = base::ExitCode::performance,
           .text = fmt::format("{}: {}, {:.1f} % {} the median {} of {} devices",
                               name_with_phase(figure.key), spell(figure.key.metric, outlier.value),
                               100 * std::abs(outlier.off), outlier.off < 0 ? "below" : "above",
                               spell(figure.key.metric, figure.median), figure.devices),
           .phase = figure.key.phase});
      if (device.cores == usual) continue;
      device.reasons.back().text += fmt::format("; its process had {}, the median {:.4g}",
                                                base::cores_text(device.cores), usual);
    }
  }
}

/// Adds the groups of devices that have figures; a slow outlier becomes a reason of its device.
void add_groups(Fleet& fleet) {
  std::map<std::tuple<Subject, std::string, std::string, std::string, double>, std::size_t> numbers;
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) {
    const Device& device = fleet.devices[i];
    if (device.figures.empty()) continue;
    const double cores = device.on_host ? device.cores : 0;
    const auto [found, is_new] = numbers.emplace(
        std::tuple(device.subject, device.deck_name, device.criteria, device.build, cores),
        fleet.groups.size());
    if (is_new) {
      fleet.groups.push_back({.machine = device.subject,
                              .deck_name = device.deck_name,
                              .build = device.build,
                              .cores = cores});
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

}  // namespace

Device device_of(const Result& result) {
  Device device;
  static_cast<Origin&>(device) = origin(result);
  const base::BuildInfo& build = result.machine.build;
  device.build = build.version;
  if (!build.git_sha.empty()) device.build += " " + build.git_sha.substr(0, 12);
  device.job = result.machine.job;
  device.placement = result.machine.placement;
  device.cores = result.machine.host.usable_cores();
  device.on_host = !result.machine.device;
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

std::set<deck::Phase> phases_of(const Device& device) {
  std::set<deck::Phase> phases;
  for (const DeviceFigure& figure : device.figures) phases.insert(figure.key.phase);
  for (const Reason& reason : device.reasons) {
    if (reason.phase) phases.insert(*reason.phase);
  }
  if (phases.empty()) phases.insert(deck::Phase::alone);
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

base::ExitCode Fleet::exit_code() const {
  auto code =
      broken.empty() && !devices.empty() ? base::ExitCode::pass : base::ExitCode::runtime_error;
  if (!missing.empty() || !missing_devices.empty())
    code = base::worst(code, base::ExitCode::performance);
  for (const Device& device : devices) code = base::worst(code, exit_code_of(device));
  return code;
}

bool Fleet::several_decks() const {
  return std::ranges::any_of(
      devices, [&](const Device& device) { return device.deck_name != devices.front().deck_name; });
}

Fleet fleet_of(Fleet fleet, const std::vector<ExpectedHost>& expected, const Reference* reference) {
  add_missing(expected, fleet);
  std::vector<Device> devices = std::exchange(fleet.devices, {});
  tell_decks_apart(devices);
  add_devices(std::move(devices), fleet);
  if (reference != nullptr) {
    for (Device& device : fleet.devices) judge_by(*reference, device);
  }
  add_groups(fleet);
  return fleet;
}

std::strong_ordering Natural::operator<=>(const Natural& other) const {
  return strverscmp(text.c_str(), other.text.c_str()) <=> 0;
}

}  // namespace overlap::results
