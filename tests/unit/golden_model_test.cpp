#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "deck/words.hpp"
#include "experiment/plan.hpp"
#include "golden.hpp"
#include "model/balance.hpp"
#include "model/load.hpp"
#include "schedule/hazard.hpp"
#include "schedule/tiles.hpp"

/// Schedules, predictions and balanced intensities, number by number.
namespace overlap::model {
namespace {

using deck::Order;

/// Decks that make every kind of schedule in few tasks.
const std::pair<const char*, const char*> decks[] = {
    {"increment",
     "workload: {kind: increment, elements: 100000}\nchunks: {count: 3}\n"
     "issue: {orders: [sequential, depth_first, by_engine], lanes: 2}"},
    {"disturbed",
     "workload: {kind: increment, elements: 70000, intensity: 40}\n"
     "chunks: {count: 4}\n"
     "issue: {orders: [depth_first], lanes: 3, sync: event}\n"
     "disturb: {operation: synchronize, at: 0.3, times: 2}\n"
     "host_work: {per_chunk: 7 us}"},
    {"box",
     "workload: {kind: increment, box: [4, 30, 70], array: [6, 40, 90], origin: [1, 2, "
     "3]}\nchunks: {count: 2}\nissue: {orders: [by_engine]}"},
    {"rowsum",
     "workload: {kind: rowsum, rows: 9000, columns: 5, type: int64, pitch: 64}\n"
     "chunks: {count: 4}\nmemory: {device_limit: 250 KiB}\n"
     "issue: {orders: [breadth_first], lanes: 2}"},
    {"pageable",
     "workload: {kind: rowsum, rows: 9000, columns: 5}\nchunks: {count: 3}\n"
     "memory: {host: pageable}\nissue: {orders: [depth_first, by_engine], lanes: 2}"},
    {"zero_copy",
     "workload: {kind: increment, elements: 50000}\nchunks: {count: 2}\n"
     "memory: {transfer: zero_copy}\nissue: {orders: [depth_first], lanes: 2}"},
    {"pipeline",
     "workload: {kind: pipeline, elements: 30000, iterations: 2}\n"
     "chunks: {count: 2}\nissue: {orders: [depth_first, by_engine], lanes: 2}"},
    {"dgemm",
     "workload: {kind: dgemm, m: 150, n: 110, k: 70, tile_m: 100, tile_n: 90, host_share: 0.25}\n"
     "issue: {orders: [two_way, four_way, four_plus], lanes: 2}"},
    {"custom",
     "workload:\n  kind: custom\n  tasks:\n"
     "    - {name: A, stage: h2d, lane: 1, bytes: 40000}\n"
     "    - {name: B, stage: kernel, lane: 2, duration: 30 us, sms: 0.4, after: [A]}\n"
     "    - {name: C, stage: kernel, lane: 1, duration: 20 us, sms: 0.7}\n"
     "    - {name: Q, stage: query, lane: 2}\n"
     "    - {name: H, stage: host, duration: 9 us, after: [C]}\n"
     "    - {name: E, stage: d2h, lane: 2, duration: 11 us}\n"
     "    - {name: Z, stage: default_stream, duration: 5 us}\n"
     "    - {name: D, stage: d2h, lane: 1, bytes: 20000}\n"
     "issue: {orders: [custom, depth_first]}"},
};

std::string words(const schedule::Schedule& schedule) {
  std::string text =
      fmt::format("lanes {} chunks {} slots {}\n", schedule.lanes, schedule.chunks, schedule.slots);
  for (const schedule::Task& task : schedule.tasks) {
    text += fmt::format("  {} {}.{} L{} {} B {:.12g} flop {:.12g} s {:.3g} <{}{}",
                        to_string(task.stage), task.chunk, task.op, task.lane, task.bytes,
                        task.flops, task.duration_s, task.share, fmt::join(task.after, " "),
                        task.blocking ? " !" : "");
    for (const schedule::Operand& use : task.operands) {
      text += fmt::format(" {}{}[{} + {}]{}", use.array, use.loads ? "" : "*", use.host.begin,
                          use.host.bytes(), use.slot);
    }
    text += "\n";
  }
  for (const auto& hazard : schedule::find_hazards(schedule)) text += hazard.message + "\n";
  return text;
}

TEST(Golden, SchedulesAsItIsWritten) {
  std::string text;
  for (const auto& [name, deck_text] : decks) {
    const deck::DeckPoint point = golden_points(deck_text).front();
    const experiment::Plan plan = experiment::plan(point, experiment::facts_of(point.deck));
    text += fmt::format("{}: borders {}, {} slots of {} units\n", name,
                        fmt::join(plan.layout.borders, " "), plan.layout.slots,
                        plan.layout.largest_chunk_units);
    for (const experiment::Case& one : plan.cases) {
      text += results::name(one.run) + ": " + words(one.schedule);
    }
  }
  expect_golden({{"tasks.txt", text}});
}

/// The sums stand for the spans, which few timelines show.
std::string words(const timeline::Timeline& timeline, bool spans) {
  double start_s = 0;
  double stop_s = 0;
  std::string shown;
  for (const timeline::Span& span : timeline.spans) {
    start_s += span.start_s;
    stop_s += span.stop_s;
    if (!spans) continue;
    shown += fmt::format("\n  {} {:.12g} {:.12g}",
                         timeline.engines[static_cast<std::size_t>(span.engine)],
                         1e6 * span.start_s, 1e6 * span.stop_s);
  }
  std::string text =
      fmt::format("us: issued {:.12g} complete {:.12g} starts {:.12g} stops {:.12g} busy",
                  1e6 * timeline.issued_s, 1e6 * timeline.complete_s, 1e6 * start_s, 1e6 * stop_s);
  for (const double busy_s : timeline::busy_s(timeline)) {
    text += fmt::format(" {:.12g}", 1e6 * busy_s);
  }
  return text + shown + "\n";
}

/// What bounds say of rates that are all different, on two copy engines, one, and workers.
std::string bounds_of(const schedule::Schedule& schedule) {
  const Rates least{.h2d_s = 3e-5, .d2h_s = 2e-5, .both_s = 4e-5, .kernel_s = 1e-5};
  Rates own = least;
  for (double* const part : {&own.h2d_s, &own.d2h_s, &own.both_s, &own.kernel_s}) *part *= 1.3;
  std::string text = "bounds";
  for (const timeline::Engines& engines :
       {timeline::Engines{.copy_engines = 2}, timeline::Engines{.copy_engines = 1},
        timeline::Engines{.workers = 2}}) {
    const Bounds of = bounds(schedule, own, least, engines);
    text +=
        fmt::format(" {:.12g} {:.12g} {:.12g} {:.12g} {:.12g} {};", of.serial_s, of.one_engine_s,
                    of.two_engines_s, of.bound_s, of.schedule_bound_s, of.limit);
  }
  return text + "\n";
}

TEST(Golden, PredictedTimelinesAsItIsWritten) {
  Device queues = golden_device();
  queues.name = "queues";
  queues.queues = Queues::engine;
  queues.copy_engines = 1;
  queues.delayed_signal = queues.query_releases = true;
  queues.window = 3;
  queues.concurrent_kernels = 2;
  Device workers = golden_device();
  workers.name = "workers";
  workers.queues = Queues::worker;
  workers.cores = 5;
  workers.lanes_divide = true;
  const std::vector<Device> devices = {
      golden_device(),    queues, workers, load_device("h200"), load_device("ideal_1copy"),
      load_device("host")};
  std::string text;
  for (const auto& [name, deck_text] : decks) {
    const deck::DeckPoint point = golden_points(deck_text).front();
    for (const experiment::Case& one :
         experiment::plan(point, experiment::facts_of(point.deck)).cases) {
      const bool spans = text.empty() || name == std::string("custom");
      text += fmt::format("{}, {}\n", name, results::name(one.run)) + bounds_of(one.schedule);
      for (const Device& device : devices) {
        text += device.name + ": ";
        try {
          text += words(predict(one.schedule, device), spans && device.path.empty());
        } catch (const base::Error& error) {
          text += std::string(error.what()) + "\n";
        }
      }
    }
  }
  expect_golden({{"predicted.txt", text}});
}

/// "0.1>2" for panel or tile 1 of matrix 0 that is loaded into slot 2, "0.1@2" for one that is
/// there.
std::string words(const schedule::TilePlan& plan, std::size_t most) {
  std::string text =
      fmt::format("slots {}, {} bytes:", fmt::join(plan.slots, " "), plan.loaded_bytes);
  for (std::size_t i = 0; i < std::min(plan.turns.size(), most); ++i) {
    for (const schedule::Operand& use : plan.turns[i]) {
      text += fmt::format(" {}.{}{}{}", use.array, use.piece, use.loads ? ">" : "@", use.slot);
    }
    text += ",";
  }
  return text + "\n";
}

TEST(Golden, TilePlansAsItIsWritten) {
  const schedule::Tiling tilings[] = {
      {.m = 250, .n = 350, .k = 30, .tile_m = 100, .tile_n = 100},
      {.m = 24, .n = 40, .k = 4, .tile_m = 6, .tile_n = 5},
      {.m = 500, .n = 500, .k = 64, .tile_m = 100, .tile_n = 100},
      {.m = 400, .n = 800, .k = 20, .tile_m = 100, .tile_n = 400, .element_bytes = 4},
      {.m = 1700, .n = 500, .k = 300, .tile_m = 100, .tile_n = 100},
      {.m = 3300, .n = 700, .k = 500, .tile_m = 100, .tile_n = 100},
  };
  std::string text;
  for (const schedule::Tiling& tiling : tilings) {
    const auto all =
        static_cast<double>(tiling.bytes(tiling.m) * static_cast<std::size_t>(tiling.k + tiling.n) +
                            tiling.bytes(tiling.n) * static_cast<std::size_t>(tiling.k));
    text += fmt::format("{} x {} x {} by {} x {}\n", tiling.m, tiling.n, tiling.k, tiling.tile_m,
                        tiling.tile_n);
    for (const double part : {0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.9, 1.2}) {
      const auto limit = static_cast<std::size_t>(part * all);
      text += fmt::format("  {} of it: ", part) +
              words(schedule::plan_tiles(tiling, limit), tiling.rows() > 5 ? 12 : 36);
    }
  }
  expect_golden({{"tile_plans.txt", text}});
}

TEST(Golden, BalancedRepeatsAsItIsWritten) {
  std::string text;
  for (const int balance : {1, 2, 3, 17}) {
    const deck::Deck deck =
        golden_points(
            fmt::format("workload: {{kind: increment, intensity: {}x balanced}}", balance))
            .front()
            .deck;
    text +=
        fmt::format("balance {}: {} repeats\n", balance, balanced_repeats(deck, golden_device()));
  }
  expect_golden({{"balanced_repeats.txt", text}});
}

TEST(Hazard, ATaskThatWaitsForItselfIsMalformed) {
  const deck::DeckPoint point = golden_points(decks[0].second).front();
  schedule::Schedule schedule =
      experiment::plan(point, experiment::facts_of(point.deck)).cases[1].schedule;
  schedule.tasks[1].after = {1};
  const auto hazards = schedule::find_hazards(schedule, 1);
  ASSERT_EQ(hazards.size(), 1U);
  EXPECT_NE(hazards[0].message.find("waits for task 1, which is issued later"), std::string::npos);
}

TEST(Tiles, ATaskWithoutMatricesComputesNoProduct) {
  const deck::DeckPoint point = golden_points(decks[7].second).front();
  const schedule::Schedule schedule =
      experiment::plan(point, experiment::facts_of(point.deck)).cases[0].schedule;
  EXPECT_FALSE(schedule::product(schedule, {.stage = schedule::Stage::kernel}));
}

TEST(DeviceCurve, OfOnePointMayBeginAtAByte) {
  const DeckFile file(
      "h2d: {times: [[1, 1 us]]}\nd2h: {bandwidth: 5 GB/s}\n"
      "kernels: {rates: {increment: {bandwidth: 8 GB/s}}}\n",
      "device.yaml");
  EXPECT_DOUBLE_EQ(load_device(file.path()).h2d.pinned.seconds(3), 3e-6);
}

}  // namespace
}  // namespace overlap::model
