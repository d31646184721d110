// What the calls of a disturbance do to the tasks around them.

#include <map>
#include <optional>

#include "model/predict.hpp"

namespace overlap::model {

using schedule::Stage;
using schedule::Task;
using schedule::TaskId;

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
