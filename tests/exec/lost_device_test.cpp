#include <gtest/gtest.h>

#include "bench.hpp"

namespace overlap {
namespace {

/// Lanes of a device that is lost on the way, or before anything is issued.
class LostLanes final : public lanes::Lanes {
 public:
  explicit LostLanes(std::shared_ptr<int> token, bool early = false)
      : token_(std::move(token)), early_(early) {}

  void bind(const schedule::Schedule&, const workload::Workload&) override {
    if (early_) throw base::Error(base::ExitCode::runtime_error, "no event");
  }
  void issue(schedule::TaskId) override {}
  void wait(int) override {
    throw lanes::DeviceLost(base::Error(base::ExitCode::runtime_error, "lost"));
  }
  bool query(int) override { return true; }
  const Space& instance(int) const override { return instance_; }

 private:
  std::shared_ptr<int> token_;
  bool early_;
  Space instance_;
};

TEST(LostDevice, LanesAndArraysAreKeptWithTheError) {
  const auto lanes = std::make_shared<int>(), array = std::make_shared<int>();
  std::vector<std::shared_ptr<const void>> kept;
  try {
    TestBench bench(test_deck(deck::WorkloadKind::increment, 1000, 4, deck::ElementType::float32),
                    deck::Order::depth_first, 4, std::make_unique<LostLanes>(lanes));
    bench.workload.host[0].lock = array;
    bench.executor->run(bench.schedule, bench.workload);
    FAIL() << "no error";
  } catch (const lanes::DeviceLost& error) {
    EXPECT_STREQ(error.what(), "lost");
    kept = error.kept;
  }
  EXPECT_EQ(lanes.use_count(), 2);
  EXPECT_EQ(array.use_count(), 2);
  kept.clear();
  EXPECT_EQ(lanes.use_count(), 1);
  EXPECT_EQ(array.use_count(), 1);
}

TEST(LostDevice, IsFoundBeforeAnythingIsIssued) {
  const auto lanes = std::make_shared<int>();
  TestBench bench(test_deck(deck::WorkloadKind::increment, 1000, 4, deck::ElementType::float32),
                  deck::Order::depth_first, 4, std::make_unique<LostLanes>(lanes, true));
  for (const bool traced : {false, true}) {
    bench.executor =
        std::make_unique<measure::Executor>(std::make_unique<LostLanes>(lanes, true), 4);
    try {
      if (traced) {
        bench.executor->run_traced(bench.schedule, bench.workload);
      } else {
        bench.executor->run(bench.schedule, bench.workload);
      }
      FAIL() << "no error";
    } catch (const lanes::DeviceLost& error) {
      EXPECT_STREQ(error.what(), "no event") << "the first error is the one to read";
      EXPECT_EQ(error.kept.size(), 2U);
    }
  }
}

TEST(LostDevice, WhatOthersOwnIsKeptToo) {
  const auto inner = std::make_shared<int>(), outer = std::make_shared<int>();
  const auto lose = [] {
    throw lanes::DeviceLost(base::Error(base::ExitCode::runtime_error, "lost"));
  };
  try {
    lanes::keep_if_lost([&] { lanes::keep_if_lost(lose, inner, inner); }, outer);
    FAIL() << "no error";
  } catch (const lanes::DeviceLost& error) {
    EXPECT_EQ(error.kept.size(), 3U);
    EXPECT_EQ(inner.use_count(), 3);
    EXPECT_EQ(outer.use_count(), 2);
  }
  EXPECT_EQ(inner.use_count(), 1);
  EXPECT_EQ(lanes::keep_if_lost([] { return 7; }, outer), 7);
}

}  // namespace
}  // namespace overlap
