#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "report/reports.hpp"
#include "results/metrics.hpp"

/// Why an issue order takes its time: what its timeline shows, one row per explanation.
namespace overlap::report {
namespace {

using deck::Stage;
using results::TaskRecord;
using Tasks = std::vector<const TaskRecord*>;

/// The tasks of some stages by start.
Tasks tasks_of(const results::Timeline& timeline, std::initializer_list<Stage> stages) {
  Tasks tasks;
  for (const TaskRecord& task : timeline) {
    if (std::ranges::find(stages, task.stage) != stages.end()) tasks.push_back(&task);
  }
  std::ranges::stable_sort(tasks, {}, &TaskRecord::start_s);
  return tasks;
}

struct Stages {
  Tasks in, kernels, out, copies;

  bool one_copy_engine() const { return in.front()->engine == out.front()->engine; }
};

/// The part of the time of some tasks in which copies of one engine run.
double hidden(const Tasks& tasks, const Tasks& copies) {
  double all = 0, with_copies = 0;
  for (const TaskRecord* const task : tasks) {
    all += task->stop_s - task->start_s;
    auto copy = std::ranges::partition_point(
        copies, [&](const TaskRecord* before) { return before->stop_s <= task->start_s; });
    for (; copy != copies.end() && (*copy)->start_s < task->stop_s; ++copy) {
      with_copies +=
          std::min(task->stop_s, (*copy)->stop_s) - std::max(task->start_s, (*copy)->start_s);
    }
  }
  return all > 0 ? with_copies / all : 0;
}

/// Whether a copy back stands between the copies to the device of any two chunks.
bool take_turns(const Tasks& copies) {
  const auto follow = [](const TaskRecord* one, const TaskRecord* next) {
    return one->stage == Stage::h2d && next->stage == Stage::h2d && one->chunk != next->chunk;
  };
  return std::ranges::adjacent_find(copies, follow) == copies.end();
}

/// Whether copies start in steps of several chunks and not as they were issued.
bool skip_chunks(const Tasks& copies) {
  const auto step = copies.size() > 2 ? copies[1]->chunk - copies[0]->chunk : 0;
  return step > 1 && copies[2]->chunk - copies[1]->chunk == step &&
         !std::ranges::is_sorted(copies, {}, &TaskRecord::task);
}

struct Explanation {
  bool (*holds)(const Stages&);
  const char* text;  ///< {}: the first chunks that are copied to the device
};
constexpr auto explanations = std::to_array<Explanation>({
    {[](const Stages& s) {
       return s.one_copy_engine() && take_turns(s.copies) && hidden(s.kernels, s.copies) < 0.05;
     },
     "no copy runs during a kernel, because each copy back waits in front of the next copy to the "
     "device"},
    {[](const Stages& s) {
       return s.one_copy_engine() && s.in.back()->stop_s <= s.out.front()->start_s &&
              hidden(s.kernels, s.copies) > 0.5;
     },
     "copies run during kernels, because no copy back waits in front of a copy to the device"},
    {[](const Stages& s) {
       const auto ends = s.kernels | std::views::transform(&TaskRecord::stop_s);
       return !s.one_copy_engine() && s.out.front()->start_s >= 0.999 * std::ranges::max(ends);
     },
     "no copy back starts before the last kernel ends"},
    {[](const Stages& s) { return !s.one_copy_engine() && hidden(s.out, s.in) > 0.25; },
     "copies in both directions run at once"},
    {[](const Stages& s) { return skip_chunks(s.in); },
     "chunks {} ... come first, since a copy engine serves one queue of lanes while it can"},
});

}  // namespace

std::string explain(const results::Run& run) {
  // Events do not tell when a task leaves its queue.
  const bool vague = run.timeline && run.trace && run.trace->source != "CUPTI";
  const auto& timeline = run.timeline ? run.timeline : run.predicted_timeline;
  if (run.order == deck::Order::sequential || vague || !timeline) return "";
  const Stages stages{tasks_of(*timeline, {Stage::h2d}), tasks_of(*timeline, {Stage::kernel}),
                      tasks_of(*timeline, {Stage::d2h}),
                      tasks_of(*timeline, {Stage::h2d, Stage::d2h})};
  for (const Tasks* const tasks : {&stages.in, &stages.kernels, &stages.out}) {
    if (tasks->size() < 2 || tasks->front()->name) return "";
  }
  // Workers of the host do everything.
  if (stages.kernels.front()->engine == stages.in.front()->engine) return "";
  std::vector<std::int64_t> first;
  for (const TaskRecord* const task : stages.in | std::views::take(4)) first.push_back(task->chunk);
  std::vector<std::string> found;
  for (const auto& [holds, text] : explanations) {
    if (holds(stages)) found.push_back(fmt::format(fmt::runtime(text), fmt::join(first, ", ")));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

void add_explanations(Blocks& blocks, const results::Point& point) {
  struct Line {
    std::string device, text;
    std::vector<std::string> orders;
  };
  std::vector<Line> lines;
  for (const results::Run& run : point.runs) {
    const std::string text = run.disturbance || run.host_work ? "" : explain(run);
    if (text.empty()) continue;
    auto line = std::ranges::find_if(
        lines, [&](const Line& other) { return other.device == run.device && other.text == text; });
    if (line == lines.end()) line = lines.insert(line, {run.device, text, {}});
    line->orders.push_back(name(run));
  }
  Text text;
  for (const auto& [device, words, orders] : lines) {
    text.lines.push_back(fmt::format("{}{}{}: {}", fmt::join(orders, ", "),
                                     device.empty() ? "" : " on ", device, words));
  }
  if (!lines.empty()) blocks.push_back({std::move(text)});
}

}  // namespace overlap::report
