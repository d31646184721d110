#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../operands.hpp"
#include "experiment/judge.hpp"
#include "measure/measure.hpp"
#include "schedule/build.hpp"
#include "schedule/hazard.hpp"
#include "workload/workload.hpp"

namespace overlap {

using workload::Space;

/// What `attempt` gives once it `holds`, or the 20th time: a busy machine disturbs times now and
/// then, a fault always.
template <class Attempt, class Holds>
auto first_that(Holds holds, Attempt attempt) {
  auto result = attempt();
  for (int i = 1; i < 20 && !holds(result); ++i) result = attempt();
  return result;
}

/// Whether lanes can work at the same time; on a single core those of a host cannot.
inline bool can_overlap() { return !workload::is_host || lanes::max_concurrent_lanes() > 1; }

/// A deck's schedule and workload, ready to run.
struct TestBench {
  schedule::Schedule schedule;
  workload::Workload workload;
  std::unique_ptr<measure::Executor> executor;

  TestBench(const deck::Deck& deck, deck::Order order, int lanes,
            std::unique_ptr<lanes::Lanes> back_end = nullptr) {
    const auto costs = schedule::costs(deck.workload, deck.workload.intensity.repeats);
    const auto layout = schedule::layout(deck, costs, std::nullopt);
    schedule = schedule::build(costs, layout, order, lanes);
    EXPECT_TRUE(schedule::find_hazards(schedule).empty());
    const std::int64_t units = schedule.arrays.empty() ? 0 : schedule.arrays[0].device_units;
    workload = workload::make(deck, costs, schedule::device_bytes(costs, layout, units),
                              deck.workload.intensity.repeats);
    executor = back_end
                   ? std::make_unique<measure::Executor>(std::move(back_end), schedule.lanes,
                                                         deck.issue.threads)
                   : std::make_unique<measure::Executor>(schedule.lanes, deck.issue, deck.memory);
    if (deck.memory.host == deck::HostMemory::registered) measure::page_lock(workload, false);
  }

  /// Resets, runs and verifies one repetition.
  workload::Verification run(std::uint32_t repetition) {
    measure::reset(executor->lanes().instance(0), workload, repetition);
    executor->run(schedule, workload);
    return workload.verify(repetition, workload.repeats);
  }
};

/// The elements of a host array without a section, typed.
template <class T>
std::span<T> elements(const workload::HostArray& array) {
  return {reinterpret_cast<T*>(array.data()), array.size() / sizeof(T)};
}

inline experiment::Case case_of(deck::Order order, schedule::Schedule schedule) {
  experiment::Case one;
  one.run.order = order;
  set_schedule(one, std::move(schedule));
  return one;
}

/// The schedule as the program measures it, hazards or not: once, with new data.
inline results::Run measured(const TestBench& bench) {
  std::vector<experiment::Case> cases = {case_of(bench.schedule.order, bench.schedule)};
  measure::run_rounds(*bench.executor, cases, bench.workload, {.warmup = 0, .repetitions = 1});
  return cases.front().run;
}

inline model::Rates rates_of(measure::Executor& executor, const workload::Workload& workload,
                             const schedule::Schedule& schedule) {
  measure::RateMeter meter(executor, workload, schedule);
  std::vector<model::Rates> samples;
  for (int i = 0; i < 5; ++i) samples.push_back(meter.sample());
  return meter.rates(samples);
}

/// The exit code of a deck that has this run alone.
inline base::ExitCode exit_code(const results::Run& run) {
  results::Point point{.runs = {run}, .outcome = results::Outcome()};
  experiment::conclude(point);
  return point.outcome->exit_code;
}

inline deck::Deck test_deck(deck::WorkloadKind kind, std::int64_t units, std::int64_t chunks,
                            deck::ElementType type) {
  deck::Deck deck;
  deck.path = "test.yaml";
  deck.workload.kind = kind;
  deck.workload.elements = units;
  deck.workload.rows = units;
  deck.workload.columns = 6;
  deck.workload.type = type;
  deck.workload.iterations = 3;
  deck.chunks.count = chunks;
  if (kind == deck::WorkloadKind::dgemm) {  // 4 x 4 tiles, smaller at the edges
    deck.workload.m = 67;
    deck.workload.n = 53;
    deck.workload.k = 31;
    deck.workload.tile_m = 20;
    deck.workload.tile_n = 17;
    deck.chunks.count = 1;
  }
  return deck;
}

}  // namespace overlap
