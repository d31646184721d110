#include "schedule/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/interrupt.hpp"
#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"
#include "schedule/builder.hpp"

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

/// Layout of the baseline: one chunk per iteration, unless the device cannot hold it.
Layout baseline(const Costs& costs, Layout layout) {
  layout.transfer = deck::copying_transfer(layout.host_memory);
  if (layout.mechanism == deck::Mechanism::graph) layout.mechanism = deck::Mechanism::streams;
  layout.threads = 1;
  if (layout.out_of_core) return layout;
  layout.borders = {0, costs.units};
  layout.slots = 1;
  if (costs.tiling) {
    Tiling single_tile = *costs.tiling;
    single_tile.tile_m = single_tile.m;
    single_tile.tile_n = single_tile.n;
    layout.tiles = plan_tiles(single_tile, all_slots(single_tile));
  }
  return layout;
}

/// Arrays, sorted by operation.
std::vector<int> arrays_by_op(const std::vector<Array>& arrays) {
  std::vector<int> numbers(arrays.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::stable_sort(numbers, {},
                           [&](int i) { return arrays[static_cast<std::size_t>(i)].op; });
  return numbers;
}

/// Cuts the data into chunks, all iterations alike.
void cut_into_chunks(Builder& builder, const Layout& layout) {
  Schedule& schedule = builder.schedule;
  const std::vector<std::int64_t>& borders = layout.borders;
  const auto chunks = static_cast<std::int64_t>(borders.size()) - 1;  // per iteration
  const bool mapped = !deck::has_copies(layout.transfer);
  schedule.chunks = static_cast<int>(builder.costs.iterations * chunks);
  schedule.slots = mapped ? schedule.chunks : static_cast<int>(layout.slots);
  for (Array& array : schedule.arrays) {
    array.device_units =
        schedule.out_of_core ? layout.slots * layout.largest_chunk_units : builder.costs.units;
  }
  const std::vector<int> arrays = arrays_by_op(schedule.arrays);
  for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
    const auto i = static_cast<std::size_t>(chunk % chunks);
    const std::int64_t begin = chunk / chunks * builder.costs.units + borders[i];
    const auto slot = static_cast<std::size_t>(chunk % schedule.slots);
    for (const int array : arrays) {
      builder.operands.push_back(
          {.array = array,
           .piece = chunk,
           .slot = mapped ? -1 : static_cast<int>(slot),
           .begin = begin,
           // In core the device arrays have the layout of the host arrays.
           .device_begin = mapped ? 0
                           : schedule.out_of_core
                               ? chunk % schedule.slots * layout.largest_chunk_units
                               : borders[slot],
           .host = units_of(schedule.arrays[static_cast<std::size_t>(array)], begin,
                            borders[i + 1] - borders[i])});
    }
  }
}

/// Renumbers lanes so that none is empty; lanes in one stream are one, of each issuing thread.
void number_lanes(Schedule& schedule) {
  if (deck::is_one_stream(schedule.streams)) {
    for (Task& task : schedule.tasks) task.lane %= schedule.threads;
  }
  std::map<int, int> numbers;
  for (const Task& task : schedule.tasks) {
    if (task.stage != Stage::host) numbers.try_emplace(task.lane);
  }
  int next = 0;
  for (auto& [lane, number] : numbers) number = next++;
  for (Task& task : schedule.tasks) {
    task.lane = task.stage == Stage::host ? 0 : numbers.at(task.lane);
  }
  schedule.lanes = schedule.instances = std::max(1, next);
  schedule.threads = std::min(schedule.threads, schedule.lanes);
}

/// Adds the dependencies between tasks of different lanes.
void add_dependencies(Schedule& schedule) {
  std::map<std::pair<int, int>, std::vector<TaskId>> users;  // of a slot, from its last writer on
  // For each lane: one past the last task of every lane that its next task would wait for anyway.
  const auto lanes = static_cast<std::size_t>(schedule.lanes);
  std::vector<std::vector<TaskId>> complete(lanes, std::vector<TaskId>(lanes));
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    base::check_interrupt();
    Task& task = schedule.tasks[id];
    if (task.stage == Stage::host) continue;
    std::vector<TaskId> before;
    for (const Operand& operand : task.operands) {
      if (operand.slot < 0) continue;
      const bool output = schedule.arrays[static_cast<std::size_t>(operand.array)].to_host;
      const bool writes = task.stage == Stage::h2d || (task.stage == Stage::kernel && output);
      std::vector<TaskId>& slot = users[{operand.array, operand.slot}];
      // A writer waits for the readers, which waited for the last writer.
      const auto readers = std::span(slot).subspan(std::min<std::size_t>(slot.size(), 1));
      const auto awaited = writes && !readers.empty()
                               ? readers
                               : std::span(slot).first(slot.size() - readers.size());
      before.insert(before.end(), awaited.begin(), awaited.end());
      if (writes) slot.clear();
      slot.push_back(id);
    }
    std::ranges::sort(before, std::greater());
    std::vector<TaskId>& ends = complete[static_cast<std::size_t>(task.lane)];
    ends[static_cast<std::size_t>(task.lane)] = id + 1;
    for (const TaskId other : before) {
      TaskId& end = ends[static_cast<std::size_t>(schedule.tasks[other].lane)];
      if (end > other) continue;
      task.after.push_back(other);
      end = other + 1;
    }
    std::ranges::reverse(task.after);
  }
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

