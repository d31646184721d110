#include "experiment/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

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
  for (const deck::DeckPoint& point : deck::load_points(file.path())) {
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
  const auto notes = [](const std::string& keys) {
    const DeckFile file("workload: {kind: increment, elements: 1 Mi}\n" + keys);
    const deck::DeckPoint point = deck::load_points(file.path()).front();
    return predictions(point, {model::load_device("h200")}).notes;
  };
  EXPECT_THAT(notes(""), IsEmpty());
  EXPECT_THAT(notes("issue: {mechanism: portable}\n"), IsEmpty());
  EXPECT_THAT(notes("issue: {mechanism: graph}\n"),
              ElementsAre(Pair("issue.mechanism", "graph: predicted as streams")));
  EXPECT_THAT(notes("issue: {streams: legacy_default}\n"), IsEmpty());
  EXPECT_THAT(notes("disturb: {operation: memset}\n"), IsEmpty());
  EXPECT_THAT(notes("disturb: {operation: malloc}\n"), IsEmpty());
}

/// Predicted times of a shipped deck by name of the case, in ms.
std::map<std::string, double> predicted_ms(const std::string& deck,
                                           const std::vector<std::string>& overrides = {},
                                           const std::string& device = "h200") {
  const deck::DeckPoint point = deck::load_points(deck, overrides).front();
  std::map<std::string, double> times;
  for (const Case& one : predictions(point, {model::load_device(device)}).cases) {
    times[name(one.run)] = 1e3 * one.run.predicted_s.value();
  }
  return times;
}

/// Measured on an H200: docs/concurrency.md.
TEST(Streams, AreAsFastAsMeasured) {
  const std::map<std::string, double> measured_ms = {
      {"own", 5.68}, {"blocking", 5.71}, {"legacy_default", 11.36}, {"per_thread_default", 11.31}};
  for (const auto& [kind, ms] : measured_ms) {
    const auto times = predicted_ms("increment_large", {"issue.streams=" + kind});
    EXPECT_NEAR(times.at("depth_first"), ms, 0.02 * ms) << kind;
    const bool overlaps = times.at("by_engine") < 0.9 * times.at("sequential");
    EXPECT_EQ(overlaps, ms < 10) << kind;
  }
}

TEST(Streams, TheDefaultStreamIsOneLane) {
  for (const char* kind : {"legacy_default", "per_thread_default"}) {
    for (const char* deck : {"increment", "pipeline", "rennich/three_streams", "dgemm_small"}) {
      const deck::DeckPoint point =
          deck::load_points(deck, {std::string("issue.streams=") + kind}).front();
      for (const Case& one : plan(point, facts_of(point.deck)).cases) {
        EXPECT_EQ(one.schedule.lanes, 1) << kind << " " << deck << " " << name(one.run);
        for (const schedule::Task& task : one.schedule.tasks) EXPECT_THAT(task.after, IsEmpty());
      }
    }
  }
}

/// Measured on an H200, docs/concurrency.md: calls in the legacy default stream cost 2.5 to 5.2 %.
TEST(Streams, BlockingOnesDrainForCallsInTheLegacyDefaultStream) {
  for (const char* call : {"default_stream", "memset", "device_copy", "blocking_copy"}) {
    const std::string deck = std::string("hazards/") + call;
    const auto times = predicted_ms(deck);
    for (const char* order : {"depth_first", "by_engine"}) {
      const double loss = times.at(std::string(order) + " + " + call) / times.at(order) - 1;
      EXPECT_NEAR(loss, 0.0385, 0.0135) << call << " " << order;
    }
    if (deck == "hazards/blocking_copy") continue;  // it would hold the host all the same
    const auto own = predicted_ms(deck, {"issue.streams=own"});
    EXPECT_EQ(own.at(std::string("by_engine + ") + call), own.at("by_engine")) << call;
  }
}

