#include "model/balance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "model/load.hpp"
#include "model/predict.hpp"
#include "schedule/build.hpp"

/// What a balanced intensity chooses by the model.
namespace overlap::model {
namespace {

deck::Deck increment(std::int64_t chunks) {
  deck::Deck deck;
  deck.path = "test.yaml";
  deck.chunks.count = chunks;
  return deck;
}

/// A kernel of the first chunk against its copy to the device, with so many repeats.
double ratio(const deck::Deck& deck, const Device& device, std::int64_t repeats) {
  const schedule::Costs costs = schedule::costs(deck.workload, repeats);
  const auto schedule = schedule::build(costs, schedule::layout(deck, costs, std::nullopt),
                                        deck::Order::depth_first, 1);
  return seconds_alone(schedule, schedule.tasks[1], device) /
         seconds_alone(schedule, schedule.tasks[0], device);
}

TEST(BalancedRepeats, AreTheNearestToTheBalance) {
  const Device device = load_device("h200");
  deck::Deck deck = increment(8);
  deck.workload.elements = std::int64_t{1} << 26;
  for (const double balance : {0.5, 1.0, 4.0, 64.0}) {
    deck.workload.intensity.balance = balance;
    const std::int64_t repeats = balanced_repeats(deck, device);
    ASSERT_GE(repeats, 1);
    const auto off = [&](std::int64_t n) { return std::abs(ratio(deck, device, n) - balance); };
    EXPECT_LE(off(repeats), off(repeats + 1)) << balance;
    if (repeats > 1) {
      EXPECT_LE(off(repeats), off(repeats - 1)) << balance;
    }
  }
  deck.workload.intensity.balance = 4;
  EXPECT_NEAR(ratio(deck, device, balanced_repeats(deck, device)), 4, 0.2);
  EXPECT_EQ(balanced_repeats(deck, load_device("ideal_hyperq")), 1);
  const std::int64_t copied = balanced_repeats(deck, device);
  deck.memory.transfer = deck::Transfer::zero_copy;  // has the same kernels, but no copies
  EXPECT_EQ(balanced_repeats(deck, device), copied);
}

TEST(BalancedRepeats, OfTwoAsNearAreTheSmallerNumber) {
  // A copy of 32 s against 64 s for each repeat.
  Device device;
  device.h2d.pinned = device.d2h.pinned = Curve::line(0, 1);
  device.kernels["increment"] = {{{0.875, Curve::line(0, 1)}}};
  deck::Deck deck = increment(1);
  deck.workload.elements = 8;
  for (const auto& [balance, repeats] :
       {std::pair(1.0, 1), {3.0, 1}, {3.25, 2}, {4.75, 2}, {5.0, 2}, {5.25, 3}}) {
    deck.workload.intensity.balance = balance;
    EXPECT_EQ(balanced_repeats(deck, device), repeats) << balance;
  }
}

TEST(BalancedRepeats, NeedRatesByIntensity) {
  Device device = load_device("h200");
  device.path = "flat.yaml";
  device.kernels["increment/float32"] = {{{0, Curve::line(0, 1e15)}}};
  deck::Deck deck = increment(8);
  deck.workload.intensity.balance = 1;
  try {
    balanced_repeats(deck, device);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    EXPECT_THAT(error.what(),
                testing::StartsWith("flat.yaml: kernels.rates: the time of the kernel "
                                    "increment/float32 hardly depends on"));
  }
}

}  // namespace
}  // namespace overlap::model
