#include <gmock/gmock.h>

#include "base/parallel.hpp"
#include "bench.hpp"
#include "signals.hpp"

namespace overlap {
namespace {

using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;
using schedule::Stage;

TEST(HostLanes, EachLaneHasItsWorker) {
  if (!lanes::has_concurrent_instances) GTEST_SKIP() << "no lanes of worker threads";
  // The kernels wait for each other: each needs a thread of its own, however few cores there are.
  int begun[4] = {};
  bool met[4] = {};
  TestBench bench(test_deck(WorkloadKind::increment, 4096, 4, ElementType::float32),
                  Order::depth_first, 4, lanes::make_host_lanes(4, false));
  std::erase_if(bench.schedule.tasks, [](const auto& task) { return task.stage != Stage::kernel; });
  for (schedule::Task& task : bench.schedule.tasks) task.after.clear();
  bench.workload.launch = [&](const auto&, const workload::Call& call) {
    const auto chunk = static_cast<int>(call.begin / bench.schedule.chunk_units);
    give(&begun[chunk]);
    met[chunk] = wait_for(&begun[(chunk + 1) % 4]);
  };
  const timeline::Timeline timeline = bench.executor->run_traced(bench.schedule, bench.workload);
  EXPECT_THAT(met, testing::Each(true));
  EXPECT_EQ(timeline.engines,
            (std::vector<std::string>{"worker 0", "worker 1", "worker 2", "worker 3", "host"}));
  for (int chunk = 0; chunk < 4; ++chunk) {
    EXPECT_EQ(timeline.spans[static_cast<std::size_t>(chunk)].engine, chunk);
  }
}

TEST(HostLanes, OrdersAreRightWithMoreLanesThanCores) {
  if (!workload::is_host) GTEST_SKIP() << "no cores for lanes";
  const int many = 2 * base::usable_cpus() + 1;
  for (const WorkloadKind kind : {WorkloadKind::rowsum, WorkloadKind::pipeline}) {
    for (const Order order : {Order::depth_first, Order::breadth_first, Order::by_engine}) {
      SCOPED_TRACE(testing::Message() << to_string(kind) << " " << to_string(order));
      TestBench bench(test_deck(kind, 3000, 11, ElementType::float32), order, many);
      for (std::uint32_t repetition = 1; repetition < 20; ++repetition) {
        EXPECT_FALSE(bench.run(repetition).mismatch);
      }
    }
  }
}

}  // namespace
}  // namespace overlap
