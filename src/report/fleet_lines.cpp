#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "report/fleet_report.hpp"
#include "report/junit.hpp"
#include "report/lines.hpp"

/// What programs read about fleets.
namespace overlap::report {
namespace {

using base::field_value;
using results::Device;
using results::Fleet;
using results::Group;

constexpr std::size_t most_devices = 16;  // with a line each
constexpr std::size_t most_faults = 20;

/// The host of missing devices; "unknown host".
std::string host_of(const results::MissingDevices& missing) {
  return missing.host.empty() ? "unknown host" : missing.host;
}

}  // namespace

std::string fleet_lines(const Fleet& fleet, bool all) {
  std::string text;
  all = all || fleet.devices.size() <= most_devices;
  const bool several = std::ranges::any_of(fleet.devices, [&](const Device& device) {
    return device.deck_name != fleet.devices.front().deck_name;
  });
  const auto deck_field = [&](const Device& device) {
    if (!several) return std::string();
    return " deck=" + field_value(device.deck_name);
  };
  for (const Device& device : fleet.devices) {
    const std::string deck = deck_field(device);
    for (const deck::Phase phase : phases_of(device)) {
      const base::ExitCode code = exit_code_of(device, phase);
      if (!all && code == base::ExitCode::pass) continue;
      fmt::format_to(std::back_inserter(text),
                     "OVERLAP_DEVICE host={} uuid={} phase={} verdict={}{}\n",
                     field_value(device.host), field_value(device.unit), deck::to_string(phase),
                     deck::to_string(results::verdict_of(code)), deck);
    }
  }
  for (const Group& group : fleet.groups) {
    for (const results::Distribution& figure : group.distributions) {
      if (figure.slowest.empty() || group.devices.size() < 2) continue;
      const Device& device = fleet.devices[figure.slowest.front().device];
      fmt::format_to(
          std::back_inserter(text),
          "OVERLAP_SLOWEST host={} uuid={} metric={} value={:.6g} median={:.6g} "
          "phase={} order={}{}\n",
          field_value(device.host), field_value(device.unit), deck::to_string(figure.key.metric),
          figure.slowest.front().value, figure.median, deck::to_string(figure.key.phase),
          figure.key.order ? deck::to_string(*figure.key.order) : "-", deck_field(device));
    }
  }
  return text + verdict_line(fleet.verdict(), fleet.exit_code(), !fleet.groups.empty());
}

std::vector<std::string> faults(const Fleet& fleet) {
  std::vector<std::string> texts;
  for (const std::string& host : fleet.missing) texts.push_back(host + ": no result of this host");
  for (const results::MissingDevices& missing : fleet.missing_devices) {
    texts.push_back(host_of(missing) + ": " + text_of(missing));
  }
  for (const results::BrokenFile& file : fleet.broken) texts.push_back(file.text);
  if (texts.size() > most_faults) {
    const std::size_t more = texts.size() - most_faults;
    texts.resize(most_faults);
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
  for (const Device& device : fleet.devices) {
    suite.started = std::max(suite.started, device.started);
    std::vector<std::string> texts;
    for (const results::Reason& reason : device.reasons) texts.push_back(reason.text);
    suite.tests.push_back({.where = device.host + "." + device.unit,
                           .name = device.deck_name + "/device",
                           .verdict = results::verdict_of(exit_code_of(device)),
                           .text = fmt::format("{}", fmt::join(texts, "\n"))});
  }
  for (const std::string& host : fleet.missing) {
    suite.tests.push_back({.where = host,
                           .name = "host",
                           .verdict = results::Verdict::fail,
                           .text = "expected host without a result"});
  }
  for (const results::MissingDevices& missing : fleet.missing_devices) {
    suite.tests.push_back({.where = host_of(missing),
                           .name = "devices",
                           .verdict = results::Verdict::fail,
                           .text = text_of(missing)});
  }
  for (const results::BrokenFile& file : fleet.broken) {
    suite.tests.push_back({.where = "files",
                           .name = file.file,
                           .verdict = results::Verdict::error,
                           .text = file.text});
  }
  return junit_text({suite});
}

}  // namespace overlap::report
