#include "schedule/build.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "deck/words.hpp"
#include "schedule/builder.hpp"

namespace overlap::schedule {
namespace {

/// One for each order but `automatic`, the last: an order without a file does not link.
constexpr auto issuers = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<void (*)(Builder&), sizeof...(I)>{&issue<deck::orders[I].order>...};
}(std::make_index_sequence<deck::orders.size() - 1>());

/// The baseline's: every iteration as one chunk, unless the device cannot hold it.
Layout baseline(const Costs& costs, Layout layout) {
  layout.transfer = deck::Transfer::staged;
  layout.mechanism = deck::Mechanism::streams;
  if (layout.out_of_core) return layout;
  layout.borders = {0, costs.units};
  layout.slots = 1;
  if (costs.tiling) {
    Tiling whole = *costs.tiling;
    whole.tile_m = whole.m;
    whole.tile_n = whole.n;
    layout.tiles = plan_tiles(whole, all_slots(whole));
  }
  return layout;
}

}  // namespace

Schedule build(const Costs& costs, const Layout& layout, Order order, int lanes) {
  if (order == Order::automatic) throw std::logic_error("the model has not chosen an order yet");
  if (const auto reason = misplaced(costs, order)) {
    throw std::logic_error(std::string(deck::to_string(order)) + " " + *reason);
  }
  Builder builder(costs, order == Order::sequential ? baseline(costs, layout) : layout, order,
                  lanes);
  if (costs.tasks.empty()) {
    issuers[static_cast<std::size_t>(order)](builder);
  } else {
    issue_listed(builder, costs, order);
  }
  return builder.finish();
}

Builder::Builder(const Costs& costs, const Layout& layout, Order order, int lanes)
    : costs_(costs), lanes_(lanes), by_op_(costs.arrays.size()) {
  // Engines' lanes and, for a product, kernels' on all lanes next to the copies'.
  const auto most_lanes = static_cast<std::size_t>(std::max(lanes + 2, engine_lanes * costs.ops));
  complete_.assign(most_lanes, std::vector<TaskId>(most_lanes, 0));
  schedule_.order = order;
  schedule_.arrays = costs.arrays;
  schedule_.kernel = costs.kernel;
  schedule_.host_memory = layout.host_memory;
  schedule_.transfer = layout.transfer;
  schedule_.mechanism = layout.mechanism;
  schedule_.chunk_units = layout.slot_units;
  schedule_.out_of_core = layout.out_of_core && layout.transfer == deck::Transfer::staged;
  std::iota(by_op_.begin(), by_op_.end(), 0);
  std::ranges::stable_sort(by_op_, {},
                           [&](int i) { return costs.arrays[static_cast<std::size_t>(i)].op; });
  if (layout.tiles) {
    cut_into_tiles(schedule_, *layout.tiles);
  } else {
    cut_into_chunks(layout);
  }
  for (const Array& array : schedule_.arrays) {
    states_.emplace_back(cut_of(schedule_, array).slots.size());
  }
}

void Builder::cut_into_chunks(const Layout& layout) {
  const std::vector<std::int64_t>& borders = layout.borders;
  const bool mapped = layout.transfer == deck::Transfer::zero_copy;
  Cut cut;
  for (std::int64_t iteration = 0; iteration < costs_.iterations; ++iteration) {
    const std::int64_t offset = iteration * costs_.units;
    for (std::size_t i = 1; i < borders.size(); ++i) {
      cut.pieces.push_back({.begin = offset + borders[i - 1], .end = offset + borders[i]});
    }
  }
  // In core the device arrays look like the host's.
  for (std::int64_t slot = 0; slot < layout.slots; ++slot) {
    cut.slots.push_back(schedule_.out_of_core ? slot * layout.slot_units
                                              : borders[static_cast<std::size_t>(slot)]);
  }
  cut.device_units = schedule_.out_of_core ? layout.slots * layout.slot_units : costs_.units;
  schedule_.chunks = static_cast<int>(cut.pieces.size());
  schedule_.slots = mapped ? schedule_.chunks : static_cast<int>(layout.slots);
  schedule_.cuts = {std::move(cut)};
  for (int chunk = 0; chunk < schedule_.chunks; ++chunk) {
    const int slot = mapped ? -1 : chunk % schedule_.slots;
    for (const int array : by_op_) schedule_.uses.push_back({array, chunk, slot});
  }
}

