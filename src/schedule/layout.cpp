#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.hpp"
#include "deck/words.hpp"
#include "schedule/build.hpp"

namespace overlap::schedule {
namespace {

/// Of a schedule: its tasks and their dependencies must fit into the host's memory.
constexpr std::int64_t most_chunks = std::int64_t{1} << 20;

/// The first unit of the i-th of `parts` nearly equal parts; units * i may exceed 64 bits.
std::int64_t begin_of(std::int64_t units, std::int64_t parts, std::int64_t i) {
  return units / parts * i + units % parts * i / parts;
}

/// The borders of nearly equal chunks.
std::vector<std::int64_t> even(std::int64_t units, std::int64_t chunks) {
  std::vector<std::int64_t> borders;
  for (std::int64_t i = 0; i <= chunks; ++i) borders.push_back(begin_of(units, chunks, i));
  return borders;
}

/// The borders of chunks that grow from both ends, up to `spread` times the smallest; each has a
/// unit at least.
std::vector<std::int64_t> ramp(std::int64_t units, std::int64_t chunks, double growth,
                               double spread) {
  std::vector<double> sums = {0};
  for (std::int64_t i = 0; i < chunks; ++i) {
    const auto steps = static_cast<double>(std::min(i, chunks - 1 - i));
    sums.push_back(sums.back() + std::min(std::pow(growth, steps), spread));
  }
  std::vector<std::int64_t> borders = {0};
  for (std::int64_t i = 1; i <= chunks; ++i) {
    const double part = sums[static_cast<std::size_t>(i)] / sums.back();
    borders.push_back(std::clamp(std::llround(part * static_cast<double>(units)),
                                 static_cast<long long>(borders.back() + 1),
                                 static_cast<long long>(units - (chunks - i))));
  }
  return borders;
}

std::vector<std::int64_t> cut(const deck::Chunks& chunks, std::int64_t units, std::int64_t count) {
  return chunks.profile == deck::Profile::ramp ? ramp(units, count, chunks.growth, chunks.spread)
                                               : even(units, count);
}

std::int64_t largest(const std::vector<std::int64_t>& borders) {
  std::int64_t units = 0;
  for (std::size_t i = 1; i < borders.size(); ++i) {
    units = std::max(units, borders[i] - borders[i - 1]);
  }
  return units;
}

/// Bytes on the device that decide how much of the data it holds at once.
struct DeviceLimit {
  std::optional<std::int64_t> bytes;
  bool by_deck = false;

  DeviceLimit(const deck::Deck& deck, std::optional<std::int64_t> free_bytes)
      : by_deck(deck.memory.device_limit &&
                (!free_bytes || *deck.memory.device_limit <= *free_bytes)) {
    bytes = by_deck ? deck.memory.device_limit : free_bytes;
  }

