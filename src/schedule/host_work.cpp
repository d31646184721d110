#include "schedule/host_work.hpp"

#include <utility>

#include "schedule/insert.hpp"

namespace overlap::schedule {

Schedule with_host_work(const Schedule& schedule, double per_chunk_s, std::int64_t pieces) {
  const auto chunks = static_cast<std::size_t>(schedule.chunks);
  const bool baseline = schedule.order == Order::sequential;
  std::vector<TaskId> place(chunks, static_cast<TaskId>(schedule.tasks.size()));
  Schedule changed = schedule;
  for (TaskId id = 0; baseline && id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    if (task.stage == Stage::kernel) place[static_cast<std::size_t>(task.chunk)] = id + 1;
  }
  std::vector<std::pair<TaskId, Task>> inserted;
  const double seconds = per_chunk_s * static_cast<double>(pieces / schedule.chunks);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const TaskId before = place[chunk];
    if (baseline) changed.tasks[before - 1].blocking = false;
    inserted.emplace_back(
        before,
        Task{.stage = Stage::host, .chunk = static_cast<int>(chunk), .duration_s = seconds});
  }
  return with_inserted(changed, inserted);
}

}  // namespace overlap::schedule
