#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results.hpp"

/// Why an order takes its time, of planted timelines: each explanation only where it is true.
namespace overlap::report {
namespace {

using deck::Stage;
using results::TaskRecord;
using results::Timeline;
using testing::HasSubstr;

/// A task by letter (h: to the device, K: kernel, d: back), chunk and start; it takes one unit.
struct Planted {
  char stage;
  int chunk;
  double start;
};

/// In the order of issue.
Timeline timeline_of(const std::vector<Planted>& tasks, const char* back = "D2H",
                     const char* kernels = "SM") {
  Timeline timeline;
  for (const auto& [letter, chunk, start] : tasks) {
    TaskRecord task;
    task.task = std::ssize(timeline);
    task.stage = letter == 'h' ? Stage::h2d : letter == 'K' ? Stage::kernel : Stage::d2h;
    task.engine = letter == 'h' ? "H2D" : letter == 'K' ? kernels : back;
    task.chunk = chunk;
    task.start_s = start;
    task.stop_s = start + 1;
    timeline.push_back(std::move(task));
  }
  return timeline;
}

std::string explained(Timeline timeline) {
  results::Run run{.order = deck::Order::depth_first};
  run.predicted_timeline = std::move(timeline);
  return explain(run);
}

const std::vector<Planted> in_turn = {{'h', 0, 0}, {'K', 0, 1}, {'d', 0, 2},
                                      {'h', 1, 3}, {'K', 1, 4}, {'d', 1, 5}};
const std::vector<Planted> in_first = {{'h', 0, 0}, {'h', 1, 1}, {'K', 0, 1},
                                       {'K', 1, 2}, {'d', 0, 2}, {'d', 1, 3}};
const std::vector<Planted> at_once = {{'h', 0, 0}, {'K', 0, 1}, {'d', 0, 2},
                                      {'h', 1, 1}, {'K', 1, 2}, {'d', 1, 3},
                                      {'h', 2, 2}, {'K', 2, 3}, {'d', 2, 4}};

TEST(Explanations, OfOneCopyEngine) {
  EXPECT_THAT(explained(timeline_of(in_turn, "H2D")), HasSubstr("no copy runs during a kernel"));
  EXPECT_THAT(explained(timeline_of(in_first, "H2D")), HasSubstr("copies run during kernels"));
  // The second copy to the device does not wait for a copy back.
  EXPECT_EQ(
      explained(timeline_of(
          {{'h', 0, 0}, {'h', 1, 1}, {'K', 0, 2}, {'K', 1, 3}, {'d', 0, 4}, {'d', 1, 5}}, "H2D")),
      "");
}

TEST(Explanations, OfTwoCopyEngines) {
  const std::string late = "no copy back starts before the last kernel ends";
  EXPECT_EQ(explained(timeline_of(
                {{'h', 0, 0}, {'h', 1, 1}, {'K', 0, 1}, {'K', 1, 2}, {'d', 0, 3}, {'d', 1, 4}})),
            late);
  EXPECT_EQ(explained(timeline_of(
                {{'h', 0, 0}, {'h', 1, 1}, {'K', 0, 1}, {'K', 1, 2}, {'d', 0, 2.9}, {'d', 1, 4}})),
            "");
  EXPECT_EQ(explained(timeline_of(at_once)), "copies in both directions run at once");
}

TEST(Explanations, OfChunksThatDoNotComeInTurn) {
  Timeline timeline;
  for (int chunk = 0; chunk < 8; ++chunk) {
    const double start = 4 * (chunk % 2) + chunk / 2;  // 0 2 4 6 1 3 5 7
    for (TaskRecord task :
         timeline_of({{'h', chunk, start}, {'K', chunk, start + 1}, {'d', chunk, start + 2}})) {
      task.task = std::ssize(timeline);
      timeline.push_back(std::move(task));
    }
  }
  EXPECT_THAT(
      explained(timeline),
      HasSubstr(
          "; chunks 0, 2, 4, 6 ... come first, since a copy engine serves one queue of lanes"));
  for (std::size_t i = 0; i < timeline.size(); ++i) {  // issued so
    timeline[i].task = 100 * static_cast<std::int64_t>(timeline[i].start_s) + timeline[i].chunk;
  }
  EXPECT_EQ(explained(timeline), "copies in both directions run at once");
}

TEST(Explanations, AreNotOfWorkersNamesOrSingleChunks) {
  EXPECT_EQ(explained(timeline_of(at_once, "H2D", "H2D")), "");
  EXPECT_EQ(explained(timeline_of({{'h', 0, 0}, {'K', 0, 1}, {'d', 0, 2}}, "H2D")), "");
  EXPECT_EQ(explained({}), "");
  Timeline named = timeline_of(at_once);
  for (TaskRecord& task : named) task.name = "A";
  EXPECT_EQ(explained(named), "");
}

TEST(Explanations, HaveOneLineForEachDeviceAndText) {
  results::Point point;
  const auto add = [&](deck::Order order, const char* device, const std::vector<Planted>& tasks,
                       const char* back) {
    results::Run& run = point.runs.emplace_back();
    run.order = order;
    run.device = device;
    run.predicted_timeline = timeline_of(tasks, back);
  };
  using enum deck::Order;
  add(sequential, "c2050", in_turn, "D2H");
  add(depth_first, "c2050", at_once, "D2H");
  add(breadth_first, "c1060", in_first, "H2D");
  add(breadth_first, "k20c", at_once, "D2H");
  add(by_engine, "k20c", at_once, "D2H");
  Blocks blocks;
  add_explanations(blocks, point);
  EXPECT_EQ(
      terminal({.blocks = blocks}, {.width = 1000}),
      "depth_first on c2050: copies in both directions run at once\n"
      "breadth_first on c1060: copies run during kernels, because no copy back waits in front of a "
      "copy to the device\n"
      "breadth_first, by_engine on k20c: copies in both directions run at once\n");
  point.runs[1].timeline = timeline_of(in_turn, "H2D");  // what was measured counts
  point.runs[1].trace = results::Trace{.source = "CUPTI"};
  blocks.clear();
  add_explanations(blocks, point);
  EXPECT_THAT(terminal({.blocks = blocks}, {.width = 1000}),
              testing::StartsWith("depth_first on c2050: no copy runs during a kernel"));
}

}  // namespace
}  // namespace overlap::report