Schedule build(const Costs& costs, const Layout& layout, Order order, int lanes) {
  if (const auto reason = misplaced(costs, order)) {
    throw std::logic_error(std::string(deck::to_string(order)) + " " + *reason);
  }
  Builder builder(costs, order == Order::sequential ? baseline(costs, layout) : layout, order,
                  lanes);
  const bool listed = !costs.tasks.empty();
  issue(builder, listed ? Order::custom : order);
  number_lanes(builder.schedule);
  if (!listed) add_dependencies(builder.schedule);
  return std::move(builder.schedule);
}

Builder::Builder(const Costs& workload_costs, const Layout& layout, Order order, int most_lanes)
    : costs(workload_costs),
      lanes(most_lanes),
      schedule{.order = order,
               .arrays = costs.arrays,
               .kernel = costs.kernel,
               .host_memory = layout.host_memory,
               .transfer = layout.transfer,
               .mechanism = layout.mechanism,
               .streams = layout.streams,
               .threads = layout.threads,
               .chunk_units = layout.largest_chunk_units,
               .out_of_core = layout.out_of_core && deck::has_copies(layout.transfer)} {
  if (layout.tiles) {
    operands = cut_into_tiles(schedule, *layout.tiles);
  } else {
    cut_into_chunks(*this, layout);
  }
}

std::span<const Operand> Builder::operands_of(int chunk, int op) const {
  const std::size_t arrays = schedule.arrays.size();
  const auto of_chunk =
      std::span(operands).subspan(static_cast<std::size_t>(chunk) * arrays, arrays);
  const auto found = std::ranges::equal_range(of_chunk, op, {}, [&](const Operand& operand) {
    return schedule.arrays[static_cast<std::size_t>(operand.array)].op;
  });
  return {found.begin(), found.end()};
}

int Builder::window_end(int first) const {
  const int end = std::min(first + schedule.slots, schedule.chunks);
  if (!schedule.tiling) return end;
  // A panel must not replace one that another tile of the window needs.
  std::set<std::pair<int, int>> taken;
  for (int chunk = first; chunk < end; ++chunk) {
    for (const Operand& operand : operands_of(chunk, 0)) {
      if (!taken.emplace(operand.array, operand.slot).second && operand.loads) return chunk;
    }
  }
  return end;
}

void Builder::issue(Stage stage, int chunk, int op, int lane, bool blocking) {
  const auto used = operands_of(chunk, op);
  Task task{.stage = stage, .op = op, .chunk = chunk, .lane = lane, .blocking = blocking};
  const auto array_of = [&](const Operand& operand) -> const Array& {
    return schedule.arrays[static_cast<std::size_t>(operand.array)];
  };
  if (is_copy(stage)) {
    for (const Operand& operand : used) {
      const Array& array = array_of(operand);
      const bool moves = stage == Stage::h2d ? array.to_device && operand.loads : array.to_host;
      if (!moves || operand.slot < 0) continue;
      task.bytes = operand.host.bytes();
      task.operands = {operand};
      schedule.tasks.push_back(task);
    }
    return;
  }
  task.operands.assign(used.begin(), used.end());
  for (Operand& operand : task.operands) {
    const Array& array = array_of(operand);
    task.bytes +=
        operand.host.bytes() * (std::size_t{array.to_device} + std::size_t{array.to_host});
    if (stage == Stage::host) operand.slot = -1;
  }
  const double flops = costs.tiling ? 2 * static_cast<double>(costs.tiling->k)  // per element
                                    : costs.flops_per_unit;
  task.flops = flops * work_units(schedule, task.operands.back());
  schedule.tasks.push_back(std::move(task));
}

}  // namespace overlap::schedule
