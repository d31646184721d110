#include "model/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "model/load.hpp"
#include "model/predict.hpp"
#include "schedule/hazard.hpp"

/// What `auto` and a balanced intensity choose by the model.
namespace overlap::model {
namespace {

deck::Deck increment(std::int64_t chunks) {
  deck::Deck deck;
  deck.path = "test.yaml";
  deck.chunks.count = chunks;
  return deck;
}

std::vector<Candidate> search(const deck::Deck& deck, const Device& device) {
  return model::search(deck, schedule::costs(deck.workload, 1), device, std::nullopt);
}
std::vector<Candidate> search(const deck::Deck& deck, const std::string& device) {
  return search(deck, load_device(device));
}

TEST(Search, FindsTheOrderOfTheArticle) {
  // Chunks of any size take one unit, so that their number is no choice.
  const auto one_engine = search(increment(4), "ideal_1copy");
  EXPECT_EQ(one_engine.front().order, deck::Order::breadth_first);
  EXPECT_NEAR(one_engine.front().predicted_s, 8e-3, 1e-12);
  EXPECT_EQ(one_engine.front().busiest, "copy");
  EXPECT_NEAR(one_engine.front().busy_s, 8e-3, 1e-12);
  for (const Candidate& candidate : one_engine) EXPECT_EQ(candidate.chunks, 4);
  const auto delayed = search(increment(4), "ideal_2copy_delayed_signal");
  // Depth first or by engine, whose copies stand between the kernels.
  EXPECT_NE(delayed.front().order, deck::Order::breadth_first);
  EXPECT_NEAR(delayed.front().predicted_s, 6e-3, 1e-12);
}

TEST(Search, SortsWhatItTried) {
  const auto candidates = search(increment(4), "h200");
  EXPECT_TRUE(std::is_sorted(
      candidates.begin(), candidates.end(),
      [](const auto& a, const auto& b) { return a.predicted_s < b.predicted_s * (1 - 1e-9); }));
  std::set<deck::Order> orders;
  std::set<std::int64_t> chunks;
  for (const Candidate& candidate : candidates) {
    orders.insert(candidate.order);
    chunks.insert(candidate.chunks);
    EXPECT_GT(candidate.busy_s, 0);
    EXPECT_LE(candidate.busy_s, candidate.predicted_s * (1 + 1e-9));
  }
  EXPECT_THAT(orders, testing::ElementsAre(deck::Order::sequential, deck::Order::depth_first,
                                           deck::Order::breadth_first, deck::Order::by_engine));
  EXPECT_TRUE(chunks.contains(1) && chunks.contains(256));
  EXPECT_LT(candidates.front().predicted_s,
            std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) {
              return c.order == deck::Order::sequential;
            })->predicted_s);
}

TEST(Search, OfEqualTimesTakesTheFewestChunksAndLanes) {
  // One engine copies in issue order: depth first overlaps nothing, however many chunks there are.
  Device device = load_device("c1060");
  device.latency.event_s = 1e-9;  // which no chunk of it has
  const auto candidates = search(increment(4), device);
  const auto depth = std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) {
    return c.order == deck::Order::depth_first;
  });
  EXPECT_EQ(depth->chunks, 1);
  EXPECT_EQ(depth->lanes, 1);
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const Candidate& before = candidates[i - 1];
    const Candidate& after = candidates[i];
    if (std::abs(after.predicted_s - before.predicted_s) > 1e-12 * after.predicted_s) continue;
    EXPECT_LE(std::tuple(before.profile, before.chunks, before.lanes),
              std::tuple(after.profile, after.chunks, after.lanes));
  }
}

TEST(Search, WithoutLatenciesTakesTheDecksChunks) {
  for (const char* const name :
       {"c1060", "c2050", "c2070", "fermi", "k20c", "kepler", "rtx5070ti"}) {
    EXPECT_TRUE(load_device(name).lacks_latencies()) << name;
  }
  for (const char* const name : {"h200", "host", "ideal_1copy", "ideal_hyperq"}) {
    EXPECT_FALSE(load_device(name).lacks_latencies()) << name;
  }
  for (const Candidate& candidate : search(increment(5), "k20c")) {
    const bool one = candidate.order == deck::Order::sequential ||
                     candidate.transfer == deck::Transfer::zero_copy;
    EXPECT_TRUE(candidate.chunks == 5 || one) << candidate.chunks;
  }
}

