#include <algorithm>
#include <cmath>

#include "measure/measure.hpp"

namespace overlap::measure {
namespace {

/// A trace is doubtful beyond this relative perturbation, unless the scored times spread more.
constexpr double doubtful_perturbation = 0.02;

}  // namespace

void align_clocks(const schedule::Schedule& schedule, timeline::Timeline& timeline) {
  double ahead_s = 0;
  const auto for_device_spans = [&](const auto& change) {
    for (schedule::TaskId id = 0; id < timeline.spans.size(); ++id) {
      if (!schedule::on_host(schedule.tasks[id].stage)) change(timeline.spans[id]);
    }
  };
  for_device_spans([&](const timeline::Span& span) {
    ahead_s = std::max(ahead_s, span.stop_s - timeline.complete_s);
  });
  for_device_spans([&](timeline::Span& span) {
    span.start_s = std::max(0.0, span.start_s - ahead_s);
    span.stop_s = std::max(0.0, span.stop_s - ahead_s);
  });
}

void trace_run(Executor& executor, experiment::Case& traced, const workload::Workload& workload,
               deck::Verify verify, int copy_engines, const std::function<void()>& step) {
  results::Run& run = traced.run;
  if (run.graph) {
    run.untraced = "its tasks are launched at once, as a graph";
    return;
  }
  const std::string source = executor.lanes().trace(true);
  if (source.empty()) return;
  const base::Summary scored = results::time_s(run);
  constexpr double long_s = 0.2;
  const int samples = scored.median < long_s ? 5 : 1;
  std::uint32_t repetition = 0;
  try {
    auto timelines = sample({.samples = samples, .step = step}, [&] {
      // Data are prepared as for scored runs.
      if (verify == deck::Verify::every) {
        reset(executor.lanes().instance(0), workload, repetition++);
      }
      return executor.run_traced(traced.schedule, workload, copy_engines);
    });
    const auto median = timelines.begin() + samples / 2;
    std::ranges::nth_element(timelines, median, {}, &timeline::Timeline::complete_s);
    const double perturbation = median->complete_s / scored.median - 1;
    const double spread = (scored.hi - scored.lo) / 2 / scored.median;
    traced.traced = std::move(*median);
    run.trace = {.source = source,
                 .perturbation = perturbation,
                 .doubtful = std::abs(perturbation) > std::max(doubtful_perturbation, spread)};
  } catch (const lanes::TraceLost& error) {
    run.untraced = error.what();
  }
  executor.lanes().trace(false);
}

}  // namespace overlap::measure
