#include "timeline/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlap::timeline {
namespace {

TEST(Timeline, AnEngineIsBusyWhileItRunsAnything) {
  Timeline timeline;
  timeline.engines = {"H2D", "SM", "D2H", "host"};
  // On the SMs: 2-4 and 3-6 and 3-5 overlap, 8-9 stands alone.
  timeline.spans = {{1, 8, 9}, {0, 0, 2}, {1, 2, 4}, {1, 3, 6}, {1, 3, 5}, {2, 4, 4}};
  EXPECT_THAT(busy_s(timeline), testing::ElementsAre(2, 5, 0, 0));
}

}  // namespace
}  // namespace overlap::timeline
