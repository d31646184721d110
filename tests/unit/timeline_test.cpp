#include "timeline/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlap::timeline {
namespace {

TEST(Timeline, AnEngineIsBusyWhileItRunsAnything) {
  Timeline timeline;
  timeline.engines = {"H2D", "SM", "D2H", "host"};
  // On the SMs: 2-4 and 3-6 overlap, 4-5 and 5-6 are in the latter, 8-9 stands alone.
  timeline.spans = {{1, 8, 9}, {0, 0, 2}, {1, 2, 4}, {1, 3, 6}, {1, 4, 5}, {1, 5, 6}, {2, 4, 4}};
  EXPECT_THAT(busy_s(timeline), testing::ElementsAre(2, 5, 0, 0));
}

TEST(Timeline, WorkersWantNoMoreCoresThanThereAre) {
  using schedule::Stage;
  schedule::Schedule schedule;
  for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h, Stage::host, Stage::query}) {
    schedule.tasks.push_back({.stage = stage});
  }
  const std::vector<Span> spans = {{0, 1, 5}, {1, 2, 4}, {2, 3, 4}, {3, 7, 9}, {3, 0, 20}};
  EXPECT_EQ(wanted_s(schedule, spans, 8), 4 + 2 + 1 + 2);
  EXPECT_EQ(wanted_s(schedule, spans, 2), 4 + 2 + 0 + 2);
  EXPECT_EQ(wanted_s(schedule, spans, 0.5), 2 + 1);
  EXPECT_EQ(wanted_s(schedule, {}, 2), 0);
}

}  // namespace
}  // namespace overlap::timeline
