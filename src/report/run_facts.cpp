#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/units.hpp"
#include "deck/fields.hpp"
#include "report/reports.hpp"

/// What is known before anything runs.
namespace overlap::report {
namespace {

using base::format_bytes;
using base::format_seconds;
using describe::Json;

/// The workload in one line, without swept keys.
std::string workload_line(const results::Result& result) {
  std::string line;
  const Json swept = result.points.front().values;
  const Json workload = result.deck.resolved.value("workload", Json::object());
  for (const auto& [key, value] : workload.items()) {
    if (swept.contains("workload." + key)) continue;
    const std::string text = key == "tasks" ? std::to_string(value.size()) : describe::spell(value);
    if (text == "none") continue;
    line += line.empty() ? text : fmt::format(", {} {}", key, text);
  }
  return line;
}

/// The settings that no other line shows and that differ from their defaults.
std::string settings(const results::Result& result) {
  constexpr auto shown = std::to_array<std::string_view>(
      {"memory.host", "memory.device_limit", "issue.orders", "issue.lanes"});
  const Json& resolved = result.deck.resolved;
  deck::Deck plain;
  const auto host =
      describe::OneOf<deck::HostMemory>().parse(describe::value_at(resolved, "memory.host"));
  plain.memory.host = host.value_or(plain.memory.host);  // decides what other keys there are
  const Json defaults = deck::resolved(plain);
  std::vector<std::string> found;
  for (const char* const section : {"memory", "issue", "measure"}) {
    if (result.predicts() && section == std::string_view("measure")) continue;
    const Json keys = resolved.value(section, Json::object());
    for (const auto& [name, value] : keys.items()) {
      const std::string key = fmt::format("{}.{}", section, name);
      if (value == describe::value_at(defaults, key) || std::ranges::count(shown, key) > 0) {
        continue;
      }
      found.push_back(fmt::format("{} {}", key, describe::spell(value)));
    }
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

void add_layout(Facts& facts, const results::DataLayout& layout) {
  std::string line;
  if (layout.a_panels > 0) {
    const double times =
        static_cast<double>(layout.loaded_bytes) / static_cast<double>(layout.once_bytes);
    line = fmt::format(
        "{}; the device holds {} of them, {} of A's panels and {} of B's, which are copied {}, {}",
        layout.chunks, layout.slots, layout.a_panels, layout.b_panels,
        times <= 1 ? "once" : fmt::format("{:.2f} times", times),
        format_bytes(layout.loaded_bytes));
  } else {
    line = fmt::format("{}, {} on the device", layout.chunks, base::counted(layout.slots, "slot"));
  }
  if (layout.device_limit) {
    line += fmt::format(" (out of core: limit {})", format_bytes(*layout.device_limit));
  }
  facts.emplace_back(layout.a_panels > 0 ? "tiles" : "chunks", line);
}

void add_balance(Facts& facts, const results::Balance& balance) {
  facts.emplace_back(
      "intensity",
      fmt::format("{} repeats: kernel {} / copies to the device {} of the largest chunk = {:.3f}",
                  balance.repeats, format_seconds(balance.kernel_s), format_seconds(balance.copy_s),
                  balance.ratio()));
}

/// What a device can do or not, as far as is known.
std::string spell(const std::vector<std::pair<std::optional<bool>, std::string>>& abilities) {
  std::vector<std::string> texts;
  for (const auto& [can, text] : abilities) {
    if (can) texts.push_back(text + (*can ? "" : ": no"));
  }
  return texts.empty() ? "unknown" : fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

Facts device_facts(const base::DeviceInfo& device, bool gpu) {
  const auto size = [](std::optional<std::int64_t> bytes) {
    return bytes ? format_bytes(*bytes) : "unknown";
  };
  const std::string memory = fmt::format("{} {} of {}", size(device.free_bytes),
                                         gpu ? "free" : "available", size(device.total_bytes));
  if (!gpu) return {{"device", device.name}, {"  memory", memory}};
  const auto number = [](const std::optional<int>& value, const char* unit = "") {
    return value ? fmt::format("{}{}", *value, unit) : std::string("unknown");
  };
  const auto link = [](std::optional<int> gen, std::optional<int> width) {
    return base::spell_link(gen, width).value_or("unknown");
  };
  const auto at_least = [&](int engines) {
    return device.copy_engines ? std::optional(*device.copy_engines >= engines) : std::nullopt;
  };
  const auto word = [](const std::optional<bool>& value, const char* yes, const char* no) {
    return !value ? "unknown" : *value ? yes : no;
  };
  return {
      {"device", device.name},
      {"  UUID", device.uuid},
      {"  capability", fmt::format("compute {}, {} copy engines", device.compute_capability,
                                   number(device.copy_engines))},
      {"  at once", spell({{at_least(1), "copies and kernels"},
                           {at_least(2), "copies in both directions"},
                           {device.concurrent_kernels, "kernels"}})},
      {"  reaches", spell({{device.maps_host_memory, "page-locked memory"},
                           {device.concurrent_managed_access, "managed memory"},
                           {device.pageable_memory_access, "pageable memory"}})},
      {"  memory", memory},
      {"  link",
       fmt::format("PCIe {}, at most {}; NUMA node {}", link(device.pcie_gen, device.pcie_width),
                   link(device.pcie_gen_max, device.pcie_width_max), number(device.numa_node))},
      {"  state",
       fmt::format("SM clock {} of {}, ECC {}, MIG {}", number(device.sm_clock_mhz, " MHz"),
                   number(device.sm_clock_max_mhz, " MHz"), word(device.ecc, "on", "off"),
                   word(device.mig, "on", "off"))}};
}

namespace {

/// Host, software, device.
Facts machine_facts(const base::Machine& machine) {
  const auto& [build, host, device, job, placement] = machine;
  Facts facts = device_facts(device.value_or(base::device_of(host)), device.has_value());
  facts.emplace_back("host", fmt::format("{}, {} (CPUs {})", host.name,
                                         base::counted(host.cores, "core"), host.affinity));
  facts.emplace_back("back end", fmt::format("Kokkos {} {}, {}", build.kokkos_version,
                                             build.backend, build.compiler));
  return facts;
}

/// The values of a swept key; of many only the first and the last.
std::string axis_values(const results::Axis& axis) {
  std::vector<std::string> texts;
  for (const results::Axis::Value& value : axis.values) texts.push_back(value.text);
  constexpr std::size_t most = 16;
  if (texts.size() <= most) return fmt::format("{}", fmt::join(texts, ", "));
  return fmt::format("{}, ..., {} ({} values)",
                     fmt::join(texts.begin(), texts.begin() + most - 2, ", "), texts.back(),
                     texts.size());
}

}  // namespace

Blocks heading(const results::Result& result, const results::Point& planned) {
  Blocks blocks;
  blocks.push_back({Heading{.text = base::one_line(result.title), .level = 1}});
  Facts facts;
  if (!result.predicts()) facts = machine_facts(result.machine);
  facts.emplace_back("deck", result.deck.path);
  facts.emplace_back("workload", workload_line(result));
  if (result.sweeps()) {
    if (result.predicts()) {
      facts.emplace_back("devices", fmt::format("{}", fmt::join(result.predicted_for, ", ")));
    }
    facts.emplace_back("sweep", base::counted(result.points.size(), "point"));
    for (const results::Axis& axis : result.axes()) {
      facts.emplace_back("  " + axis.key, axis_values(axis));
    }
  } else {
    facts.emplace_back("host memory",
                       describe::spell(describe::value_at(result.deck.resolved, "memory.host")));
    if (planned.layout) add_layout(facts, *planned.layout);
    const std::string line = settings(result);
    if (!line.empty()) facts.emplace_back("settings", line);
    if (planned.balance) add_balance(facts, *planned.balance);
    facts.insert(facts.end(), planned.notes.begin(), planned.notes.end());
  }
  if (!result.described.empty()) {
    // For devices without latencies, whose errors are larger, a line follows.
    const bool as_h100 = std::ranges::any_of(result.described, [&](const std::string& name) {
      return std::ranges::count(result.without_latencies, name) == 0;
    });
    facts.emplace_back(
        "described, not measured",
        fmt::format("{}{}", fmt::join(result.described, ", "),
                    as_h100
                        ? "; H100, described from data sheets: half of 67 runs within 6 %, worst "
                          "42 %; least certain: copies to the device while both directions copy"
                        : ""));
  }
  if (!result.without_latencies.empty()) {
    facts.emplace_back("no latencies", fmt::format("of {}: small chunks are predicted too fast",
                                                   fmt::join(result.without_latencies, ", ")));
  }
  add_facts(blocks, facts);
  return blocks;
}

}  // namespace overlap::report