TEST(Search, TriesTheDecksOwnNumbers) {
  deck::Deck deck = increment(5);
  deck.issue.lanes = 7;
  std::set<std::pair<std::int64_t, int>> tried;
  for (const Candidate& candidate : search(deck, "h200")) {
    if (candidate.order == deck::Order::depth_first &&
        candidate.profile == deck::Profile::uniform &&
        candidate.transfer == deck::Transfer::staged) {
      EXPECT_TRUE(tried.emplace(candidate.chunks, candidate.lanes).second);
    }
  }
  EXPECT_TRUE(tried.contains({8, 7}));
  EXPECT_TRUE(tried.contains({5, 5}));
  EXPECT_FALSE(tried.contains({5, 7}));
}

TEST(Search, SharesTheCoresWithLanesThatExistAnyway) {
  Device device = load_device("host");
  device.cores = 8;
  device.lanes_divide = true;
  const deck::Deck deck = increment(4);
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  for (const Candidate& candidate : model::search(deck, costs, device, std::nullopt, 4)) {
    schedule::Schedule schedule = build(deck, costs, candidate, std::nullopt);
    schedule.instances = std::max(candidate.lanes, 4);
    EXPECT_DOUBLE_EQ(predict(schedule, device).complete_s, candidate.predicted_s);
  }
}

TEST(Search, AnEngineIsBusyForAsLongAsItRunsSomething) {
  Device device = load_device("h200");
  device.concurrent_kernels = 32;
  device.kernels["increment/float32"] = {{{0.875, Curve::line(1e-3, 1e12)}}};
  for (const Candidate& candidate : model::search(
           increment(8), schedule::costs(increment(8).workload, 1), device, std::nullopt)) {
    EXPECT_LE(candidate.busy_s, candidate.predicted_s * (1 + 1e-9));
  }
}

TEST(Search, TakesSecondsAtMost) {
  // Beyond the limit the deck's own number of chunks is tried, but no larger one.
  deck::Deck deck = increment(1);
  deck.workload.kind = deck::WorkloadKind::pipeline;
  deck.workload.elements = 2;
  deck.workload.iterations = 8200;
  const auto candidates = search(deck, "h200");
  EXPECT_FALSE(candidates.empty());
  for (const Candidate& candidate : candidates) EXPECT_EQ(candidate.chunks, 1);
}

TEST(Search, TriesNoMoreChunksThanUnits) {
  deck::Deck deck = increment(1);
  deck.workload.elements = 4;
  std::set<std::int64_t> chunks;
  for (const Candidate& candidate : search(deck, "h200")) chunks.insert(candidate.chunks);
  EXPECT_THAT(chunks, testing::ElementsAre(1, 2, 3, 4));
}

TEST(Search, PredictsWhatItBuilds) {
  const deck::Deck deck = increment(4);
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  const Device device = load_device("k20c");
  const auto candidates = search(deck, "k20c");
  for (const Candidate& candidate : {candidates.front(), candidates.back()}) {
    const auto schedule = build(deck, costs, candidate, std::nullopt);
    EXPECT_EQ(schedule.order, candidate.order);
    EXPECT_EQ(schedule.lanes, candidate.lanes);
    EXPECT_DOUBLE_EQ(predict(schedule, device).complete_s, candidate.predicted_s);
  }
}

TEST(Search, TakesOnlyWhatTheDeviceHolds) {
  // 16 MiB of data on a device with 1 MiB: chunks of 1/16 at most.
  deck::Deck deck = increment(64);
  deck.memory.device_limit = std::int64_t{1} << 20;
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  const auto candidates = search(deck, "h200");
  ASSERT_FALSE(candidates.empty());
  for (const Candidate& candidate : candidates) {
    if (candidate.transfer == deck::Transfer::zero_copy) continue;  // it takes no device memory
    EXPECT_GE(candidate.chunks, 16);
    const auto schedule = build(deck, costs, candidate, std::nullopt);
    EXPECT_TRUE(schedule.out_of_core);
    EXPECT_LE(schedule.cuts[0].device_units * 4, *deck.memory.device_limit);
  }
  EXPECT_THAT(schedule::find_hazards(build(deck, costs, candidates.front(), std::nullopt)),
              testing::IsEmpty());
}

