#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/units.hpp"
#include "schedule/builder.hpp"

namespace overlap::schedule {
namespace {

/// Rate assumed for copies given by their duration until one is measured: about PCIe gen 3 x16.
constexpr double nominal_bytes_per_s = 10e9;

/// Size of the array of a chunk that only kernels use.
constexpr std::size_t state_bytes = 4;

/// List indices in issue order.
std::vector<TaskId> sequence(const std::vector<Task>& listed, Order order) {
  // The lane in whose turn a task is issued: its own, else that of the task listed before it, else
  // the first lane in the list.
  const auto with_lane =
      std::ranges::find_if(listed, [](const Task& task) { return task.lane > 0; });
  int lane = with_lane == listed.end() ? 0 : with_lane->lane;
  std::map<int, int> next;  // next task number of each lane
  std::vector<std::pair<int, int>> keys;
  for (const Task& task : listed) {
    if (task.lane > 0) lane = task.lane;
    std::pair<int, int>& key = keys.emplace_back();  // all equal: as listed
    if (order == Order::depth_first) key.first = lane;
    if (order == Order::breadth_first) key = {next[lane]++, lane};
  }
  std::vector<TaskId> places(listed.size());
  std::iota(places.begin(), places.end(), TaskId{0});
  std::ranges::stable_sort(places, {}, [&](TaskId i) { return keys[i]; });
  return places;
}

}  // namespace

bool has_timed_copies(const deck::Workload& workload) {
  return std::any_of(workload.tasks.begin(), workload.tasks.end(),
                     [](const auto& task) { return is_copy(task.stage) && task.bytes == 0; });
}

deck::Workload size_copies(deck::Workload workload,
                           const std::function<double(Stage, double)>& bytes_in) {
  constexpr double page = 4096;
  constexpr double most = 0x1p60;  // for all copies together, so that their sum stays finite
  double sum = 0;
  for (deck::CustomTask& task : workload.tasks) {
    if (!is_copy(task.stage) || task.bytes > 0) continue;
    const double bytes =
        page * std::max(1.0, std::round(bytes_in(task.stage, task.duration_s) / page));
    sum += bytes;
    if (!(sum <= most)) {
      throw base::Error(base::ExitCode::usage,
                        fmt::format("workload.tasks: found {} for the copy {}, which makes {:.3g} "
                                    "bytes at the device's rate; allowed: at most {:.3g} bytes for "
                                    "all copies given by their duration",
                                    base::format_seconds(task.duration_s), task.name, bytes, most));
    }
    task.bytes = static_cast<std::int64_t>(bytes);
  }
  return workload;
}

/// Tasks with the same chunk number form one operation: its kernels read the data copied to the
/// device for the chunk and update the data copied back.
template <>
Costs costs_of<deck::WorkloadKind::custom>(const deck::Workload& unsized, std::int64_t) {
  const deck::Workload workload =
      size_copies(unsized, [](Stage, double seconds) { return seconds * nominal_bytes_per_s; });
  Costs costs;
  costs.units = 1;
  costs.ops = 0;
  struct Op {
    int number = 0;
    bool has_kernels = false;
    bool has_outputs = false;
  };
  std::map<int, Op> ops;  // by chunk number
  for (const deck::CustomTask& task : workload.tasks) {
    if (task.chunk == 0) continue;
    ops[task.chunk].has_kernels |= task.stage == Stage::kernel;
    ops[task.chunk].has_outputs |= task.stage == Stage::d2h;
  }
  for (auto& [chunk, op] : ops) op.number = costs.ops++;
  for (const deck::CustomTask& deck_task : workload.tasks) {
    const Op op = deck_task.chunk > 0 ? ops.at(deck_task.chunk) : Op();
    Task task{.stage = deck_task.stage,
              .op = op.number,
              .lane = deck_task.lane,
              .duration_s = deck_task.duration_s,
              .share = is_kernel(deck_task.stage) ? deck_task.sms : 0,
              .number = static_cast<int>(costs.tasks.size())};
    task.after.assign(deck_task.after.begin(), deck_task.after.end());
    if (is_copy(task.stage)) {
      const bool up = task.stage == Stage::h2d;
      task.bytes = static_cast<std::size_t>(deck_task.bytes);
      task.operands = {{.array = static_cast<int>(costs.arrays.size())}};
      costs.arrays.push_back({.name = deck_task.name,
                              .op = op.number,
                              .unit_bytes = task.bytes,
                              .to_device = up,
                              .to_host = !up,
                              .resident = !up && !op.has_kernels});
    }
    costs.tasks.push_back(std::move(task));
    costs.names.push_back(deck_task.name);
  }
  for (const auto& [chunk, op] : ops) {
    if (!op.has_kernels || op.has_outputs) continue;
    costs.arrays.push_back({.name = fmt::format("chunk {}", chunk),
                            .op = op.number,
                            .unit_bytes = state_bytes,
                            .to_host = true});
  }
  return costs;
}

std::optional<std::string> misplaced(const Costs& costs, Order order) {
  const std::vector<Task>& listed = costs.tasks;
  std::vector<bool> issued(listed.size());
  struct Last {  // highest list indices of an operation issued so far
    TaskId any = 0;
    TaskId kernel = 0;
  };
  std::map<int, Last> last;
  for (const TaskId i : sequence(listed, order)) {
    const auto awaited =
        std::ranges::find_if(listed[i].after, [&](TaskId other) { return !issued[other]; });
    if (awaited != listed[i].after.end()) {
      return fmt::format("issues task {} before task {}, on which it depends", costs.names[i],
                         costs.names[*awaited]);
    }
    issued[i] = true;
    // Every order must produce the same data, so that one reference result serves all.
    const bool kernel = listed[i].stage == Stage::kernel;
    if (!kernel && !is_copy(listed[i].stage)) continue;
    Last& seen = last[listed[i].op];
    if (const TaskId other = kernel ? seen.any : seen.kernel; other > i) {
      return fmt::format(
          "issues task {} before task {}, which is earlier in the list and works on "
          "the same chunk",
          costs.names[other], costs.names[i]);
    }
    seen.any = std::max(seen.any, i);
    if (kernel) seen.kernel = i;
  }
  return std::nullopt;
}

/// Issues listed tasks with the requested dependencies, in any of their orders: in list order
/// (custom; sequential, on one lane), lane by lane (depth_first), or the i-th tasks of all lanes in
/// turn (breadth_first). Tasks without a lane (host work, default_stream) follow the task listed
/// before them.
template <>
void issue<Order::custom>(Builder& builder) {
  const std::vector<Task>& listed = builder.costs.tasks;
  Schedule& schedule = builder.schedule;
  const bool sequential = schedule.order == Order::sequential;
  const bool one_lane = sequential || deck::is_one_stream(schedule.streams);
  int default_lane = 0;  // beyond all listed lanes
  for (const Task& task : listed) default_lane = std::max(default_lane, task.lane + 1);
  std::vector<TaskId> ids(listed.size());
  std::map<int, TaskId> last;     // last task of each lane
  std::optional<TaskId> barrier;  // the latest default_stream task
  for (const TaskId i : sequence(listed, schedule.order)) {
    const TaskId id = ids[i] = static_cast<TaskId>(schedule.tasks.size());
    Task task = listed[i];
    const bool waits_for_all = task.stage == Stage::default_stream;
    if (waits_for_all) task.lane = default_lane;
    if (one_lane) task.lane = 0;
    task.blocking = sequential && !on_host(task.stage);
    std::map<int, TaskId> after;  // latest task per lane, which implies the earlier ones
    const auto wait_for = [&](TaskId other) {
      const Task& earlier = schedule.tasks[other];
      if (on_host(earlier.stage)) return;  // complete before anything later is issued
      if (earlier.lane == task.lane && !on_host(task.stage)) return;
      TaskId& latest = after[earlier.lane];
      latest = std::max(latest, other);
    };
    for (const TaskId other : task.after) wait_for(ids[other]);
    if (waits_for_all) {
      for (const auto& [lane, other] : last) {
        if (!barrier || other > *barrier) wait_for(other);  // the barrier waited for the others
      }
      barrier = id;
    } else if (barrier && !on_host(task.stage) &&
               (!last.contains(task.lane) || last[task.lane] < *barrier)) {
      wait_for(*barrier);
    }
    task.after.clear();
    for (const auto& [lane, other] : after) task.after.push_back(other);
    std::ranges::sort(task.after);
    if (!on_host(task.stage)) last[task.lane] = id;
    const auto used = builder.operands_of(0, task.op);
    if (task.stage == Stage::kernel) task.operands.assign(used.begin(), used.end());
    for (Operand& own : task.operands) own = *std::ranges::find(used, own.array, &Operand::array);
    schedule.tasks.push_back(std::move(task));
    schedule.names.push_back(builder.costs.names[i]);
  }
}

}  // namespace overlap::schedule
