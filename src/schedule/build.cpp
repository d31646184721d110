#include "schedule/build.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "deck/words.hpp"
#include "schedule/builder.hpp"

namespace overlap::schedule {
namespace {

/// One for each order but `automatic`, the last: an order without a file does not link.
constexpr auto issuers = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<void (*)(Builder&), sizeof...(I)>{&issue<deck::orders[I].value>...};
}(std::make_index_sequence<deck::orders.size() - 1>());

}  // namespace

Schedule build(const Costs& costs, const Layout& layout, Order order, int lanes) {
  if (order == Order::automatic) throw std::logic_error("the model has not chosen an order yet");
  if (const auto reason = misplaced(costs, order)) {
    throw std::logic_error(std::string(deck::to_string(order)) + " " + *reason);
  }
  Builder builder(costs, layout, order, lanes);
  if (costs.tasks.empty()) {
    issuers[static_cast<std::size_t>(order)](builder);
  } else {
    issue_listed(builder, costs, order);
  }
  return builder.finish();
}

Builder::Builder(const Costs& costs, const Layout& layout, Order order, int lanes)
    : costs_(costs),
      layout_(layout),
      lanes_(lanes),
      arrays_of_op_(static_cast<std::size_t>(costs.ops)) {
  // Engines' lanes and, for a product, kernels' on all lanes next to the copies'.
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
  schedule_.out_of_core = layout.out_of_core && schedule_.transfer == deck::Transfer::staged;
  for (std::size_t i = 0; i < costs.arrays.size(); ++i) {
    arrays_of_op_[static_cast<std::size_t>(costs.arrays[i].op)].push_back(static_cast<int>(i));
  }
  if (costs.tiling) {
    cut_into_tiles(*costs.tiling, *layout.tiles);
  } else {
    cut_into_chunks(layout.borders, layout.slots);
  }
}

void Builder::merge_chunks() {
  if (layout_.out_of_core) return;
  if (costs_.tiling) {
    Tiling whole = *costs_.tiling;
    whole.tile_m = whole.m;
    whole.tile_n = whole.n;
    cut_into_tiles(whole, plan_tiles(whole, TileSlots()));
  } else {
    cut_into_chunks({0, costs_.units}, 1);
  }
}

void Builder::cut_into_chunks(const std::vector<std::int64_t>& borders, std::int64_t slots) {
  const auto chunks_per_iteration = static_cast<std::int64_t>(borders.size()) - 1;
  const bool mapped = schedule_.transfer == deck::Transfer::zero_copy;
  const bool in_core = mapped || slots >= chunks_per_iteration;
  Cut cut;
  for (std::int64_t iteration = 0; iteration < costs_.iterations; ++iteration) {
    const std::int64_t offset = iteration * costs_.units;
    for (std::size_t i = 1; i < borders.size(); ++i) {
      cut.pieces.push_back({.begin = offset + borders[i - 1], .end = offset + borders[i]});
    }
  }
  schedule_.chunks = static_cast<int>(cut.pieces.size());
  schedule_.slots = mapped ? schedule_.chunks : static_cast<int>(slots);
  // In core the device arrays look like the host's.
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(slots); ++slot) {
    cut.slots.push_back(in_core ? borders[slot]
                                : static_cast<std::int64_t>(slot) * layout_.slot_units);
  }
  cut.device_units = in_core ? costs_.units : slots * layout_.slot_units;
  schedule_.cuts = {std::move(cut)};
  states_.assign(mapped ? 0 : schedule_.arrays.size() * static_cast<std::size_t>(slots), {});
  slots_of_array_ = static_cast<std::size_t>(slots);
  uses_.clear();
  schedule_.uses.clear();
  loads_.clear();
  for (int chunk = 0; chunk < schedule_.chunks; ++chunk) {
    for (const std::vector<int>& arrays : arrays_of_op_) {
      uses_.push_back({static_cast<std::uint32_t>(schedule_.uses.size()),
                       static_cast<std::uint32_t>(arrays.size())});
      for (const int array : arrays) {
        schedule_.uses.push_back({array, chunk, mapped ? -1 : chunk % schedule_.slots});
        loads_.push_back(!mapped && schedule_.arrays[static_cast<std::size_t>(array)].to_device);
      }
    }
  }
}

