#include "schedule/build.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/interrupt.hpp"
#include "deck/words.hpp"
#include "schedule/builder.hpp"

namespace overlap::schedule {
namespace {

/// One function per order; an order without a file does not link.
constexpr auto issuers = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<void (*)(Builder&), sizeof...(I)>{&issue<deck::orders[I].value>...};
}(std::make_index_sequence<deck::orders.size()>());

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

/// Cuts the data into chunks, all iterations alike.
void cut_into_chunks(Builder& builder, const Layout& layout) {
  Schedule& schedule = builder.schedule;
  const std::vector<std::int64_t>& borders = layout.borders;
  Cut cut;
  for (std::int64_t iteration = 0; iteration < builder.costs.iterations; ++iteration) {
    const std::int64_t offset = iteration * builder.costs.units;
    for (std::size_t i = 1; i < borders.size(); ++i) {
      cut.pieces.push_back({.begin = offset + borders[i - 1], .end = offset + borders[i]});
    }
  }
  // In core the device arrays have the layout of the host arrays.
  for (std::int64_t slot = 0; slot < layout.slots; ++slot) {
    cut.slots.push_back(schedule.out_of_core ? slot * layout.largest_chunk_units
                                             : borders[static_cast<std::size_t>(slot)]);
  }
  cut.device_units =
      schedule.out_of_core ? layout.slots * layout.largest_chunk_units : builder.costs.units;
  const bool mapped = !deck::has_copies(layout.transfer);
  schedule.chunks = static_cast<int>(cut.pieces.size());
  schedule.slots = mapped ? schedule.chunks : static_cast<int>(layout.slots);
  schedule.cuts = {std::move(cut)};
  for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
    const int slot = mapped ? -1 : chunk % schedule.slots;
    for (const int array : builder.by_op) schedule.uses.push_back({array, chunk, slot});
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

/// Last accesses of a slot.
struct SlotState {
  std::optional<TaskId> writer = {};
  std::vector<TaskId> readers = {};  ///< since the last write
};

/// Adds the dependencies between tasks of different lanes.
void add_dependencies(Schedule& schedule) {
  std::vector<std::vector<SlotState>> slots;  // of each array
  for (const Array& array : schedule.arrays) {
    slots.emplace_back(cut_of(schedule, array).slots.size());
  }
  // For each lane: how far every lane is known to be complete when its next task starts, as one
  // past the last such task of each. `complete_at`: the same after each task.
  const auto lanes = static_cast<std::size_t>(schedule.lanes);
  std::vector<std::vector<TaskId>> complete(lanes, std::vector<TaskId>(lanes));
  std::vector<std::vector<TaskId>> complete_at;
  // With one cut no two chunks share data, so that dependencies never lead through a third lane.
  const bool detours = schedule.cuts.size() > 1;
  if (detours) complete_at.resize(schedule.tasks.size());
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    base::check_interrupt();
    Task& task = schedule.tasks[id];
    if (task.stage == Stage::host) continue;
    std::vector<TaskId> before;
    for (const Use& use : uses(schedule, task)) {
      if (use.slot < 0) continue;
      const bool writes = task.stage == Stage::h2d ||
                          (task.stage == Stage::kernel && array_of(schedule, use).to_host);
      SlotState& slot =
          slots[static_cast<std::size_t>(use.array)][static_cast<std::size_t>(use.slot)];
      // The readers already waited for the writer.
      if (writes && !slot.readers.empty()) {
        before.insert(before.end(), slot.readers.begin(), slot.readers.end());
      } else if (slot.writer) {
        before.push_back(*slot.writer);
      }
      if (writes) {
        slot = {.writer = id};
      } else {
        slot.readers.push_back(id);
      }
    }
    // Dependencies are transitive: the latest may make earlier ones redundant.
    std::ranges::sort(before, std::greater());
    std::vector<TaskId>& ends = complete[static_cast<std::size_t>(task.lane)];
    ends[static_cast<std::size_t>(task.lane)] = id + 1;
    for (const TaskId other : before) {
      TaskId& end = ends[static_cast<std::size_t>(schedule.tasks[other].lane)];
      if (end > other) continue;
      task.after.push_back(other);
      end = other + 1;
      for (std::size_t i = 0; detours && i < lanes; ++i) {
        ends[i] = std::max(ends[i], complete_at[other][i]);
      }
    }
    if (detours) complete_at[id] = ends;
    std::ranges::reverse(task.after);
  }
}

}  // namespace

