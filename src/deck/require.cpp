#include <cstdio>

#include "base/units.hpp"
#include "deck/fields.hpp"

/// The section `require`.
namespace overlap::deck {
namespace {

using namespace describe;

std::string spell(const Require::Link& link) { return *base::spell_link(link.gen, link.width); }

constexpr Spelling<Require::Link> link_codec = {
    .values =
        [] {
          return Values{
              .allowed = "max or a link, such as gen5 x16",
              .schema = {{"type", "string"}, {"pattern", "^(max|gen[1-9] x[1-9][0-9]?)$"}},
              .words = {"max"}};
        },
    .from = [](const std::string& text) -> std::optional<Require::Link> {
      Require::Link link;
      if (text == "max") return link;
      std::sscanf(text.c_str(), "gen%1d x%2d", &link.gen, &link.width);
      const bool right = link.gen > 0 && link.width > 0 && spell(link) == text;
      return right ? std::optional(link) : std::nullopt;
    },
    .write = [](const Require::Link& link) -> Json { return link.gen == 0 ? "max" : spell(link); }};

/// A minimum version; empty: any.
constexpr Spelling<std::vector<int>> version_codec = {
    .values =
        [] {
          return Values{
              .allowed = "any or a minimum version, such as '>= 570'",
              .schema = {{"type", "string"}, {"pattern", "^(any|(>= *)?[0-9]+([.][0-9]+)*)$"}},
              .words = {"any"}};
        },
    .from = [](const std::string& text) -> std::optional<std::vector<int>> {
      if (text == "any") return std::vector<int>();
      const std::size_t begin = text.starts_with(">=") ? text.find_first_not_of(' ', 2) : 0;
      const auto version = base::parse_version(text.substr(std::min(begin, text.size())));
      return version.empty() ? std::nullopt : std::optional(version);
    },
    .write = [](const std::vector<int>& version) -> Json {
      return version.empty() ? "any" : ">= " + base::spell_version(version);
    }};

}  // namespace

void describe(Visitor& v, Require& r) {
  const Flag state{"on", "off"};
  v("pcie", r.pcie, "Minimum PCIe link, under load; max: the best that device and slot support.",
    or_word("any", link_codec));
  v("ecc", r.ecc, "ECC of the device's memory.", or_word("any", state));
  v("mig", r.mig, "MIG partitioning of the device.", or_word("any", state));
  v("processes", r.no_processes, "Other processes that compute on the device.",
    Flag{"none", "any"});
  v("power_limit", r.default_power_limit, "Power limit of the device.", Flag{"default", "any"});
  v("numa", r.local_numa, "CPUs of the process: only those of the device's NUMA node, or any.",
    Flag{"local", "any"});
  v("driver", r.driver, "Version of the device's driver.", version_codec);
  v("devices", r.devices, "Number of devices that the process sees.",
    unless(!r.devices, or_word("any", Number<int>{.least = 1, .most = most_devices})),
    defaults_to("`any`"));
}

}  // namespace overlap::deck
