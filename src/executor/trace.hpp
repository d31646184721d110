#pragma once

#include <algorithm>
#include <vector>

#include "base/statistics.hpp"
#include "executor/executor.hpp"
#include "timeline/run.hpp"

namespace overlap::executor {

/// Beyond this part of the scored time a trace is doubtful, unless the scored times spread more.
inline constexpr double doubtful_perturbation = 0.02;

/// Traces a run a few times, in a pass of its own: the trace kept is that of the median time.
template <class Space>
std::optional<timeline::Trace> trace_run(Executor<Space>& executor, const timeline::Run& run,
                                         const workload::Workload<Space>& workload,
                                         const timeline::Engines& engines) {
  constexpr std::size_t repetitions = 5;
  std::vector<timeline::Timeline> timelines;
  for (std::size_t i = 0; i <= repetitions; ++i) {
    base::check_interrupt();
    auto traced = executor.trace(run.schedule, workload, engines);
    if (!traced) return std::nullopt;
    if (i > 0) timelines.push_back(std::move(*traced));  // the first warms up
  }
  std::sort(timelines.begin(), timelines.end(),
            [](const auto& a, const auto& b) { return a.complete_s < b.complete_s; });
  timeline::Trace trace;
  trace.timeline = std::move(timelines[repetitions / 2]);
  trace.source = executor.trace_source();
  const base::Summary scored = timeline::time_s(run);
  trace.perturbation = trace.timeline.complete_s / scored.median - 1;
  const double spread = (scored.hi - scored.lo) / 2 / scored.median;
  trace.doubtful = std::abs(trace.perturbation) > std::max(doubtful_perturbation, spread);
  return trace;
}

}  // namespace overlap::executor