void Builder::cut_into_tiles(const Tiling& tiling, const TilePlan& plan) {
  lay_out_matrices(schedule_.arrays, tiling);
  schedule_.cuts = cuts_of(tiling, plan.slots);
  schedule_.tiling = tiling;
  schedule_.chunks = static_cast<int>(plan.turns.size());
  schedule_.slots = plan.slots.c;
  slots_of_array_ = static_cast<std::size_t>(std::max({plan.slots.a, plan.slots.b, plan.slots.c}));
  states_.assign(schedule_.arrays.size() * slots_of_array_, {});
  uses_.clear();
  schedule_.uses.clear();
  loads_.clear();
  for (const TileTurn& turn : plan.turns) {
    uses_.push_back({static_cast<std::uint32_t>(schedule_.uses.size()), 3});
    schedule_.uses.push_back({0, tiling.row(turn.tile), turn.slot_a});
    schedule_.uses.push_back({1, tiling.column(turn.tile), turn.slot_b});
    schedule_.uses.push_back({2, turn.tile, turn.slot_c});
    for (const bool loads : {turn.loads_a, turn.loads_b, schedule_.arrays[2].to_device}) {
      loads_.push_back(loads);
    }
  }
}

const UseRange& Builder::uses_of(int chunk, int op) const {
  return uses_[static_cast<std::size_t>(chunk * costs_.ops + op)];
}

int Builder::window_end(int first) const {
  const int end = std::min(first + schedule_.slots, chunks());
  if (schedule_.cuts.size() == 1) return end;
  // Nor may a panel take the slot of one that a tile of the window needs.
  std::set<std::pair<int, int>> taken;
  for (int chunk = first; chunk < end; ++chunk) {
    const UseRange& range = uses_of(chunk, 0);
    for (std::uint32_t i = range.begin; i < range.begin + range.count; ++i) {
      const Use& use = schedule_.uses[i];
      if (!taken.emplace(use.array, use.slot).second && loads_[i]) return chunk;
    }
  }
  return end;
}

Task Builder::kernel_of(int chunk, int op) const {
  Task task{.stage = Stage::kernel, .op = op, .chunk = chunk, .uses = uses_of(chunk, op)};
  for (const Use& use : uses(schedule_, task)) {
    const Array& array = array_of(schedule_, use);
    task.bytes += host_region(schedule_, use).bytes() *
                  (std::size_t{array.to_device} + std::size_t{array.to_host});
  }
  const double flops = costs_.tiling ? 2 * static_cast<double>(costs_.tiling->k)  // per element
                                     : costs_.flops_per_unit;
  task.flops = flops * work_units(schedule_, uses(schedule_, task).back());
  return task;
}

void Builder::issue(Stage stage, int chunk, int op, int lane, bool blocking) {
  Task task = stage == Stage::kernel ? kernel_of(chunk, op)
                                     : Task{.stage = stage, .op = op, .chunk = chunk};
  task.lane = lane;
  task.blocking = blocking;
  if (stage == Stage::kernel) return add(std::move(task));
  const UseRange& all = uses_of(chunk, op);
  for (std::uint32_t i = all.begin; i < all.begin + all.count; ++i) {
    const Use& use = schedule_.uses[i];
    const bool moves = stage == Stage::h2d ? loads_[i] : array_of(schedule_, use).to_host;
    if (!moves || use.slot < 0) continue;
    task.uses = {i, 1};
    task.bytes = host_region(schedule_, use).bytes();
    add(task);
  }
}

