#include "model/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "model/predict.hpp"

namespace overlap::model {
namespace {

/// In all iterations together; predictions of more chunks take seconds.
constexpr std::int64_t most_candidate_chunks = 16384;

deck::Deck with_candidate(deck::Deck deck, const Candidate& candidate) {
  deck.chunks.count = candidate.chunks;
  deck.chunks.bytes.reset();
  deck.chunks.profile = candidate.profile;
  deck.chunks.spread = candidate.spread;
  deck.memory.transfer = candidate.transfer;
  deck.issue.mechanism = candidate.mechanism;
  return deck;
}

/// The candidate with the lanes of its schedule and its prediction.
Candidate judged(Candidate candidate, const schedule::Schedule& schedule, const Device& device) {
  const timeline::Timeline timeline = predict(schedule, device);
  const std::vector<double> busy = timeline::busy_s(timeline);
  const auto busiest = std::max_element(busy.begin(), busy.end());
  candidate.lanes = schedule.lanes;
  candidate.predicted_s = timeline.complete_s;
  candidate.busiest = timeline.engines[static_cast<std::size_t>(busiest - busy.begin())];
  candidate.busy_s = *busiest;
  return candidate;
}

}  // namespace

std::vector<Candidate> search(const deck::Deck& deck, const schedule::Costs& costs,
                              const Device& device, std::optional<std::int64_t> device_free_bytes,
                              int other_lanes) {
  // The device holds the chunks of the deck. On a teaching device no other number is tried, because
  // chunks of any size take one unit, nor where more chunks cost nothing.
  const bool teaching = device.unit_s > 0;
  const auto deck_chunks = schedule::layout(deck, costs, device_free_bytes).chunks_per_iteration;
  std::set<std::int64_t> counts = {deck_chunks};
  if (!teaching && !device.lacks_latencies()) {
    counts.insert({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256});
  }
  std::vector<Candidate> candidates;
  /// Predicts a way to run for all numbers of lanes and of chunks from `least` on, or for the first
  /// possible number of chunks.
  const auto predict_all = [&](Candidate candidate, const std::set<int>& lane_counts,
                               std::int64_t least = 1, bool first = false) {
    candidate.mechanism = deck.issue.mechanism;
    for (const std::int64_t count : counts) {
      base::check_interrupt();
      if (count < least || count > costs.units) continue;
      if (count != deck_chunks && count * costs.iterations > most_candidate_chunks) continue;
      candidate.chunks = count;
      schedule::Layout layout;
      try {
        layout = schedule::layout(with_candidate(deck, candidate), costs, device_free_bytes);
      } catch (const base::Error&) {
        continue;  // chunks too large for the device, or too many
      }
      int used = 0;
      for (const int lanes : lane_counts) {
        schedule::Schedule schedule = schedule::build(costs, layout, candidate.order, lanes);
        if (schedule.lanes == used) break;  // more lanes would be empty
        used = schedule.lanes;
        schedule.instances = std::max(used, other_lanes);
        candidates.push_back(judged(candidate, schedule, device));
      }
      if (first) return;
    }
  };
  using enum deck::Order;
  const std::set<int> lanes = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, deck.issue.lanes};
  predict_all({.order = by_engine}, {1});
  predict_all({.order = depth_first}, lanes);
  predict_all({.order = breadth_first}, lanes);
  for (const double spread : std::set<double>{16, 64, deck.chunks.spread}) {
    if (teaching) break;
    constexpr std::int64_t least = 6;  // fewer chunks are no ramp
    Candidate ramp{.profile = deck::Profile::ramp, .spread = spread};
    ramp.order = by_engine;
    predict_all(ramp, {1}, least);
    ramp.order = depth_first;
    predict_all(ramp, {4, 8, deck.issue.lanes}, least);
  }
  predict_all({.order = sequential}, {1}, 1, true);
  const bool mapped =
      deck.memory.host == deck::HostMemory::pinned && !deck.workload.box && !deck.workload.pitch;
  if (mapped && !teaching && device.queues != Queues::worker) {
    predict_all({.order = depth_first, .transfer = deck::Transfer::zero_copy}, {1}, 1, true);
  }
  const double best_s =
      std::ranges::min_element(candidates, {}, &Candidate::predicted_s)->predicted_s;
  const auto key = [&](const Candidate& c) {
    constexpr double digits = 1e9;  // ignores rounding errors
    const double time = best_s > 0 ? std::round(c.predicted_s / best_s * digits) : c.predicted_s;
    return std::tuple(time, c.profile, c.chunks, c.lanes);
  };
  std::ranges::stable_sort(candidates, {}, key);
  return candidates;
}

