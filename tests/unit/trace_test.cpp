#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "hand_schedule.hpp"
#include "model/load.hpp"
#include "report/writers.hpp"
#include "results.hpp"
#include "schedules.hpp"

/// Timelines for Perfetto.
namespace overlap::report {
namespace {

using model::d2h;
using model::h2d;
using model::kernel;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two chunks on two lanes; the second copy back comes after the first kernel, too. Measured, the
/// kernels overlap for a second.
results::Run small_run() {
  auto schedule =
      model::schedule_of({h2d(0, 2'000'000'000), h2d(1, 2'000'000'000), kernel(0, 3), kernel(1, 3),
                          d2h(0, 1'000'000'000), d2h(1, 1'000'000'000, {2})});
  for (const std::size_t id : {1U, 3U, 5U}) schedule.tasks[id].chunk = 1;
  schedule.order = deck::Order::breadth_first;
  experiment::Case one;
  one.run.order = deck::Order::breadth_first;
  set_schedule(one, std::move(schedule));
  one.prediction = timeline::Timeline{
      .engines = {"H2D", "SM", "D2H", "host"},
      .spans = {{0, 0, 2}, {0, 2, 4}, {1, 2, 5}, {1, 5, 8}, {2, 5, 6}, {2, 8, 9}},
      .complete_s = 9};
  one.traced = timeline::Timeline{
      .engines = {"H2D", "SM", "D2H", "host"},
      .spans = {{0, 0, 2}, {0, 2, 4}, {1, 2, 5}, {1, 4, 7}, {2, 5, 6}, {2, 7, 8}},
      .complete_s = 8};
  one.run.trace = results::Trace{.source = "CUDA events", .perturbation = 0.004};
  return finished(one);
}

results::Result small_result() { return result_of(point_of({small_run()})); }

using Slices = std::map<std::pair<int, int>, std::vector<json>>;

Slices slices_of(const json& events) {
  Slices slices;
  for (const json& event : events) {
    if (event["ph"] == "X") slices[{event["pid"], event["tid"]}].push_back(event);
  }
  return slices;
}

/// Slices of a track follow each other; every arrow has two ends, each inside a slice, forwards.
void expect_sound(const json& events) {
  const Slices slices = slices_of(events);
  for (const auto& [track, list] : slices) {
    double free = 0;
    for (const json& slice : list) {
      EXPECT_GE(slice["ts"].get<double>(), free - 1e-6);
      EXPECT_GE(slice["dur"].get<double>(), 0);
      free = slice["ts"].get<double>() + slice["dur"].get<double>();
    }
  }
  std::map<int, std::vector<json>> arrows;
  for (const json& event : events) {
    if (event["ph"] == "s" || event["ph"] == "f") arrows[event["id"]].push_back(event);
  }
  for (const auto& [id, ends] : arrows) {
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_EQ(ends[0]["ph"], "s");
    EXPECT_EQ(ends[1]["ph"], "f");
    EXPECT_LE(ends[0]["ts"].get<double>(), ends[1]["ts"].get<double>());
    for (const json& end : ends) {
      const auto& list = slices.at({end["pid"], end["tid"]});
      EXPECT_TRUE(std::any_of(list.begin(), list.end(), [&](const json& slice) {
        const double begin = slice["ts"].get<double>(), at = end["ts"].get<double>();
        return begin <= at && at <= begin + slice["dur"].get<double>();
      }));
    }
  }
}

TEST(Trace, OfASmallRunExactly) {
  const json events = json::parse(trace({small_result()}))["traceEvents"];
  expect_sound(events);
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> tracks;
  for (const json& event : events) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") {
      tracks[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
  }
  EXPECT_THAT(processes, ElementsAre(std::pair(1, "breadth_first, measured (CUDA events)"),
                                     std::pair(2, "breadth_first, predicted")));
  std::vector<std::string> names;
  for (const auto& [track, name] : tracks) {
    if (track.first == 1) names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre("engine H2D", "engine SM", "engine SM (2)", "engine D2H", "lane 0",
                                 "lane 1"));
  // The measured second copy back, among the engines.
  const json slice = slices_of(events).at({1, 4}).at(1);
  EXPECT_EQ(slice, json::parse(R"({"ph": "X", "pid": 1, "tid": 4, "ts": 7000000.0, "dur": 1000000.0,
      "name": "d2h 1", "cat": "d2h", "args": {"task": 5, "chunk": 1, "lane": 1,
      "bytes": 1000000000, "GB/s": 1, "waits for": "kernel 1"}})"));
  // And the first kernel, which has no bytes.
  EXPECT_EQ(slices_of(events).at({1, 2}).at(0),
            json::parse(R"({"ph": "X", "pid": 1, "tid": 2, "ts": 2000000.0, "dur": 3000000.0,
      "name": "kernel 0", "cat": "kernel", "args": {"task": 2, "chunk": 0, "lane": 0,
      "waits for": "h2d 0"}})"));
  std::vector<std::tuple<std::string, int, double>> arrows;
  for (const json& event : events) {
    if (event["ph"] != "s" && event["ph"] != "f") continue;
    arrows.emplace_back(tracks.at({event["pid"], event["tid"]}), event["pid"], event["ts"]);
  }
  EXPECT_THAT(
      arrows,
      ElementsAre(std::tuple("lane 0", 1, 4999999.999), std::tuple("lane 1", 1, 7000000.0),
                  std::tuple("lane 0", 2, 4999999.999), std::tuple("lane 1", 2, 8000000.0)));
}

TEST(Trace, NamesDecksIfThereAreSeveral) {
  const results::Result result = small_result();
  EXPECT_THAT(trace({result}), HasSubstr("\"breadth_first, predicted\""));
  EXPECT_THAT(trace({result, result}), HasSubstr("\"By hand: breadth_first, predicted\""));
}

TEST(Trace, IsAFileWithoutTimelines) {
  const results::Result result = result_of(point_of({run_of(deck::Order::sequential, {1})}));
  EXPECT_TRUE(json::parse(trace({result}))["traceEvents"].empty());
  EXPECT_TRUE(json::parse(trace({}))["traceEvents"].empty());
}

TEST(Trace, OfTasksThatWaitForNoTasksHasNoArrows) {
  results::Result result = small_result();
  result.points[0].runs[0].timeline->at(5).after = {-1, 6, 1'000'000'000};  // a file by hand
  result.points[0].runs[0].predicted_timeline.reset();
  EXPECT_EQ(trace({result}).find("\"ph\":\"s\""), std::string::npos);
}

}  // namespace
}  // namespace overlap::report
