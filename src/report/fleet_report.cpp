#include "report/fleet_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/units.hpp"
#include "report/run_report.hpp"

namespace overlap::report {
namespace {

using deck::Phase;
using results::Device;
using results::Distribution;
using results::FigureKey;
using results::Fleet;
using results::Group;
using results::Standing;

constexpr std::size_t few_devices = 16;  // one row each
constexpr std::size_t most_shown = 20;   // rows of a table on a terminal
constexpr std::size_t every_row = 1000;

std::string value_text(double value, deck::Metric metric) {
  return deck::row_of(metric).unit == "s" ? base::format_seconds(value)
                                          : base::format_number(value);
}

bool ranks(const Distribution& figure) { return !figure.slowest.empty(); }

/// "throughput of by_engine, GB/s", "h2d_rate, GB/s".
std::string figure_text(const FigureKey& key) {
  const std::string_view unit = deck::row_of(key.metric).unit;
  return name(key) + (unit == "1" || unit == "s" ? "" : fmt::format(", {}", unit));
}

std::string spread(const Distribution& figure) {
  return fmt::format("{:.2f} %", 100 * figure.mad / figure.median);
}

Cell verdict_cell(base::ExitCode code) {
  const auto verdict = results::verdict_of(code);
  const Tone tone = verdict == results::Verdict::pass           ? Tone::good
                    : verdict == results::Verdict::inconclusive ? Tone::doubtful
                                                                : Tone::bad;
  return {std::string(deck::to_string(verdict)), tone};
}

/// Headings of host, slot and device, and others.
std::vector<Column> device_columns(const char* first, std::vector<Column> others) {
  std::vector<Column> columns = {text_column(first), text_column("slot", 4), text_column("device")};
  std::ranges::move(others, std::back_inserter(columns));
  return columns;
}

std::vector<Cell> device_row(const Device& device, std::vector<Cell> others) {
  std::vector<Cell> row = {device.host, device.slot.empty() ? "-" : device.slot, device.unit};
  std::ranges::move(others, std::back_inserter(row));
  return row;
}

std::string device_text(const std::string& host, const std::string& unit) {
  return unit == host ? host : host + " " + unit;
}

/// "n1 GPU-0, n1 GPU-1 and 10 more".
std::string devices_text(const Fleet& fleet, const std::vector<std::size_t>& numbers) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const std::size_t number : numbers) {
    if (names.size() == most) break;
    names.push_back(device_text(fleet.devices[number].host, fleet.devices[number].unit));
  }
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  return numbers.size() > most ? fmt::format("{} and {} more", all, numbers.size() - most) : all;
}

bool several_decks(const Fleet& fleet) {
  return std::ranges::any_of(fleet.devices, [&](const Device& device) {
    return device.deck_name != fleet.devices.front().deck_name;
  });
}

/// The worst reason of a device; `named`: with the name of the deck.
std::string reason_text(const Device& device, bool named) {
  if (device.reasons.empty()) return "-";
  const auto code = exit_code_of(device);
  const auto worst = std::ranges::find(device.reasons, code, &results::Reason::code);
  std::string text = worst == device.reasons.end() ? device.reasons.front().text : worst->text;
  if (named) text.insert(0, device.deck_name + ": ");
  const std::size_t more = device.reasons.size() - 1;
  return more == 0 ? text : fmt::format("{} (and {} more)", text, more);
}

std::string group_text(const Fleet& fleet, const Group& group) {
  std::set<std::string_view> hosts;
  for (const std::size_t device : group.devices) hosts.insert(fleet.devices[device].host);
  const results::Subject& machine = group.machine;
  return fmt::format(
      "{} on {}: {}, {}{}, deck {}, program {}", base::counted(group.devices.size(), "device"),
      base::counted(hosts.size(), "host"), machine.device, machine.link ? *machine.link + ", " : "",
      machine.backend, group.deck_name, group.build);
}

