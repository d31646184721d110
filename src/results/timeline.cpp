#include "results/timeline.hpp"

#include <algorithm>
#include <map>

#include "schedule/schedule.hpp"

namespace overlap::results {

double end_s(const Timeline& timeline) {
  double end = 0;
  for (const Task& task : timeline) end = std::max(end, task.stop_s);
  return end;
}

std::vector<std::optional<std::size_t>> waited_for(const Timeline& tasks) {
  using Place = std::optional<std::size_t>;
  std::vector<Place> latest(tasks.size());
  std::map<std::int64_t, Place> on_lane;
  Place on_host;  // what the host last did or waited for
  for (std::size_t place = 0; place < tasks.size(); ++place) {
    const Task& task = tasks[place];
    const auto wait = [&](Place other) {
      if (!other) return;
      if (!latest[place] || tasks[*other].stop_s > tasks[*latest[place]].stop_s) {
        latest[place] = other;
      }
    };
    const bool host = schedule::on_host(task.stage);
    if (!host) wait(on_lane[task.lane]);
    for (const std::int64_t number : task.after) {
      const auto other = static_cast<std::size_t>(number);
      if (other >= place) continue;  // in a file by hand
      wait(other);
      // The host waits for all that was issued to the lanes.
      if (host && !schedule::on_host(tasks[other].stage)) wait(on_lane[tasks[other].lane]);
    }
    wait(on_host);
    if (!host) on_lane[task.lane] = place;
    if (schedule::waits_for_lanes(task.stage) || task.blocking) on_host = place;
  }
  return latest;
}

}  // namespace overlap::results
