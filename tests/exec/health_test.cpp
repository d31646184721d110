#include "measure/health.hpp"

#include <gmock/gmock.h>

#include "bench.hpp"

/// Health around runs and in them, as a planted monitor shows it.
namespace overlap::measure {
namespace {

using base::Throttle;
using base::Throttles;
using std::chrono::milliseconds;

/// A monitor whose counters grow with each reading.
struct PlantedDevice {
  std::atomic<int> asked = 0;  ///< for reasons
  int readings = 0;
  std::optional<Throttles> reasons = Throttles();
  Monitor monitor;

  PlantedDevice() {
    monitor.health = [this] {
      ++readings;
      return base::Health{.pcie_gen = 5,
                          .pcie_width = 8,
                          .pcie_replays = 10 * readings,
                          .throttle_reasons = reasons};
    };
    monitor.throttle_reasons = [this] {
      ++asked;
      return reasons;
    };
  }
};

TEST(HealthWatch, ReadsBeforeAndAfter) {
  PlantedDevice device;
  HealthWatch watch(device.monitor);
  EXPECT_EQ(device.readings, 1);
  const auto health = watch.finish();
  ASSERT_TRUE(health);
  EXPECT_EQ(health->before.pcie_replays, 10);
  EXPECT_EQ(health->after.pcie_replays, 20);
  EXPECT_EQ(health->after.pcie_width, 8);
}

TEST(HealthWatch, SamplesTheReasonsWhileARunIsScored) {
  PlantedDevice device;
  device.reasons =
      Throttles{Throttle::applications_clocks, Throttle::sw_power_cap, Throttle::hw_slowdown};
  HealthWatch watch(device.monitor);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(device.asked, 0);
  watch.begin();
  while (device.asked < 2) std::this_thread::sleep_for(milliseconds(1));
  watch.end(1.5);
  watch.begin();
  watch.end(0.5);
  const auto throttled = watch.finish()->throttled.value();
  EXPECT_DOUBLE_EQ(throttled.slowed_s, 2);  // two of the reasons slow it, at the same time
  for (const base::ThrottleRow& row : base::throttles) {
    const bool planted = std::ranges::count(*device.reasons, row.value) > 0;
    EXPECT_DOUBLE_EQ(throttled.by_reason_s[static_cast<std::size_t>(row.value)], planted ? 2 : 0)
        << row.name;
  }
}

TEST(HealthWatch, ASoakHasASeries) {
  PlantedDevice device;
  HealthWatch watch(device.monitor, 1e-3);  // a point is due at every reading
  watch.begin();
  while (device.asked < 3) std::this_thread::sleep_for(milliseconds(1));
  watch.end(1);
  EXPECT_TRUE(watch.finish());
  ASSERT_GE(watch.series().size(), 2U);
  EXPECT_LT(watch.series()[0].at_s, watch.series()[1].at_s);
  HealthWatch none(device.monitor);
  none.begin();
  while (device.asked < 5) std::this_thread::sleep_for(milliseconds(1));
  none.finish();
  EXPECT_THAT(none.series(), testing::IsEmpty());
}

TEST(HealthWatch, SettingsAndIdlenessSlowNothing) {
  PlantedDevice device;
  device.reasons = Throttles{Throttle::idle, Throttle::applications_clocks};
  HealthWatch watch(device.monitor);
  watch.begin();
  while (device.asked < 1) std::this_thread::sleep_for(milliseconds(1));
  watch.end(3);
  EXPECT_EQ(watch.finish()->throttled.value().slowed_s, 0);
}

TEST(HealthWatch, RunsTooShortToBeMetHaveWhatHeldAroundThem) {
  PlantedDevice device;
  device.monitor.throttle_reasons = {};  // nobody samples
  device.reasons = Throttles{};
  HealthWatch watch(device.monitor);
  watch.begin();
  watch.end(4);
  device.reasons = Throttles{Throttle::sw_thermal};
  const auto throttled = watch.finish()->throttled.value();
  EXPECT_DOUBLE_EQ(throttled.slowed_s, 2);
}

TEST(HealthWatch, WhatCannotBeReadIsEmpty) {
  PlantedDevice device;
  device.reasons.reset();
  HealthWatch watch(device.monitor);
  watch.begin();
  while (device.asked < 1) std::this_thread::sleep_for(milliseconds(1));
  watch.end(1);
  const auto health = watch.finish();
  ASSERT_TRUE(health);
  EXPECT_FALSE(health->throttled);
  const Monitor nothing;
  EXPECT_FALSE(HealthWatch(nothing).finish());
}

TEST(HealthTest, IsReadAroundTheRuns) {
  TestBench bench(test_deck(deck::WorkloadKind::increment, 1000, 4, deck::ElementType::float32),
                  deck::Order::depth_first, 4);
  PlantedDevice device;
  std::vector<int> readings;  // that were there before each run
  std::vector<experiment::Case> cases = {case_of(deck::Order::depth_first, bench.schedule)};
  const experiment::Samples samples =
      run_rounds(*bench.executor, cases, bench.workload, {.warmup = 1, .repetitions = 3},
                 {.progress = {}, .before_sample = [&] { readings.push_back(device.readings); }},
                 {}, device.monitor);
  EXPECT_THAT(readings, testing::Each(1));
  ASSERT_TRUE(samples.device.health);
  const auto replays = results::value(deck::Metric::pcie_replays, samples.device);
  ASSERT_TRUE(replays);
  EXPECT_EQ(replays->median, 10);
  const Monitor nothing;
  EXPECT_FALSE(
      run_rounds(*bench.executor, cases, bench.workload, {}, {}, {}, nothing).device.health);
}

}  // namespace
}  // namespace overlap::measure
