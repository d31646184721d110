#include "experiment/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deck_file.hpp"
#include "hand_schedule.hpp"
#include "model/load.hpp"

namespace overlap::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// The error of check(); empty: none.
std::string refusal(const std::string& text) {
  const DeckFile file(text);
  for (const deck::Point& point : deck::load_points(file.path())) {
    try {
      check(point, nullptr);
    } catch (const base::Error& error) {
      return error.what();
    }
  }
  return "";
}

TEST(PlanCheck, CountsTheTasksOfAllOrdersAndCases) {
  const std::string deck =
      "workload: {kind: increment, elements: 1 Mi}\n"
      "chunks: {count: 200000}\n"
      "issue: {orders: [sequential, depth_first]}\n";
  EXPECT_THAT(refusal(deck), HasSubstr("found 200000 chunks, which make 600003 tasks"));
  // One more task per chunk, or for all data at once.
  EXPECT_THAT(refusal(deck + "host_work: {per_chunk: 1 us}\n"),
              HasSubstr("which make 1400007 tasks"));
  // The baseline is not disturbed.
  EXPECT_THAT(refusal(deck + "disturb: {operation: default_stream, times: 5}\n"),
              HasSubstr("which make 1200008 tasks"));
  EXPECT_THAT(
      refusal(deck + "host_work: {per_chunk: 1 us}\ndisturb: {operation: default_stream}\n"),
      HasSubstr("which make 2000008 tasks"));
}

TEST(PlanCheck, SaysWhichKeyMakesTooManyTasks) {
  // Of each chunk two kernels, four copies to the device and two back; at most 2^19.
  const auto pipeline = [](int iterations, const std::string& chunks) {
    return refusal(fmt::format(
        "workload: {{kind: pipeline, elements: 65537, iterations: {}}}\nchunks: {{{}}}\n"
        "issue: {{orders: [depth_first]}}\n",
        iterations, chunks));
  };
  EXPECT_EQ(pipeline(1, "count: 65536"), "");
  EXPECT_THAT(pipeline(1, "count: 65537"),
              HasSubstr("chunks.count: found 65537 chunks, which make 524296 tasks in all orders; "
                        "allowed: at most 524288"));
  EXPECT_THAT(pipeline(1, "bytes: 16"), HasSubstr("chunks.bytes: found 65537 chunks"));
  EXPECT_EQ(pipeline(256, "count: 256"), "");
  EXPECT_THAT(pipeline(257, "count: 257"), HasSubstr("chunks.count: found 257 chunks"));
  EXPECT_THAT(pipeline(258, "count: 257"),
              HasSubstr("workload.iterations: found 258 iterations, which make 530448 tasks"));
}

TEST(Predictions, NameSettingsThatTheModelDoesNotCover) {
  const auto choices = [](const std::string& keys) {
    const DeckFile file("workload: {kind: increment, elements: 1 Mi}\n" + keys);
    const deck::Point point = deck::load_points(file.path()).front();
    return predictions(point, {model::load_device("h200")}).choices;
  };
  EXPECT_THAT(choices(""), IsEmpty());
  EXPECT_THAT(choices("issue: {mechanism: portable}\n"), IsEmpty());
  EXPECT_THAT(choices("issue: {mechanism: graph}\n"),
              ElementsAre(Pair("issue.mechanism", "graph: predicted as streams")));
  EXPECT_THAT(choices("issue: {streams: legacy_default}\n"),
              ElementsAre(Pair("issue.streams", "legacy_default: predicted as own")));
  EXPECT_THAT(choices("memory: {host: pageable_staged}\n"),
              ElementsAre(Pair("memory.host", "pageable_staged: predicted as pinned")));
}

TEST(Facts, CopiesByDurationMoveWhatTheCoresOfTheirLaneCan) {
  model::Device device = model::device_of(model::Queues::worker);
  device.cores = 4;
  device.lanes_divide = true;
  device.h2d.pinned = model::Curve::line(0, 4096e6);
  device.d2h.pinned = model::Curve::line(0, 2e9);
  const auto facts = [&](int lanes) {
    const DeckFile file(
        fmt::format("workload:\n  kind: custom\n  tasks:\n"
                    "    - {{name: A, stage: h2d, lane: 1, duration: 1 ms}}\n"
                    "    - {{name: B, stage: h2d, lane: {}, bytes: 4 KiB}}\n"
                    "issue: {{orders: [custom]}}\n",
                    lanes));
    return facts_of(deck::load_points(file.path()).front().deck, device);
  };
  EXPECT_EQ(facts(1).workload.tasks[0].bytes, 4 * 4096000);
  EXPECT_EQ(facts(2).workload.tasks[0].bytes, 2 * 4096000);
  EXPECT_THAT(facts(1).choices,
              ElementsAre(Pair("copy rates", "to the device 4.096 GB/s, back 2.000 GB/s")));
  device.unit_s = 1e-3;  // a teaching device has no rates
  EXPECT_EQ(facts(1).workload.tasks[0].bytes, 0);
  EXPECT_THAT(facts(1).choices, IsEmpty());
}