TEST(Search, TriesRampsAndZeroCopyWhereTheyHaveAMeaning) {
  const auto has = [](const std::vector<Candidate>& candidates, const auto& member, auto value) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const Candidate& c) { return c.*member == value; });
  };
  deck::Deck deck = increment(4);
  const auto all = search(deck, "h200");
  EXPECT_TRUE(has(all, &Candidate::profile, deck::Profile::ramp));
  EXPECT_TRUE(has(all, &Candidate::transfer, deck::Transfer::zero_copy));
  const auto teaching = search(deck, "ideal_1copy");
  EXPECT_FALSE(has(teaching, &Candidate::profile, deck::Profile::ramp));
  EXPECT_FALSE(has(teaching, &Candidate::transfer, deck::Transfer::zero_copy));
  // Workers' kernels are on host memory anyway.
  EXPECT_FALSE(has(search(deck, "host"), &Candidate::transfer, deck::Transfer::zero_copy));
  deck.memory.host = deck::HostMemory::pageable;
  EXPECT_FALSE(has(search(deck, "h200"), &Candidate::transfer, deck::Transfer::zero_copy));
}

TEST(Search, TriesFewRamps) {
  deck::Deck deck = increment(4);
  deck.issue.lanes = 5;
  deck.chunks.spread = 30;
  std::set<std::int64_t> chunks;
  std::set<double> spreads;
  std::set<int> lanes;
  for (const Candidate& candidate : search(deck, "h200")) {
    if (candidate.profile != deck::Profile::ramp) continue;
    chunks.insert(candidate.chunks);
    spreads.insert(candidate.spread);
    const bool many = candidate.chunks == 256;  // enough for all lanes
    if (many && candidate.order == deck::Order::depth_first) lanes.insert(candidate.lanes);
  }
  EXPECT_EQ(*chunks.begin(), 6);
  EXPECT_THAT(spreads, testing::ElementsAre(16, 30, 64));
  EXPECT_THAT(lanes, testing::ElementsAre(4, 5, 8));
}

TEST(Search, ARampIsBestWhereOneDirectionIsTheLimit) {
  // Only the first chunk's copy to the device and what follows the last one's show. (Where as much
  // goes back, the copies back end a whole large chunk behind the others, ramp or not.)
  deck::Deck deck = increment(4);
  deck.workload.kind = deck::WorkloadKind::rowsum;
  deck.workload.type = deck::ElementType::int32;
  const auto candidates = search(deck, "h200");
  EXPECT_EQ(candidates.front().profile, deck::Profile::ramp);
}

TEST(Search, KeepsToTheMechanismOfTheDeck) {
  deck::Deck deck = increment(4);
  for (const auto mechanism : {deck::Mechanism::portable, deck::Mechanism::graph}) {
    deck.issue.mechanism = mechanism;
    const auto candidates = search(deck, "h200");
    for (const Candidate& candidate : candidates) EXPECT_EQ(candidate.mechanism, mechanism);
    const auto chosen = finalists(candidates, false);
    if (mechanism == deck::Mechanism::graph) {
      EXPECT_EQ(finalists(candidates, true).size(), chosen.size());
    }
  }
}

TEST(Search, FinalistsAreTheBestOfEachKind) {
  const auto candidates = search(increment(4), "h200");
  const auto chosen = finalists(candidates, false);
  EXPECT_EQ(chosen.front().predicted_s, candidates.front().predicted_s);
  EXPECT_LE(chosen.size(), 10U);
  const auto count = [](const std::vector<Candidate>& of, const auto& is) {
    return std::count_if(of.begin(), of.end(), is);
  };
  const auto whole = [](const Candidate& c) {
    return c.chunks == 1 && c.transfer == deck::Transfer::staged;
  };
  const auto mapped = [](const Candidate& c) { return c.transfer == deck::Transfer::zero_copy; };
  const auto ramp = [](const Candidate& c) { return c.profile == deck::Profile::ramp; };
  const auto graph = [](const Candidate& c) { return c.mechanism == deck::Mechanism::graph; };
  EXPECT_EQ(count(chosen, whole), 1);
  EXPECT_EQ(count(chosen, mapped), 1);
  EXPECT_EQ(count(chosen, ramp), 2);  // depth first and by engine
  EXPECT_EQ(count(chosen, graph), 0);
  const auto twins = finalists(candidates, true);
  const auto sequential = [](const Candidate& c) { return c.order == deck::Order::sequential; };
  EXPECT_EQ(count(twins, graph), count(chosen, [&](const auto& c) { return !sequential(c); }));
}

