#include "schedule/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

#include "base/units.hpp"
#include "schedule/builder.hpp"

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
    const std::size_t least =
        tiling.panel_a_bytes() + tiling.panel_b_bytes() +
        static_cast<std::size_t>(std::min(2, tiling.tiles())) * tiling.tile_bytes();
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

}  // namespace

Layout layout(const deck::Deck& deck, const Costs& costs,
              std::optional<std::int64_t> device_free_bytes) {
  const DeviceLimit limit(deck, device_free_bytes);
  Layout layout{.host_memory = deck.memory.host,
                .transfer = deck.memory.transfer,
                .mechanism = deck.issue.mechanism};
  if (costs.tiling) {
    lay_out_tiles(layout, deck, *costs.tiling, limit);
    return layout;
  }
  std::int64_t unit_bytes = 0;  // on the device, all arrays
  std::int64_t up_bytes = 0;    // copied to the device
  for (const Array& array : costs.arrays) {
    unit_bytes += static_cast<std::int64_t>(array.unit_bytes);
    if (array.to_device) up_bytes += static_cast<std::int64_t>(array.unit_bytes);
  }
  if (deck.chunks.count) {
    layout.chunks_per_iteration = *deck.chunks.count;
    if (layout.chunks_per_iteration > costs.units) {
      throw deck::error_at(
          deck, base::ExitCode::usage, "chunks.count",
          fmt::format("found {}; allowed: at most {}, one for each unit of the data",
                      layout.chunks_per_iteration, costs.units));
    }
  } else {
    layout.slot_units = std::min(*deck.chunks.bytes / up_bytes, costs.units);
    if (layout.slot_units == 0) {
      throw deck::error_at(
          deck, base::ExitCode::usage, "chunks.bytes",
          fmt::format("found {}; allowed: at least {}, one unit of the data",
                      base::format_bytes(static_cast<std::uint64_t>(*deck.chunks.bytes)),
                      base::format_bytes(static_cast<std::uint64_t>(up_bytes))));
    }
    layout.chunks_per_iteration = (costs.units + layout.slot_units - 1) / layout.slot_units;
  }

  if (layout.chunks_per_iteration > most_chunks / costs.iterations) {
    const std::string key = deck.chunks.count ? "chunks.count" : "chunks.bytes";
    const std::string found =
        deck.chunks.count ? fmt::format("{}", *deck.chunks.count)
                          : base::format_bytes(static_cast<std::uint64_t>(*deck.chunks.bytes));
    throw deck::error_at(
        deck, base::ExitCode::usage, key,
        fmt::format("found {}, which makes {} chunks; allowed: at most {} in all "
                    "iterations",
                    found, layout.chunks_per_iteration * costs.iterations, most_chunks));
  }

  layout.borders = cut(deck.chunks, costs.units, layout.chunks_per_iteration);
  // The small chunks of a ramp leave more for the large ones.
  while (deck.chunks.bytes && largest(layout.borders) > layout.slot_units) {
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
  return layout;
}

std::vector<std::size_t> device_bytes(const Costs& costs, const Layout& layout,
                                      std::int64_t units) {
  std::vector<std::size_t> bytes;
  for (const Array& array : costs.arrays) {
    bytes.push_back(array.unit_bytes * static_cast<std::size_t>(units));
  }
  if (layout.tiles) {
    const TileSlots& slots = layout.tiles->slots;
    const std::array<int, 3> held = {slots.a, slots.b, slots.c};
    for (std::size_t i = 0; i < held.size(); ++i) {
      bytes[i] = costs.arrays[i].unit_bytes * static_cast<std::size_t>(held[i]);
    }
  }
  return bytes;
}

Schedule build(const Costs& costs, const Layout& layout, Order order, int lanes) {
  Builder builder(costs, layout, order, lanes);
  if (!costs.tasks.empty()) {
    issue_listed(builder, costs, order);
    return builder.finish();
  }
  switch (order) {
#define OVERLAP_ORDER(name, ...) \
  case Order::name:              \
    name##_order(builder);       \
    break;
#include "deck/orders.def"
#undef OVERLAP_ORDER
    case Order::automatic:
      throw std::logic_error("the model has not chosen an order yet");
  }
  return builder.finish();
}

Builder::Builder(const Costs& costs, const Layout& layout, Order order, int lanes)
    : costs_(costs), layout_(layout), lanes_(lanes) {
  // Engines' lanes and, for a product, kernels' on all lanes beside the copies'.
  const auto most_lanes = static_cast<std::size_t>(std::max(lanes + 2, engine_lanes * costs.ops));
  complete_.assign(most_lanes, std::vector<TaskId>(most_lanes, 0));
  schedule_.order = order;
  schedule_.arrays = costs.arrays;
  schedule_.kernel = costs.kernel;
  schedule_.host_memory = layout.host_memory;
  if (order != Order::sequential) {
    schedule_.transfer = layout.transfer;
    schedule_.mechanism = layout.mechanism;
  }
  schedule_.chunk_units = layout.slot_units;
  schedule_.host_units = costs.units * costs.iterations;
  schedule_.out_of_core = layout.out_of_core && schedule_.transfer == deck::Transfer::staged;
  if (costs.tiling) {
    cut(*costs.tiling, *layout.tiles);
  } else {
    cut(layout.borders, layout.slots);
  }
}

int Builder::window_end(int first) const {
  int end = std::min(first + schedule_.slots, chunks());
  if (!schedule_.tiling) return end;
  // Nor may a panel take the slot of one that a tile of the window needs.
  const auto turn = [&](int i) { return plan_.turns[static_cast<std::size_t>(i)]; };
  for (int i = first + 1; i < end; ++i) {
    for (int other = first; other < i; ++other) {
      if ((turn(i).loads_a && turn(i).slot_a == turn(other).slot_a) ||
          (turn(i).loads_b && turn(i).slot_b == turn(other).slot_b)) {
        end = i;
      }
    }
  }
  return end;
}

void Builder::merge_chunks() {
  if (layout_.out_of_core) return;
  if (costs_.tiling) {
    Tiling whole = *costs_.tiling;
    whole.tile_m = whole.m;
    whole.tile_n = whole.n;
    cut(whole, plan_tiles(whole, TileSlots()));
  } else {
    cut({0, costs_.units}, 1);
  }
}

void Builder::cut(const Tiling& tiling, const TilePlan& plan) {
  plan_ = plan;
  cut_into_tiles(schedule_.arrays, tiling);
  const std::array<int, 3> slots = {plan.slots.a, plan.slots.b, plan.slots.c};
  for (std::size_t i = 0; i < slots.size(); ++i) schedule_.arrays[i].slots = slots[i];
  schedule_.chunks.clear();
  for (const TileTurn& turn : plan.turns) {
    schedule_.chunks.push_back({.begin = turn.tile,
                                .end = turn.tile + 1,
                                .slot = turn.slot_c,
                                .device_begin = turn.slot_c});
  }
  schedule_.slots = plan.slots.c;
  schedule_.host_units = tiling.tiles();
  schedule_.device_units = plan.slots.c;
  schedule_.tiling = tiling;
  const int most = std::max({plan.slots.a, plan.slots.b, plan.slots.c});
  states_.assign(schedule_.arrays.size() * static_cast<std::size_t>(most), {});
  states_of_array_ = most;
}

void Builder::cut(const std::vector<std::int64_t>& borders, std::int64_t slots) {
  const auto chunks_per_iteration = static_cast<std::int64_t>(borders.size()) - 1;
  const std::int64_t slot_units = largest(borders);
  const bool mapped = schedule_.transfer == deck::Transfer::zero_copy;
  if (mapped) slots = chunks_per_iteration * costs_.iterations;  // the host's data themselves
  schedule_.chunks.clear();
  schedule_.slots = static_cast<int>(slots);
  const bool in_core = slots >= chunks_per_iteration;
  schedule_.device_units = mapped    ? schedule_.host_units
                           : in_core ? costs_.units
                                     : slots * slot_units;
  for (std::int64_t iteration = 0; iteration < costs_.iterations; ++iteration) {
    for (std::int64_t i = 0; i < chunks_per_iteration; ++i) {
      const std::int64_t begin = borders[static_cast<std::size_t>(i)];
      const std::int64_t end = borders[static_cast<std::size_t>(i) + 1];
      const auto index = static_cast<std::int64_t>(schedule_.chunks.size());
      const std::int64_t slot = index % slots;
      const std::int64_t offset = iteration * costs_.units;
      schedule_.chunks.push_back({.begin = offset + begin,
                                  .end = offset + end,
                                  .slot = static_cast<int>(slot),
                                  // In core the device arrays look like the host's.
                                  .device_begin = mapped    ? offset + begin
                                                  : in_core ? begin
                                                            : slot * slot_units});
    }
  }
  states_.assign(schedule_.arrays.size() * static_cast<std::size_t>(slots), {});
  states_of_array_ = static_cast<int>(slots);
}

Builder::SlotState& Builder::state(int array, int slot) {
  return states_[static_cast<std::size_t>(array) * static_cast<std::size_t>(states_of_array_) +
                 static_cast<std::size_t>(slot)];
}

Task Builder::kernel_of_tile(int turn) const {
  const TileTurn& tile = plan_.turns[static_cast<std::size_t>(turn)];
  const Tiling& tiling = *schedule_.tiling;
  Task task{.stage = Stage::kernel, .chunk = turn};
  task.places = {{.array = 0, .piece = tiling.row(tile.tile), .slot = tile.slot_a},
                 {.array = 1, .piece = tiling.column(tile.tile), .slot = tile.slot_b},
                 {.array = 2, .piece = tile.tile, .slot = tile.slot_c}};
  for (const Place& place : task.places) {
    const Array& array = schedule_.arrays[static_cast<std::size_t>(place.array)];
    task.bytes += bytes_of(place) * (std::size_t{array.to_device} + std::size_t{array.to_host});
  }
  const double elements =
      static_cast<double>(bytes_of(task.places[2])) / static_cast<double>(tiling.element_bytes);
  task.flops = 2 * elements * static_cast<double>(tiling.k);
  return task;
}

std::size_t Builder::bytes_of(const Place& place) const {
  return schedule_.arrays[static_cast<std::size_t>(place.array)]
      .pieces[static_cast<std::size_t>(place.piece)]
      .bytes();
}

void Builder::issue_tile(Stage stage, int turn, int lane, bool blocking) {
  const TileTurn& tile = plan_.turns[static_cast<std::size_t>(turn)];
  Task kernel = kernel_of_tile(turn);
  kernel.lane = lane;
  kernel.blocking = blocking;
  if (stage == Stage::kernel) return add(kernel);
  const std::array<bool, 3> moves = {stage == Stage::h2d && tile.loads_a,
                                     stage == Stage::h2d && tile.loads_b,
                                     stage == Stage::d2h || schedule_.arrays[2].to_device};
  for (const Place& place : kernel.places) {
    if (!moves[static_cast<std::size_t>(place.array)]) continue;
    Task copy{
        .stage = stage, .chunk = turn, .array = place.array, .lane = lane, .blocking = blocking};
    copy.bytes = bytes_of(place);
    copy.places = {place};
    add(std::move(copy));
  }
}

template <class Body>
void Builder::for_uses(const Task& task, const Body& body) const {
  const auto writes = [&](const Array& array) {
    return task.stage == Stage::h2d || (task.stage == Stage::kernel && array.to_host);
  };
  for (const Place& place : task.places) {
    body(place.array, place.slot, writes(schedule_.arrays[static_cast<std::size_t>(place.array)]));
  }
  if (!task.places.empty()) return;
  const int slot = schedule_.chunks[static_cast<std::size_t>(task.chunk)].slot;
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
    const Array& array = schedule_.arrays[i];
    const auto index = static_cast<int>(i);
    if (task.stage == Stage::kernel ? array.op == task.op : task.array == index) {
      body(index, slot, writes(array));
    }
  }
}