Schedule build(const Costs& costs, const Layout& layout, Order order, int lanes) {
  if (const auto reason = misplaced(costs, order)) {
    throw std::logic_error(std::string(deck::to_string(order)) + " " + *reason);
  }
  Builder builder(costs, order == Order::sequential ? baseline(costs, layout) : layout, order,
                  lanes);
  const bool listed = !costs.tasks.empty();
  issuers[static_cast<std::size_t>(listed ? Order::custom : order)](builder);
  number_lanes(builder.schedule);
  if (!listed) add_dependencies(builder.schedule);
  if (layout.mechanism == deck::Mechanism::portable && builder.schedule.threads == 1) {
    return fenced(builder.schedule);
  }
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
               .out_of_core = layout.out_of_core && deck::has_copies(layout.transfer)},
      by_op(costs.arrays.size()) {
  std::iota(by_op.begin(), by_op.end(), 0);
  std::ranges::stable_sort(by_op, {}, [&](int array) { return op_of(array); });
  if (layout.tiles) {
    cut_into_tiles(schedule, *layout.tiles);
  } else {
    cut_into_chunks(*this, layout);
  }
}

UseRange Builder::uses_of(int chunk, int op) const {
  const auto arrays =
      std::ranges::equal_range(by_op, op, {}, [&](int array) { return op_of(array); });
  const auto before = static_cast<std::size_t>(arrays.begin() - by_op.begin());
  return {static_cast<std::uint32_t>(static_cast<std::size_t>(chunk) * by_op.size() + before),
          static_cast<std::uint32_t>(arrays.size())};
}

int Builder::window_end(int first) const {
  const int end = std::min(first + schedule.slots, schedule.chunks);
  if (schedule.cuts.size() == 1) return end;
  // A panel must not replace one that another tile of the window needs.
  std::set<std::pair<int, int>> taken;
  for (int chunk = first; chunk < end; ++chunk) {
    const auto [begin, count] = uses_of(chunk, 0);
    for (const Use& use : std::span(schedule.uses).subspan(begin, count)) {
      if (!taken.emplace(use.array, use.slot).second && use.loads) return chunk;
    }
  }
  return end;
}

void Builder::issue(Stage stage, int chunk, int op, int lane, bool blocking) {
  const auto [begin, count] = uses_of(chunk, op);
  Task task{.stage = stage, .op = op, .chunk = chunk, .lane = lane, .blocking = blocking};
  if (is_copy(stage)) {
    for (task.uses = {begin, 1}; task.uses.begin < begin + count; ++task.uses.begin) {
      const Use& use = schedule.uses[task.uses.begin];
      const Array& array = array_of(schedule, use);
      const bool moves = stage == Stage::h2d ? array.to_device && use.loads : array.to_host;
      if (!moves || use.slot < 0) continue;
      task.bytes = host_region(schedule, use).bytes();
      schedule.tasks.push_back(task);
    }
    return;
  }
  for (Use& use : std::span(schedule.uses).subspan(begin, count)) {
    const Array& array = array_of(schedule, use);
    task.bytes += host_region(schedule, use).bytes() *
                  (std::size_t{array.to_device} + std::size_t{array.to_host});
    if (stage == Stage::host) use.slot = -1;
  }
  task.uses = {begin, count};
  const double flops = costs.tiling ? 2 * static_cast<double>(costs.tiling->k)  // per element
                                    : costs.flops_per_unit;
  task.flops = flops * work_units(schedule, uses(schedule, task).back());
  schedule.tasks.push_back(std::move(task));
}

}  // namespace overlap::schedule
