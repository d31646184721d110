#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/units.hpp"
#include "schedule/builder.hpp"

namespace overlap::schedule {
namespace {

/// What a copy given by its duration moves, as long as nobody has measured: about a PCIe gen 3 x16
/// link's rate.
constexpr double nominal_bytes_per_s = 10e9;

/// A chunk that only kernels touch has an array of this size for them to work on.
constexpr std::size_t state_bytes = 4096;

/// For each listed task the lane whose turn it is issued in: its own, or that of the task listed
/// before it where it has none.
std::vector<int> turns(const std::vector<Task>& listed) {
  int lane = 0;
  for (auto task = listed.rbegin(); task != listed.rend(); ++task) {
    if (task->lane > 0) lane = task->lane;  // the first lane in the list, for what precedes it
  }
  std::vector<int> turns;
  for (const Task& task : listed) {
    if (task.lane > 0) lane = task.lane;
    turns.push_back(lane);
  }
  return turns;
}

/// Places in the list in the order of issue.
std::vector<TaskId> sequence(const std::vector<Task>& listed, Order order) {
  const std::vector<int> lanes = turns(listed);
  std::vector<std::pair<int, int>> keys(listed.size());
  if (order == Order::depth_first) {  // lane by lane
    for (std::size_t i = 0; i < listed.size(); ++i) keys[i] = {lanes[i], 0};
  } else if (order == Order::breadth_first) {  // the i-th tasks of all lanes, in turn
    std::map<int, int> next;
    for (std::size_t i = 0; i < listed.size(); ++i) keys[i] = {next[lanes[i]]++, lanes[i]};
  }
  std::vector<TaskId> places(listed.size());
  for (TaskId i = 0; i < places.size(); ++i) places[i] = i;
  std::stable_sort(places.begin(), places.end(),
                   [&](TaskId a, TaskId b) { return keys[a] < keys[b]; });
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
  constexpr double most = 0x1p60;  // of all copies together, so that their sum is a number, too
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

/// Tasks with the same chunk number are one operation: its kernels read what is copied to the
/// device for it and update what is copied back.
template <>
Costs costs_of<deck::WorkloadKind::custom>(const deck::Workload& asked, std::int64_t /*repeats*/) {
  const deck::Workload workload =
      size_copies(asked, [](Stage, double seconds) { return seconds * nominal_bytes_per_s; });
  Costs costs;
  costs.units = 1;
  std::map<int, int> ops;  // by chunk number
  for (const deck::CustomTask& task : workload.tasks) {
    if (task.chunk > 0) ops.emplace(task.chunk, 0);
  }
  costs.ops = 0;
  for (auto& [chunk, op] : ops) op = costs.ops++;
  std::set<int> with_kernels;
  std::set<int> with_outputs;
  for (const deck::CustomTask& given : workload.tasks) {
    Task task{.stage = given.stage,
              .op = given.chunk > 0 ? ops.at(given.chunk) : 0,
              .lane = given.lane,
              .duration_s = given.duration_s,
              .share = is_kernel(given.stage) ? given.sms : 0,
              .number = static_cast<int>(costs.tasks.size())};
    task.after.assign(given.after.begin(), given.after.end());
    if (is_copy(task.stage)) {
      const bool up = task.stage == Stage::h2d;
      task.bytes = static_cast<std::size_t>(given.bytes);
      task.uses.begin = static_cast<std::uint32_t>(costs.arrays.size());
      costs.arrays.push_back({.name = given.name,
                              .op = task.op,
                              .unit_bytes = task.bytes,
                              .to_device = up,
                              .to_host = !up});
      if (!up) with_outputs.insert(task.op);
    } else if (task.stage == Stage::kernel) {
      with_kernels.insert(task.op);
    }
    costs.tasks.push_back(std::move(task));
    costs.names.push_back(given.name);
  }
  for (Array& array : costs.arrays) {
    array.resident = array.to_host && !with_kernels.contains(array.op);
  }
  for (const auto& [chunk, op] : ops) {
    if (!with_kernels.contains(op) || with_outputs.contains(op)) continue;
    costs.arrays.push_back({.name = fmt::format("chunk {}", chunk),
                            .op = op,
                            .unit_bytes = state_bytes,
                            .to_device = false,
                            .to_host = true});
  }
  return costs;
}

std::optional<std::string> misplaced(const Costs& costs, Order order) {
  const std::vector<Task>& listed = costs.tasks;
  std::vector<TaskId> places(listed.size());
  {
    TaskId next = 0;
    for (const TaskId i : sequence(listed, order)) places[i] = next++;
  }
  struct Last {  // issued of the tasks of an operation
    std::optional<TaskId> any;
    std::optional<TaskId> kernel;
  };
  std::map<int, Last> last;
  for (TaskId i = 0; i < listed.size(); ++i) {
    for (const TaskId other : listed[i].after) {
      if (places[i] > places[other]) continue;
      return fmt::format("issues task {} before task {}, which it comes after", costs.names[i],
                         costs.names[other]);
    }
    // Every order must leave the same data behind, so that one reference serves all.
    if (listed[i].stage != Stage::kernel && !is_copy(listed[i].stage)) continue;
    Last& seen = last[listed[i].op];
    const bool kernel = listed[i].stage == Stage::kernel;
    const auto& other = kernel ? seen.any : seen.kernel;
    if (other && places[i] < places[*other]) {
      return fmt::format(
          "issues task {} before task {}, which the list has first and which works "
          "on the same chunk",
          costs.names[i], costs.names[*other]);
    }
    const auto later = [&](std::optional<TaskId>& of) {
      if (!of || places[*of] < places[i]) of = i;
    };
    later(seen.any);
    if (kernel) later(seen.kernel);
  }
  return std::nullopt;
}

void issue_listed(Builder& builder, const Costs& costs, Order order) {
  const bool sequential = order == Order::sequential;
  int default_lane = 0;  // after all others
  for (const Task& task : costs.tasks) default_lane = std::max(default_lane, task.lane + 1);
  std::vector<TaskId> places(costs.tasks.size());
  std::map<int, TaskId> last;     // of each lane
  std::optional<TaskId> barrier;  // the latest default_stream task
  TaskId id = 0;
  for (const TaskId i : sequence(costs.tasks, order)) {
    places[i] = id;
    Task task = costs.tasks[i];
    const bool waits_for_all = task.stage == Stage::default_stream;
    if (waits_for_all) task.lane = default_lane;
    if (sequential) task.lane = 0;
    task.blocking = sequential && !on_host(task.stage);
    std::map<int, TaskId> after;  // by lane: the latest, which the earlier ones precede
    const auto wait_for = [&](TaskId other) {
      const Task& earlier = builder.task(other);
      if (on_host(earlier.stage)) return;  // done before anything later is issued
      if (earlier.lane == task.lane && !on_host(task.stage)) return;
      TaskId& latest = after.try_emplace(earlier.lane, other).first->second;
      latest = std::max(latest, other);
    };
    for (const TaskId other : task.after) wait_for(places[other]);
    if (waits_for_all) {
      for (const auto& [lane, other] : last) wait_for(other);
    } else if (barrier && !on_host(task.stage) &&
               (!last.contains(task.lane) || last[task.lane] < *barrier)) {
      wait_for(*barrier);
    }
    task.after.clear();
    for (const auto& [lane, other] : after) task.after.push_back(other);
    std::sort(task.after.begin(), task.after.end());
    if (waits_for_all) barrier = id;
    if (!on_host(task.stage)) last[task.lane] = id;
    builder.issue(std::move(task), costs.names[i]);
    ++id;
  }
}

/// Only a custom workload has a list to follow; the deck refuses this order for others.
template <>
void issue<Order::custom>(Builder&) {}

}  // namespace overlap::schedule
