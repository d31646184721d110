#include "results/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "results/describe.hpp"
#include "results/metrics.hpp"

namespace overlap::results {
namespace {

/// The link of the device: while awake, if that was recorded.
std::optional<std::string> link_of(const Result& result) {
  for (const Point& point : result.points) {
    if (!point.device.health) continue;
    const base::Health& after = point.device.health->after;
    return base::spell_link(after.pcie_gen, after.pcie_width);
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

/// The workload in words; keys without a value are left out.
std::string workload_text(const Keys& deck) {
  const std::string section = "workload.", kind = section + "kind";
  std::string text = text_at(deck, kind);
  const char* before = ": ";
  for (const auto& [key, value] : deck) {
    if (!key.starts_with(section) || key == kind || value == "none") continue;
    text += std::exchange(before, ", ") + key.substr(section.size()) + " " + value;
  }
  return text;
}

}  // namespace

Origin origin(const Result& result) {
  const auto& [build, host, device, job, placement] = result.machine;
  Origin origin;
  origin.file = result.file;
  origin.subject = subject_of(result.machine);
  origin.subject.deck = result.deck.identity;
  origin.host = origin.unit = host.name;
  origin.deck_name = describe::name_of(result.deck.path);
  origin.started = result.started;
  if (job && job->rank) {
    origin.slot = std::to_string(*job->rank);
    origin.unit = "rank" + origin.slot;
  }
  if (!device) return origin;
  origin.subject.link = link_of(result);
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

Subject subject_of(Subject machine, const FigureKey& key) {
  machine.phase = key.phase;
  machine.order = key.order;
  machine.metric = key.metric;
  return machine;
}

Figures::Figures(const Result& source) : result(source) {
  for (const Point& point : result.points) {
    if (!point.ran()) continue;
    for (const deck::MetricRow& row : deck::device_metrics) {
      rows.push_back({.point = &point,
                      .key = {point.phase, std::nullopt, row.value},
                      .judged = true,
                      .value = results::value(row.value, point.device)});
    }
    for (const Run& run : point.runs) {
      if (!run.ran()) continue;
      for (const deck::MetricRow& row : deck::run_metrics) {
        const bool judged = applies_to(row.value, run);
        if (!judged && row.value != deck::Metric::time) continue;
        if (row.needs == deck::Needs::alone && point.phase == deck::Phase::alone) continue;
        rows.push_back({.point = &point,
                        .run = &run,
                        .key = {point.phase, run.order, row.value},
                        .judged = judged,
                        .value = run.value(row.value)});
      }
    }
  }
}

std::vector<double> Figures::samples(const Row& row) const {
  return row.run == nullptr ? values(row.key.metric, row.point->device)
                            : values(row.key.metric, *row.run, row.point->runs);
}

std::string Figures::unjudgeable(const Row& row) const {
  if (row.run == nullptr) return "";
  return results::unjudgeable(row.key.metric, *row.run, row.point->runs);
}

Pivot::Pivot(const std::vector<const Result*>& results) {
  for (const Result* const result : results) {
    auto& table = tables.emplace_back();
    if (result == nullptr) continue;
    table.emplace(*result);
    for (const Point& point : result->points) {
      for (const auto& [key, value] : point.values.items()) swept.insert(base::one_line(key));
    }
  }
  using Place = std::pair<deck::Phase, std::vector<std::string>>;  // values of the swept keys
  std::map<Place, std::size_t> places;                             // numbered as they appear
  std::map<std::pair<std::size_t, std::string>, std::size_t> runs;
  const auto number = [](auto& numbers, const auto& key) {
    return numbers.emplace(key, numbers.size()).first->second;
  };
  std::map<std::tuple<std::size_t, std::size_t, deck::Metric>, Line> by_key;
  for (std::size_t column = 0; column < tables.size(); ++column) {
    if (!tables[column]) continue;
    std::map<const Point*, std::size_t> numbers;
    for (const Point& point : tables[column]->result.points) {
      const Keys keys = deck_keys(tables[column]->result, point);
      Place place{point.phase, {}};
      for (const std::string& key : swept) place.second.push_back(text_at(keys, key));
      numbers[&point] = number(places, place);
    }
    for (const Figures::Row& row : tables[column]->rows) {
      const std::size_t place = numbers[row.point];
      const std::size_t run = number(runs, std::pair(place, row.run_name()));
      Line& line = by_key[{place, run, row.key.metric}];
      line.resize(tables.size());
      line[column] = &row;
    }
  }
  for (auto& [key, line] : by_key) lines.push_back(std::move(line));
}

std::vector<double> Pivot::samples(const Line& line, std::size_t column) const {
  return line[column] == nullptr ? std::vector<double>() : tables[column]->samples(*line[column]);
}

std::optional<base::Estimate> Pivot::ratio(const Line& line, std::size_t of, std::size_t to) const {
  const std::vector<double> values = samples(line, of), others = samples(line, to);
  auto ratio = base::ratio(values, others);
  if (ratio && values == others) ratio = {.value = 1, .lo = 1, .hi = 1};
  return ratio;
}

std::optional<base::Summary> shown(const Figures::Row& row) {
  return row.key.metric == deck::Metric::overlap_efficiency
             ? shown_efficiency(*row.run, row.point->runs)
             : row.value;
}

const Figures::Row& first_of(const Pivot::Line& line) {
  return **std::ranges::find_if(line, [](const Figures::Row* row) { return row != nullptr; });
}

std::string point_name(const Pivot::Line& line) {
  std::string name;
  for (const Figures::Row* const row : line) {
    if (row != nullptr && name.empty()) name = row->point->name();
  }
  return name;
}

std::map<DeckTitle, std::vector<const Result*>> by_deck(const Columns& columns) {
  std::map<DeckTitle, std::vector<const Result*>> decks;
  for (std::size_t column = 0; column < columns.files.size(); ++column) {
    for (const Result& result : columns.files[column]) {
      auto& same = decks[{result.title, workload_text(deck_keys(result))}];
      same.resize(columns.files.size());
      if (same[column] != nullptr) {
        throw base::Error(base::ExitCode::runtime_error,
                          fmt::format("{}: found a second result of '{}', which {} also has; "
                                      "allowed: one per column",
                                      result.file, result.title, same[column]->file));
      }
      same[column] = &result;
    }
  }
  return decks;
}

std::vector<Setting> differences(const std::vector<Keys>& columns) {
  Keys merged;
  for (const Keys& keys : columns) merged.insert(keys.begin(), keys.end());
  std::vector<Setting> differing;
  for (const auto& [key, ignored] : merged) {
    Setting setting{key, {}};
    std::set<std::string> distinct;
    for (const Keys& keys : columns) {
      setting.values.push_back(text_at(keys, key));
      if (!keys.empty()) distinct.insert(setting.values.back());
    }
    if (distinct.size() > 1) differing.push_back(std::move(setting));
  }
  return differing;
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
  Keys keys;
  flatten(describe::write(result.machine.build), "build", keys);
  flatten(describe::write(result.machine.host), "host", keys);
  if (result.machine.device) flatten(describe::write(*result.machine.device), "device", keys);
  for (const char* const key : fleeting) keys.erase(key);
  return keys;
}

Keys deck_keys(const Result& result) {
  Json resolved = result.deck.resolved;
  for (const char* const section : {"title", "measure", "acceptance", "require", "fleet"}) {
    resolved.erase(section);
  }
  Keys keys;
  flatten(resolved, "", keys);
  const Json swept = resolved.value("sweep", Json::object());
  for (const auto& [key, values] : swept.items()) keys.erase(key);
  return keys;
}

Keys deck_keys(const Result& result, const Point& point) {
  Keys keys = deck_keys(result);
  for (const auto& [key, value] : point.values.items()) {
    keys[base::one_line(key)] = base::one_line(describe::spell(value));
  }
  return keys;
}

}  // namespace overlap::results