/// Seed 004: on a Fermi these synchronize all other operations; of a query and of an event with
/// timing it does not say so. Half-way, one chunk's copies and kernel no longer overlap with
/// others.
TEST(Streams, OfAFermiDrainForTheCallsOfTheSeeds) {
  for (const char* call : {"default_stream", "malloc", "malloc_host", "memset", "blocking_copy",
                           "small_copy", "device_copy", "cache_config", "synchronize"}) {
    const auto times = predicted_ms(std::string("hazards/") + call, {"issue.streams=own"}, "c2050");
    for (const char* order : {"depth_first", "by_engine"}) {
      // Two more stages of one of 32 chunks of 8 MiB.
      const double more_ms = times.at(std::string(order) + " + " + call) - times.at(order);
      EXPECT_NEAR(more_ms, 2 * 8.388608 / 5.040972, 1e-6) << call << " " << order;
    }
  }
  for (const char* call : {"timing_event", "stream_query"}) {
    const auto times = predicted_ms(std::string("hazards/") + call, {}, "c2050");
    EXPECT_EQ(times.at(std::string("by_engine + ") + call), times.at("by_engine")) << call;
  }
}

TEST(Plan, HasNoPredictionForTilesOfAHostWithoutARate) {
  const deck::DeckPoint point =
      deck::load_points("dgemm", {"issue.orders=[three_way, four_way]"})[0];
  model::Device device = model::load_device("c2070");
  EXPECT_TRUE(predictions(point, {device}).cases[1].prediction);
  device.host.flops_per_s = 0;
  const Plan unknown = predictions(point, {device});
  EXPECT_TRUE(unknown.cases[0].prediction);
  EXPECT_FALSE(unknown.cases[1].prediction);
  EXPECT_EQ(unknown.notes, (Notes{{"not predicted", "four_way: c2070 has no host.products"}}));
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
  EXPECT_THAT(facts(1).notes,
              ElementsAre(Pair("copy rates", "to the device 16.38 GB/s, back 8.000 GB/s")));
  device.unit_s = 1e-3;  // a teaching device has no rates
  EXPECT_EQ(facts(1).workload.tasks[0].bytes, 0);
  EXPECT_THAT(facts(1).notes, IsEmpty());
}

TEST(Predictions, DataThatExceedTheMemoryGoOutOfCore) {
  const DeckFile file("workload: {kind: increment, elements: 1 Mi}\nchunks: {count: 16}\n");
  const deck::DeckPoint point = deck::load_points(file.path()).front();
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

TEST(Predictions, NeedARateAndMemoryThatTheModelKnows) {
  const model::Device device = model::load_device("c1060");
  const auto reason = [&](const std::string& text) {
    const DeckFile file(text);
    return unpredictable(deck::load_points(file.path()).front().deck, device);
  };
  EXPECT_EQ(reason("workload: {kind: increment}\n"), "");
  EXPECT_EQ(reason("workload: {kind: rowsum}\n"), "no rate for the kernel rowsum/int32");
  EXPECT_THAT(reason("workload: {kind: increment}\nmemory: {host: managed}\n"),
              HasSubstr("managed memory: "));
  const DeckFile managed("workload: {kind: increment}\nmemory: {host: managed}\n");
  try {
    predictions(deck::load_points(managed.path()).front(), {device});
    FAIL() << "managed memory is predicted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr(":2:16: memory.host: found managed with --predict; "));
  }
}

/// The error of plan() without a device; empty: none.
std::string plan_error(const std::string& text) {
  const DeckFile file(text);
  const deck::DeckPoint point = deck::load_points(file.path()).front();
  try {
    plan(point, facts_of(point.deck));
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Plan, SaysWhichOrderCannotBe) {
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
  const deck::DeckPoint point = deck::load_points(file.path()).front();
  double work_s = 0;
  for (const auto& task : plan(point, facts_of(point.deck)).cases[1].schedule.tasks) {
    if (task.stage == schedule::Stage::host) work_s += task.duration_s;
  }
  EXPECT_DOUBLE_EQ(work_s, 12e-6);
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