/// A kernel of the first chunk against its copy to the device, with so many repeats.
double ratio(const deck::Deck& deck, const Device& device, std::int64_t repeats) {
  const schedule::Costs costs = schedule::costs(deck.workload, repeats);
  const auto schedule = schedule::build(costs, schedule::layout(deck, costs, std::nullopt),
                                        deck::Order::depth_first, 1);
  return seconds_alone(schedule, schedule.tasks[1], device) /
         seconds_alone(schedule, schedule.tasks[0], device);
}

TEST(BalancedRepeats, AreTheNearestToTheBalance) {
  const Device device = load_device("h200");
  deck::Deck deck = increment(8);
  deck.workload.elements = std::int64_t{1} << 26;
  for (const double balance : {0.5, 1.0, 4.0, 64.0}) {
    deck.workload.intensity.balance = balance;
    const std::int64_t repeats = balanced_repeats(deck, device);
    ASSERT_GE(repeats, 1);
    const auto off = [&](std::int64_t n) { return std::abs(ratio(deck, device, n) - balance); };
    EXPECT_LE(off(repeats), off(repeats + 1)) << balance;
    if (repeats > 1) {
      EXPECT_LE(off(repeats), off(repeats - 1)) << balance;
    }
  }
  deck.workload.intensity.balance = 4;
  EXPECT_NEAR(ratio(deck, device, balanced_repeats(deck, device)), 4, 0.2);
  EXPECT_EQ(balanced_repeats(deck, load_device("ideal_hyperq")), 1);
  const std::int64_t copied = balanced_repeats(deck, device);
  deck.memory.transfer = deck::Transfer::zero_copy;  // has the same kernels, but no copies
  EXPECT_EQ(balanced_repeats(deck, device), copied);
}

TEST(BalancedRepeats, OfTwoAsNearAreTheSmallerNumber) {
  // A copy of 32 s against 64 s for each repeat.
  Device device;
  device.h2d.pinned = device.d2h.pinned = Curve::line(0, 1);
  device.kernels["increment"] = {{{0.875, Curve::line(0, 1)}}};
  deck::Deck deck = increment(1);
  deck.workload.elements = 8;
  for (const auto& [balance, repeats] :
       {std::pair(1.0, 1), {3.0, 1}, {3.25, 2}, {4.75, 2}, {5.0, 2}, {5.25, 3}}) {
    deck.workload.intensity.balance = balance;
    EXPECT_EQ(balanced_repeats(deck, device), repeats) << balance;
  }
}

TEST(BalancedRepeats, OfARampAreThoseOfItsLargestChunk) {
  const Device device = load_device("h200");
  deck::Deck deck = increment(9);
  deck.workload.elements = std::int64_t{1} << 18;
  deck.workload.intensity.balance = 4;
  deck.chunks.profile = deck::Profile::ramp;
  const schedule::Costs costs = schedule::costs(deck.workload, 1);
  const auto largest = schedule::layout(deck, costs, std::nullopt).largest_chunk_units;
  const std::int64_t ramp = balanced_repeats(deck, device);
  const auto even = [&](std::int64_t chunks) {
    deck.chunks = {.count = chunks};
    return static_cast<double>(balanced_repeats(deck, device));
  };
  const std::int64_t alike = deck.workload.elements / largest;  // even chunks of that size
  EXPECT_NEAR(static_cast<double>(ramp), even(alike), 1);
  EXPECT_GT(static_cast<double>(ramp), even(48) + 4);  // chunks as small as the first
}

TEST(BalancedRepeats, NeedRatesByIntensity) {
  Device device = load_device("h200");
  device.path = "flat.yaml";
  device.kernels["increment/float32"] = {{{0, Curve::line(0, 1e15)}}};
  deck::Deck deck = increment(8);
  deck.workload.intensity.balance = 1;
  try {
    balanced_repeats(deck, device);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    EXPECT_THAT(error.what(),
                testing::StartsWith("flat.yaml: kernels.rates: the time of the kernel "
                                    "increment/float32 hardly depends on"));
  }
}

}  // namespace
}  // namespace overlap::model
