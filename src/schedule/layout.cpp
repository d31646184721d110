#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "schedule/build.hpp"

namespace overlap::schedule {
namespace {

using base::format_bytes;

/// Borders of nearly equal chunks. (units * i may exceed 64 bits.)
std::vector<std::int64_t> even(std::int64_t units, std::int64_t chunks) {
  std::vector<std::int64_t> borders;
  for (std::int64_t i = 0; i <= chunks; ++i) {
    borders.push_back(units / chunks * i + units % chunks * i / chunks);
  }
  return borders;
}

/// Throws: the device memory is below the minimum, described by `needed`.
[[noreturn]] void fail_limit(const deck::Deck& deck, std::int64_t limit,
                             const std::string& needed) {
  if (deck.memory.device_limit == limit) {
    throw deck::error_at(deck, base::ExitCode::usage, "memory.device_limit",
                         fmt::format("found {}; {}", format_bytes(limit), needed));
  }
  throw base::Error(
      base::ExitCode::precondition,
      fmt::format("{}: the device has {} free and {}", deck.path, format_bytes(limit), needed));
}

/// Sets the parts of the layout that are specific to matrix products.
void lay_out_tiles(Layout& layout, const deck::Deck& deck, const Tiling& tiling) {
  layout.tiles = plan_tiles(tiling, static_cast<std::size_t>(layout.device_limit));
  if (layout.tiles->turns.empty()) {
    const auto [a, b, c] = slot_bytes(tiling);
    const std::size_t least = a + b + static_cast<std::size_t>(std::min(2, tiling.tiles())) * c;
    fail_limit(deck, layout.device_limit,
               fmt::format("a panel of A and of B and {} of C need {} on the device; use "
                           "smaller tiles",
                           tiling.tiles() > 1 ? "two tiles" : "the tile", format_bytes(least)));
  }
  layout.chunks_per_iteration = tiling.tiles();
  layout.slots = layout.tiles->slots[2];
  layout.largest_chunk_units = tiling.tile_m * tiling.tile_n;
  layout.out_of_core = layout.tiles->slots != all_slots(tiling);
}

/// Throws an error about chunks.count or chunks.bytes, whichever the deck sets.
[[noreturn]] void fail_chunks(const deck::Deck& deck, const std::string& rest) {
  const auto& count = deck.chunks.count;
  const std::string found = count ? fmt::format("{}", *count) : format_bytes(*deck.chunks.bytes);
  throw deck::error_at(deck, base::ExitCode::usage, count ? "chunks.count" : "chunks.bytes",
                       fmt::format("found {}{}", found, rest));
}

/// Number of equal chunks per iteration, each of at most `most` units; `up_bytes`: bytes per unit
/// that are copied to the device.
std::int64_t even_chunks(const deck::Deck& deck, const Costs& costs, std::int64_t most,
                         std::int64_t up_bytes) {
  const auto& count = deck.chunks.count;
  if (count > costs.units) {
    fail_chunks(deck, fmt::format("; allowed: at most {}, one per unit of the data", costs.units));
  }
  const std::int64_t units = std::min(most, costs.units);
  if (units == 0) {
    fail_chunks(
        deck, fmt::format("; allowed: at least {}, one unit of the data", format_bytes(up_bytes)));
  }
  const std::int64_t chunks = count.value_or((costs.units + units - 1) / units);
  if (chunks > deck::most_chunks / costs.iterations) {
    fail_chunks(deck, fmt::format(", which makes {} chunks; allowed: at most {} in all iterations",
                                  chunks * costs.iterations, deck::most_chunks));
  }
  return chunks;
}

void lay_out_chunks(Layout& layout, const deck::Deck& deck, const Costs& costs) {
  std::int64_t unit_bytes = 0;  // on the device, all arrays
  std::int64_t up_bytes = 0;    // copied to the device
  for (const Array& array : costs.arrays) {
    unit_bytes += static_cast<std::int64_t>(array.unit_bytes);
    if (array.to_device) up_bytes += static_cast<std::int64_t>(array.unit_bytes);
  }
  const std::int64_t most = deck.chunks.bytes ? *deck.chunks.bytes / up_bytes : costs.units;
  std::int64_t& chunks = layout.chunks_per_iteration;
  chunks = even_chunks(deck, costs, most, up_bytes);
  layout.borders = even(costs.units, chunks);
  layout.largest_chunk_units = (costs.units + chunks - 1) / chunks;
  layout.slots = chunks;
  if (unit_bytes > 0 && layout.device_limit / unit_bytes < costs.units) {
    const std::int64_t slot_bytes = layout.largest_chunk_units * unit_bytes;
    layout.slots = std::min(chunks, layout.device_limit / slot_bytes);
    if (layout.slots == 0) {
      fail_limit(deck, layout.device_limit,
                 fmt::format("a chunk needs {} on the device{}", format_bytes(slot_bytes),
                             layout.largest_chunk_units > 1 ? "; use more chunks" : ""));
    }
  }
  layout.out_of_core = layout.slots < chunks;
}

}  // namespace

Layout layout(const deck::Deck& deck, const Costs& costs,
              std::optional<std::int64_t> device_free_bytes) {
  for (std::size_t i = 0; i < deck.issue.orders.size(); ++i) {
    if (const auto reason = misplaced(costs, deck.issue.orders[i])) {
      throw deck::error_at_order(deck, i, *reason);
    }
  }
  constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  Layout layout{.host_memory = deck.memory.host,
                .transfer = deck.memory.transfer,
                .mechanism = deck.issue.mechanism,
                .streams = deck.issue.streams,
                .threads = deck.issue.threads,
                .device_limit = std::min(deck.memory.device_limit.value_or(no_limit),
                                         device_free_bytes.value_or(no_limit))};
  if (costs.tiling) {
    lay_out_tiles(layout, deck, *costs.tiling);
  } else {
    lay_out_chunks(layout, deck, costs);
  }
  return layout;
}

std::vector<std::size_t> device_bytes(const Costs& costs, const Layout& layout,
                                      std::int64_t units) {
  std::vector<std::size_t> bytes;
  for (const Array& array : costs.arrays) {
    bytes.push_back(array.unit_bytes * static_cast<std::size_t>(units));
  }
  if (!layout.tiles) return bytes;
  const auto slots = slot_bytes(*costs.tiling);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = slots[i] * static_cast<std::size_t>(layout.tiles->slots[i]);
  }
  return bytes;
}

}  // namespace overlap::schedule
