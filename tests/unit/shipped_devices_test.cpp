#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/words.hpp"
#include "deck_file.hpp"
#include "experiment/plan.hpp"
#include "model/load.hpp"

/// What the shipped device files predict, and the one to start from.
namespace overlap::model {
namespace {

const std::string root = OVERLAP_SOURCE_DIR "/";

/// The decks of all workloads but custom.
std::vector<deck::DeckPoint> points() {
  std::vector<deck::DeckPoint> points;
  for (const char* const folder : {"input", "input/studies"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root + folder)) {
      if (entry.path().extension() != ".yaml") continue;
      points.push_back(deck::load_points(entry.path(), {}).front());
    }
  }
  return points;
}

/// Whether the device predicts positive times for all orders that it can.
bool predicts(const Device& device, const deck::DeckPoint& point) {
  try {
    const experiment::Plan plan = experiment::predictions(point, {device});
    return !plan.cases.empty() && std::ranges::all_of(plan.cases, [&](const auto& one) {
      if (!one.prediction) {  // of a host whose rate for products is unknown
        return one.run.order == deck::Order::four_way && device.host.flops_per_s == 0;
      }
      return one.prediction->complete_s > 0 && std::isfinite(one.prediction->complete_s);
    });
  } catch (const base::Error&) {
    return false;
  }
}

TEST(ShippedDevices, PredictEveryDeckOfTheWorkloadsThatTheyKnow) {
  std::set<std::string> complete;
  for (const std::string& name : device_names()) {
    const Device device = load_device(name);
    bool knows_all = true;
    for (const deck::DeckPoint& point : points()) {
      const bool known = device.predicts(std::string(to_string(point.deck.workload.kind)));
      // One rate for all intensities balances nothing.
      const bool balanced = point.deck.workload.intensity.balance > 0;
      knows_all = knows_all && predicts(device, point);
      EXPECT_TRUE(balanced || predicts(device, point) == known) << name << " " << point.deck.path;
    }
    if (knows_all && device.unit_s == 0) complete.insert(name);
  }
  EXPECT_THAT(complete,
              testing::ElementsAre("a100", "h100", "h200", "host", "rtx4090", "rtx5070ti", "v100"));
}

TEST(ShippedDevices, AreDescribedUnlessTheySayWhereTheyWereMeasured) {
  std::set<std::string> measured;
  for (const std::string& name : device_names()) {
    if (load_device(name).match) measured.insert(name);
  }
  EXPECT_THAT(measured, testing::ElementsAre("h200", "host"));
}

/// A copy of 256 MiB each way and a kernel, which takes less than a seventh of it.
TEST(ShippedDevices, TakeAsLongAsTheBytesOnTheirLink) {
  const deck::DeckPoint point = deck::load_points(root + "input/increment_large.yaml", {}).front();
  for (const auto& [name, gb_per_s] : {std::pair{"v100", 12.5},
                                       {"a100", 25.5},
                                       {"rtx4090", 26.7},
                                       {"h100", 57.0},
                                       {"rtx5070ti", 48.6}}) {
    const auto plan = experiment::predictions(point, {load_device(name)});
    const double copies_s = 2 * 0x1p28 / (1e9 * gb_per_s);
    for (const experiment::Case& one : plan.cases) {
      SCOPED_TRACE(name);
      const double seconds = one.prediction->complete_s;
      if (one.run.order == deck::Order::sequential) {
        EXPECT_NEAR(seconds / copies_s, 1.07, 0.07);
      }
      EXPECT_GT(seconds, 0.5 * copies_s);
    }
  }
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FirstDeviceFile, PredictsEveryDeckAndIsInTheReadme) {
  const DeckFile file(std::string(first_device_file), "my-gpu.yaml");
  const Device device = load_device(file.path());
  EXPECT_FALSE(device.lacks_latencies());
  for (const deck::DeckPoint& point : points()) {
    EXPECT_TRUE(predicts(device, point)) << point.deck.path;
  }
  EXPECT_THAT(content_of(root + "README.md"), testing::HasSubstr(std::string(first_device_file)));
}

}  // namespace
}  // namespace overlap::model
