#include "results/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/units.hpp"
#include "results/checks.hpp"
#include "results/describe.hpp"

namespace overlap::results {
namespace {

/// The link of the device: while awake, if that was recorded.
std::optional<std::string> link_of(const Result& result) {
  const DeviceSamples* const together = result.together ? &result.together->device : nullptr;
  for (const DeviceSamples* const device : {&result.device, together}) {
    if (device == nullptr || !device->health) continue;
    return base::spell_link(device->health->after.pcie_gen, device->health->after.pcie_width);
  }
  return subject_of(result.machine).link;
}

/// The leaves of nested objects by their dotted keys.
void flatten(const Json& json, const std::string& key, Keys& into) {
  if (!json.is_object()) {
    into[base::one_line(key)] = json.is_null() ? "-" : base::one_line(describe::spell(json));
    return;
  }
  for (const auto& [name, value] : json.items()) {
    flatten(value, key.empty() ? name : key + "." + name, into);
  }
}

}  // namespace

Origin origin(const Result& result) {
  const auto& [build, host, device, job, placement] = result.machine;
  Origin origin;
  origin.file = result.file;
  origin.machine = subject_of(result.machine);
  origin.machine.deck = result.deck.identity;
  origin.host = origin.unit = host.name;
  origin.deck_name = describe::name_of(result.deck.path);
  origin.started = result.started;
  if (job && job->rank) {
    origin.slot = std::to_string(*job->rank);
    origin.unit = "rank" + origin.slot;
  }
  if (!device) return origin;
  origin.machine.link = link_of(result);
  origin.driver = device->driver.value_or("");
  if (device->pci_bus_id) origin.slot = origin.unit = *device->pci_bus_id;
  origin.unique = !device->uuid.empty();
  if (origin.unique) origin.unit = device->uuid;
  return origin;
}

std::string name(const FigureKey& key) {
  const std::string metric(deck::to_string(key.metric));
  return key.order ? fmt::format("{} of {}", metric, deck::to_string(*key.order)) : metric;
}

std::string name_with_phase(const FigureKey& key) {
  return fmt::format("{}, {}", name(key), deck::to_string(key.phase));
}

std::string Figures::Place::name() const {
  const bool together = point.phase == deck::Phase::together;
  return together ? std::string(deck::to_string(point.phase)) : point.name();
}

Figures::Figures(const Result& of) : result(of) {
  std::map<std::pair<std::string, deck::Phase>, std::size_t> numbers;
  for (const Run& run : result.runs) {
    if (!run.ran()) continue;
    const auto [place, is_new] =
        numbers.emplace(std::pair(run.point.dump(), run.phase), places.size());
    if (is_new) {
      const auto known = std::ranges::find_if(
          result.points, [&](const Point& point) { return point.is(run.point, run.phase); });
      Point unknown;
      unknown.values = run.point;
      unknown.phase = run.phase;
      places.push_back({known == result.points.end() ? unknown : *known, {}});
    }
    places[place->second].runs.push_back(&run);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const deck::Phase phase = places[i].point.phase;
    for (const deck::MetricRow& row : deck::device_metrics) {
      rows.push_back({.place = i,
                      .key = {phase, std::nullopt, row.value},
                      .judged = true,
                      .value = results::value(row.value, result.device_at(places[i].point))});
    }
    for (const Run* const run : places[i].runs) {
      for (const deck::MetricRow& row : deck::run_metrics) {
        const bool judged = applies_to(row.value, *run);
        if (!judged && row.value != deck::Metric::time) continue;
        if (row.needs == deck::Needs::alone && phase == deck::Phase::alone) continue;
        rows.push_back({.place = i,
                        .run = run,
                        .key = {phase, run->order, row.value},
                        .judged = judged,
                        .value = run->value(row.value)});
      }
    }
  }
}

std::vector<double> Figures::samples(const Row& row) const {
  const Place& place = places[row.place];
  return row.run == nullptr ? values(row.key.metric, result.device_at(place.point))
                            : values(row.key.metric, *row.run, place.runs);
}

std::string Figures::unjudgeable(const Row& row) const {
  return row.run == nullptr
             ? ""
             : results::unjudgeable(row.key.metric, *row.run, places[row.place].runs);
}

const std::string& text_at(const Keys& keys, const std::string& key) {
  static const std::string none = "-";
  const auto found = keys.find(key);
  return found == keys.end() ? none : found->second;
}

Keys machine_keys(const Result& result) {
  constexpr auto fleeting = std::to_array<const char*>(
      {"host.available_bytes", "device.free_bytes", "device.pcie_gen", "device.pcie_width",
       "device.sm_clock_mhz", "device.memory_clock_mhz"});
  Keys all;
  flatten(describe::write(result.machine.build), "build", all);
  flatten(describe::write(result.machine.host), "host", all);
  if (result.machine.device) flatten(describe::write(*result.machine.device), "device", all);
  for (const char* const key : fleeting) all.erase(key);
  return all;
}

Keys deck_keys(const Result& result) {
  Json keys = result.deck.resolved;
  for (const char* const other : {"title", "measure", "acceptance", "require", "fleet"}) {
    keys.erase(other);
  }
  Keys all;
  flatten(keys, "", all);
  const Json swept = keys.value("sweep", Json::object());
  for (const auto& [key, values] : swept.items()) all.erase(key);
  return all;
}

Keys point_keys(const Point& point) {
  Keys all;
  for (const auto& [key, value] : point.values.items()) {
    all[base::one_line(key)] = base::one_line(describe::spell(value));
  }
  return all;
}

}  // namespace overlap::results
