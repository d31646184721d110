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

std::vector<Figure> figures_of(const Result& result) {
  std::vector<Figure> figures;
  for (const Point& point : result.points) {
    if (!point.ran()) continue;
    for (const deck::MetricRow& row : deck::device_metrics) {
      figures.push_back({.point = &point,
                         .key = {point.phase, std::nullopt, row.value},
                         .judged = true,
                         .value = value(row.value, point.device)});
    }
    for (const Run& run : point.runs) {
      if (!run.ran()) continue;
      for (const deck::MetricRow& row : deck::run_metrics) {
        const bool judged = applies_to(row.value, run);
        if (!judged && row.value != deck::Metric::time) continue;
        if (row.needs == deck::Needs::alone && point.phase == deck::Phase::alone) continue;
        figures.push_back({.point = &point,
                           .run = &run,
                           .key = {point.phase, run.order, row.value},
                           .judged = judged,
                           .value = run.value(row.value)});
      }
    }
  }
  return figures;
}

std::vector<double> samples(const Figure& figure) {
  return figure.run == nullptr ? values(figure.key.metric, figure.point->device)
                               : values(figure.key.metric, *figure.run, figure.point->runs);
}

std::string unjudgeable(const Figure& figure) {
  if (figure.run == nullptr) return "";
  return unjudgeable(figure.key.metric, *figure.run, figure.point->runs);
}

std::optional<base::Summary> shown(const Figure& figure) {
  return figure.key.metric == deck::Metric::overlap_efficiency
             ? shown_efficiency(*figure.run, figure.point->runs)
             : figure.value;
}

Pivot::Pivot(const std::vector<const Result*>& results) {
  for (const Result* const result : results) {
    columns.push_back(result != nullptr ? figures_of(*result) : std::vector<Figure>());
    if (result == nullptr) continue;
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
  for (std::size_t column = 0; column < columns.size(); ++column) {
    std::map<const Point*, std::size_t> numbers;
    for (const Figure& figure : columns[column]) {
      const auto [place, is_new] = numbers.try_emplace(figure.point);
      if (is_new) {
        const Keys keys = deck_keys(*results[column], *figure.point);
        Place values{figure.key.phase, {}};
        for (const std::string& key : swept) values.second.push_back(text_at(keys, key));
        place->second = number(places, values);
      }
      const std::size_t run = number(runs, std::pair(place->second, figure.run_name()));
      Line& line = by_key[{place->second, run, figure.key.metric}];
      line.resize(columns.size());
      line[column] = &figure;
    }
  }
  for (auto& [key, line] : by_key) lines.push_back(std::move(line));
}

const Figure& first_of(const Pivot::Line& line) {
  return **std::ranges::find_if(line, [](const Figure* figure) { return figure != nullptr; });
}

std::string point_name(const Pivot::Line& line) {
  std::string name;
  for (const Figure* const figure : line) {
    if (figure != nullptr && name.empty()) name = figure->point->name();
  }
  return name;
}

std::optional<base::Estimate> ratio(const Pivot::Line& line, std::size_t of, std::size_t to) {
  if (line[of] == nullptr || line[to] == nullptr) return std::nullopt;
  const std::vector<double> values = samples(*line[of]), others = samples(*line[to]);
  auto ratio = base::ratio(values, others);
  if (ratio && values == others) ratio = {.value = 1, .lo = 1, .hi = 1};
  return ratio;
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