std::vector<Candidate> finalists(const std::vector<Candidate>& candidates, bool graphs) {
  std::vector<Candidate> chosen;
  std::set<std::tuple<deck::Order, deck::Profile, deck::Transfer, bool>> kinds;
  for (const Candidate& candidate : candidates) {
    const bool one_chunk = candidate.chunks == 1;
    const auto kind = std::tuple(one_chunk ? deck::Order::sequential : candidate.order,
                                 candidate.profile, candidate.transfer, one_chunk);
    if (!kinds.insert(kind).second) continue;
    chosen.push_back(candidate);
    if (!graphs || candidate.order == deck::Order::sequential ||
        candidate.mechanism == deck::Mechanism::graph) {
      continue;
    }
    chosen.push_back(candidate);
    chosen.back().mechanism = deck::Mechanism::graph;
  }
  return chosen;
}

schedule::Schedule build(const deck::Deck& deck, const schedule::Costs& costs,
                         const Candidate& candidate,
                         std::optional<std::int64_t> device_free_bytes) {
  const schedule::Layout layout =
      schedule::layout(with_candidate(deck, candidate), costs, device_free_bytes);
  return schedule::build(costs, layout, candidate.order, candidate.lanes);
}

std::int64_t balanced_repeats(const deck::Deck& deck, const Device& device) {
  // On a teaching device every kernel takes as long as a copy.
  if (device.unit_s > 0) return 1;
  const schedule::Costs once = schedule::costs(deck.workload, 1);
  schedule::Layout layout = schedule::layout(deck, once, std::nullopt);
  layout.transfer = deck::Transfer::staged;  // zero copy has no copies to balance
  const auto schedule = schedule::build(once, layout, deck::Order::depth_first, deck.issue.lanes);
  const int chunk = schedule::largest_chunk(schedule);
  const auto chunk_s = [&](std::int64_t repeats, bool copies) {
    const double flops_per_unit = schedule::costs(deck.workload, repeats).flops_per_unit;
    double seconds = 0;
    for (schedule::Task task : schedule.tasks) {
      if (task.chunk != chunk || task.op != 0) continue;
      const bool counts =
          copies ? task.stage == schedule::Stage::h2d : schedule::is_kernel(task.stage);
      task.flops *= flops_per_unit / once.flops_per_unit;
      if (counts) seconds += seconds_alone(schedule, task, device);
    }
    return seconds;
  };
  const double wanted = deck.workload.intensity.balance * chunk_s(1, true);
  // The time grows with the repeats: bisect for the first number that is long enough.
  constexpr std::int64_t most = std::int64_t{1} << 24;
  const auto counts = std::views::iota(std::int64_t{2}, most);
  const auto enough = std::ranges::partition_point(
      counts, [&](std::int64_t repeats) { return chunk_s(repeats, false) < wanted; });
  if (enough == counts.end()) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: kernels.rates: the time of the kernel {} hardly depends on "
                                  "its intensity, so that no number of repeats balances it; "
                                  "allowed: rates by intensity, or a deck with a number of repeats",
                                  device.place(), once.kernel));
  }
  const auto error = [&](std::int64_t repeats) {
    return std::abs(chunk_s(repeats, false) - wanted);
  };
  return error(*enough - 1) <= error(*enough) ? *enough - 1 : *enough;
}

}  // namespace overlap::model
