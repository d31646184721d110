#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/reports.hpp"
#include "report/writers.hpp"
#include "results.hpp"

/// The device's health in tables, lines and files.
namespace overlap::report {
namespace {

using base::Throttle;
using testing::HasSubstr;
using testing::Not;

/// A device that was throttled, lost packets and corrected errors.
results::HealthRecord ill() {
  results::HealthRecord health;
  health.before = {.pcie_gen = 5,
                   .pcie_width = 16,
                   .pcie_replays = 1,
                   .ecc_corrected = 2,
                   .ecc_uncorrected = 0,
                   .remapped_rows = 3,
                   .temperature_c = 40,
                   .power_w = 120.4,
                   .sm_clock_mhz = 1980,
                   .memory_clock_mhz = 3201,
                   .throttle_reasons = base::Throttles{}};
  health.after = health.before;
  health.after.pcie_width = 8;
  health.after.pcie_replays = 5;
  health.after.ecc_uncorrected = 1;
  health.after.sm_clock_mhz = 1200;
  health.after.throttle_reasons = {Throttle::sw_power_cap, Throttle::applications_clocks};
  health.throttled.emplace().slowed_s = 0.03;
  health.throttled->by_reason_s[static_cast<std::size_t>(Throttle::sw_power_cap)] = 0.03;
  health.throttled->by_reason_s[static_cast<std::size_t>(Throttle::applications_clocks)] = 0.06;
  return health;
}

results::Result result_with(std::optional<results::HealthRecord> health) {
  results::Point part = point_of({run_of(deck::Order::depth_first, std::vector<double>(6, 10e-3))});
  part.device.health = std::move(health);
  return result_of(std::move(part));
}

TEST(Health, IsShown) {
  EXPECT_THAT(shown(result_with(ill())),
              HasSubstr("health of the device: throttled by sw_power_cap for 30.00 ms\n"
                        "        link      replays  ECC errors  SM clock  memory clock  "
                        "temperature  power\n"
                        "before  gen5 x16        1           2  1980 MHz      3201 MHz         "
                        "40 C  120 W\n"
                        "after   gen5 x8         5           3  1200 MHz      3201 MHz         "
                        "40 C  120 W\n"));
  results::HealthRecord unknown;
  EXPECT_THAT(shown(result_with(unknown)), HasSubstr("health of the device: throttling unknown\n"));
  unknown.throttled.emplace();
  EXPECT_THAT(shown(result_with(unknown)), HasSubstr("health of the device: not throttled\n"));
  EXPECT_THAT(shown(result_with({})), Not(HasSubstr("health")));
}

TEST(Health, IsNotShownWhereItIsPartlyUnknown) {
  const results::HealthRecord health{.before = {.pcie_gen = 4, .ecc_corrected = 2},
                                     .after = {.pcie_width = 8, .ecc_uncorrected = 1}};
  const std::string text = shown(result_with(health));
  EXPECT_THAT(text, Not(HasSubstr("link")));
  EXPECT_THAT(text, Not(HasSubstr("ECC")));
}

TEST(Health, IsInResultLines) {
  const std::string lines = result_lines(result_with(ill()));
  for (const char* const figure : {"pcie_replays value=4 unit=1", "ecc_errors value=1 unit=1",
                                   "throttled value=0.03 unit=s"}) {
    EXPECT_THAT(lines, HasSubstr(std::string(" order=- metric=") + figure));
  }
}

TEST(Health, IsInResultFiles) {
  const auto health =
      nlohmann::json::parse(json({result_with(ill())})).at("points")[0].at("health");
  EXPECT_EQ(health.at("before").at("throttle_reasons"), nlohmann::json::array());
  const auto& after = health.at("after");
  EXPECT_EQ(after.at("pcie_width"), 8);
  EXPECT_EQ(after.at("replays"), 5);
  EXPECT_EQ(after.at("ecc"), nlohmann::json({{"corrected", 2}, {"uncorrected", 1}}));
  EXPECT_EQ(after.at("throttle_reasons"), nlohmann::json({"sw_power_cap", "applications_clocks"}));
  EXPECT_EQ(health.at("throttled").size(), base::throttles.size() + 1);
  EXPECT_EQ(health.at("throttled").at("slowed_s"), 0.03);
  EXPECT_EQ(health.at("throttled").at("sw_power_cap"), 0.03);
  EXPECT_EQ(health.at("throttled").at("idle"), 0);
  EXPECT_EQ(health.at("pcie_replays").at("median"), 4);
  EXPECT_EQ(health.at("ecc_errors").at("median"), 1);
  EXPECT_EQ(health.at("throttled_s").at("median"), 0.03);
  const auto empty = nlohmann::json::parse(json({result_with(results::HealthRecord())}))
                         .at("points")[0]
                         .at("health");
  EXPECT_EQ(empty.at("after").at("throttle_reasons"), nullptr);
  EXPECT_EQ(empty.at("throttled"), nullptr);
  EXPECT_EQ(empty.at("pcie_replays"), nullptr);
  EXPECT_EQ(nlohmann::json::parse(json({result_with({})})).at("points")[0].at("health"), nullptr);
}

TEST(Health, ListSaysWhetherItCanBeRead) {
  const base::DeviceInfo unread{.name = "GPU"};
  base::DeviceInfo read = unread;
  read.driver = "570.86";
  EXPECT_THAT(list({}, {read}, true, {}, false),
              HasSubstr("  health      read by driver 570.86\n"));
  EXPECT_THAT(list({}, {unread}, true, {}, false),
              HasSubstr("  health      not read: the driver's"));
  EXPECT_THAT(list({}, {unread}, false, {}, false), HasSubstr("  health  not read: this back end"));
}

}  // namespace
}  // namespace overlap::report
