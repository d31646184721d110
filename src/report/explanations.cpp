#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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
  const TaskRecord* awaited = nullptr;  ///< by the first kernel

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

/// ", the copy to the device at 12.8 instead of 25.5 GB/s": with copies back and without, if they
/// slow it down by more than 10 %.
std::string slowed(const Stages& stages) {
  double seconds = 0, bytes = 0, alone_s = 0, alone_bytes = 0;
  for (const TaskRecord* const copy : stages.in) {
    seconds += copy->stop_s - copy->start_s;
    bytes += static_cast<double>(copy->bytes);
    if (hidden({copy}, stages.out) > 0) continue;
    alone_s += copy->stop_s - copy->start_s;
    alone_bytes += static_cast<double>(copy->bytes);
  }
  const double both_s = hidden(stages.in, stages.out) * seconds;
  if (!(alone_s > 0 && both_s > 0)) return "";
  const double alone = alone_bytes / alone_s;
  const double both = (bytes - alone * (seconds - both_s)) / both_s;
  if (both <= 0 || both >= 0.9 * alone) return "";
  return fmt::format(", the copy to the device at {:.3g} instead of {:.3g} GB/s", 1e-9 * both,
                     1e-9 * alone);
}

struct Explanation {
  bool (*holds)(const Stages&);
  const char* text;  ///< with values of explain()
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
     "copies in both directions run at once{slowed}"},
    {[](const Stages& s) {
       const TaskRecord& kernel = *s.kernels.front();
       return s.awaited != nullptr && s.awaited->stage == Stage::h2d &&
              s.awaited->lane == kernel.lane && s.awaited->chunk > kernel.chunk;
     },
     "kernel {kernel} waits for the copy of chunk {awaited} on its lane"},
    {[](const Stages& s) { return skip_chunks(s.in); },
     "chunks {first} ... come first, since a copy engine serves one queue of lanes while it can"},
});

}  // namespace

std::string explain(const results::Run& run) {
  // Events do not tell when a task leaves its queue.
  const bool vague = run.timeline && run.trace && run.trace->source != "CUPTI";
  const auto& timeline = run.timeline ? run.timeline : run.predicted_timeline;
  // What a measured run did, no prediction tells; what was inserted into it may be the cause.
  const bool unseen = run.ran() && !run.timeline;
  if (run.order == deck::Order::sequential || vague || !timeline || unseen) return "";
  if (run.disturbance || run.host_work) return "";
  Stages stages{tasks_of(*timeline, {Stage::h2d}), tasks_of(*timeline, {Stage::kernel}),
                tasks_of(*timeline, {Stage::d2h}), tasks_of(*timeline, {Stage::h2d, Stage::d2h})};
  for (const Tasks* const tasks : {&stages.in, &stages.kernels, &stages.out}) {
    if (tasks->size() < 2 || tasks->front()->name) return "";
  }
  // Workers of the host do everything.
  if (stages.kernels.front()->engine == stages.in.front()->engine) return "";
  const auto place = static_cast<std::size_t>(stages.kernels.front() - timeline->data());
  if (const auto awaited = results::waited_for(*timeline)[place]) {
    stages.awaited = &(*timeline)[*awaited];
  }
  std::vector<std::int64_t> first;
  for (const TaskRecord* const task : stages.in | std::views::take(4)) first.push_back(task->chunk);
  std::vector<std::string> found;
  for (const auto& [holds, text] : explanations) {
    if (!holds(stages)) continue;
    found.push_back(fmt::format(
        fmt::runtime(text), fmt::arg("first", fmt::join(first, ", ")),
        fmt::arg("slowed", slowed(stages)), fmt::arg("kernel", stages.kernels.front()->chunk),
        fmt::arg("awaited", stages.awaited == nullptr ? 0 : stages.awaited->chunk)));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

void add_explanations(Blocks& blocks, const results::Point& point) {
  struct Line {
    std::string device, text;
    double time_s = 0;  ///< of the first order; others differ by at most 1 %
    std::vector<std::string> orders;
  };
  std::vector<Line> lines;
  for (const results::Run& run : point.runs) {
    const std::string text = explain(run);
    if (text.empty()) continue;
    const double time_s = run.ran() ? results::time_s(run).median : run.predicted_s.value_or(0);
    auto line = std::ranges::find_if(lines, [&](const Line& other) {
      return other.device == run.device && other.text == text &&
             std::abs(other.time_s - time_s) <= 0.01 * time_s;
    });
    if (line == lines.end()) line = lines.insert(line, {run.device, text, time_s, {}});
    line->orders.push_back(name(run));
  }
  Text text;
  for (const auto& [device, words, time_s, orders] : lines) {
    text.lines.push_back(fmt::format("{}{}{}: {}", fmt::join(orders, ", "),
                                     device.empty() ? "" : " on ", device, words));
  }
  if (!lines.empty()) blocks.push_back({std::move(text)});
}

}  // namespace overlap::report