void Builder::issue(Stage stage, int chunk, int op, int lane, bool blocking) {
  if (schedule_.tiling) return issue_tile(stage, chunk, lane, blocking);
  const auto units =
      static_cast<std::size_t>(schedule_.chunks[static_cast<std::size_t>(chunk)].size());
  Task kernel{.stage = stage, .op = op, .chunk = chunk, .lane = lane, .blocking = blocking};
  for (std::size_t i = 0; i < schedule_.arrays.size(); ++i) {
    const Array& array = schedule_.arrays[i];
    if (array.op != op) continue;
    const std::size_t bytes = units * array.unit_bytes;
    if (stage == Stage::kernel) {
      kernel.bytes += bytes * (static_cast<std::size_t>(array.to_device) +
                               static_cast<std::size_t>(array.to_host));
    } else if (schedule_.transfer == deck::Transfer::staged &&
               (stage == Stage::h2d ? array.to_device : array.to_host)) {
      add({.stage = stage,
           .op = op,
           .chunk = chunk,
           .array = static_cast<int>(i),
           .lane = lane,
           .bytes = bytes,
           .blocking = blocking});
    }
  }
  if (stage == Stage::kernel) {
    kernel.flops = costs_.flops_per_unit * static_cast<double>(units);
    add(kernel);
  }
}

