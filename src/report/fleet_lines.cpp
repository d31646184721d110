#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "report/fleet_report.hpp"
#include "report/lines.hpp"

/// What programs read about fleets.
namespace overlap::report {

using base::field_value;
using results::Device;
using results::Fleet;

std::string fleet_lines(const Fleet& fleet, bool all) {
  constexpr std::size_t most_devices = 16;  // with a line each
  std::string text;
  const auto add = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  };
  all = all || fleet.devices.size() <= most_devices;
  const auto deck_field = [&, several = fleet.several_decks()](const Device& device) {
    return several ? " deck=" + field_value(device.deck_name) : "";
  };
  for (const Device& device : fleet.devices) {
    for (const deck::Phase phase : phases_of(device)) {
      const base::ExitCode code = exit_code_of(device, phase);
      if (!all && code == base::ExitCode::pass) continue;
      add("OVERLAP_DEVICE host={} uuid={} phase={} verdict={}{}\n", field_value(device.host),
          field_value(device.unit), deck::to_string(phase),
          deck::to_string(results::verdict_of(code)), deck_field(device));
    }
  }
  for (const results::Group& group : fleet.groups) {
    for (const auto& [key, devices, median, mad, min, max, slowest, outliers] :
         group.distributions) {
      if (slowest.empty() || group.devices.size() < 2) continue;
      const Device& device = fleet.devices.at(slowest.front().device);
      add("OVERLAP_SLOWEST host={} uuid={} metric={} value={:.6g} median={:.6g} phase={} "
          "order={}{}\n",
          field_value(device.host), field_value(device.unit), deck::to_string(key.metric),
          slowest.front().value, median, deck::to_string(key.phase),
          key.order ? deck::to_string(*key.order) : "-", deck_field(device));
    }
  }
  return text + verdict_line(fleet.verdict(), fleet.exit_code(), !fleet.groups.empty());
}

std::string fleet_junit(const Fleet& fleet) {
  JunitSuite suite{.name = "fleet",
                   .host = "-",
                   .started = "1970-01-01T00:00:00Z",
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
  std::ranges::move(faults(fleet), std::back_inserter(suite.tests));
  return junit_text({suite});
}

}  // namespace overlap::report
