#include "model/predict.hpp"

#include <gtest/gtest.h>

#include "schedule/build.hpp"

namespace overlap::model {
namespace {

/// The deck's schedule of 4 chunks on 4 lanes.
schedule::Schedule build(deck::Order order) {
  deck::Deck deck;
  deck.chunks.count = 4;
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  return schedule::build(costs, schedule::layout(deck, costs, std::nullopt), order, 4);
}

Device unit_device(int copy_engines, Queues queues, bool delayed_signal) {
  Device device;
  device.unit_s = 1;
  device.copy_engines = copy_engines;
  device.queues = queues;
  device.delayed_signal = delayed_signal;
  device.concurrent_kernels = 16;
  return device;
}

TEST(Predict, MakespansOfTheArticle) {
  struct Row {
    const char* name;
    Device device;
    double sequential, depth_first, breadth_first;
  };
  const std::vector<Row> rows = {
      {"1 copy engine", unit_device(1, Queues::engine, false), 12, 12, 8},
      {"2 copy engines", unit_device(2, Queues::engine, false), 12, 6, 6},
      {"2 copy engines, delayed signal", unit_device(2, Queues::engine, true), 12, 6, 9},
      {"Hyper-Q", unit_device(2, Queues::connection, false), 12, 6, 6},
  };
  for (const Row& row : rows) {
    const auto makespan = [&](deck::Order order) {
      return predict(build(order), row.device).complete_s;
    };
    EXPECT_DOUBLE_EQ(makespan(deck::Order::sequential), row.sequential) << row.name;
    EXPECT_DOUBLE_EQ(makespan(deck::Order::depth_first), row.depth_first) << row.name;
    EXPECT_DOUBLE_EQ(makespan(deck::Order::breadth_first), row.breadth_first) << row.name;
  }
}

}  // namespace
}  // namespace overlap::model
