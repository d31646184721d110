#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/units.hpp"
#include "report/drawing.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"
#include "schedule/schedule.hpp"

namespace overlap::report {
namespace {

using describe::Json;
using results::Run;
using results::TaskRecord;

/// Where a task's slice lies among the tracks.
struct Slice {
  int track = 0;
  std::int64_t start_ns = 0, stop_ns = 0;
};

Json us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

/// What is shown about each task.
std::vector<Json> args_of(const results::Timeline& timeline) {
  const auto waits = results::waited_for(timeline);
  std::vector<Json> all;
  for (std::size_t id = 0; id < timeline.size(); ++id) {
    const TaskRecord& task = timeline[id];
    const double seconds = task.stop_s - task.start_s;
    Json& args = all.emplace_back(Json{{"task", task.task}, {"chunk", task.chunk}});
    if (!schedule::on_host(task.stage)) args["lane"] = task.lane;
    if (task.bytes > 0) args["bytes"] = task.bytes;
    if (task.bytes > 0 && seconds > 0) {
      args["GB/s"] = 1e-9 * static_cast<double>(task.bytes) / seconds;
    }
    if (waits[id]) args["waits for"] = drawing::full_label(timeline[*waits[id]]);
  }
  return all;
}

/// Adds a timeline as a process: tracks of engines and of lanes, and arrows between the lanes from
/// what tasks wait for.
void add_timeline(Json& events, int process, const results::Timeline& timeline,
                  const std::string& title) {
  // Names what is shown in the order of its number.
  const auto add_name = [&](const std::string& kind, int track, int number, const Json& name) {
    const Json event = {{"ph", "M"}, {"pid", process}, {"tid", track}};
    for (const auto& [key, value] :
         {std::pair("name", name), std::pair("sort_index", Json(number))}) {
      events.push_back(event);
      events.back().update({{"name", kind + "_" + key}, {"args", {{key, value}}}});
    }
  };
  add_name("process", 0, process, title);
  const std::vector<Json> args = args_of(timeline);
  std::vector<Slice> slices(timeline.size());
  int track = 0;
  for (const auto rows : {drawing::Rows::engines, drawing::Rows::lanes}) {
    const std::string kind = rows == drawing::Rows::engines ? "engine " : "";
    for (const drawing::LaneGroup& group : drawing::groups(timeline, rows)) {
      for (std::size_t row = 0; row < group.rows.size(); ++row) {
        const std::string more = row > 0 ? fmt::format(" ({})", row + 1) : "";
        ++track;
        add_name("thread", track, track, kind + group.name + more);
        std::int64_t free_ns = 0;  // rounding must not make slices overlap
        for (const std::size_t id : group.rows[row]) {
          const TaskRecord& task = timeline[id];
          const auto start = std::max<std::int64_t>(free_ns, std::llround(task.start_s * 1e9));
          free_ns = std::max<std::int64_t>(start, std::llround(task.stop_s * 1e9));
          slices[id] = {track, start, free_ns};
          events.push_back({{"ph", "X"},
                            {"pid", process},
                            {"tid", track},
                            {"ts", us(start)},
                            {"dur", us(free_ns - start)},
                            {"name", drawing::full_label(task)},
                            {"cat", deck::to_string(task.stage)},
                            {"args", args[id]}});
        }
      }
    }
  }
  for (std::size_t id = 0; id < timeline.size(); ++id) {
    for (const std::int64_t other : timeline[id].after) {
      if (other < 0 || std::cmp_greater_equal(other, slices.size())) continue;  // a file by hand
      const Slice& to = slices[id];
      const Slice& from = slices[static_cast<std::size_t>(other)];
      if (from.track == to.track) continue;
      // An arrow leaves from inside its slice, and never backwards in time, though clocks differ.
      const auto leaves = std::max(from.start_ns, std::min(from.stop_ns - 1, to.start_ns));
      Json event = {{"ph", "s"},      {"pid", process},  {"tid", from.track},  {"ts", us(leaves)},
                    {"cat", "after"}, {"name", "after"}, {"id", events.size()}};
      events.push_back(event);
      event.update(
          {{"ph", "f"}, {"tid", to.track}, {"ts", us(std::max(leaves, to.start_ns))}, {"bp", "e"}});
      events.push_back(event);
    }
  }
}

void add_run(Json& events, int& processes, const Run& run, const std::string& title) {
  if (run.timeline) {
    const results::Trace trace = run.trace.value_or(results::Trace());
    const std::string doubt = trace.doubtful ? fmt::format(", doubtful: {} against the median",
                                                           base::format_change(trace.perturbation))
                                             : "";
    add_timeline(events, ++processes, *run.timeline,
                 fmt::format("{}, measured ({}){}", title, trace.source, doubt));
  }
  if (run.predicted_timeline) {
    add_timeline(events, ++processes, *run.predicted_timeline, title + ", predicted");
  }
}

}  // namespace

std::string trace(const Results& results) {
  Json events = Json::array();
  int processes = 0;
  for (const results::Result& result : results) {
    for (const results::Point& point : result.points) {
      std::string title = results.size() > 1 ? result.title + ": " : "";
      if (point.phase == deck::Phase::together) title += "together: ";
      for (const Run& run : point.runs) add_run(events, processes, run, title + order_label(run));
    }
  }
  const Json file = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return results::json_text(file) + "\n";
}

}  // namespace overlap::report
