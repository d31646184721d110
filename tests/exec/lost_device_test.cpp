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

TEST(LostDevice, FreesNoLanes) {
  const auto lanes = std::make_shared<int>();
  TestBench bench(test_deck(deck::WorkloadKind::increment, 1000, 4, deck::ElementType::float32),
                  deck::Order::depth_first, 4, std::make_unique<LostLanes>(lanes));
  try {
    bench.executor->run(bench.schedule, bench.workload);
    FAIL() << "no error";
  } catch (const lanes::DeviceLost& error) {
    EXPECT_STREQ(error.what(), "lost");
  }
  EXPECT_EQ(lanes.use_count(), 2);
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
    }
  }
}

}  // namespace
}  // namespace overlap