std::vector<TaskId> Builder::predecessors(const Task& task) {
  const auto id = static_cast<TaskId>(schedule_.tasks.size());
  std::vector<TaskId> before;
  for (const Use& use : uses(schedule_, task)) {
    if (use.slot < 0) continue;
    const bool writes = task.stage == Stage::h2d ||
                        (task.stage == Stage::kernel && array_of(schedule_, use).to_host);
    SlotState& state = states_[static_cast<std::size_t>(use.array) * slots_of_array_ +
                               static_cast<std::size_t>(use.slot)];
    if (writes && !state.readers.empty()) {
      // They have waited for the writer.
      before.insert(before.end(), state.readers.begin(), state.readers.end());
    } else if (state.writer) {
      before.push_back(*state.writer);
    }
    if (writes) {
      state.writer = id;
      state.readers.clear();
    } else {
      state.readers.push_back(id);
    }
  }
  return before;
}

void Builder::add(Task task) {
  const auto id = static_cast<TaskId>(schedule_.tasks.size());
  std::vector<TaskId> before = predecessors(task);
  // Dependencies are transitive, so that the latest may make others unnecessary.
  std::sort(before.begin(), before.end(), std::greater());
  std::vector<TaskId>& known = complete_[static_cast<std::size_t>(task.lane)];
  // Where all arrays are cut alike, no chunk shares data with another: there are no detours.
  const bool detours = schedule_.cuts.size() > 1;
  for (const TaskId other : before) {
    const int lane = schedule_.tasks[other].lane;
    if (lane == task.lane || known[static_cast<std::size_t>(lane)] > other) continue;
    task.after.push_back(other);
    known[static_cast<std::size_t>(lane)] = other + 1;
    for (std::size_t i = 0; detours && i < known.size(); ++i) {
      known[i] = std::max(known[i], complete_at_[other * known.size() + i]);
    }
  }
  known[static_cast<std::size_t>(task.lane)] = id + 1;
  if (detours) complete_at_.insert(complete_at_.end(), known.begin(), known.end());
  std::sort(task.after.begin(), task.after.end());
  schedule_.tasks.push_back(std::move(task));
}

void Builder::issue_on_host(int chunk) {
  Task task = kernel_of(chunk, 0);
  task.stage = Stage::host;
  if (costs_.host_flops_per_s > 0) task.duration_s = task.flops / costs_.host_flops_per_s;
  const UseRange on_device = task.uses;
  task.uses.begin = static_cast<std::uint32_t>(schedule_.uses.size());
  for (std::uint32_t i = 0; i < on_device.count; ++i) {
    schedule_.uses.push_back(schedule_.uses[on_device.begin + i]);
    schedule_.uses.back().slot = -1;
  }
  schedule_.tasks.push_back(std::move(task));
}

void Builder::issue(Task task, const std::string& name) {
  if (task.stage == Stage::kernel) task.uses = uses_of(0, task.op);
  if (is_copy(task.stage)) {
    const auto array = static_cast<int>(task.uses.begin);
    const std::vector<int>& arrays = arrays_of_op_[static_cast<std::size_t>(task.op)];
    const auto place = std::lower_bound(arrays.begin(), arrays.end(), array) - arrays.begin();
    task.uses = {uses_of(0, task.op).begin + static_cast<std::uint32_t>(place), 1};
  }
  schedule_.tasks.push_back(std::move(task));
  schedule_.names.push_back(name);
}

Schedule Builder::finish() {
  std::map<int, int> used;
  for (const Task& task : schedule_.tasks) {
    if (task.stage != Stage::host) used.emplace(task.lane, 0);
  }
  int next = 0;
  for (auto& [lane, number] : used) number = next++;
  for (Task& task : schedule_.tasks) {
    task.lane = task.stage == Stage::host ? 0 : used.at(task.lane);
  }
  schedule_.lanes = schedule_.instances = std::max(1, next);
  return std::move(schedule_);
}

}  // namespace overlap::schedule
