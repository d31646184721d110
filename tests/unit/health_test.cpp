#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/console.hpp"
#include "report/lines.hpp"
#include "report/writers.hpp"
#include "studies.hpp"

/// The device's health in tables, lines and files.
namespace overlap::report {
namespace {

using base::Throttle;
using testing::HasSubstr;
using testing::Not;

/// A run on a device that was throttled, lost packets and corrected errors.
Study ill() {
  experiment::Run run;
  run.order = deck::Order::depth_first;
  run.schedule.order = run.order;
  run.samples_s.assign(6, 10e-3);
  experiment::Outcome outcome = outcome_of({run});
  experiment::HealthRecord& health = outcome.device.health.emplace();
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
  return study_of(outcome);
}

TEST(Health, IsShown) {
  EXPECT_THAT(table(ill(), 100),
              HasSubstr("health of the device: throttled by sw_power_cap for 30.00 ms\n"
                        "            link  replays  ECC errors  SM clock  memory clock  "
                        "temperature  power\n"
                        "before  gen5 x16        1           2  1980 MHz      3201 MHz         "
                        "40 C  120 W\n"
                        "after    gen5 x8        5           3  1200 MHz      3201 MHz         "
                        "40 C  120 W\n"));
  Study unknown = ill();
  unknown.done[0].outcome->device.health = experiment::HealthRecord();
  EXPECT_THAT(table(unknown, 100), HasSubstr("health of the device: throttling unknown\n"));
  unknown.done[0].outcome->device.health->throttled.emplace();
  EXPECT_THAT(table(unknown, 100), HasSubstr("health of the device: not throttled\n"));
  unknown.done[0].outcome->device.health.reset();
  EXPECT_THAT(table(unknown, 100), Not(HasSubstr("health")));
}

TEST(Health, IsInResultLines) {
  const std::string lines = result_lines(ill());
  for (const char* const figure : {"pcie_replays value=4 unit=1", "ecc_errors value=1 unit=1",
                                   "throttled value=0.03 unit=s"}) {
    EXPECT_THAT(lines, HasSubstr(std::string(" order=- metric=") + figure));
  }
}

TEST(Health, IsInResultFiles) {
  const auto result = nlohmann::json::parse(json({ill()}));
  const auto& health = result.at("health");
  EXPECT_EQ(health.at("before").at("pcie_width"), 16);
  EXPECT_EQ(health.at("before").at("throttle_reasons"), nlohmann::json::array());
  const auto& after = health.at("after");
  EXPECT_EQ(after.at("pcie_width"), 8);
  EXPECT_EQ(after.at("replays"), 5);
  EXPECT_EQ(after.at("ecc"), nlohmann::json({{"corrected", 2}, {"uncorrected", 1}}));
  EXPECT_EQ(after.at("remapped_rows"), 3);
  EXPECT_EQ(after.at("temperature_c"), 40);
  EXPECT_EQ(after.at("power_w"), 120.4);
  EXPECT_EQ(after.at("sm_clock_mhz"), 1200);
  EXPECT_EQ(after.at("throttle_reasons"), nlohmann::json({"sw_power_cap", "applications_clocks"}));
  EXPECT_EQ(health.at("throttled").size(), base::throttles.size());
  EXPECT_EQ(health.at("throttled").at("sw_power_cap"), 0.03);
  EXPECT_EQ(health.at("throttled").at("idle"), 0);
  EXPECT_EQ(health.at("pcie_replays"), 4);
  EXPECT_EQ(health.at("ecc_errors"), 1);
  EXPECT_EQ(health.at("throttled_s"), 0.03);

  Study unknown = ill();
  unknown.done[0].outcome->device.health = experiment::HealthRecord();
  const auto empty = nlohmann::json::parse(json({unknown})).at("health");
  EXPECT_EQ(empty.at("after").at("throttle_reasons"), nullptr);
  EXPECT_EQ(empty.at("throttled"), nullptr);
  EXPECT_EQ(empty.at("pcie_replays"), nullptr);
  unknown.done[0].outcome->device.health.reset();
  EXPECT_EQ(nlohmann::json::parse(json({unknown})).at("health"), nullptr);
}

TEST(Health, OfTheMachineIsInResultFiles) {
  Study study = ill();
  study.machine.host.kernel = "6.1.0";
  study.machine.host.transparent_huge_pages = "madvise";
  study.machine.host.huge_pages = 512;
  study.machine.device = base::DeviceInfo{.name = "GPU",
                                          .driver = "570.86",
                                          .vbios = "96.00",
                                          .serial = "165",
                                          .power_limit_w = 500,
                                          .power_limit_default_w = 700};
  study.machine.job = base::Job{.id = "123", .step = {}, .rank = 2, .ranks = 4};
  const auto result = nlohmann::json::parse(json({study}));
  EXPECT_EQ(result.at("host").at("kernel"), "6.1.0");
  EXPECT_EQ(result.at("host").at("transparent_huge_pages"), "madvise");
  EXPECT_EQ(result.at("host").at("huge_pages"), 512);
  EXPECT_EQ(result.at("device").at("driver"), "570.86");
  EXPECT_EQ(result.at("device").at("vbios"), "96.00");
  EXPECT_EQ(result.at("device").at("serial"), "165");
  EXPECT_EQ(result.at("device").at("power_limit_w"), 500);
  EXPECT_EQ(result.at("device").at("power_limit_default_w"), 700);
  EXPECT_EQ(result.at("job"),
            nlohmann::json({{"id", "123"}, {"step", nullptr}, {"rank", 2}, {"ranks", 4}}));
  EXPECT_EQ(nlohmann::json::parse(json({ill()})).at("job"), nullptr);
}

TEST(Health, ListSaysWhetherItCanBeRead) {
  const base::DeviceInfo unread{.name = "GPU"};
  base::DeviceInfo read = unread;
  read.driver = "570.86";
  EXPECT_THAT(list({}, {read}, true, {}), HasSubstr("  health  read by driver 570.86\n"));
  EXPECT_THAT(list({}, {unread}, true, {}), HasSubstr("  health  not read: the driver's"));
  EXPECT_THAT(list({}, {unread}, false, {}), HasSubstr("  health  not read: this back end"));
}

}  // namespace
}  // namespace overlap::report
