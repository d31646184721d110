#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/drawing.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"
#include "schedule/schedule.hpp"

namespace overlap::report {
namespace {

using describe::Json;
using results::Run;
using results::Task;

/// Where a task's slice lies among the tracks.
struct Slice {
  int track = 0;
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
};

/// The file, written event by event: there may be a hundred thousand.
class Events {
 public:
  void timeline(const results::Timeline& timeline, const std::string& title);

  std::string finish() const {
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n";
  }

 private:
  /// An event of a phase on a track of the present process.
  void event(char phase, int track, Json fields, std::optional<std::int64_t> at_ns = {},
             std::optional<std::int64_t> duration_ns = {}) {
    // Microseconds, written exactly.
    const auto us = [](std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); };
    text_ += fmt::format(R"({}{{"ph":"{}","pid":{},"tid":{})", text_.empty() ? "" : ",\n", phase,
                         process_, track);
    if (at_ns) text_ += R"(,"ts":)" + us(*at_ns);
    if (duration_ns) text_ += R"(,"dur":)" + us(*duration_ns);
    text_ += "," + fields.dump(-1, ' ', false, Json::error_handler_t::replace).substr(1);
  }
  /// Names a process or one of its threads, which are shown in the order of their numbers.
  void name(const char* kind, int track, int number, const std::string& text) {
    event('M', track, {{"name", fmt::format("{}_name", kind)}, {"args", {{"name", text}}}});
    event('M', track,
          {{"name", fmt::format("{}_sort_index", kind)}, {"args", {{"sort_index", number}}}});
  }
  std::vector<Slice> tracks(const results::Timeline& timeline, bool by_lane);
  void arrows(const results::Timeline& timeline, const std::vector<Slice>& slices);

  std::string text_;
  int process_ = 0;
  int track_ = 0;
  std::int64_t arrow_ = 0;
  std::vector<Json> fields_;  // of each task
};

std::vector<Slice> Events::tracks(const results::Timeline& timeline, bool by_lane) {
  std::vector<Slice> slices(timeline.size());
  const auto rows = by_lane ? drawing::Rows::lanes : drawing::Rows::engines;
  for (const drawing::Group& group : drawing::groups(timeline, rows)) {
    int number = 0;
    for (const std::vector<std::size_t>& tasks : group.rows) {
      const int track = ++track_;
      const std::string more = ++number > 1 ? fmt::format(" ({})", number) : "";
      name("thread", track, track, (by_lane ? "" : "engine ") + group.name + more);
      std::int64_t free_ns = 0;  // rounding must not make slices overlap
      for (const std::size_t id : tasks) {
        const Task& task = timeline[id];
        const std::int64_t start =
            std::max<std::int64_t>(free_ns, std::llround(task.start_s * 1e9));
        free_ns = std::max<std::int64_t>(start, std::llround(task.stop_s * 1e9));
        event('X', track, fields_[id], start, free_ns - start);
        slices[id] = {track, start, free_ns};
      }
    }
  }
  return slices;
}

void Events::arrows(const results::Timeline& timeline, const std::vector<Slice>& slices) {
  for (std::size_t id = 0; id < timeline.size(); ++id) {
    for (const std::int64_t other : timeline[id].after) {
      if (other < 0 || std::cmp_greater_equal(other, slices.size())) continue;  // a file by hand
      const Slice& to = slices[id];
      const Slice& from = slices[static_cast<std::size_t>(other)];
      if (from.track == to.track) continue;
      const Json fields = {{"cat", "after"}, {"name", "after"}, {"id", ++arrow_}};
      // An arrow leaves from inside its slice, and never backwards in time, though clocks differ.
      const std::int64_t leaves = std::max(from.start_ns, std::min(from.stop_ns - 1, to.start_ns));
      event('s', from.track, fields, leaves);
      Json end = fields;
      end["bp"] = "e";
      event('f', to.track, end, std::max(leaves, to.start_ns));
    }
  }
}

void Events::timeline(const results::Timeline& timeline, const std::string& title) {
  ++process_;
  name("process", 0, process_, title);
  const auto waits = results::waited_for(timeline);
  fields_.clear();
  for (std::size_t id = 0; id < timeline.size(); ++id) {
    const Task& task = timeline[id];
    const double seconds = task.stop_s - task.start_s;
    Json args = {{"task", task.task}, {"chunk", task.chunk}};
    if (!schedule::on_host(task.stage)) args["lane"] = task.lane;
    if (task.bytes > 0) args["bytes"] = task.bytes;
    if (task.bytes > 0 && seconds > 0) {
      args["GB/s"] = 1e-9 * static_cast<double>(task.bytes) / seconds;
    }
    if (waits[id]) args["waits for"] = drawing::full_label(timeline[*waits[id]]);
    fields_.push_back({{"name", drawing::full_label(task)},
                       {"cat", deck::to_string(task.stage)},
                       {"args", std::move(args)}});
  }
  tracks(timeline, false);
  arrows(timeline, tracks(timeline, true));
}

void add_run(Events& writer, const Run& run, const std::string& title) {
  if (run.timeline) {
    const results::Trace trace = run.trace.value_or(results::Trace());
    writer.timeline(
        *run.timeline,
        fmt::format("{}, measured ({}){}", title, trace.source,
                    trace.doubtful ? fmt::format(", doubtful: {} against the median",
                                                 base::format_change(trace.perturbation))
                                   : ""));
  }
  if (run.predicted_timeline) writer.timeline(*run.predicted_timeline, title + ", predicted");
}

}  // namespace

std::string trace(const Results& results) {
  Events writer;
  for (const results::Result& result : results) {
    for (const results::Point& point : result.points) {
      std::string title = results.size() > 1 ? result.title + ": " : "";
      if (point.phase == deck::Phase::together) title += "together: ";
      for (const Run& run : point.runs) add_run(writer, run, title + order_label(run));
    }
  }
  return base::safe_lines(writer.finish());
}

}  // namespace overlap::report
