#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hand_schedule.hpp"
#include "model/load.hpp"
#include "report/picture.hpp"
#include "schedules.hpp"

/// Timelines as text, exactly.
namespace overlap::report {
namespace {

using model::d2h;
using model::device_of;
using model::h2d;
using model::host;
using model::kernel;
using model::Queues;
using model::schedule_of;

std::string picture(const schedule::Schedule& schedule, const model::Device& device, int width) {
  return "\n" + ascii_timeline(schedule, model::predict(schedule, device), width);
}

TEST(AsciiTimeline, OfTheArticle) {
  const auto schedule = [](deck::Order order) {
    return schedule::small_schedule(schedule::small_deck(deck::WorkloadKind::increment, 4, 4),
                                    order, 4);
  };
  EXPECT_EQ(picture(schedule(deck::Order::depth_first),
                    model::load_device("ideal_2copy_delayed_signal"), 30),
            R"(
H2D   0===1===2===3===
SM        0===1===2===3===
D2H           0===1===2===3===
      0               6.000 ms
)");
  EXPECT_EQ(picture(schedule(deck::Order::breadth_first), model::load_device("ideal_1copy"), 30),
            R"(
copy  0==1==2==3==0==1==2==3==
SM       0==1==2==3==
      0               8.000 ms
)");
}

TEST(AsciiTimeline, AColumnShowsTheTaskThatTakesMostOfIt) {
  // Of 20 columns of 30 s, b and c share the fourteenth.
  for (const auto& [b, c, shown] : {std::tuple{12, 4, 'b'}, {4, 12, 'c'}}) {
    auto schedule = schedule_of({h2d(0, 390), h2d(0, static_cast<std::size_t>(b)),
                                 h2d(0, static_cast<std::size_t>(c)), h2d(0, 194)});
    schedule.names = {"a", "b", "c", "d"};
    EXPECT_THAT(picture(schedule, device_of(Queues::connection), 20),
                testing::HasSubstr(std::string("H2D   a============") + shown + "d====="));
  }
}

TEST(AsciiTimeline, TasksAtTheSameTimeHaveRowsOfTheirOwn) {
  auto schedule =
      schedule_of({h2d(0, 1), kernel(0, 2, 0.5), kernel(1, 3, 0.5), d2h(0, 2), host(1, {1})});
  schedule.names = {"HD", "K0", "K1", "DH", "C"};
  EXPECT_EQ(picture(schedule, device_of(Queues::connection), 30), R"(
H2D   HD==
SM    K1==========
          K0======
D2H               DH======
host                      C===
      0                6.000 s
)");
}

TEST(AsciiTimeline, ShortTasksHaveAColumnUnlessALongerOneTakesIt) {
  // The first second of a thousand is a on one engine and, a second later, c on another.
  auto schedule = schedule_of({h2d(0, 1), h2d(1, 1000), kernel(0, 1)});
  schedule.names = {"a", "b", "c"};
  EXPECT_EQ(picture(schedule, device_of(Queues::engine), 30), R"(
H2D   b=======================
SM    c
      0                 1001 s
)");
  // The last second is no column either, but on another engine.
  schedule = schedule_of({h2d(0, 1000), h2d(1, 1), kernel(0, 1)});
  schedule.names = {"b", "a", "c"};
  EXPECT_EQ(picture(schedule, device_of(Queues::engine), 30), R"(
H2D   b=======================
SM                           c
      0                 1001 s
)");
}

TEST(AsciiTimeline, OfShortTasksInAColumnTheLongestShows) {
  auto schedule = schedule_of({h2d(0, 5), h2d(1, 15), kernel(1, 980)});
  schedule.names = {"a", "b", "c"};
  EXPECT_EQ(picture(schedule, device_of(Queues::engine), 30), R"(
H2D   b
SM    c=======================
      0                 1000 s
)");
}

TEST(AsciiTimeline, ShowsTheLastDigitWhereTwoAreTooWide) {
  std::vector<schedule::Task> tasks(12, h2d(0, 1));
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].chunk = static_cast<int>(i);
  const auto schedule = schedule_of(tasks);
  EXPECT_EQ(picture(schedule, device_of(Queues::engine), 30), R"(
H2D   0=1=2=3=4=5=6=7=8=9=0=1=
      0                12.00 s
)");
  // However narrow the terminal is, twenty columns are left for time.
  EXPECT_EQ(picture(schedule, device_of(Queues::engine), 9),
            picture(schedule, device_of(Queues::engine), 26));
}

TEST(AsciiTimeline, OfNoTimeIsEmpty) {
  EXPECT_EQ(picture(schedule_of({model::query(0)}), device_of(Queues::engine), 30), "\n");
}

TEST(AsciiTimeline, KeepsItsWidth) {
  const auto schedule = schedule::small_schedule(
      schedule::small_deck(deck::WorkloadKind::pipeline, 4096, 100), deck::Order::depth_first, 7);
  for (const char* name : {"h200", "ideal_1copy", "host"}) {
    for (const int width : {40, 79, 100, 200}) {
      std::istringstream lines(
          ascii_timeline(schedule, model::predict(schedule, model::load_device(name)), width));
      std::size_t longest = 0;
      for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
      EXPECT_EQ(longest, static_cast<std::size_t>(width)) << name;
    }
  }
}

}  // namespace
}  // namespace overlap::report
