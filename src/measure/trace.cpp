#include <algorithm>
#include <cmath>

#include "measure/measure.hpp"
#include "measure/sampling.hpp"

namespace overlap::measure {
namespace {

/// A trace is doubtful beyond this relative perturbation, unless the scored times spread more.
constexpr double doubtful_perturbation = 0.02;

std::vector<schedule::TaskId> copies_to_host(const schedule::Schedule& schedule) {
  std::vector<schedule::TaskId> copies;
  for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
    if (schedule.tasks[id].stage == schedule::Stage::d2h) copies.push_back(id);
  }
  return copies;
}

/// Traces a run in parts, each of which times every n-th copy to the host; all other times are
/// those of the first part. Since runs differ by microseconds, each copy keeps its delay after its
/// input.
experiment::Trace trace_in_parts(const experiment::Run& run, std::size_t parts,
                                 const TraceOnce& trace_once) {
  const base::Summary scored = experiment::time_s(run);
  const std::vector<schedule::TaskId> copies = copies_to_host(run.schedule);
  experiment::Trace trace;
  trace.parts = static_cast<int>(parts);
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<bool> timed(run.schedule.tasks.size(), true);
    for (std::size_t i = 0; i < copies.size(); ++i) timed[copies[i]] = i % parts == part;
    timeline::Timeline traced = trace_once(timed);
    const double perturbation = traced.complete_s / scored.median - 1;
    if (std::abs(perturbation) > std::abs(trace.perturbation)) trace.perturbation = perturbation;
    if (part == 0) {
      trace.timeline = std::move(traced);
      continue;
    }
    const std::vector<double> first = inputs_s(run.schedule, trace.timeline);
    const std::vector<double> own = inputs_s(run.schedule, traced);
    for (const schedule::TaskId id : copies) {
      if (!timed[id]) continue;
      timeline::Span span = traced.spans[id];
      span.start_s += first[id] - own[id];
      span.stop_s += first[id] - own[id];
      trace.timeline.spans[id] = span;
      trace.timeline.complete_s = std::max(trace.timeline.complete_s, span.stop_s);
    }
  }
  const double spread = (scored.hi - scored.lo) / 2 / scored.median;
  trace.doubtful = std::abs(trace.perturbation) > std::max(doubtful_perturbation, spread) ||
                   (parts > 1 && !fit_copies(run.schedule, trace.timeline));
  return trace;
}

}  // namespace

std::vector<double> inputs_s(const schedule::Schedule& schedule,
                             const timeline::Timeline& timeline) {
  using schedule::Stage;
  std::vector<std::optional<schedule::TaskId>> last(static_cast<std::size_t>(schedule.lanes));
  std::vector<double> inputs(schedule.tasks.size());
  for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    if (schedule::on_host(task.stage)) continue;  // not in a lane
    std::vector<schedule::TaskId> before = task.after;
    auto& lane = last[static_cast<std::size_t>(task.lane)];
    if (lane) before.push_back(*lane);
    lane = id;
    for (const schedule::TaskId other : before) {
      const Stage stage = schedule.tasks[other].stage;
      if (task.stage != Stage::d2h || stage == Stage::d2h || schedule::on_host(stage)) continue;
      inputs[id] = std::max(inputs[id], timeline.spans[other].stop_s);
    }
  }
  return inputs;
}

bool fit_copies(const schedule::Schedule& schedule, timeline::Timeline& timeline) {
  std::vector<timeline::Span*> copies;
  for (const auto id : copies_to_host(schedule)) copies.push_back(&timeline.spans[id]);
  std::ranges::sort(copies, {}, &timeline::Span::start_s);
  constexpr double little = 0.5;
  double free_s = 0;
  for (timeline::Span* span : copies) {
    if (free_s - span->start_s > little * (span->stop_s - span->start_s)) return false;
    span->start_s = std::max(span->start_s, free_s);
    free_s = span->stop_s;
  }
  return true;
}

void align_clocks(const schedule::Schedule& schedule, timeline::Timeline& timeline) {
  double ahead_s = 0;
  const auto each_span = [&](const auto& change) {
    for (schedule::TaskId id = 0; id < timeline.spans.size(); ++id) {
      if (!schedule::on_host(schedule.tasks[id].stage)) change(timeline.spans[id]);
    }
  };
  each_span([&](const timeline::Span& span) {
    ahead_s = std::max(ahead_s, span.stop_s - timeline.complete_s);
  });
  each_span([&](timeline::Span& span) {
    span.start_s = std::max(0.0, span.start_s - ahead_s);
    span.stop_s = std::max(0.0, span.stop_s - ahead_s);
  });
}

experiment::Trace trace_in_turns(const experiment::Run& run, bool selective,
                                 const TraceOnce& trace_once) {
  experiment::Trace trace = trace_in_parts(run, 1, trace_once);
  if (!selective || !trace.doubtful || trace.perturbation <= 0) return trace;
  const std::size_t most = std::min<std::size_t>(8, copies_to_host(run.schedule).size());
  for (std::size_t parts = 2; parts <= most; parts *= 2) {
    experiment::Trace turns = trace_in_parts(run, parts, trace_once);
    if (!turns.doubtful) return turns;
  }
  return trace;
}

void trace_run(Executor& executor, experiment::Run& run, const workload::Workload& workload,
               deck::Verify verify, int copy_engines, const std::function<void()>& step) {
  if (run.graph) {
    run.untraced = "its tasks are launched at once, as a graph";
    return;
  }
  const lanes::TraceSource source = executor.lanes().trace(true);
  if (source.name.empty()) return;
  // Returns the run with the median time. Data are prepared as for scored runs.
  const auto once = [&](const std::vector<bool>& timed) {
    constexpr double long_s = 0.2;
    std::uint32_t repetition = 0;
    const int samples = experiment::time_s(run).median < long_s ? 5 : 1;
    auto timelines = sample({.samples = samples, .step = step}, [&] {
      if (verify == deck::Verify::every) {
        reset(executor.lanes().instance(0), workload, repetition++);
      }
      return executor.run_traced(run.schedule, workload, copy_engines, timed);
    });
    const auto median = timelines.begin() + samples / 2;
    std::ranges::nth_element(timelines, median, {}, &timeline::Timeline::complete_s);
    return std::move(*median);
  };
  try {
    run.trace = trace_in_turns(run, source.selective, once);
    run.trace->source = source.name;
  } catch (const lanes::TraceLost& error) {
    run.untraced = error.what();
  }
  executor.lanes().trace(false);
}

}  // namespace overlap::measure
