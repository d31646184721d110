#include "schedule/build.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/interrupt.hpp"
#include "deck/words.hpp"
#include "schedule/builder.hpp"

namespace overlap::schedule {
namespace {

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
