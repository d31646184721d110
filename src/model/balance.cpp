#include "model/balance.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ranges>

#include "base/error.hpp"
#include "model/predict.hpp"
#include "schedule/build.hpp"

namespace overlap::model {

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
