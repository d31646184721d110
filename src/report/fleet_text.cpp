#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "report/fleet_tables.hpp"
#include "report/junit.hpp"
#include "report/lines.hpp"

namespace overlap::report {
namespace {

using base::field_value;
using experiment::DeviceRecord;
using experiment::Fleet;
using experiment::Group;

constexpr std::size_t few_devices = 16;  // one row or line each
constexpr std::size_t most_shown = 20;   // rows of a table on the terminal

void add(const Rows& rows, bool numbers, std::string& text) {
  if (!rows.empty()) text += base::align(rows, numbers) + "\n";
}

}  // namespace

std::string fleet_text(const Fleet& fleet) {
  std::string text;
  for (const Group& group : fleet.groups) {
    text += group_words(fleet, group) + "\n\n";
    if (group.devices.size() <= few_devices) {
      const auto has = [&](deck::Phase phase) {
        return std::ranges::any_of(group.distributions,
                                   [&](const auto& of) { return of.key.phase == phase; });
      };
      const char* const phases = !has(deck::Phase::together) ? ""
                                 : has(deck::Phase::alone)   ? ", alone / together"
                                                             : ", together";
      text += fmt::format("Medians{}; throughput in GB/s under its order\n", phases);
      add(device_rows(fleet, group), true, text);
    } else {
      add(distribution_rows(fleet, group), true, text);
      add(slowest_rows(fleet, group), false, text);
      text += histogram(fleet, group) + "\n";
    }
    add(node_rows(group, experiment::most_slowest), true, text);
    add(driver_rows(fleet, group, most_shown), false, text);
    add(outlier_rows(fleet, group, most_shown, true), false, text);
  }
  add(history_rows(fleet, most_shown), false, text);
  add(unsteady_rows(fleet, most_shown), false, text);
  add(trouble_rows(fleet, most_shown), false, text);
  add(missing_rows(fleet, most_shown), false, text);
  add(missing_device_rows(fleet, most_shown), false, text);
  add(broken_rows(fleet, most_shown), false, text);
  for (const std::string& line : fleet.left_out) text += line + "\n";
  return text + summary_words(fleet) + "\n";
}

std::string fleet_lines(const Fleet& fleet, bool all) {
  std::string text;
  all = all || fleet.devices.size() <= few_devices;
  const bool several = several_decks(fleet);
  const auto deck_of = [&](const DeviceRecord& device) {
    if (!several) return std::string();
    return " deck=" + field_value(device.deck_name);
  };
  for (const DeviceRecord& device : fleet.devices) {
    const std::string deck = deck_of(device);
    for (const deck::Phase phase : phases_of(device)) {
      const base::ExitCode code = exit_code_of(device, phase);
      if (!all && code == base::ExitCode::pass) continue;
      fmt::format_to(std::back_inserter(text),
                     "OVERLAP_DEVICE host={} uuid={} phase={} verdict={}{}\n",
                     field_value(device.host), field_value(device.unit), deck::to_string(phase),
                     deck::to_string(experiment::verdict_of(code)), deck);
    }
  }
  for (const Group& group : fleet.groups) {
    for (const experiment::Distribution& of : group.distributions) {
      if (of.slowest.empty()) continue;
      const DeviceRecord& device = fleet.devices[of.slowest.front().device];
      fmt::format_to(std::back_inserter(text),
                     "OVERLAP_SLOWEST host={} uuid={} metric={} value={:.6g} median={:.6g} "
                     "phase={} order={}{}\n",
                     field_value(device.host), field_value(device.unit),
                     deck::to_string(of.key.metric), of.slowest.front().value, of.median,
                     deck::to_string(of.key.phase),
                     of.key.order ? deck::to_string(*of.key.order) : "-", deck_of(device));
    }
  }
  return text + verdict_line(fleet.verdict(), fleet.exit_code(), !fleet.groups.empty());
}

std::vector<std::string> faults(const Fleet& fleet) {
  std::vector<std::string> texts;
  for (const std::string& host : fleet.missing) texts.push_back(host + ": no result of this host");
  for (const experiment::MissingDevices& missing : fleet.missing_devices) {
    texts.push_back(host_words(missing) + ": " + words(missing));
  }
  for (const experiment::BrokenFile& file : fleet.broken) texts.push_back(file.text);
  if (texts.size() > most_shown) {
    const std::size_t more = texts.size() - most_shown;
    texts.resize(most_shown);
    texts.push_back(fmt::format("and {} more", more));
  }
  return texts;
}

std::string fleet_junit(const Fleet& fleet) {
  JunitSuite suite{.name = "fleet",
                   .host = "-",
                   .started = "1970-01-01T00:00:00Z",
                   .properties = {},
                   .tests = {},
                   .output = fleet_lines(fleet, true)};
  for (const DeviceRecord& device : fleet.devices) {
    suite.started = std::max(suite.started, device.started);
    std::vector<std::string> texts;
    for (const experiment::Trouble& trouble : device.troubles) texts.push_back(trouble.text);
    suite.tests.push_back({.where = device.host + "." + device.unit,
                           .name = device.deck_name + "/device",
                           .verdict = experiment::verdict_of(exit_code_of(device)),
                           .text = fmt::format("{}", fmt::join(texts, "\n"))});
  }
  for (const std::string& host : fleet.missing) {
    suite.tests.push_back({.where = host,
                           .name = "host",
                           .verdict = experiment::Verdict::fail,
                           .text = "expected host without a result"});
  }
  for (const experiment::MissingDevices& missing : fleet.missing_devices) {
    suite.tests.push_back({.where = host_words(missing),
                           .name = "devices",
                           .verdict = experiment::Verdict::fail,
                           .text = words(missing)});
  }
  for (const experiment::BrokenFile& file : fleet.broken) {
    suite.tests.push_back({.where = "files",
                           .name = file.file,
                           .verdict = experiment::Verdict::error,
                           .text = file.text});
  }
  return junit_text({suite});
}

}  // namespace overlap::report
