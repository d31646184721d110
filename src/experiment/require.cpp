#include "experiment/require.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "base/units.hpp"

namespace overlap::experiment {
namespace {

using deck::Require;

/// A requirement with the found value.
struct Compared {
  std::optional<std::string> found;  ///< empty: unknown
  std::string wanted;
  bool met = false;  ///< by the found value
};

/// A key of the section with its check; empty result: not required.
struct Requirement {
  std::string_view key;
  std::optional<Compared> (*judge)(const Require&, const Readings&);
};

std::optional<Compared> judge_pcie(const Require& require, const Readings& readings) {
  if (!require.pcie) return std::nullopt;
  const base::DeviceInfo& device = readings.device;
  Compared judged{.found = base::spell_link(device.pcie_gen, device.pcie_width), .wanted = "max"};
  std::optional<int> gen = require.pcie->gen;
  std::optional<int> width = require.pcie->width;
  const bool max = gen == 0;
  if (max) {
    gen = device.pcie_gen_max;
    width = device.pcie_width_max;
  }
  if (const auto wanted = base::spell_link(gen, width)) {
    judged.wanted = *wanted + (max ? " (max)" : "");
    judged.met = device.pcie_gen >= gen && device.pcie_width >= width;
  }
  return judged;
}

std::optional<Compared> judge_mode(const std::optional<bool>& wanted,
                                   const std::optional<bool>& found) {
  if (!wanted) return std::nullopt;
  const auto word = [](bool on) { return std::string(on ? "on" : "off"); };
  return Compared{found ? std::optional(word(*found)) : std::nullopt, word(*wanted),
                  found == wanted};
}

std::optional<Compared> judge_processes(const Require& require, const Readings& readings) {
  if (!require.no_processes) return std::nullopt;
  const auto& others = readings.other_processes;
  return Compared{others ? std::optional(fmt::format("{} more", *others)) : std::nullopt, "none",
                  others == 0};
}

std::optional<Compared> judge_power(const Require& require, const Readings& readings) {
  if (!require.default_power_limit) return std::nullopt;
  const auto watts = [](double power) { return fmt::format("{:.0f} W", power); };
  const auto& limit = readings.device.power_limit_w;
  const auto& usual = readings.device.power_limit_default_w;
  constexpr double same_w = 0.5;
  return Compared{limit ? std::optional(watts(*limit)) : std::nullopt,
                  usual ? watts(*usual) + " (default)" : "default",
                  limit && usual && std::abs(*limit - *usual) < same_w};
}

std::optional<Compared> judge_numa(const Require& require, const Readings& readings) {
  if (!require.local_numa) return std::nullopt;
  const auto& node = readings.device.numa_node;
  if (!node || readings.node_cpus.empty() || readings.cpus.empty()) return Compared{{}, "local"};
  return Compared{
      "CPUs " + readings.cpus,
      fmt::format("among CPUs {} (local to the device's node {})", readings.node_cpus, *node),
      std::ranges::includes(base::numbers(readings.node_cpus), base::numbers(readings.cpus))};
}

std::optional<Compared> judge_driver(const Require& require, const Readings& readings) {
  if (require.driver.empty()) return std::nullopt;
  const auto& driver = readings.device.driver;
  return Compared{driver, ">= " + base::spell_version(require.driver),
                  driver && base::parse_version(*driver) >= require.driver};
}

std::optional<Compared> judge_devices(const Require& require, const Readings& readings) {
  if (!require.devices) return std::nullopt;
  return Compared{listed(readings.devices), fmt::format("{}", *require.devices),
                  readings.devices.size() == static_cast<std::size_t>(*require.devices)};
}

constexpr auto requirements = std::to_array<Requirement>({
    {"pcie", judge_pcie},
    {"ecc", [](const Require& require,
               const Readings& readings) { return judge_mode(require.ecc, readings.device.ecc); }},
    {"mig", [](const Require& require,
               const Readings& readings) { return judge_mode(require.mig, readings.device.mig); }},
    {"processes", judge_processes},
    {"power_limit", judge_power},
    {"numa", judge_numa},
    {"driver", judge_driver},
    {"devices", judge_devices},
});

}  // namespace

std::string listed(const std::vector<std::string>& devices) {
  const std::string number = fmt::format("{}", devices.size());
  return devices.empty() ? number : fmt::format("{} ({})", number, fmt::join(devices, ", "));
}

std::vector<std::string> required(const Require& require) {
  std::vector<std::string> keys;
  for (const Requirement& row : requirements) {
    if (row.judge(require, {})) keys.push_back(fmt::format("require.{}", row.key));
  }
  return keys;
}

std::vector<std::string> unmet(const Require& require, const Readings& readings) {
  std::vector<std::string> lines;
  for (const Requirement& row : requirements) {
    const auto judged = row.judge(require, readings);
    if (!judged || (judged->found && judged->met)) continue;
    lines.push_back(fmt::format("require.{}: found {}; required: {}", row.key,
                                judged->found.value_or("unknown"), judged->wanted));
  }
  return lines;
}

}  // namespace overlap::experiment
