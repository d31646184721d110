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
#include <tuple>

#include "base/launcher.hpp"
#include "base/sha256.hpp"
#include "base/units.hpp"
#include "deck/fields.hpp"
#include "results/metrics.hpp"

namespace overlap::results {
namespace {

/// Adds a check that decides; an unknown limit is a reason by itself.
void add_reason(const Check& check, FleetDevice& device) {
  const FigureKey& key = check.key;
  const bool open = std::isnan(check.limit);
  device.reasons.push_back({code_of(key.metric, check.verdict),
                            open ? check.reason : check_text(check).substr(name(key).size() + 2),
                            key.phase, name_with_phase(key)});
}

/// `judged`: a reference decides checks whose limit was unknown, if they were measured.
void add_reasons(const Result& result, bool judged, FleetDevice& device) {
  using enum base::ExitCode;
  for (const Point& point : result.points) {
    for (const Run& run : point.runs) {
      if (!run.wrong) continue;
      device.reasons.push_back({wrong_data, name(run) + " left wrong data", point.phase});
    }
    for (const Check& check : point.checks) {
      const bool open = judged && std::isnan(check.limit) && find(device, check.key) != nullptr;
      if (decides(check) && !open) add_reason(check, device);
    }
  }
  if (result.error) device.reasons.push_back({result.code, *result.error});
  if (result.interrupted()) device.reasons.push_back({interrupted, "interrupted"});
}

/// As base::worst(), but a node that fails comes before what says nothing about the hardware.
base::ExitCode worst_in_fleet(base::ExitCode a, base::ExitCode b) {
  using enum base::ExitCode;
  if (a != performance && b != performance) return base::worst(a, b);
  const base::ExitCode other = a == performance ? b : a;
  return other == runtime_error || other == precondition ? performance : base::worst(a, b);
}

/// Whether the value is on the worse side of the other.
bool is_worse(const DeviceFigure& figure, const DeviceFigure& other) {
  const double value = figure.value.median, than = other.value.median;
  return deck::row_of(figure.key.metric).better == deck::Better::more ? value < than : value > than;
}

/// Adds another result of a device. The worst one counts, of equal ones the first, with the reasons
/// of all and each figure's worst value.
void add_result(FleetDevice& device, FleetDevice other) {
  const auto code = exit_code_of(device), other_code = exit_code_of(other);
  std::vector<DeviceResult> results = std::move(device.results);
  if (results.empty()) results.push_back({device.file, device.started, code});
  results.push_back({other.file, other.started, other_code});
  if (worst_in_fleet(code, other_code) != code) std::swap(device, other);
  device.results = std::move(results);
  for (Reason& reason : other.reasons) {
    const auto same = std::ranges::find(device.reasons, reason);
    if (same == device.reasons.end()) device.reasons.push_back(std::move(reason));
  }
  for (const DeviceFigure& figure : other.figures) {
    const auto own = std::ranges::lower_bound(device.figures, figure.key, {}, &DeviceFigure::key);
    if (own == device.figures.end() || own->key != figure.key) {
      device.figures.insert(own, figure);
    } else if (is_worse(figure, *own)) {
      *own = figure;
    }
  }
}

/// Devices are alike if they have the same of this.
auto kind_of(const FleetDevice& device) {
  return std::tuple(device.subject, device.deck_name, device.criteria, device.build, device.cores);
}

/// Moves the devices into the fleet, one for all of its results with one deck and build, sorted by
/// host and slot.
void add_devices(std::vector<FleetDevice> devices, Fleet& fleet) {
  std::map<std::pair<DeviceId, decltype(kind_of(FleetDevice()))>, FleetDevice> by_device;
  for (FleetDevice& result : devices) {
    const auto [device, is_new] = by_device.try_emplace({result.device(), kind_of(result)});
    if (is_new) {
      device->second = std::move(result);
    } else {
      add_result(device->second, std::move(result));
    }
  }
  for (auto& [key, device] : by_device) fleet.devices.push_back(std::move(device));
  std::ranges::stable_sort(fleet.devices, {}, [](const FleetDevice& device) {
    return std::array{Natural{device.host}, Natural{device.slot}, Natural{device.unit},
                      Natural{device.deck_name}, Natural{device.file}};
  });
}

/// Gives the nodes of a launch that share a name different ones, and says so.
void tell_nodes_apart(Fleet& fleet) {
  std::map<std::string, std::vector<FleetDevice*>> launches;
  for (FleetDevice& device : fleet.devices) {
    if (device.job.launch) launches[*device.job.launch].push_back(&device);
  }
  std::set<std::string> notes;
  for (const auto& [launch, devices] : launches) {
    std::vector<base::Node> nodes;
    for (const FleetDevice* const device : devices)
      nodes.emplace_back(device->host, device->boot_id);
    const std::vector<std::string> names = base::node_names(nodes);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (devices[i]->host == names[i]) continue;
      notes.insert(fmt::format("{} is another node named {}: their boot ids differ", names[i],
                               devices[i]->host));
      devices[i]->host = names[i];
    }
  }
  fleet.notes.assign(notes.begin(), notes.end());
}

/// Adds the start of their identity to the names of decks that have the same.
void tell_decks_apart(std::vector<FleetDevice>& devices) {
  std::map<std::string, std::set<std::string>> identities;  // by name
  for (const FleetDevice& device : devices) {
    identities[device.deck_name].insert(device.subject.deck);
  }
  for (FleetDevice& device : devices) {
    if (identities[device.deck_name].size() > 1) {
      device.deck_name += deck::mark_of(device.subject.deck);
    }
  }
}

void add_distributions(const std::vector<FleetDevice>& devices, Group& group) {
  std::map<FigureKey, std::vector<Standing>> by_key;
  std::set<FigureKey> incomparable;
  for (const std::size_t number : group.devices) {
    const FleetDevice& device = devices[number];
    for (const auto& [key, value] : device.figures) {
      by_key[key].push_back({number, device.host, device.unit, value.median});
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
void add_nodes(const std::vector<FleetDevice>& devices, Group& group) {
  std::map<std::pair<Natural, deck::Order>, NodeTotal> totals;
  for (const std::size_t number : group.devices) {
    const FleetDevice& device = devices[number];
    const DeviceFigure* const duplex =
        find(device, {deck::Phase::together, std::nullopt, deck::Metric::duplex_rate});
    for (const auto& [key, together] : device.figures) {
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

/// Adds a reason to the device of every slow outlier; if there is no outlier, to the slowest and
/// the fastest of few devices that differ.
void add_outliers(const Group& group, std::vector<FleetDevice>& devices) {
  for (const Distribution& figure : group.distributions) {
    const auto value_of = [&](double value) { return spell(figure.key.metric, value); };
    const auto add = [&](const Standing& standing, base::ExitCode code, const std::string& text) {
      devices[standing.device].reasons.push_back(
          {code, text, figure.key.phase, name_with_phase(figure.key)});
    };
    const bool coarse = is_coarse(figure.key, figure.devices);
    for (const Standing& outlier : figure.outliers) {
      if (!outlier.slow) continue;
      add(outlier, base::ExitCode::performance,
          fmt::format("{}, {:.1f} % {} the median {} of {} devices{}", value_of(outlier.value),
                      100 * std::abs(outlier.off), outlier.off < 0 ? "below" : "above",
                      value_of(figure.median), figure.devices,
                      coarse ? "; coarse limit " + base::spell_part(coarse_part) : ""));
    }
    if (!coarse || !figure.outliers.empty() || figure.slowest.empty()) continue;
    const Standing &slow = figure.slowest.front(), &fast = figure.slowest.back();
    if (std::abs(slow.value / fast.value - 1) <= coarse_part) continue;
    for (const Standing& standing : {slow, fast}) {
      add(standing, base::ExitCode::inconclusive,
          fmt::format("{} devices from {} to {}, more than {} apart; too few to say which is right",
                      figure.devices, value_of(slow.value), value_of(fast.value),
                      base::spell_part(coarse_part)));
    }
  }
}

/// What comparing a group does not show, because it is small and no reference judges its devices.
std::string not_judged(const Group& group, const std::vector<FleetDevice>& devices) {
  const std::size_t n = group.devices.size();
  const auto is_judged = [&](std::size_t i) { return devices[i].referenced; };
  if (n >= least_for_outliers || std::ranges::all_of(group.devices, is_judged)) return "";
  if (n == 1) return "1 device: compared with no other; give --reference";
  return fmt::format("{} devices: outliers below {} are not judged; give --reference{}", n,
                     base::spell_part(coarse_part),
                     group.nodes.empty() ? "" : "; in phase together no outlier is judged");
}

/// Adds the groups of devices that have figures; a slow outlier becomes a reason of its device.
void add_groups(Fleet& fleet) {
  std::map<decltype(kind_of(FleetDevice())), std::size_t> numbers;
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) {
    const FleetDevice& device = fleet.devices[i];
    if (device.figures.empty()) continue;
    const auto [found, is_new] = numbers.emplace(kind_of(device), fleet.groups.size());
    if (is_new) {
      fleet.groups.push_back({.machine = device.subject,
                              .deck_name = device.deck_name,
                              .build = device.build,
                              .cores = device.cores});
    }
    fleet.groups[found->second].devices.push_back(i);
  }
  for (Group& group : fleet.groups) {
    add_distributions(fleet.devices, group);
    add_outliers(group, fleet.devices);
    add_nodes(fleet.devices, group);
    group.not_judged = not_judged(group, fleet.devices);
  }
}

/// See device_of().
void judge_by(const Reference& reference, const std::vector<Figure>& figures,
              const std::vector<deck::Criterion>& referenced, FleetDevice& device) {
  bool judged = device.figures.empty();
  std::string missing = reference.path +
                        " judges nothing: no criterion with a reference is about a figure that "
                        "was measured";
  for (const Figure& figure : figures) {
    if (!figure.judged || !figure.value) continue;
    const FigureKey& key = figure.key;
    // How much worse it may be, once per criterion; empty: the tolerance of the reference.
    std::vector<std::optional<double>> tolerances;
    for (const deck::Criterion& criterion : referenced) {
      if (criterion.judges(key.metric, key.order, key.phase)) tolerances.push_back(criterion.below);
    }
    if (referenced.empty() && is_compared(device, key)) tolerances.emplace_back();
    for (const std::optional<double> below : tolerances) {
      Check check{.key = key, .value = *figure.value};
      limit_by(reference, device.subject, device.deck_name, below, check);
      const bool known = check.reason.empty();
      if (!known) missing = check.reason;
      if (!known && referenced.empty()) break;
      if (known) check.reason = unjudgeable(figure);
      check.verdict = check.reason.empty() ? judge(check.value, check.at_least, check.limit)
                                           : Verdict::inconclusive;
      if (decides(check)) add_reason(check, device);
      judged = true;
      if (!known) break;
    }
  }
  if (!judged) device.reasons.push_back({base::ExitCode::inconclusive, missing});
}

}  // namespace

FleetDevice device_of(const Result& result, const Reference* reference) {
  FleetDevice device;
  static_cast<Origin&>(device) = origin(result);
  const base::BuildInfo& build = result.machine.build;
  device.build = build.version;
  if (!build.git_sha.empty()) device.build += " " + build.git_sha.substr(0, 12);
  device.boot_id = result.machine.host.boot_id;
  device.job = result.machine.job.value_or(base::Job());
  if (result.machine.placement) device.local_ranks = result.machine.placement->local_ranks;
  if (!result.machine.device) device.cores = result.machine.host.usable_cores();
  const Json& deck = result.deck.resolved;
  device.criteria =
      base::sha256(deck.value("acceptance", Json()).dump() + deck.value("require", Json()).dump());
  std::vector<deck::Criterion> referenced = criteria(result);
  std::erase_if(referenced, [](const deck::Criterion& one) { return !one.reference; });
  device.referenced = reference != nullptr || !referenced.empty();
  const std::vector<Figure> figures = figures_of(result);
  for (const Figure& figure : figures) {
    if (figure.judged && figure.value) device.figures.push_back({figure.key, *figure.value});
  }
  std::ranges::stable_sort(device.figures, {}, &DeviceFigure::key);
  add_reasons(result, reference != nullptr, device);
  if (reference != nullptr) judge_by(*reference, figures, referenced, device);
  return device;
}

const DeviceFigure* find(const FleetDevice& device, const FigureKey& key) {
  const auto figure = std::ranges::lower_bound(device.figures, key, {}, &DeviceFigure::key);
  return figure == device.figures.end() || figure->key != key ? nullptr : &*figure;
}

std::set<deck::Phase> phases_of(const FleetDevice& device) {
  std::set<deck::Phase> phases;
  for (const DeviceFigure& figure : device.figures) phases.insert(figure.key.phase);
  for (const Reason& reason : device.reasons) {
    if (reason.phase) phases.insert(*reason.phase);
  }
  if (phases.empty()) phases.insert(deck::Phase::alone);
  return phases;
}

base::ExitCode exit_code_of(const FleetDevice& device, std::optional<deck::Phase> phase) {
  auto code = base::ExitCode::pass;
  for (const Reason& reason : device.reasons) {
    const bool counts = !phase || !reason.phase || reason.phase == phase;
    if (counts) code = worst_in_fleet(code, reason.code);
  }
  return code;
}

bool is_compared(const FleetDevice& device, const FigureKey& key) {
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
  } else if (devices.size() > 2 && is_coarse(key, made.devices)) {
    std::ranges::copy_if(devices, std::back_inserter(made.outliers),
                         [](const Standing& d) { return d.slow && std::abs(d.off) > coarse_part; });
  }
  devices.resize(std::min(devices.size(), most_slowest));
  made.slowest = std::move(devices);
  return made;
}

base::ExitCode Fleet::exit_code() const {
  auto code =
      broken.empty() && !devices.empty() ? base::ExitCode::pass : base::ExitCode::runtime_error;
  if (!missing.empty()) code = worst_in_fleet(code, base::ExitCode::performance);
  for (const FleetDevice& device : devices) code = worst_in_fleet(code, exit_code_of(device));
  return code;
}

bool Fleet::several_decks() const {
  return std::ranges::any_of(devices, [&](const FleetDevice& device) {
    return device.deck_name != devices.front().deck_name;
  });
}

Fleet fleet_of(Fleet fleet, const std::vector<ExpectedHost>& expected) {
  std::ranges::stable_sort(fleet.devices, {}, &FleetDevice::file);
  tell_nodes_apart(fleet);
  add_missing(expected, fleet);
  std::vector<FleetDevice> devices = std::exchange(fleet.devices, {});
  tell_decks_apart(devices);
  add_devices(std::move(devices), fleet);
  add_groups(fleet);
  return fleet;
}

std::strong_ordering Natural::operator<=>(const Natural& other) const {
  return strverscmp(text.c_str(), other.text.c_str()) <=> 0;
}

}  // namespace overlap::results
