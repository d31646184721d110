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

/// Microseconds, written exactly.
std::string us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// The file, written event by event: there may be a hundred thousand.
class Events {
 public:
  void timeline(const experiment::Run& run, const Picture& picture, const std::string& title);

  std::string finish() const {
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n";
  }

 private:
  /// An event of a phase on a track of the present process.
  template <class... Args>
  void event(char phase, int track, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), R"({}{{"ph":"{}","pid":{},"tid":{},)",
                   text_.empty() ? "" : ",\n", phase, process_, track);
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '}';
  }

  /// Names a process or one of its threads, which are shown in the order of their numbers.
  void name(const char* what, int track, int number, const std::string& words) {
    event('M', track, R"("name":"{}_name","args":{{"name":{}}})", what, quote_json(words));
    event('M', track, R"("name":"{}_sort_index","args":{{"sort_index":{}}})", what, number);
  }

  std::vector<Slice> tracks(const timeline::Timeline& timeline, const std::vector<Band>& bands,
                            const std::string& prefix);
  void arrows(const schedule::Schedule& schedule, const std::vector<Slice>& slices);

  std::string text_;
  int process_ = 0;
  int track_ = 0;
  std::int64_t arrow_ = 0;
  std::vector<std::string> what_;  // of each task: its name, stage and arguments as JSON
};

std::vector<Slice> Events::tracks(const timeline::Timeline& timeline,
                                  const std::vector<Band>& bands, const std::string& prefix) {
  std::vector<Slice> slices(timeline.spans.size());
  for (const Band& band : bands) {
    for (std::size_t row = 0; row < band.rows.size(); ++row) {
      const int track = ++track_;
      const std::string more = row > 0 ? fmt::format(" ({})", row + 1) : "";
      name("thread", track, track, prefix + band.name + more);
      std::int64_t free_ns = 0;  // rounding must not make slices overlap
      for (const TaskId id : band.rows[row]) {
        const timeline::Span& span = timeline.spans[id];
        const std::int64_t start =
            std::max<std::int64_t>(free_ns, std::llround(span.start_s * 1e9));
        free_ns = std::max<std::int64_t>(start, std::llround(span.stop_s * 1e9));
        event('X', track, R"("ts":{},"dur":{},{})", us(start), us(free_ns - start), what_[id]);
        slices[id] = {track, start, free_ns};
      }
    }
  }
  return slices;
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
      event('s', from.track, R"("cat":"after","name":"after","id":{},"ts":{})", arrow_, us(leaves));
      event('f', to.track, R"("bp":"e","cat":"after","name":"after","id":{},"ts":{})", arrow_,
            us(std::max(leaves, to.start_ns)));
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
  name("process", 0, process_, title + order_words(run) + ", " + picture.words + doubt);

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
  tracks(timeline, engine_bands(timeline), "engine ");
  arrows(schedule, tracks(timeline, lane_bands(schedule, timeline), ""));
}

}  // namespace

std::string trace(const Studies& studies) {
  Events writer;
  for (const Study& study : studies) {
    for (const experiment::Outcome* const outcome : study.outcomes()) {
      std::string title = studies.size() > 1 ? study.deck().title + ": " : "";
      if (outcome->phase == deck::Phase::together) title += "together: ";
      for (const experiment::Run& run : outcome->runs) {
        writer.timeline(run, measured(run), title);
        writer.timeline(run, predicted(run), title);
      }
    }
  }
  return writer.finish();
}

}  // namespace overlap::report
