#include "model/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "deck/words.hpp"
#include "model/predict.hpp"

namespace overlap::model {
namespace {

/// Of all iterations together: beyond it candidates take seconds.
constexpr std::int64_t most_chunks = 16384;

deck::Deck with_chunks(const deck::Deck& deck, std::int64_t count) {
  deck::Deck changed = deck;
  changed.chunks.count = count;
  changed.chunks.bytes.reset();
  return changed;
}

Candidate judge(const schedule::Schedule& schedule, std::int64_t chunks, const Device& device) {
  const timeline::Timeline timeline = predict(schedule, device);
  const std::vector<double> busy = timeline::busy_s(timeline);
  const auto busiest = std::max_element(busy.begin(), busy.end());
  return {.order = schedule.order,
          .chunks = chunks,
          .lanes = schedule.lanes,
          .predicted_s = timeline.complete_s,
          .busiest = timeline.engines[static_cast<std::size_t>(busiest - busy.begin())],
          .busy_s = *busiest};
}

}  // namespace

std::vector<Candidate> search(const deck::Deck& deck, const schedule::Costs& costs,
                              const Device& device, std::optional<std::int64_t> device_free_bytes,
                              int other_lanes) {
  std::vector<Candidate> candidates;
  // The deck's own count is one that the device holds. On a teaching device it is the only one:
  // there chunks of any size take one unit.
  const auto own = schedule::layout(deck, costs, device_free_bytes).chunks_per_iteration;
  std::set<std::int64_t> counts = {own};
  if (device.unit_s == 0) {
    counts.insert({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256});
  }
  const std::set<int> lane_counts = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, deck.issue.lanes};
  for (const std::int64_t count : counts) {
    if (count > costs.units) break;
    base::check_interrupt();
    if (count != own && count * costs.iterations > most_chunks) continue;
    schedule::Layout layout;
    try {
      layout = schedule::layout(with_chunks(deck, count), costs, device_free_bytes);
    } catch (const base::Error&) {
      continue;  // chunks too large for the device, or too many
    }
    std::set<std::pair<deck::Order, int>> seen;
    const auto consider = [&](deck::Order order, int lanes) {
      schedule::Schedule schedule = schedule::build(costs, layout, order, lanes);
      if (!seen.emplace(order, schedule.lanes).second) return;  // no more lanes than before
      schedule.instances = std::max(schedule.lanes, other_lanes);
      candidates.push_back(judge(schedule, count, device));
    };
    if (candidates.empty()) consider(deck::Order::sequential, 1);
    consider(deck::Order::by_engine, 1);
    for (const int lanes : lane_counts) {
      consider(deck::Order::depth_first, lanes);
      consider(deck::Order::breadth_first, lanes);
    }
  }
  double best_s = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) best_s = std::min(best_s, candidate.predicted_s);
  const auto key = [&](const Candidate& c) {
    constexpr double digits = 1e9;  // what differs by less is a rounding error
    const double time = best_s > 0 ? std::round(c.predicted_s / best_s * digits) : c.predicted_s;
    return std::tuple(time, c.chunks, c.lanes);
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
  return candidates;
}

schedule::Schedule build(const deck::Deck& deck, const schedule::Costs& costs,
                         const Candidate& candidate,
                         std::optional<std::int64_t> device_free_bytes) {
  const deck::Deck chosen = with_chunks(deck, candidate.chunks);
  return schedule::build(costs, schedule::layout(chosen, costs, device_free_bytes), candidate.order,
                         candidate.lanes);
}

std::int64_t balanced_repeats(const deck::Deck& deck, const Device& device) {
  // On a teaching device every kernel is as long as a copy.
  if (device.unit_s > 0) return 1;
  const auto first_chunk = [&](std::int64_t repeats, bool copies) {
    const schedule::Costs costs = schedule::costs(deck.workload, repeats);
    const auto schedule = schedule::build(costs, schedule::layout(deck, costs, std::nullopt),
                                          deck::Order::depth_first, deck.issue.lanes);
    double seconds = 0;
    for (const schedule::Task& task : schedule.tasks) {
      if (task.chunk != 0 || task.op != 0) break;
      const bool counts =
          copies ? task.stage == schedule::Stage::h2d : schedule::is_kernel(task.stage);
      if (counts) seconds += seconds_alone(schedule, task, device);
    }
    return seconds;
  };
  const double wanted = deck.workload.intensity.balance * first_chunk(1, true);
  // The time grows with the repeats: bisect for the last that is too short, and take the nearer.
  std::int64_t low = 1;
  std::int64_t high = 2;
  constexpr std::int64_t most = std::int64_t{1} << 24;
  while (high < most && first_chunk(high, false) < wanted) high *= 2;
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low) / 2;
    (first_chunk(middle, false) < wanted ? low : high) = middle;
  }
  if (high >= most) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: kernels.rates: the time of the kernel {} hardly depends on "
                                  "its intensity, so that no number of repeats balances it; "
                                  "allowed: rates by intensity, or a deck with a number of repeats",
                                  device.place(), schedule::costs(deck.workload, 1).kernel));
  }
  const double under = std::abs(first_chunk(low, false) - wanted);
  return under <= std::abs(first_chunk(high, false) - wanted) ? low : high;
}

}  // namespace overlap::model
