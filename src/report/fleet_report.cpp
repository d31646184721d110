#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/reports.hpp"
#include "report/writers.hpp"
#include "results/read_files.hpp"

namespace overlap::report {
namespace {

using deck::Phase;
using results::Distribution;
using results::FigureKey;
using results::Fleet;
using results::FleetDevice;
using results::Group;
using results::Standing;

constexpr std::size_t few_devices = 16;  // one row each
constexpr std::size_t most_shown = 20;   // rows of a table on a terminal

std::string value_text(double value, const FigureKey& key) {
  return deck::row_of(key.metric).unit == "s" ? base::format_seconds(value)
                                              : base::format_number(value);
}

bool is_ranked(const Distribution& figure) { return !figure.slowest.empty(); }

/// "throughput of by_engine, GB/s", "h2d_rate, GB/s".
std::string figure_text(const FigureKey& key) {
  const std::string_view unit = deck::row_of(key.metric).unit;
  return name(key) + (unit == "1" || unit == "s" ? "" : fmt::format(", {}", unit));
}

/// A table of devices, which begins with their host, slot and name.
struct DeviceTable : Table {
  DeviceTable(const char* first, std::initializer_list<Column> others)
      : Table{.columns = {first, {"slot", 4}, "device"}, .most_rows = most_shown} {
    columns.insert(columns.end(), others);
  }
  void add_row(const FleetDevice& device, std::vector<Cell> others) {
    others.insert(others.begin(),
                  {device.host, device.slot.empty() ? "-" : device.slot, device.unit});
    rows.push_back(std::move(others));
  }
};

std::string device_text(const std::string& host, const std::string& unit) {
  return unit == host ? host : host + " " + unit;
}

/// "n1 GPU-0, n1 GPU-1 and 10 more".
std::string devices_text(const std::vector<const FleetDevice*>& devices) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const FleetDevice* const device : devices | std::views::take(most)) {
    names.push_back(device_text(device->host, device->unit));
  }
  const std::size_t more = devices.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string group_text(const Fleet& fleet, const Group& group) {
  std::set<std::string_view> hosts;
  for (const std::size_t device : group.devices) hosts.insert(fleet.devices.at(device).host);
  const results::Subject& machine = group.machine;
  return fmt::format(
      "{} on {}: {}, {}{}{}, deck {}, program {}", base::counted(group.devices.size(), "device"),
      base::counted(hosts.size(), "host"), machine.device, machine.link ? *machine.link + ", " : "",
      group.cores > 0 ? base::cores_text(group.cores) + ", " : "", machine.backend, group.deck_name,
      group.build);
}

/// The compared figures of all phases, once for all phases.
std::vector<FigureKey> compared_keys(const Group& group) {
  std::vector<FigureKey> keys;
  for (const Distribution& figure : group.distributions) {
    FigureKey key = figure.key;
    key.phase = Phase::alone;
    if (is_ranked(figure) && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

/// Medians of the compared figures of each device, alone / together if some were together.
Table device_table(const Fleet& fleet, const Group& group) {
  const std::vector<FigureKey> keys = compared_keys(group);
  DeviceTable table("host", {});
  const bool together = std::ranges::any_of(group.distributions, [](const Distribution& figure) {
    return figure.key.phase == Phase::together;
  });
  table.title = fmt::format("Medians{}; throughput in GB/s under its order",
                            together ? ", alone / together" : "");
  for (const FigureKey& key : keys) {
    const bool usual = key.metric == deck::Metric::throughput && key.order;
    table.columns.emplace_back(usual ? std::string(deck::to_string(*key.order)) : figure_text(key),
                               usual ? 0 : 1);
  }
  table.columns.insert(table.columns.end(), {{"driver", 6}, "verdict", {"file", 5}});
  for (const std::size_t number : group.devices) {
    const FleetDevice& device = fleet.devices.at(number);
    std::vector<Cell> cells;
    for (FigureKey key : keys) {
      std::vector<std::string> medians;
      for (const auto& phase : deck::words<Phase>) {
        key.phase = phase.value;
        const results::DeviceFigure* const figure = find(device, key);
        if (figure != nullptr) medians.push_back(value_text(figure->value.median, key));
      }
      cells.emplace_back(medians.empty() ? "-" : fmt::format("{}", fmt::join(medians, " / ")));
    }
    cells.insert(cells.end(), {device.driver.empty() ? "-" : device.driver,
                               results::verdict_of(exit_code_of(device)), device.file});
    table.add_row(device, std::move(cells));
  }
  return table;
}

Table distribution_table(const Group& group) {
  Table table{
      .columns = {
          "figure", "phase", "devices", "median", {"MAD", 1}, {"min", 3}, {"max", 2}, "slowest"}};
  for (const Distribution& figure : group.distributions) {
    if (!is_ranked(figure)) continue;
    const Standing& slowest = figure.slowest.front();
    table.rows.push_back({figure_text(figure.key), deck::to_string(figure.key.phase),
                          figure.devices, value_text(figure.median, figure.key),
                          fmt::format("{:.2f} %", 100 * figure.mad / figure.median),
                          value_text(figure.min, figure.key), value_text(figure.max, figure.key),
                          figure.devices == 1
                              ? "-"
                              : fmt::format("{} ({})", device_text(slowest.host, slowest.unit),
                                            base::format_change(slowest.off))});
  }
  return table;
}

/// The slowest devices and all outliers, each once, by the worst of its figures; fast ones last.
Table extreme_table(const Fleet& fleet, const Group& group) {
  struct Place {
    const Distribution* figure;
    const Standing* standing;
    const char* outlier;
  };
  std::vector<Place> places;
  for (const Distribution& figure : group.distributions) {
    for (const Standing& standing : figure.outliers) {
      places.push_back({&figure, &standing, standing.slow ? "slow" : "fast"});
    }
    for (const Standing& standing : figure.slowest) {
      if (standing.slow) places.push_back({&figure, &standing, ""});
    }
  }
  std::ranges::stable_sort(places, {}, [](const Place& place) {
    return std::pair(!place.standing->slow, -std::abs(place.standing->off));
  });
  DeviceTable table(
      "slowest",
      {"figure", {"phase", 1}, "value", {"median", 3}, "off", {"score", 5}, {"outlier", 2}});
  std::set<std::pair<bool, std::size_t>> shown;
  for (const auto& [figure, standing, outlier] : places) {
    if (!shown.emplace(standing->slow, standing->device).second) continue;
    table.add_row(
        fleet.devices.at(standing->device),
        {figure_text(figure->key), deck::to_string(figure->key.phase),
         value_text(standing->value, figure->key), value_text(figure->median, figure->key),
         base::format_change(standing->off),
         std::isfinite(standing->score) ? fmt::format("{:.1f}", standing->score) : "-", outlier});
  }
  return table;
}

Table node_table(const Group& group) {
  Table table{.columns = {"node",
                          "order",
                          "devices",
                          "sum alone",
                          "together, GB/s",
                          {"of alone", 1},
                          {"of duplex bound", 2}},
              .most_rows = results::most_slowest};
  std::vector<results::NodeTotal> nodes = group.nodes;
  std::ranges::stable_sort(nodes, {}, [](const auto& node) { return node.together / node.alone; });
  for (const results::NodeTotal& node : nodes) {
    const auto part = [&](double total) { return base::format_percent(node.together / total); };
    table.rows.push_back({node.host, deck::to_string(node.order), node.devices,
                          base::format_number(node.alone), base::format_number(node.together),
                          part(node.alone), text_if(node.bound, part)});
  }
  return table;
}

/// The name of each host in the middle of its devices, which are numbered from 1.
Chart::Axis host_axis(const Fleet& fleet, const Group& group) {
  Chart::Axis axis{.name = "devices by node"};
  for (std::size_t first = 0, i = 1; i <= group.devices.size(); ++i) {
    const auto host = [&](std::size_t at) { return fleet.devices.at(group.devices[at]).host; };
    if (i < group.devices.size() && host(i) == host(first)) continue;
    axis.ticks.emplace_back(0.5 * static_cast<double>(first + 1 + i), host(first));
    first = i;
  }
  return axis;
}

/// "n1 GPU-5ad81f0c"
std::string short_text(const FleetDevice& device) {
  constexpr std::size_t start_of_uuid = 12;
  if (device.unit == device.host) return device.host;
  return device_text(device.host, device.unit.substr(0, start_of_uuid));
}

bool fails(const FleetDevice& device, const FigureKey& key) {
  return std::ranges::any_of(device.reasons, [&](const results::Reason& reason) {
    return reason.figure == name_with_phase(key) &&
           results::verdict_of(reason.code) == results::Verdict::fail;
  });
}

/// A dot per device for each compared figure; failing and slowest devices have their names.
void add_charts(Blocks& blocks, const Fleet& fleet, const Group& group) {
  if (group.devices.size() < 2) return;
  for (FigureKey key : compared_keys(group)) {
    Chart chart{.title = name(key),
                .x = host_axis(fleet, group),
                .y = {.name = std::string(deck::row_of(key.metric).unit)}};
    for (const auto& phase : deck::words<Phase>) {
      key.phase = phase.value;
      const auto figure = std::ranges::find(group.distributions, key, &Distribution::key);
      if (figure == group.distributions.end() || !is_ranked(*figure)) continue;
      Chart::Series dots{.name = std::string(phase.name), .joined = false};
      double x = 0;
      for (const std::size_t number : group.devices) {
        const FleetDevice& device = fleet.devices.at(number);
        const results::DeviceFigure* const found = find(device, key);
        x += 1;
        if (found == nullptr) continue;
        const Standing& slowest = figure->slowest.front();
        const bool named = (slowest.slow && slowest.device == number) || fails(device, key);
        dots.points.push_back({.x = x,
                               .y = found->value.median,
                               .label = device_text(device.host, device.unit),
                               .name = named ? short_text(device) : ""});
      }
      chart.series.push_back(std::move(dots));
      chart.series.push_back(
          {.name = "median " + std::string(phase.name),
           .points = {{.x = 1, .y = figure->median}, {.x = x, .y = figure->median}},
           .muted = true});
    }
    blocks.push_back({std::move(chart), Detail::page});
  }
}

void add_group(Blocks& blocks, const Fleet& fleet, const Group& group) {
  const bool few = group.devices.size() <= few_devices;
  const Detail spreads = few ? Detail::page : Detail::always;
  blocks.push_back({Heading{.text = group_text(fleet, group)}});
  add(blocks, device_table(fleet, group), few ? Detail::always : Detail::page);
  add_charts(blocks, fleet, group);
  add(blocks, distribution_table(group), spreads);
  add(blocks, extreme_table(fleet, group), spreads);
  add(blocks, node_table(group));
  if (!group.not_judged.empty()) add(blocks, group.not_judged);
}

/// All results of devices with several.
void add_results(Blocks& blocks, const Fleet& fleet) {
  DeviceTable table("several results", {"started", "verdict", "file"});
  for (const FleetDevice& device : fleet.devices) {
    for (const results::DeviceResult& result : device.results) {
      table.add_row(
          device, {result.started, results::verdict_of(result.code), base::one_line(result.file)});
    }
  }
  if (table.rows.empty()) return;
  add(blocks, std::move(table));
  add(blocks, "Of several results of one device the worst counts.");
}

void add_failed(Blocks& blocks, const Fleet& fleet) {
  const bool several = fleet.several_decks();
  Table table{.columns = {"not passed", "which", "verdict", "reason"}, .most_rows = most_shown};
  for (const SharedReason& reason : reasons(fleet.devices)) {
    std::string which = devices_text(reason.devices);
    const std::string& slot = reason.devices.front()->slot;
    if (reason.devices.size() == 1 && !slot.empty()) which += fmt::format(" (slot {})", slot);
    const bool of_deck = several && reason.decks.size() == 1;
    table.rows.push_back({base::counted(reason.devices.size(), "device"), which,
                          results::verdict_of(reason.code),
                          (of_deck ? *reason.decks.begin() + ": " : "") + text_of(reason)});
  }
  add(blocks, std::move(table));
}

void add_faults(Blocks& blocks, const Fleet& fleet) {
  Table table{.columns = {"missing or broken"}, .most_rows = most_shown};
  for (const JunitCase& fault : faults(fleet)) table.rows.push_back({fault.text});
  add(blocks, std::move(table));
  if (!fleet.left_out.empty()) add(blocks, results::text_of_left_out(fleet.left_out));
  if (!fleet.notes.empty()) blocks.push_back({Text{.lines = fleet.notes}});
}

}  // namespace

std::vector<JunitCase> faults(const Fleet& fleet) {
  using enum results::Verdict;
  std::vector<JunitCase> cases;
  for (const results::MissingDevices& missing : fleet.missing) {
    cases.push_back(
        {missing.host.empty() ? "unknown host" : missing.host, "devices", fail, text_of(missing)});
  }
  for (const results::BrokenFile& file : fleet.broken) {
    cases.push_back({"files", file.file, error, file.text});
  }
  return cases;
}

std::vector<SharedReason> reasons(std::span<const FleetDevice> devices) {
  std::vector<SharedReason> shared;
  for (const FleetDevice& device : devices) {
    for (const results::Reason& reason : device.reasons) {
      auto same = std::ranges::find_if(shared, [&](const SharedReason& row) {
        return row.code == reason.code && row.text == reason.text;
      });
      if (same == shared.end()) same = shared.insert(same, {reason.code, reason.text, {}, {}, {}});
      if (!reason.figure.empty()) same->figures.insert(reason.figure);
      same->decks.insert(device.deck_name);
      const auto is_same = [&](const FleetDevice* other) {
        return other->host == device.host && other->unit == device.unit;
      };
      if (same->devices.empty() || !is_same(same->devices.back())) same->devices.push_back(&device);
    }
  }
  return shared;
}

std::string text_of(const SharedReason& reason) {
  const auto& figures = reason.figures;
  const std::string about = figures.empty()       ? ""
                            : figures.size() == 1 ? *figures.begin() + ": "
                                                  : base::counted(figures.size(), "metric") + ": ";
  return about + reason.text;
}

/// Numbers of files, devices and problems in one line.
static std::string fleet_summary(const Fleet& fleet) {
  std::set<std::pair<std::string_view, std::string_view>> devices, failing;  // host and unit
  for (const FleetDevice& device : fleet.devices) {
    devices.emplace(device.host, device.unit);
    if (exit_code_of(device) != base::ExitCode::pass) failing.emplace(device.host, device.unit);
  }
  std::string text = fmt::format("{}: {}, {} not passed", base::counted(fleet.files, "file"),
                                 base::counted(devices.size(), "device"), failing.size());
  const auto mention = [&](auto n, const char* noun, const char* state) {
    if (n > 0) text += fmt::format(", {}{}", base::counted(n, noun), state);
  };
  std::size_t several = 0;
  for (const FleetDevice& device : fleet.devices) several += !device.results.empty();
  mention(several, "device", " with several results");
  std::int64_t hosts = 0, missing = 0;
  for (const results::MissingDevices& place : fleet.missing) {
    (place.whole_host() ? hosts : missing) += place.whole_host() ? 1 : place.missing;
  }
  mention(hosts, "expected host", " missing");
  mention(missing, "device", " missing");
  mention(fleet.broken.size(), "file", " broken");
  mention(fleet.left_out.size(), "file", " skipped");
  return text;
}

Report fleet_report(const Fleet& fleet) {
  Report report{.title = "Fleet", .verdict = fleet.verdict()};
  Blocks& blocks = report.blocks;
  for (const Group& group : fleet.groups) add_group(blocks, fleet, group);
  add_results(blocks, fleet);
  add_failed(blocks, fleet);
  add_faults(blocks, fleet);
  add(blocks, fleet_summary(fleet));
  blocks.push_back({VerdictLine{.verdict = fleet.verdict(), .subject = "verdict"}});
  return report;
}

std::string fleet_lines(const Fleet& fleet, bool all_devices) {
  constexpr std::size_t most_devices = 16;  // with a line each
  std::string text;
  const auto add = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  };
  all_devices = all_devices || fleet.devices.size() <= most_devices;
  const auto deck_field = [&, several = fleet.several_decks()](const FleetDevice& device) {
    return several ? " deck=" + base::field_value(device.deck_name) : "";
  };
  const auto uuid_field = [](const FleetDevice& device) {
    return device.unit == device.host ? std::string("-") : base::field_value(device.unit);
  };
  for (const FleetDevice& device : fleet.devices) {
    for (const deck::Phase phase : phases_of(device)) {
      const base::ExitCode code = exit_code_of(device, phase);
      if (!all_devices && code == base::ExitCode::pass) continue;
      add("OVERLAP_DEVICE host={} uuid={} phase={} verdict={}{}\n", base::field_value(device.host),
          uuid_field(device), deck::to_string(phase), deck::to_string(results::verdict_of(code)),
          deck_field(device));
    }
  }
  for (const Group& group : fleet.groups) {
    for (const auto& [key, devices, median, mad, min, max, slowest, outliers] :
         group.distributions) {
      if (slowest.empty() || group.devices.size() < 2) continue;
      const FleetDevice& device = fleet.devices.at(slowest.front().device);
      add("OVERLAP_SLOWEST host={} uuid={} metric={} value={:.6g} median={:.6g} phase={} "
          "order={}{}\n",
          base::field_value(device.host), uuid_field(device), deck::to_string(key.metric),
          slowest.front().value, median, deck::to_string(key.phase), order_name(key),
          deck_field(device));
    }
  }
  return text + verdict_line(fleet.verdict(), fleet.exit_code(), !fleet.groups.empty());
}

std::string html(const Fleet& fleet) { return page(fleet_report(fleet)); }

}  // namespace overlap::report
