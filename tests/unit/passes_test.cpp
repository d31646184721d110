#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "hand_schedule.hpp"
#include "model/load.hpp"
#include "model/predict.hpp"
#include "model/spread.hpp"
#include "schedule/build.hpp"

namespace overlap::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Device& h200() {
  static const Device device = load_device("h200");
  return device;
}

/// A pass of a calibration of the H200: each figure takes as much longer as `factor` says.
Device pass(const std::function<double()>& factor) {
  Device device = h200();
  const auto disturb = [&](Curve& curve) {
    std::vector<Curve::Point> points = curve.points();
    for (Curve::Point& point : points) point.seconds *= factor();
    curve = increasing(std::move(points));
  };
  for (Copies* copies : {&device.h2d, &device.d2h}) {
    for (Curve* curve : {&copies->pinned, &copies->duplex, &copies->pageable, &copies->lines}) {
      disturb(*curve);
    }
  }
  for (auto& [name, kernel] : device.kernels) {
    for (Roof& roof : kernel.roofs) disturb(roof.time);
  }
  for (double* call : {&device.host.copy_s, &device.host.kernel_s, &device.latency.lane_s}) {
    *call *= factor();
  }
  return device;
}

/// The largest relative difference between two devices over all figures that pass() changes.
double difference(const Device& found, const Device& expected) {
  double most = 0;
  const auto compare = [&](double a, double b) { most = std::max(most, std::abs(a / b - 1)); };
  const auto curves = [&](const Curve& a, const Curve& b) {
    for (const auto& [bytes, seconds] : b.points()) compare(a.seconds(bytes), seconds);
  };
  for (auto copies : {&Device::h2d, &Device::d2h}) {
    for (auto curve : {&Copies::pinned, &Copies::duplex, &Copies::pageable, &Copies::lines}) {
      curves(found.*copies.*curve, expected.*copies.*curve);
    }
  }
  for (const auto& [name, kernel] : expected.kernels) {
    for (std::size_t i = 0; i < kernel.roofs.size(); ++i) {
      curves(found.kernels.at(name).roofs[i].time, kernel.roofs[i].time);
    }
  }
  compare(found.host.copy_s, expected.host.copy_s);
  compare(found.host.kernel_s, expected.host.kernel_s);
  compare(found.latency.lane_s, expected.latency.lane_s);
  return most;
}

class Passes : public testing::Test {
 protected:
  double quiet() { return noise_(random_); }
  /// Another process is busy in some moments.
  double disturbed() { return quiet() * (random_() % 2 == 0 ? 1 : 3); }
  Device device(int quiet_ones, int disturbed_ones) {
    std::vector<Device> passes;
    for (int i = 0; i < disturbed_ones; ++i) passes.push_back(pass([&] { return disturbed(); }));
    for (int i = 0; i < quiet_ones; ++i) passes.push_back(pass([&] { return quiet(); }));
    return combine(passes);
  }

 private:
  std::mt19937 random_{1};
  std::uniform_real_distribution<double> noise_{1.0, 1.02};
};

TEST_F(Passes, OneIsReturnedAsItIs) {
  Device one = pass([] { return 1; });
  one.spread.reset();
  const Device found = combine({one});
  EXPECT_EQ(to_yaml(found, ""), to_yaml(one, ""));
  EXPECT_FALSE(found.spread);
}

TEST_F(Passes, WhatCostsNothingHasNoSpread) {
  Device one;
  one.h2d.pinned = one.d2h.pinned = Curve::line(1e-6, 1e9);
  const Device found = combine({one, one, one});
  ASSERT_TRUE(found.spread);
  EXPECT_EQ(found.spread->calls, 0);
  EXPECT_EQ(found.spread->kernels, 0);
}

TEST_F(Passes, ASpreadIsAtMostTheFigure) {
  std::vector<Device> passes(2, pass([] { return 1; }));
  passes[1].host.copy_s = 1000 * passes[0].host.copy_s;
  passes[0].host.kernel_s = passes[0].latency.lane_s = 0;
  passes[1].host.kernel_s = passes[1].latency.lane_s = 0;
  const Device found = combine(passes);
  EXPECT_EQ(found.host.copy_s, passes[0].host.copy_s);
  EXPECT_LE(found.spread->calls, 1);
  const Device quick = pass([] { return 1; });
  const Spread all = combine({quick, pass([] { return 1000; })}).spread.value();
  EXPECT_EQ(all.copies, 1);
  EXPECT_EQ(all.kernels, 1);
}

