#include "experiment/require.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// Requirements on planted readings: of each one that keep it, that break it, and that do not know.
namespace overlap::experiment {
namespace {

using deck::Require;
using testing::ElementsAre;
using testing::IsEmpty;

/// A machine as it should be.
Readings healthy() {
  Readings readings;
  readings.device = {.pcie_gen = 5,
                     .pcie_gen_max = 5,
                     .pcie_width = 16,
                     .pcie_width_max = 16,
                     .numa_node = 1,
                     .ecc = true,
                     .mig = false,
                     .driver = "570.86.15",
                     .power_limit_w = 700,
                     .power_limit_default_w = 700};
  readings.other_processes = 0;
  readings.cpus = "96-103,110";
  readings.node_cpus = "48-95,96-191";
  readings.devices = {"GPU-1", "GPU-2"};
  return readings;
}

struct RequireCase {
  Require require;
  void (*plant)(Readings&);
  std::string unmet;  ///< empty: it is met
};

const Require best_link{.pcie = Require::Link{}};
const Require link_5_16{.pcie = Require::Link{5, 16}};
const Require ecc_on{.ecc = true};
const Require ecc_off{.ecc = false};
const Require mig_on{.mig = true};
const Require mig_off{.mig = false};
const Require alone{.no_processes = true};
const Require default_power{.default_power_limit = true};
const Require local{.local_numa = true};
const Require two{.devices = 2};
const Require driver{.driver = {570, 86, 15}};

const std::vector<RequireCase> require_cases = {
    {best_link, [](Readings&) {}, ""},
    {best_link, [](Readings& r) { r.device.pcie_width = 8; },
     "require.pcie: found gen5 x8; required: gen5 x16 (max)"},
    {best_link, [](Readings& r) { r.device.pcie_gen = 1; },
     "require.pcie: found gen1 x16; required: gen5 x16 (max)"},
    // Narrow by design.
    {best_link, [](Readings& r) { r.device.pcie_width = r.device.pcie_width_max = 8; }, ""},
    {best_link, [](Readings& r) { r.device.pcie_gen.reset(); },
     "require.pcie: found unknown; required: gen5 x16 (max)"},
    {best_link, [](Readings& r) { r.device.pcie_width_max.reset(); },
     "require.pcie: found gen5 x16; required: max"},
    {link_5_16, [](Readings&) {}, ""},
    {link_5_16, [](Readings& r) { r.device.pcie_gen = r.device.pcie_gen_max = 6; }, ""},
    {link_5_16, [](Readings& r) { r.device.pcie_width = r.device.pcie_width_max = 8; },
     "require.pcie: found gen5 x8; required: gen5 x16"},
    {link_5_16, [](Readings& r) { r.device.pcie_width.reset(); },
     "require.pcie: found unknown; required: gen5 x16"},
    {ecc_on, [](Readings&) {}, ""},
    {ecc_on, [](Readings& r) { r.device.ecc = false; }, "require.ecc: found off; required: on"},
    {ecc_on, [](Readings& r) { r.device.ecc.reset(); }, "require.ecc: found unknown; required: on"},
    {ecc_off, [](Readings&) {}, "require.ecc: found on; required: off"},
    {ecc_off, [](Readings& r) { r.device.ecc.reset(); },
     "require.ecc: found unknown; required: off"},
    {mig_off, [](Readings&) {}, ""},
    {mig_off, [](Readings& r) { r.device.mig = true; }, "require.mig: found on; required: off"},
    {mig_on, [](Readings&) {}, "require.mig: found off; required: on"},
    {mig_off, [](Readings& r) { r.device.mig.reset(); },
     "require.mig: found unknown; required: off"},
    {alone, [](Readings&) {}, ""},
    {alone, [](Readings& r) { r.other_processes = 2; },
     "require.processes: found 2 more; required: none"},
    {alone, [](Readings& r) { r.other_processes.reset(); },
     "require.processes: found unknown; required: none"},
    {default_power, [](Readings&) {}, ""},
    {default_power, [](Readings& r) { r.device.power_limit_w = 500; },
     "require.power_limit: found 500 W; required: 700 W (default)"},
    {default_power, [](Readings& r) { r.device.power_limit_w = 700.4; }, ""},
    {default_power, [](Readings& r) { r.device.power_limit_w = 699.4; },
     "require.power_limit: found 699 W; required: 700 W (default)"},
    {default_power, [](Readings& r) { r.device.power_limit_w.reset(); },
     "require.power_limit: found unknown; required: 700 W (default)"},
    {default_power, [](Readings& r) { r.device.power_limit_default_w.reset(); },
     "require.power_limit: found 700 W; required: default"},
    {local, [](Readings&) {}, ""},
    {local, [](Readings& r) { r.cpus = "40-50"; },
     "require.numa: found CPUs 40-50; required: among CPUs 48-95,96-191 (local to the device's "
     "node 1)"},
    {local, [](Readings& r) { r.node_cpus = ""; }, "require.numa: found unknown; required: local"},
    {local, [](Readings& r) { r.cpus = ""; }, "require.numa: found unknown; required: local"},
    {local, [](Readings& r) { r.device.numa_node.reset(); },
     "require.numa: found unknown; required: local"},
    {two, [](Readings&) {}, ""},
    {two, [](Readings& r) { r.devices.pop_back(); },
     "require.devices: found 1 (GPU-1); required: 2"},
    {two, [](Readings& r) { r.devices.push_back("GPU-3"); },
     "require.devices: found 3 (GPU-1, GPU-2, GPU-3); required: 2"},
    {driver, [](Readings&) {}, ""},
    {driver, [](Readings& r) { r.device.driver = "580.1"; }, ""},
    {driver, [](Readings& r) { r.device.driver = "570.86.16"; }, ""},
    {driver, [](Readings& r) { r.device.driver = "570.86"; },
     "require.driver: found 570.86; required: >= 570.86.15"},
    {driver, [](Readings& r) { r.device.driver = "99.200"; },
     "require.driver: found 99.200; required: >= 570.86.15"},
    {driver, [](Readings& r) { r.device.driver = "beta"; },
     "require.driver: found beta; required: >= 570.86.15"},
    {driver, [](Readings& r) { r.device.driver.reset(); },
     "require.driver: found unknown; required: >= 570.86.15"},
};

TEST(Require, EachKeyIsMetBrokenOrUnknown) {
  for (const RequireCase& one : require_cases) {
    Readings readings = healthy();
    one.plant(readings);
    const auto lines = unmet(one.require, readings);
    EXPECT_EQ(lines.empty() ? "" : lines.front(), one.unmet);
    EXPECT_LE(lines.size(), 1U);
  }
}

TEST(Require, NothingIsMetOnABackEndThatKnowsNothing) {
  const Require all{.pcie = Require::Link{},
                    .ecc = true,
                    .mig = false,
                    .no_processes = true,
                    .default_power_limit = true,
                    .local_numa = true,
                    .driver = {570},
                    .devices = 1};
  EXPECT_THAT(unmet(all, Readings{.cpus = "0-7"}),
              ElementsAre("require.pcie: found unknown; required: max",
                          "require.ecc: found unknown; required: on",
                          "require.mig: found unknown; required: off",
                          "require.processes: found unknown; required: none",
                          "require.power_limit: found unknown; required: default",
                          "require.numa: found unknown; required: local",
                          "require.driver: found unknown; required: >= 570",
                          "require.devices: found 0; required: 1"));
  EXPECT_THAT(unmet(Require(), Readings()), IsEmpty());
}

}  // namespace
}  // namespace overlap::experiment