TEST(Predictions, DataThatExceedTheMemoryGoOutOfCore) {
  const DeckFile file("workload: {kind: increment, elements: 1 Mi}\nchunks: {count: 16}\n");
  const deck::Point point = deck::load_points(file.path()).front();
  model::Device device = model::load_device("h200");
  const auto slots = [&](std::int64_t bytes) {
    device.memory_bytes = bytes;
    return predictions(point, {device}).layout.slots;
  };
  EXPECT_EQ(slots(0), 16);
  EXPECT_EQ(slots(4 << 20), 16);
  EXPECT_EQ(slots((4 << 20) - 1), 15);
  EXPECT_EQ(slots(256 << 10), 1);
  try {
    slots((256 << 10) - 1);
    FAIL() << "a chunk does not fit";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::precondition);
    EXPECT_THAT(error.what(), HasSubstr("(--predict h200)"));
  }
}

/// The error of plan() without a device; empty: none.
std::string plan_error(const std::string& text) {
  const DeckFile file(text);
  const deck::Point point = deck::load_points(file.path()).front();
  try {
    plan(point, facts_of(point.deck));
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Plan, SaysWhichOrderCannotBe) {
  EXPECT_THAT(plan_error("workload: {kind: increment}\nissue: {orders: [depth_first, auto]}\n"),
              HasSubstr("issue.orders[1]: found 'auto', which needs a device; allowed: with "
                        "--device"));
  EXPECT_THAT(
      plan_error("workload:\n  kind: custom\n  tasks:\n"
                 "    - {name: H, stage: h2d, lane: 1, chunk: 1, bytes: 4 KiB}\n"
                 "    - {name: K, stage: kernel, lane: 2, chunk: 1, duration: 1 ms}\n"
                 "issue: {orders: [custom]}\n"),
      HasSubstr("workload.tasks[1]: order custom is not safe to run: RAW: task 1 (K, kernel)"));
}

TEST(Plan, HasHostWorkForEachChunkOfEachIteration) {
  const DeckFile file(
      "workload: {kind: pipeline, elements: 1 Mi, iterations: 3}\nchunks: {count: 4}\n"
      "issue: {orders: [depth_first]}\nhost_work: {per_chunk: 1 us}\n");
  const deck::Point point = deck::load_points(file.path()).front();
  EXPECT_EQ(plan(point, facts_of(point.deck)).host_work_pieces, 12);
}

TEST(PlanWords, SayHowACandidateDiffersFromUsualOnes) {
  using model::Candidate;
  for (const auto& [candidate, words] :
       {std::pair(Candidate{.chunks = 4, .lanes = 2}, "with 4 chunks on 2 lanes, predicted"),
        {Candidate{.profile = deck::Profile::ramp, .spread = 4},
         "on 1 lane, a ramp of spread 4, predicted"},
        {Candidate{.transfer = deck::Transfer::zero_copy}, "on 1 lane, zero copy, predicted"},
        {Candidate{.mechanism = deck::Mechanism::graph}, "on 1 lane, as a graph, predicted"},
        {Candidate{.mechanism = deck::Mechanism::portable}, "on 1 lane, predicted"}}) {
    EXPECT_THAT(why(std::vector{candidate}), HasSubstr(words));
  }
}

TEST(PlanWords, OfNoTimeHaveNoPart) {
  EXPECT_EQ(why(std::vector<model::Candidate>{{.busiest = "SM"}}),
            "sequential with 1 chunk on 1 lane, predicted 0 s, of which SM is busy 0 %");
}

TEST(PlanCheck, RefusesListedTasksThatRace) {
  const std::string deck =
      "workload:\n  kind: custom\n  tasks:\n"
      "    - {name: H, stage: h2d, lane: 1, chunk: 1, bytes: 4 KiB}\n"
      "    - {name: K, stage: kernel, lane: 2, chunk: 1, duration: 1 ms";
  EXPECT_EQ(refusal(deck + ", after: [H]}\n"), "");
  EXPECT_THAT(refusal(deck + "}\n"), HasSubstr("K"));
}

}  // namespace
}  // namespace overlap::experiment
