#include <algorithm>
#include <map>
#include <optional>

#include "model/predict.hpp"

/// Times of tasks without concurrent tasks, and what the calls of a disturbance do to those around
/// them.
namespace overlap::model {
namespace {

using schedule::Schedule;
using schedule::Stage;
using schedule::Task;
using schedule::TaskId;

/// Time of direct accesses of a kernel to host memory: 1.2 times that of copies of as many bytes,
/// as on an NVIDIA H200 above 64 MiB.
double link_seconds(const Schedule& schedule, const Task& task, const Device& device) {
  constexpr double slower_than_copies = 1.2;
  if (deck::has_copies(schedule.transfer) || device.queues == Queues::worker) return 0;
  const schedule::Traffic traffic = schedule::traffic(schedule, task);
  const auto seconds = [](const Copies& copies, std::size_t moved, std::size_t opposite) {
    const auto bytes = static_cast<double>(moved);
    if (moved == 0) return 0.0;
    return copies.pinned.seconds(bytes) * (opposite > 0 ? copies.slowed(bytes) : 1);
  };
  return slower_than_copies * std::max(seconds(device.h2d, traffic.h2d, traffic.d2h),
                                       seconds(device.d2h, traffic.d2h, traffic.h2d));
}

}  // namespace

double seconds_alone(const Schedule& schedule, const Task& task, const Device& device) {
  if (schedule::on_host(task.stage) || task.stage == Stage::default_stream) return task.duration_s;
  if (task.duration_s > 0 && (schedule::is_kernel(task.stage) || device.unit_s > 0)) {
    return task.duration_s;
  }
  if (device.unit_s > 0) {
    // In proportion to units; of a product, to elements of the tile or panel.
    const auto chunk = static_cast<double>(schedule.chunk_units);
    return device.unit_s * (task.operands.empty()
                                ? 1
                                : schedule::work_units(schedule, task.operands.back()) / chunk);
  }
  const auto bytes = static_cast<double>(task.bytes);
  if (schedule::is_copy(task.stage)) {
    return device.copies(task.stage).alone(schedule.host_memory).seconds(bytes);
  }
  const double kernel_s = device.required_kernel(schedule.kernel).seconds(bytes, task.flops);
  return std::max(kernel_s, link_seconds(schedule, task, device));
}

std::map<deck::Disturbance, Call> usual_calls() {
  using enum deck::Disturbance;
  const Call queued{.waits_for = Waits::blocking_lanes};
  return {{default_stream, queued},
          {malloc, {}},
          {malloc_host, {}},
          {memset, queued},
          {blocking_copy, {.waits_for = Waits::blocking_lanes, .host_waits = true}},
          {small_copy, queued},
          {device_copy, queued},
          {cache_config, {}},
          {timing_event, {}},
          {stream_query, {}},
          {synchronize, {.waits_for = Waits::all_lanes, .host_waits = true}}};
}

schedule::Schedule with_effects(schedule::Schedule schedule, const Device& device) {
  const bool default_stream_drains = schedule.streams == deck::Streams::blocking ||
                                     schedule.streams == deck::Streams::legacy_default;
  const int default_lane = schedule.lanes;
  std::map<int, TaskId> last;     // task of each lane
  std::optional<TaskId> barrier;  // the latest one
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    Task& task = schedule.tasks[id];
    const bool is_host_tile = task.stage == Stage::host && task.flops > 0;
    if (is_host_tile) task.duration_s = task.flops / device.host.flops_per_s;
    if (task.stage == Stage::disturbance) {
      const Call& call = device.calls.at(task.call);
      task.duration_s = call.cost_s;
      if (task.call == deck::Disturbance::stream_query) task.stage = Stage::query;
      const bool drains = call.waits_for == Waits::all_lanes ||
                          (call.waits_for == Waits::blocking_lanes && default_stream_drains);
      if (!drains) continue;
      task.stage = Stage::default_stream;
      task.lane = default_lane;
      schedule.lanes = default_lane + 1;
      task.share = 1;
      task.blocking = call.host_waits;
      for (const auto& [lane, other] : last) task.after.push_back(other);
      barrier = id;
    } else if (!schedule::on_host(task.stage)) {
      const auto before = last.find(task.lane);
      if (barrier && (before == last.end() || before->second < *barrier)) {
        task.after.push_back(*barrier);
      }
      last[task.lane] = id;
    }
  }
  return schedule;
}

}  // namespace overlap::model
