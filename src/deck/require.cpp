#include <cstdio>

#include "base/units.hpp"
#include "deck/fields.hpp"

/// The section `require`.
namespace overlap::deck {
namespace {

using namespace yaml;

std::string spell(const Require::Link& link) { return *base::spell_link(link.gen, link.width); }

Kind<Require::Link> link() {
  return {.values = {.allowed = "max or a link, such as gen5 x16",
                     .schema = {{"type", "string"}, {"pattern", "^(max|gen[1-9] x[1-9][0-9]?)$"}},
                     .words = {"max"}},
          .parse = [](const std::string& text) -> std::optional<Require::Link> {
            Require::Link link;
            if (text == "max") return link;
            int end = 0;
            const int read =
                std::sscanf(text.c_str(), "gen%1d x%2d%n", &link.gen, &link.width, &end);
            const bool all = read == 2 && static_cast<std::size_t>(end) == text.size();
            const bool right = all && link.gen > 0 && link.width > 0 && spell(link) == text;
            return right ? std::optional(link) : std::nullopt;
          },
          .write = [](const Require::Link& link) -> Json {
            return link.gen == 0 ? "max" : spell(link);
          }};
}

/// A minimum version; empty: any.
Kind<std::vector<int>> versions() {
  return {
      .values = {.allowed = "any or a minimum version, such as '>= 570'",
                 .schema = {{"type", "string"}, {"pattern", "^(any|(>= *)?[0-9]+([.][0-9]+)*)$"}},
                 .words = {"any"}},
      .parse = [](const std::string& text) -> std::optional<std::vector<int>> {
        if (text == "any") return std::vector<int>();
        const bool compares = text.starts_with(">=");
        const std::size_t begin = compares ? text.find_first_not_of(' ', 2) : 0;
        const auto version = base::parse_version(text.substr(std::min(begin, text.size())));
        return version.empty() ? std::nullopt : std::optional(version);
      },
      .write = [](const std::vector<int>& version) -> Json {
        return version.empty() ? "any" : ">= " + base::spell_version(version);
      }};
}

}  // namespace

const Table<Require>& require_table() {
  static const Table<Require> table = {{
      field("pcie", &Require::pcie, or_word("any", link()),
            "Minimum PCIe link, under load; max: the best that device and slot support."),
      field("ecc", &Require::ecc, or_word("any", either("on", "off")),
            "ECC of the device's memory."),
      field("mig", &Require::mig, or_word("any", either("on", "off")),
            "MIG partitioning of the device."),
      field("processes", &Require::no_processes, either("none", "any"),
            "Other processes that compute on the device."),
      field("power_limit", &Require::default_power_limit, either("default", "any"),
            "Power limit of the device."),
      field("numa", &Require::local_numa, either("local", "any"),
            "CPUs of the process: only those of the device's NUMA node, or any."),
      field("driver", &Require::driver, versions(), "Version of the device's driver."),
      field("devices", &Require::devices, or_word("any", count(1, most_devices)),
            "Number of devices that the process sees.")
          .unless_default(),
  }};
  return table;
}

}  // namespace overlap::deck