  /// An error: not even the least that is `needed` has room.
  [[noreturn]] void fail(const deck::Deck& deck, const std::string& needed) const {
    const std::string found = base::format_bytes(static_cast<std::uint64_t>(*bytes));
    if (by_deck) {
      throw deck::error_at(deck, base::ExitCode::usage, "memory.device_limit",
                           fmt::format("found {}; {}", found, needed));
    }
    throw base::Error(base::ExitCode::precondition,
                      fmt::format("{}: the device has {} free and {}", deck.path, found, needed));
  }
};

/// The layout of a matrix product, but for what is the same for all workloads.
void lay_out_tiles(Layout& layout, const deck::Deck& deck, const Tiling& tiling,
                   const DeviceLimit& limit) {
  layout.tiles = limit.bytes ? plan_tiles(tiling, static_cast<std::size_t>(*limit.bytes))
                             : plan_tiles(tiling, all_slots(tiling));
  if (layout.tiles->turns.empty()) {
    const auto [a, b, c] = tiling.slot_bytes();
    const std::size_t least = a + b + static_cast<std::size_t>(std::min(2, tiling.tiles())) * c;
    limit.fail(deck, fmt::format("a panel of A and of B and {} of C need {} on the device; use "
                                 "smaller tiles",
                                 tiling.tiles() > 1 ? "two tiles" : "the tile",
                                 base::format_bytes(least)));
  }
  layout.chunks_per_iteration = tiling.tiles();
  layout.slots = layout.tiles->slots.c;
  layout.slot_units = tiling.tile_m * tiling.tile_n;
  layout.out_of_core = layout.tiles->slots != all_slots(tiling);
  if (layout.out_of_core) layout.device_limit = *limit.bytes;
}

/// The key that says how the data are cut, and an error about it.
[[noreturn]] void fail_chunks(const deck::Deck& deck, const std::string& rest) {
  const auto& [key, found] =
      deck.chunks.count
          ? std::pair("chunks.count", fmt::format("{}", *deck.chunks.count))
          : std::pair("chunks.bytes",
                      base::format_bytes(static_cast<std::uint64_t>(*deck.chunks.bytes)));
  throw deck::error_at(deck, base::ExitCode::usage, key, fmt::format("found {}{}", found, rest));
}

/// Chunks of an iteration, nearly equal ones; `up_bytes`: of a unit, copied to the device.
std::int64_t even_chunks(const deck::Deck& deck, const Costs& costs, std::int64_t up_bytes) {
  std::int64_t chunks = deck.chunks.count.value_or(0);
  if (chunks > costs.units) {
    fail_chunks(deck,
                fmt::format("; allowed: at most {}, one for each unit of the data", costs.units));
  }
  if (chunks == 0) {
    const std::int64_t units = std::min(*deck.chunks.bytes / up_bytes, costs.units);
    if (units == 0) {
      fail_chunks(deck, fmt::format("; allowed: at least {}, one unit of the data",
                                    base::format_bytes(static_cast<std::uint64_t>(up_bytes))));
    }
    chunks = (costs.units + units - 1) / units;
  }
  if (chunks > most_chunks / costs.iterations) {
    fail_chunks(deck, fmt::format(", which makes {} chunks; allowed: at most {} in all iterations",
                                  chunks * costs.iterations, most_chunks));
  }
  return chunks;
}

void lay_out_chunks(Layout& layout, const deck::Deck& deck, const Costs& costs,
                    const DeviceLimit& limit) {
  std::int64_t unit_bytes = 0;  // on the device, all arrays
  std::int64_t up_bytes = 0;    // copied to the device
  for (const Array& array : costs.arrays) {
    unit_bytes += static_cast<std::int64_t>(array.unit_bytes);
    if (array.to_device) up_bytes += static_cast<std::int64_t>(array.unit_bytes);
  }
  layout.chunks_per_iteration = even_chunks(deck, costs, up_bytes);
  layout.borders = cut(deck.chunks, costs.units, layout.chunks_per_iteration);
  // The small chunks of a ramp leave more for the large ones.
  while (deck.chunks.bytes &&
         largest(layout.borders) > std::min(*deck.chunks.bytes / up_bytes, costs.units)) {
    layout.borders = cut(deck.chunks, costs.units, ++layout.chunks_per_iteration);
  }
  layout.slot_units = largest(layout.borders);
  layout.slots = layout.chunks_per_iteration;
  if (limit.bytes && unit_bytes > 0 && *limit.bytes / unit_bytes < costs.units) {
    const std::int64_t slot_bytes = layout.slot_units * unit_bytes;
    layout.slots = std::min(layout.slots, *limit.bytes / slot_bytes);
    layout.device_limit = *limit.bytes;
    if (layout.slots == 0) {
      limit.fail(deck, fmt::format("a chunk needs {} on the device{}",
                                   base::format_bytes(static_cast<std::uint64_t>(slot_bytes)),
                                   layout.slot_units > 1 ? "; use more chunks" : ""));
    }
  }
  layout.out_of_core = layout.slots < layout.chunks_per_iteration;
}

}  // namespace

Layout layout(const deck::Deck& deck, const Costs& costs,
              std::optional<std::int64_t> device_free_bytes) {
  for (std::size_t i = 0; i < deck.issue.orders.size(); ++i) {
    if (const auto reason = misplaced(costs, deck.issue.orders[i])) {
      throw deck::error_at(
          deck, base::ExitCode::usage, fmt::format("issue.orders[{}]", i),
          fmt::format("found '{}', which {}", deck::to_string(deck.issue.orders[i]), *reason));
    }
  }
  const DeviceLimit limit(deck, device_free_bytes);
  Layout layout{.host_memory = deck.memory.host,
                .transfer = deck.memory.transfer,
                .mechanism = deck.issue.mechanism};
  if (costs.tiling) {
    lay_out_tiles(layout, deck, *costs.tiling, limit);
  } else {
    lay_out_chunks(layout, deck, costs, limit);
  }
  return layout;
}

std::vector<std::size_t> device_bytes(const Costs& costs, const Layout& layout,
                                      std::int64_t units) {
  std::vector<std::size_t> bytes;
  for (const Array& array : costs.arrays) {
    bytes.push_back(array.unit_bytes * static_cast<std::size_t>(units));
  }
  if (layout.tiles) {
    const auto held = layout.tiles->slots.counts();
    const auto slot_bytes = costs.tiling->slot_bytes();
    for (std::size_t i = 0; i < held.size(); ++i) {
      bytes[i] = slot_bytes[i] * static_cast<std::size_t>(held[i]);
    }
  }
  return bytes;
}

}  // namespace overlap::schedule