/// The compared figures of all phases, once for all phases.
std::vector<FigureKey> compared_keys(const Group& group) {
  std::vector<FigureKey> keys;
  for (const Distribution& figure : group.distributions) {
    FigureKey key = figure.key;
    key.phase = Phase::alone;
    if (ranks(figure) && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

const Distribution* compared(const Group& group, const FigureKey& key) {
  const auto found = std::ranges::find(group.distributions, key, &Distribution::key);
  return found == group.distributions.end() || !ranks(*found) ? nullptr : &*found;
}

/// Medians of the compared figures of each device, alone / together; throughput in GB/s by order.
Table device_table(const Fleet& fleet, const Group& group, bool page) {
  const std::vector<FigureKey> keys = compared_keys(group);
  std::vector<Column> others;
  for (const FigureKey& key : keys) {
    const bool usual = key.metric == deck::Metric::throughput && key.order;
    others.push_back(number_column(
        usual ? std::string(deck::to_string(*key.order)) : figure_text(key), usual ? 0 : 1));
  }
  others.push_back(text_column("verdict"));
  if (page) others.push_back(text_column("reason"));
  if (page) others.push_back(text_column("file"));
  const auto has = [&](Phase phase) {
    return std::ranges::any_of(group.distributions,
                               [&](const auto& figure) { return figure.key.phase == phase; });
  };
  const char* const phases = !has(Phase::together) ? ""
                             : has(Phase::alone)   ? ", alone / together"
                                                   : ", together";
  Table table{.title = fmt::format("Medians{}; throughput in GB/s under its order", phases),
              .columns = device_columns("host", std::move(others)),
              .rows = {},
              .most_rows = few_devices};
  for (const std::size_t number : group.devices) {
    const Device& device = fleet.devices[number];
    std::vector<Cell> cells;
    for (FigureKey key : keys) {
      std::string cell;
      for (const auto& phase : deck::words<Phase>) {
        key.phase = phase.value;
        const results::DeviceFigure* const figure = find(device, key);
        if (figure == nullptr) continue;
        cell += (cell.empty() ? "" : " / ") + value_text(figure->value.median, key.metric);
      }
      cells.emplace_back(cell.empty() ? "-" : cell);
    }
    cells.push_back(verdict_cell(exit_code_of(device)));
    if (page) cells.emplace_back(reason_text(device, false));
    if (page) cells.emplace_back(device.file);
    table.rows.push_back(device_row(device, std::move(cells)));
  }
  return table;
}

Table distribution_table(const Group& group) {
  Table table{.columns = {text_column("figure"), text_column("phase"), number_column("devices"),
                          number_column("median"), number_column("MAD", 1), number_column("min", 3),
                          number_column("max", 2), text_column("slowest")},
              .most_rows = every_row};
  for (const Distribution& figure : group.distributions) {
    if (!ranks(figure)) continue;
    const auto spell = [&](double value) { return value_text(value, figure.key.metric); };
    const Standing& last = figure.slowest.front();
    table.rows.push_back(
        {figure_text(figure.key), deck::to_string(figure.key.phase), std::to_string(figure.devices),
         spell(figure.median), spread(figure), spell(figure.min), spell(figure.max),
         figure.devices == 1 ? "-"
                             : fmt::format("{} ({})", device_text(last.host, last.unit),
                                           base::format_change(last.off))});
  }
  return table;
}

/// Medians of the compared figures alone and together; empty without both phases.
Table phase_table(const Group& group) {
  Table table{.columns = {text_column("figure"), number_column("alone"), number_column("MAD"),
                          number_column("together"), number_column("MAD"),
                          number_column("together / alone")}};
  for (FigureKey key : compared_keys(group)) {
    const Distribution* const alone = compared(group, key);
    key.phase = Phase::together;
    const Distribution* const together = compared(group, key);
    if (alone == nullptr || together == nullptr) continue;
    table.rows.push_back({figure_text(key), value_text(alone->median, key.metric), spread(*alone),
                          value_text(together->median, key.metric), spread(*together),
                          base::format_percent(together->median / alone->median)});
  }
  return table;
}

/// A figure of a device among those of its group.
struct Place {
  const Distribution* figure = nullptr;
  const Standing* standing = nullptr;
  std::size_t figures = 0;  ///< in which the device is an outlier
};

/// Each device once, by its worst figure.
Table slowest_table(const Fleet& fleet, const Group& group) {
  const auto behind = [](const Place& place) {
    const bool more = deck::row_of(place.figure->key.metric).better == deck::Better::more;
    return more ? -place.standing->off : place.standing->off;
  };
  std::vector<Place> all;
  for (const Distribution& figure : group.distributions) {
    for (const Standing& standing : figure.slowest) {
      if (behind({&figure, &standing}) > 0) all.push_back({&figure, &standing});
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, behind);
  Table table{.columns = device_columns(
                  "slowest", {text_column("figure"), text_column("phase"), number_column("value"),
                              number_column("off median", 1), text_column("verdict", 2)})};
  std::set<std::size_t> shown;
  for (const auto& [figure, standing, figures] : all) {
    if (shown.size() == results::most_slowest || !shown.insert(standing->device).second) continue;
    const Device& device = fleet.devices[standing->device];
    table.rows.push_back(device_row(
        device, {figure_text(figure->key), deck::to_string(figure->key.phase),
                 value_text(standing->value, figure->key.metric),
                 base::format_change(standing->off), verdict_cell(exit_code_of(device))}));
  }
  return table;
}

/// One row per outlying device, with its most deviating figure; slow ones first.
Table outlier_table(const Fleet& fleet, const Group& group) {
  std::map<std::pair<bool, std::size_t>, Place> by_device;
  for (const Distribution& figure : group.distributions) {
    for (const Standing& standing : figure.outliers) {
      Place& place = by_device[{!standing.slow, standing.device}];
      ++place.figures;
      const bool less =
          place.standing != nullptr && std::abs(standing.off) <= std::abs(place.standing->off);
      if (!less) place = {&figure, &standing, place.figures};
    }
  }
  Table table{
      .columns = device_columns(
          "outlier", {text_column("side", 1), text_column("figure"), text_column("phase", 2),
                      number_column("value", 3), number_column("median", 3), number_column("off"),
                      number_column("score", 5), number_column("figures", 5)}),
      .rows = {},
      .most_rows = most_shown};
  for (const auto& [key, place] : by_device) {
    const auto& [figure, standing, figures] = place;
    table.rows.push_back(device_row(
        fleet.devices[standing->device],
        {standing->slow ? "slow" : "fast", figure_text(figure->key),
         deck::to_string(figure->key.phase), value_text(standing->value, figure->key.metric),
         value_text(figure->median, figure->key.metric), base::format_change(standing->off),
         std::isfinite(standing->score) ? fmt::format("{:.1f}", standing->score) : "-",
         std::to_string(figures)}));
  }
  return table;
}

Table node_table(const Group& group) {
  std::vector<results::NodeTotal> nodes = group.nodes;
  std::ranges::stable_sort(nodes, {}, [](const auto& node) { return node.together / node.alone; });
  Table table{.columns = {text_column("node"), text_column("order"), number_column("devices"),
                          number_column("sum alone"), number_column("together, GB/s"),
                          number_column("of alone", 1), number_column("of duplex bound", 2)},
              .rows = {},
              .most_rows = results::most_slowest};
  for (const results::NodeTotal& node : nodes) {
    const auto part = [&](double whole) { return base::format_percent(node.together / whole); };
    table.rows.push_back({node.host, deck::to_string(node.order), std::to_string(node.devices),
                          base::format_number(node.alone), base::format_number(node.together),
                          part(node.alone), node.bound ? part(*node.bound) : "-"});
  }
  return table;
}

Table driver_table(const Fleet& fleet, const Group& group) {
  Table table{.columns = {text_column("driver"), number_column("devices"), text_column("which")}};
  if (group.drivers.size() < 2) return table;
  for (const results::DriverUse& use : group.drivers) {
    table.rows.push_back({use.driver.empty() ? "unknown" : use.driver,
                          std::to_string(use.devices.size()),
                          table.rows.empty() ? "all others" : devices_text(fleet, use.devices)});
  }
  return table;
}

/// A dot per device for each compared figure.
void add_charts(Blocks& blocks, const Fleet& fleet, const Group& group) {
  if (group.devices.size() < 2) return;
  for (FigureKey key : compared_keys(group)) {
    Chart chart{.title = name(key),
                .x = {.name = "device"},
                .y = {.name = std::string(deck::row_of(key.metric).unit)},
                .series = {}};
    for (const auto& phase : deck::words<Phase>) {
      key.phase = phase.value;
      const Distribution* const figure = compared(group, key);
      if (figure == nullptr) continue;
      Chart::Series dots{.name = std::string(phase.name), .points = {}, .joined = false};
      double x = 0;
      for (const std::size_t number : group.devices) {
        const Device& device = fleet.devices[number];
        const results::DeviceFigure* const found = find(device, key);
        x += 1;
        if (found == nullptr) continue;
        dots.points.push_back({.x = x,
                               .y = found->value.median,
                               .lo = {},
                               .hi = {},
                               .words = device_text(device.host, device.unit)});
      }
      Chart::Series median{.name = "median " + dots.name, .points = {}, .muted = true};
      median.points = {{.x = 1, .y = figure->median}, {.x = x, .y = figure->median}};
      chart.series.push_back(std::move(dots));
      chart.series.push_back(std::move(median));
    }
    blocks.push_back({std::move(chart), Detail::page});
  }
}

void add_group(Blocks& blocks, const Fleet& fleet, const Group& group) {
  const bool few = group.devices.size() <= few_devices;
  const Detail spreads = few ? Detail::page : Detail::always;
  blocks.push_back({Heading{.text = group_text(fleet, group)}});
  if (few) add_table(blocks, device_table(fleet, group, false));
  add_charts(blocks, fleet, group);
  add_table(blocks, distribution_table(group), spreads);
  add_table(blocks, phase_table(group), Detail::page);
  add_table(blocks, slowest_table(fleet, group), spreads);
  add_table(blocks, node_table(group));
  add_table(blocks, driver_table(fleet, group));
  add_table(blocks, outlier_table(fleet, group));
  if (!few) add_table(blocks, device_table(fleet, group, true), Detail::page);
}

void add_histories(Blocks& blocks, const Fleet& fleet) {
  std::vector<results::History> all = fleet.histories;
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const auto& history) { return std::abs(history.change()); });
  Table table{.columns = device_columns(
                  "drift", {text_column("figure"), text_column("phase"), number_column("results"),
                            text_column("since", 3), number_column("first", 2),
                            number_column("last", 1), number_column("change")}),
              .rows = {},
              .most_rows = most_shown};
  for (const results::History& history : all) {
    const deck::Metric metric = history.key.metric;
    table.rows.push_back(
        device_row(fleet.devices[history.device],
                   {figure_text(history.key), deck::to_string(history.key.phase),
                    std::to_string(history.results), history.since.substr(0, 10),
                    value_text(history.first, metric), value_text(history.last, metric),
                    base::format_change(history.change())}));
  }
  add_table(blocks, std::move(table));
}

/// Devices that did not pass; those with equal reasons share a row.
void add_failed(Blocks& blocks, const Fleet& fleet) {
  Table table{
      .columns = device_columns("not passed", {text_column("verdict"), text_column("reason")}),
      .rows = {},
      .most_rows = most_shown};
  const bool several = several_decks(fleet);
  std::map<std::pair<base::ExitCode, std::string>, std::size_t> places;
  std::vector<std::vector<std::size_t>> numbers;  // by place: devices
  for (std::size_t i = 0; i < fleet.devices.size(); ++i) {
    const Device& device = fleet.devices[i];
    if (device.reasons.empty()) continue;
    const auto code = exit_code_of(device);
    const auto [place, is_new] =
        places.emplace(std::pair(code, reason_text(device, several)), numbers.size());
    if (is_new) {
      numbers.emplace_back();
      table.rows.push_back(device_row(device, {verdict_cell(code), place->first.second}));
    }
    numbers[place->second].push_back(i);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].size() == 1) continue;
    auto& row = table.rows[i];
    row[0] = base::counted(numbers[i].size(), "device");
    row[1] = "-";
    row[2] = devices_text(fleet, numbers[i]);
  }
  add_table(blocks, std::move(table));
  Table all{.columns =
                device_columns("all reasons", {text_column("verdict"), text_column("reason")})};
  for (const Device& device : fleet.devices) {
    if (device.reasons.size() < 2) continue;
    for (const results::Reason& reason : device.reasons) {
      all.rows.push_back(device_row(device, {verdict_cell(reason.code), reason.text}));
    }
  }
  add_table(blocks, std::move(all), Detail::page);
}