TEST_F(Passes, TheSpreadIsTheMedianDeviation) {
  std::vector<Device> passes;
  for (const double factor : {1.3, 1.0, 1.1}) {
    passes.push_back(pass([&] { return factor; }));
    passes.back().host = {.copy_s = factor};
    passes.back().latency = {};
  }
  const Device found = combine(passes);
  EXPECT_DOUBLE_EQ(found.host.copy_s, 1.1);
  EXPECT_NEAR(found.spread->copies, 0.1 / 1.1, 1e-9);
  EXPECT_NEAR(found.spread->kernels, 0.1 / 1.1, 1e-9);
  EXPECT_NEAR(found.spread->calls, 0.1 / 1.1, 1e-9);
}

TEST_F(Passes, OfTwoTheShorterTimeCounts) {
  const auto combined = [](double other) {
    std::vector<Device> passes(2, pass([] { return 1; }));
    for (Device& pass : passes) {
      pass.host = {.copy_s = 1};
      pass.latency = {};
    }
    passes[0].host.copy_s = other;
    return combine(passes);
  };
  const Device apart = combined(1.5);
  EXPECT_EQ(apart.host.copy_s, 1);
  EXPECT_DOUBLE_EQ(apart.spread->calls, 0.25);
  EXPECT_THAT(apart.doubtful, ElementsAre("host"));
  EXPECT_EQ(combined(0.96).host.copy_s, 0.96);
  EXPECT_THAT(combined(0.96).doubtful, IsEmpty());
}

TEST_F(Passes, OfAQuietMachineAgree) {
  const Device found = device(4, 0);
  EXPECT_LE(difference(found, h200()), 0.025);
  EXPECT_THAT(found.doubtful, IsEmpty());
  ASSERT_TRUE(found.spread);
  EXPECT_GT(found.spread->copies, 0.0005);
  EXPECT_LT(found.spread->copies, 0.01);
  EXPECT_LT(found.spread->kernels, 0.01);
  EXPECT_LT(found.spread->calls, 0.01);
}

TEST_F(Passes, ADisturbanceInHalfOfThemChangesNothing) {
  for (int trial = 0; trial < 20; ++trial) EXPECT_LE(difference(device(2, 2), h200()), 0.05);
}

TEST_F(Passes, WhatIsDisturbedInMostOfThemIsDoubtful) {
  int wrong = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Device found = device(0, 4);
    if (difference(found, h200()) <= 0.05) continue;
    ++wrong;
    EXPECT_THAT(found.doubtful, Not(IsEmpty()));
  }
  EXPECT_GT(wrong, 10);
}

TEST_F(Passes, ASingleOutlierDoesNoHarm) {
  std::vector<Device> passes(4, pass([] { return 1; }));
  passes[1].host.copy_s *= 8;
  passes[2].host.kernel_s = 0;
  const Device found = combine(passes);
  EXPECT_DOUBLE_EQ(found.host.copy_s, passes[0].host.copy_s);
  EXPECT_DOUBLE_EQ(found.host.kernel_s, passes[0].host.kernel_s);
  EXPECT_THAT(found.doubtful, IsEmpty());
}

TEST_F(Passes, DoubtfulIsWhatMostPassesDoNotAgreeOn) {
  const auto doubtful = [](const std::vector<double>& copy_s) {
    std::vector<Device> passes(copy_s.size(), pass([] { return 1; }));
    for (std::size_t i = 0; i < passes.size(); ++i) passes[i].host.copy_s = copy_s[i];
    return combine(passes).doubtful;
  };
  EXPECT_THAT(doubtful({1, 3, 3}), IsEmpty());
  EXPECT_THAT(doubtful({1, 1, 3}), IsEmpty());
  EXPECT_THAT(doubtful({1, 1, 1, 3}), IsEmpty());
  EXPECT_THAT(doubtful({1, 3, 9}), ElementsAre("host"));
  EXPECT_THAT(doubtful({3, 1, 3, 1}), ElementsAre("host"));
}

TEST_F(Passes, ShortTimesMayDifferByTheNoise) {
  const auto doubtful = [](double first_us, double third_us) {
    std::vector<Device> passes(3, pass([] { return 1; }));
    passes[0].host.copy_s = first_us * 1e-6;
    passes[1].host.copy_s = 0.6e-6;
    passes[2].host.copy_s = third_us * 1e-6;
    return combine(passes).doubtful;
  };
  EXPECT_THAT(doubtful(0.12, 1.08), IsEmpty());
  EXPECT_THAT(doubtful(0.08, 1.12), ElementsAre("host"));
}