void Builder::add(Task task) {
  const auto id = static_cast<TaskId>(schedule_.tasks.size());
  std::vector<TaskId> before;
  for_uses(task, [&](int array, int slot, bool writes) {
    SlotState& use = state(array, slot);
    if (writes && !use.readers.empty()) {
      // They have waited for the writer.
      before.insert(before.end(), use.readers.begin(), use.readers.end());
    } else if (use.writer) {
      before.push_back(*use.writer);
    }
    if (writes) {
      use.writer = id;
      use.readers.clear();
    } else {
      use.readers.push_back(id);
    }
  });
  // Whoever comes after a task comes after all that it came after: the latest first.
  std::sort(before.begin(), before.end(), std::greater());
  std::vector<TaskId>& known = complete_[static_cast<std::size_t>(task.lane)];
  for (const TaskId other : before) {
    const int lane = schedule_.tasks[other].lane;
    if (lane == task.lane || known[static_cast<std::size_t>(lane)] > other) continue;
    task.after.push_back(other);
    known[static_cast<std::size_t>(lane)] = other + 1;
    // Only tiles share data beyond their chunk, so that there are detours to find.
    for (std::size_t i = 0; schedule_.tiling && i < known.size(); ++i) {
      known[i] = std::max(known[i], complete_at_[other * known.size() + i]);
    }
  }
  known[static_cast<std::size_t>(task.lane)] = id + 1;
  if (schedule_.tiling) complete_at_.insert(complete_at_.end(), known.begin(), known.end());
  std::sort(task.after.begin(), task.after.end());
  schedule_.tasks.push_back(std::move(task));
}

void Builder::issue_on_host(int chunk) {
  Task task = kernel_of_tile(chunk);
  task.stage = Stage::host;
  if (costs_.host_flops_per_s > 0) task.duration_s = task.flops / costs_.host_flops_per_s;
  schedule_.tasks.push_back(std::move(task));
}

void Builder::issue(Task task, const std::string& name) {
  schedule_.tasks.push_back(std::move(task));
  schedule_.names.push_back(name);
}

Schedule Builder::finish() {
  std::map<int, int> used;
  for (const Task& task : schedule_.tasks) {
    if (task.stage != Stage::host) used.emplace(task.lane, 0);
  }
  if (used.empty()) used.emplace(0, 0);
  int next = 0;
  for (auto& [lane, number] : used) number = next++;
  for (Task& task : schedule_.tasks) {
    task.lane = task.stage == Stage::host ? 0 : used.at(task.lane);
  }
  schedule_.lanes = next;
  schedule_.instances = next;
  return std::move(schedule_);
}

}  // namespace overlap::schedule