void add_absent(Blocks& blocks, const Fleet& fleet) {
  const auto table = [](std::vector<Column> columns) {
    return Table{.columns = std::move(columns), .rows = {}, .most_rows = most_shown};
  };
  Table hosts = table({text_column("missing host")});
  for (const std::string& host : fleet.missing) hosts.rows.push_back({host});
  add_table(blocks, std::move(hosts));
  Table devices = table({text_column("missing devices"), text_column("how many")});
  for (const results::MissingDevices& missing : fleet.missing_devices) {
    devices.rows.push_back(
        {missing.host.empty() ? "unknown host" : missing.host, text_of(missing)});
  }
  add_table(blocks, std::move(devices));
  Table files = table({text_column("broken file")});
  for (const results::BrokenFile& file : fleet.broken) files.rows.push_back({file.text});
  add_table(blocks, std::move(files));
  if (!fleet.left_out.empty()) blocks.push_back({Text{.lines = fleet.left_out}});
}

}  // namespace

std::string fleet_summary(const Fleet& fleet) {
  std::set<std::pair<std::string_view, std::string_view>> devices, failing;  // host and unit
  for (const Device& device : fleet.devices) {
    devices.emplace(device.host, device.unit);
    if (exit_code_of(device) != base::ExitCode::pass) failing.emplace(device.host, device.unit);
  }
  std::string text = fmt::format("{}: {}, {} not passed", base::counted(fleet.files, "file"),
                                 base::counted(devices.size(), "device"), failing.size());
  const auto add = [&](auto n, const char* what, const char* state) {
    if (n > 0) text += fmt::format(", {}{}", base::counted(n, what), state);
  };
  add(fleet.superseded, "older result", " of them");
  add(fleet.unsteady.size(), "device", " unsteady");
  add(fleet.missing.size(), "expected host", " missing");
  std::int64_t missing = 0;
  for (const results::MissingDevices& of_host : fleet.missing_devices) missing += of_host.missing;
  add(missing, "device", " missing");
  add(fleet.broken.size(), "file", " broken");
  add(fleet.left_out.size(), "file", " skipped");
  return text;
}

Report fleet_report(const Fleet& fleet) {
  Report report{.title = fmt::format("Fleet: {}", deck::to_string(fleet.verdict())),
                .data = {},
                .blocks = {}};
  Blocks& blocks = report.blocks;
  for (const Group& group : fleet.groups) add_group(blocks, fleet, group);
  add_histories(blocks, fleet);
  Table unsteady{
      .columns = device_columns("unsteady", {number_column("failed, then passed"),
                                             number_column("results"), text_column("last failed")}),
      .rows = {},
      .most_rows = most_shown};
  for (const results::Unsteady& device : fleet.unsteady) {
    unsteady.rows.push_back(
        device_row(fleet.devices[device.device],
                   {std::to_string(device.times), std::to_string(device.results), device.last}));
  }
  add_table(blocks, std::move(unsteady));
  add_failed(blocks, fleet);
  add_absent(blocks, fleet);
  add_text(blocks, fleet_summary(fleet));
  blocks.push_back({VerdictLine{.verdict = fleet.verdict(), .subject = "verdict", .reasons = {}}});
  return report;
}

}  // namespace overlap::report
