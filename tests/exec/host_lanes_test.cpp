#include "lanes/host_lanes.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>

#include "base/parallel.hpp"
#include "bench.hpp"
#include "signals.hpp"

namespace overlap {
namespace {

using deck::ElementType;
using deck::Order;
using deck::WorkloadKind;
using schedule::Stage;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

using Space = Kokkos::DefaultHostExecutionSpace;

std::unique_ptr<lanes::Lanes> host_lanes(int lanes, int workers) {
  return std::make_unique<lanes::HostLanes<Space>>(lanes::own_instances<Space>(lanes), workers,
                                                   false);
}

/// Lanes of chunks, one chunk on each of `lanes`.
std::vector<int> one_on_each(int lanes) {
  std::vector<int> lanes_of_chunks(static_cast<std::size_t>(lanes));
  std::iota(lanes_of_chunks.begin(), lanes_of_chunks.end(), 0);
  return lanes_of_chunks;
}

/// Kernels alone, one per chunk, in these of `lanes` lanes, in this order; launch(chunk) is what
/// they do.
class KernelBench {
 public:
  KernelBench(const std::vector<int>& lanes_of_chunks, int lanes, int workers,
              const std::function<void(int)>& launch)
      : bench_(test_deck(WorkloadKind::increment, 1024 * std::ssize(lanes_of_chunks),
                         std::ssize(lanes_of_chunks), ElementType::float32),
               Order::depth_first, 1 + *std::ranges::max_element(lanes_of_chunks),
               host_lanes(lanes, workers)) {
    schedule::Schedule& schedule = bench_.schedule;
    std::erase_if(schedule.tasks, [](const auto& task) { return task.stage != Stage::kernel; });
    EXPECT_EQ(schedule.tasks.size(), lanes_of_chunks.size());
    for (std::size_t chunk = 0; chunk < lanes_of_chunks.size(); ++chunk) {
      schedule.tasks[chunk].lane = lanes_of_chunks[chunk];
      schedule.tasks[chunk].after.clear();
    }
    bench_.workload.launch = [=, this](const auto&, const workload::Call& call) {
      launch(static_cast<int>(call.begin / bench_.schedule.chunk_units));
    };
  }

  /// Issues all, then calls `issued`, and waits for all.
  void run(const std::function<void()>& issued) {
    lanes::Lanes& lanes = bench_.executor->lanes();
    lanes.bind(bench_.schedule, bench_.workload);
    for (schedule::TaskId id = 0; id < bench_.schedule.tasks.size(); ++id) lanes.issue(id);
    issued();
    for (int lane = 0; lane < bench_.schedule.lanes; ++lane) lanes.wait(lane);
  }

  void use_one_lane() {
    for (schedule::Task& task : bench_.schedule.tasks) task.lane = 0;
    bench_.schedule.lanes = 1;
  }

  timeline::Timeline run() { return bench_.executor->run_traced(bench_.schedule, bench_.workload); }

 private:
  TestBench<Space> bench_;
};

TEST(HostLanes, WorkersStartWhatWasIssuedFirst) {
  int may_start = 0;
  std::vector<int> started;
  KernelBench bench({3, 2, 1, 0, 3, 2, 1, 0}, 4, 1, [&](int chunk) {
    if (chunk == 0) wait_for(&may_start);
    started.push_back(chunk);
  });
  bench.run([&] { give(&may_start); });
  EXPECT_THAT(started, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(HostLanes, AllWorkersWorkAndNoMore) {
  // Chunks 0 and 1 wait for each other, and so do 2 and 3: each needs a worker of its own.
  int begun[4] = {};
  bool met[4] = {};
  std::atomic<int> running = 0, most = 0;
  KernelBench bench({0, 1, 2, 3}, 4, 2, [&](int chunk) {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
    give(&begun[chunk]);
    met[chunk] = wait_for(&begun[chunk ^ 1]);
    --running;
  });
  bench.run();  // now all workers sleep
  std::ranges::fill(begun, 0);
  std::ranges::fill(met, false);
  const timeline::Timeline timeline = bench.run();
  EXPECT_THAT(met, Each(true));
  EXPECT_EQ(most, 2);
  EXPECT_EQ(timeline.engines, (std::vector<std::string>{"worker 0", "worker 1", "host"}));
  std::vector<int> tasks(2);
  for (const timeline::Span& span : timeline.spans) ++tasks[static_cast<std::size_t>(span.engine)];
  EXPECT_THAT(tasks, ElementsAre(2, 2));
}

TEST(HostLanes, OrdersAreRightOnFewerWorkers) {
  for (const WorkloadKind kind : {WorkloadKind::rowsum, WorkloadKind::pipeline}) {
    for (const Order order : {Order::depth_first, Order::breadth_first, Order::by_engine}) {
      for (const int workers : {1, 2, 3}) {
        SCOPED_TRACE(testing::Message()
                     << to_string(kind) << " " << to_string(order) << " " << workers);
        TestBench<Space> bench(test_deck(kind, 3000, 11, ElementType::float32), order, 5,
                               host_lanes(8, workers));  // by engine: up to 8
        for (std::uint32_t repetition = 1; repetition < 20; ++repetition) {
          EXPECT_FALSE(bench.run(repetition).mismatch);
        }
      }
    }
  }
}

TEST(HostLanes, WorkersThatFillTheCoresKeepToTheirOwn) {
  const std::vector<std::size_t> all = base::cpus_of_thread();
  const int cores = base::usable_cpus();
  if (cores < 2) GTEST_SKIP() << "a single core";
  // The processors on which each lane of a schedule may run.
  const auto cpus_of = [&](int lanes) {
    std::vector<std::vector<std::size_t>> cpus(static_cast<std::size_t>(lanes));
    KernelBench bench(one_on_each(lanes), 2 * cores, cores, [&](int chunk) {
      cpus[static_cast<std::size_t>(chunk)] = base::cpus_of_thread();
    });
    bench.run();
    return cpus;
  };
  std::vector<std::size_t> used;
  for (const auto& own : cpus_of(cores)) used.insert(used.end(), own.begin(), own.end());
  EXPECT_EQ(used, all);
  EXPECT_EQ(base::cpus_of_thread(), all) << "the issuing thread runs where it may";
  EXPECT_THAT(cpus_of(cores - 1), Each(all)) << "the system finds the idle core";
  EXPECT_THAT(cpus_of(2 * cores), Each(SizeIs(1)));
}

TEST(HostLanes, WorkersAreFreeAgainForFewerLanes) {
  const int cores = base::usable_cpus();
  if (cores < 2) GTEST_SKIP() << "a single core";
  std::vector<std::size_t> cpus;
  KernelBench bench(one_on_each(cores), cores, cores, [&](int chunk) {
    if (chunk == 0) cpus = base::cpus_of_thread();
  });
  bench.run();
  EXPECT_THAT(cpus, SizeIs(1));
  bench.use_one_lane();
  bench.run();
  EXPECT_EQ(cpus, base::cpus_of_thread());
}

}  // namespace
}  // namespace overlap
