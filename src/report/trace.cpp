#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "report/picture.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

using schedule::TaskId;

/// Where a task's slice lies among the lanes.
struct Slice {
  int track = 0;
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
};

/// The file, written event by event: there may be a hundred thousand.
class Events {
 public:
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    text_ += separator_;
    separator_ = ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void timeline(const experiment::Run& run, const Picture& picture, const std::string& title);

  std::string finish() {
    if (text_.empty()) text_ = separator_;
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  void tracks(const timeline::Timeline& timeline, const std::vector<Band>& bands,
              const std::string& prefix, std::vector<Slice>* slices);
  void slice(TaskId id, int track, std::int64_t start_ns, std::int64_t stop_ns);
  void arrows(const schedule::Schedule& schedule, const std::vector<Slice>& slices);

  std::string text_;
  const char* separator_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  int process_ = 0;
  int track_ = 0;
  std::int64_t arrow_ = 0;
  std::vector<std::string> what_;  // of each task: its name, stage and arguments as JSON
};

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

/// Microseconds, written exactly.
struct Us {
  std::int64_t ns;
};
std::string text(Us at) { return fmt::format("{}.{:03}", at.ns / 1000, at.ns % 1000); }

void Events::slice(TaskId id, int track, std::int64_t start_ns, std::int64_t stop_ns) {
  event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},{}}})", process_, track,
        text(Us{start_ns}), text(Us{stop_ns - start_ns}), what_[id]);
}

void Events::tracks(const timeline::Timeline& timeline, const std::vector<Band>& bands,
                    const std::string& prefix, std::vector<Slice>* slices) {
  for (const Band& band : bands) {
    for (std::size_t row = 0; row < band.rows.size(); ++row) {
      const int track = ++track_;
      const std::string more = row > 0 ? fmt::format(" ({})", row + 1) : "";
      event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process_,
            track, quote_json(prefix + band.name + more));
      event(
          R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
          process_, track, track);
      std::int64_t free_ns = 0;  // rounding must not make slices overlap
      for (const TaskId id : band.rows[row]) {
        const timeline::Span& span = timeline.spans[id];
        const std::int64_t start = std::max(free_ns, nanoseconds(span.start_s));
        const std::int64_t stop = std::max(start, nanoseconds(span.stop_s));
        free_ns = stop;
        slice(id, track, start, stop);
        if (slices != nullptr) (*slices)[id] = {track, start, stop};
      }
    }
  }
}

void Events::arrows(const schedule::Schedule& schedule, const std::vector<Slice>& slices) {
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    for (const TaskId other : schedule.tasks[id].after) {
      const Slice& to = slices[id];
      const Slice& from = slices[other];
      if (from.track == to.track) continue;
      ++arrow_;
      // An arrow leaves from inside its slice, and never backwards in time, though clocks differ.
      const std::int64_t leaves = std::max(from.start_ns, std::min(from.stop_ns - 1, to.start_ns));
      event(R"({{"ph":"s","cat":"after","name":"after","id":{},"pid":{},"tid":{},"ts":{}}})",
            arrow_, process_, from.track, text(Us{leaves}));
      event(
          R"({{"ph":"f","bp":"e","cat":"after","name":"after","id":{},"pid":{},"tid":{},"ts":{}}})",
          arrow_, process_, to.track, text(Us{std::max(leaves, to.start_ns)}));
    }
  }
}

void Events::timeline(const experiment::Run& run, const Picture& picture,
                      const std::string& title) {
  if (picture.timeline == nullptr) return;
  const timeline::Timeline& timeline = *picture.timeline;
  const schedule::Schedule& schedule = run.schedule;
  ++process_;
  const std::string doubt = picture.doubt.empty() ? "" : ", " + picture.doubt;
  event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", process_,
        quote_json(title + order_words(run) + ", " + picture.words + doubt));
  event(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", process_,
        process_);

  const auto waits = waited_for(schedule, timeline);
  what_.clear();
  for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    std::string args = fmt::format(R"("task":{},"chunk":{})", id, task.chunk);
    if (!schedule::on_host(task.stage)) args += fmt::format(R"(,"lane":{})", task.lane);
    if (task.bytes > 0) args += fmt::format(R"(,"bytes":{})", task.bytes);
    if (const auto rate = rate_gb_per_s(task, timeline.spans[id])) {
      args += fmt::format(R"(,"GB/s":{:.6g})", *rate);
    }
    if (waits[id]) args += R"(,"waits for":)" + quote_json(full_label(schedule, *waits[id]));
    what_.push_back(fmt::format(R"("name":{},"cat":"{}","args":{{{}}})",
                                quote_json(full_label(schedule, id)),
                                schedule::to_string(task.stage), args));
  }
  std::vector<Slice> slices(schedule.tasks.size());
  tracks(timeline, engine_bands(timeline), "engine ", nullptr);
  tracks(timeline, lane_bands(schedule, timeline), "", &slices);
  arrows(schedule, slices);
}

}  // namespace

std::string trace(const Studies& studies) {
  Events writer;
  for (const Study& study : studies) {
    const std::string title = studies.size() > 1 ? study.deck().title + ": " : "";
    if (study.outcome() == nullptr) continue;
    for (const experiment::Run& run : study.outcome()->runs) {
      writer.timeline(run, measured(run), title);
      writer.timeline(run, predicted(run), title);
    }
  }
  return writer.finish();
}

}  // namespace overlap::report