UseRange Builder::uses_of(int chunk, int op) const {
  const auto arrays = std::ranges::equal_range(by_op_, op, {}, [&](int array) {
    return schedule_.arrays[static_cast<std::size_t>(array)].op;
  });
  const auto before = static_cast<std::size_t>(arrays.begin() - by_op_.begin());
  return {static_cast<std::uint32_t>(static_cast<std::size_t>(chunk) * by_op_.size() + before),
          static_cast<std::uint32_t>(arrays.size())};
}

int Builder::window_end(int first) const {
  const int end = std::min(first + schedule_.slots, chunks());
  if (schedule_.cuts.size() == 1) return end;
  // Nor may a panel take the slot of one that a tile of the window needs.
  std::set<std::pair<int, int>> taken;
  for (int chunk = first; chunk < end; ++chunk) {
    const auto [begin, count] = uses_of(chunk, 0);
    for (const Use& use : std::span(schedule_.uses).subspan(begin, count)) {
      if (!taken.emplace(use.array, use.slot).second && use.loads) return chunk;
    }
  }
  return end;
}

Task Builder::kernel_of(int chunk, int op, int lane, bool blocking) const {
  Task task{.stage = Stage::kernel,
            .op = op,
            .chunk = chunk,
            .lane = lane,
            .blocking = blocking,
            .uses = uses_of(chunk, op)};
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
  if (stage == Stage::kernel) return add(kernel_of(chunk, op, lane, blocking));
  const UseRange all = uses_of(chunk, op);
  for (std::uint32_t i = all.begin; i < all.begin + all.count; ++i) {
    const Use& use = schedule_.uses[i];
    const Array& array = array_of(schedule_, use);
    const bool moves = stage == Stage::h2d ? array.to_device && use.loads : array.to_host;
    if (!moves || use.slot < 0) continue;
    add({.stage = stage,
         .op = op,
         .chunk = chunk,
         .lane = lane,
         .bytes = host_region(schedule_, use).bytes(),
         .blocking = blocking,
         .uses = {i, 1}});
  }
}

std::vector<TaskId> Builder::predecessors(const Task& task) {
  const auto id = static_cast<TaskId>(schedule_.tasks.size());
  std::vector<TaskId> before;
  for (const Use& use : uses(schedule_, task)) {
    if (use.slot < 0) continue;
    const bool writes = task.stage == Stage::h2d ||
                        (task.stage == Stage::kernel && array_of(schedule_, use).to_host);
    SlotState& state =
        states_[static_cast<std::size_t>(use.array)][static_cast<std::size_t>(use.slot)];
    if (writes && !state.readers.empty()) {
      // They have waited for the writer.
      before.insert(before.end(), state.readers.begin(), state.readers.end());
    } else if (state.writer) {
      before.push_back(*state.writer);
    }
    if (writes) {
      state = {.writer = id, .readers = {}};
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
  std::ranges::sort(before, std::greater());
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
  std::ranges::reverse(task.after);
  schedule_.tasks.push_back(std::move(task));
}

void Builder::issue_on_host(int chunk) {
  Task task = kernel_of(chunk, 0, 0, false);
  task.stage = Stage::host;
  if (costs_.host_flops_per_s > 0) task.duration_s = task.flops / costs_.host_flops_per_s;
  const UseRange on_device = task.uses;
  task.uses.begin = static_cast<std::uint32_t>(schedule_.uses.size());
  for (std::uint32_t i = 0; i < on_device.count; ++i) {
    Use use = schedule_.uses[on_device.begin + i];
    use.slot = -1;
    schedule_.uses.push_back(use);
  }
  schedule_.tasks.push_back(std::move(task));
}

void Builder::issue(Task task, const std::string& name) {
  if (task.stage == Stage::kernel) task.uses = uses_of(0, task.op);
  if (is_copy(task.stage)) {
    const auto array = static_cast<int>(task.uses.begin);
    const UseRange all = uses_of(0, task.op);
    const auto of_op = std::span(by_op_).subspan(all.begin, all.count);
    const auto place = std::ranges::lower_bound(of_op, array) - of_op.begin();
    task.uses = {all.begin + static_cast<std::uint32_t>(place), 1};
  }
  schedule_.tasks.push_back(std::move(task));
  schedule_.names.push_back(name);
}

Schedule Builder::finish() {
  std::map<int, int> numbers;  // new ones of lanes
  for (const Task& task : schedule_.tasks) {
    if (task.stage != Stage::host) numbers.emplace(task.lane, 0);
  }
  int next = 0;
  for (auto& [lane, number] : numbers) number = next++;
  for (Task& task : schedule_.tasks) {
    task.lane = task.stage == Stage::host ? 0 : numbers.at(task.lane);
  }
  schedule_.lanes = schedule_.instances = std::max(1, next);
  return std::move(schedule_);
}

}  // namespace overlap::schedule