TEST_F(Passes, SizesOfFewPassesAreLeftOut) {
  std::vector<Device> passes(4, pass([] { return 1; }));
  const std::size_t sizes = passes[0].h2d.pinned.points().size();
  for (std::size_t i : {0U, 1U}) {
    auto points = passes[i].h2d.pinned.points();
    points.pop_back();
    passes[i].h2d.pinned = Curve(points);
  }
  EXPECT_THAT(combine(passes).h2d.pinned.points(), SizeIs(sizes - 1));
}

TEST_F(Passes, TheMiddleNumberOfQueuesCounts) {
  std::vector<Device> passes(4, pass([] { return 1; }));
  passes[0].copy_connections = 32;
  passes[1].connections = 2;
  passes[2].connections = 32;
  passes[3].connections = 1;
  EXPECT_EQ(combine(passes).copy_connections, 4);
  EXPECT_EQ(combine(passes).connections, 8);
}

TEST(Expected, IsUnknownWithoutASpread) {
  EXPECT_FALSE(expected(schedule_of({h2d(0, 1)}), device_of(Queues::connection)));
}

TEST(Expected, ReachesFromTheLeastToTheLongestTimes) {
  // A copy of 4 s, 1 s until the next task, a kernel of 2 s by its duration, calls of 1 s.
  Device device = device_of(Queues::connection);
  device.host.copy_s = device.host.kernel_s = device.latency.lane_s = 1;
  device.spread = {.copies = 0.25, .kernels = 0.5, .calls = 0.5};
  const auto schedule = schedule_of({h2d(0, 4), kernel(0, 2)});
  EXPECT_DOUBLE_EQ(predict(schedule, device).complete_s, 8);
  const auto interval = expected(schedule, device);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->lo_s, 0.92 * (0.5 + 3 + 0.5 + 2));
  EXPECT_DOUBLE_EQ(interval->hi_s, 1.08 * (1.5 + 5 + 1.5 + 2));
}

TEST(Expected, NothingTakesLessThanNoTime) {
  // The spread of the calls of this run is longer than they are.
  Device device = device_of(Queues::connection);
  device.host.query_s = 1;
  device.spread = Spread{.calls = 1.5};
  const auto interval =
      expected(schedule_of({blocking(h2d(0, 4)), query(0), kernel(0, 2)}), device);
  EXPECT_NEAR(interval->lo_s, 0.92 * (4 + 2), 1e-8);
  EXPECT_DOUBLE_EQ(interval->hi_s, 1.08 * (4 + 2.5 + 2));
}

TEST(Expected, KernelsByTheirRateHaveTheirSpread) {
  Device device = device_of(Queues::connection);
  device.kernels["increment"] = {{{0, Curve::line(0, 1)}}};
  device.spread = Spread{.kernels = 0.5};
  Schedule schedule = schedule_of({kernel(0, 0)});
  schedule.kernel = "increment";
  schedule.tasks[0].bytes = 4;
  const auto interval = expected(schedule, device);
  EXPECT_DOUBLE_EQ(interval->lo_s, 0.92 * 2);
  EXPECT_DOUBLE_EQ(interval->hi_s, 1.08 * 6);
}

TEST(Expected, KernelsOnHostMemoryHaveTheSpreadOfCopies) {
  schedule::Costs costs{.kernel = "k", .units = 10};
  costs.arrays.push_back({.name = "data", .unit_bytes = 1, .to_device = true, .to_host = true});
  costs.arrays[0].host = schedule::adjacent(1, 10);
  const schedule::Layout layout{
      .transfer = deck::Transfer::zero_copy, .borders = {0, 10}, .largest_chunk_units = 10};
  Device device = device_of(Queues::connection);
  device.kernels["k"] = {{{0, Curve::line(0, 100)}}};
  device.spread = Spread{.copies = 0.25};
  const auto interval =
      expected(schedule::build(costs, layout, deck::Order::depth_first, 1), device);
  EXPECT_DOUBLE_EQ(interval->lo_s, 0.92 * 9);
  EXPECT_DOUBLE_EQ(interval->hi_s, 1.08 * 15);
}

TEST(Expected, IsWiderOnAHost) {
  Device device = device_of(Queues::worker);
  device.spread = Spread{};
  const auto interval = expected(schedule_of({h2d(0, 4)}), device);
  EXPECT_DOUBLE_EQ(interval->lo_s, 0.85 * 4);
  EXPECT_DOUBLE_EQ(interval->hi_s, 1.15 * 4);
}

}  // namespace
}  // namespace overlap::model
