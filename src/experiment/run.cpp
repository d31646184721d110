#include "experiment/run.hpp"

#include <algorithm>

namespace overlap::experiment {
namespace {

results::Timeline timeline_of(const schedule::Schedule& schedule,
                              const timeline::Timeline& timeline) {
  results::Timeline tasks;
  for (schedule::TaskId id = 0; id < timeline.spans.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const timeline::Span& span = timeline.spans[id];
    const schedule::Array* const array = schedule::copied_array(schedule, task);
    results::Task& entry = tasks.emplace_back();
    entry.task = id;
    if (!schedule.names.empty()) entry.name = schedule.names[id];
    entry.stage = task.stage;
    entry.chunk = task.chunk;
    entry.lane = task.lane;
    entry.engine = timeline.engines[static_cast<std::size_t>(span.engine)];
    entry.start_s = span.start_s;
    entry.stop_s = span.stop_s;
    entry.bytes = static_cast<std::int64_t>(task.bytes);
    if (array != nullptr) entry.array = array->name;
    entry.after.assign(task.after.begin(), task.after.end());
    entry.blocking = task.blocking;
  }
  return tasks;
}

}  // namespace

void set_schedule(Case& planned, schedule::Schedule schedule) {
  const schedule::Traffic traffic = schedule::traffic(schedule);
  planned.tasks = static_cast<std::int64_t>(schedule.tasks.size());
  planned.chunks = schedule.chunks;
  planned.lanes = schedule.lanes;
  planned.slots = schedule.slots;
  planned.h2d_bytes = static_cast<std::int64_t>(traffic.h2d);
  planned.d2h_bytes = static_cast<std::int64_t>(traffic.d2h);
  planned.transfer = schedule.transfer;
  planned.mechanism = schedule.mechanism;
  planned.product.reset();
  if (const double flops = product_flops(schedule); flops > 0) {
    planned.product = results::Product{.flops = flops, .host_tiles = host_tiles(schedule)};
  }
  planned.schedule = std::move(schedule);
}

results::Run finished(const Run& run, bool swept) {
  results::Run result = run;
  result.issue = base::summary_if_any(run.issue_s);
  if (result.product && run.ran()) {
    std::vector<double> rates;
    for (const double time_s : run.samples_s) rates.push_back(result.product->flops / time_s);
    result.product->flops_per_s = base::summarize(rates);
  }
  if (run.traced) result.timeline = timeline_of(run.schedule, *run.traced);
  if (run.prediction && !swept) {
    result.predicted_timeline = timeline_of(run.schedule, *run.prediction);
  }
  result.verified = run.verified && !run.wrong;
  if (result.verified) {
    result.metrics[static_cast<std::size_t>(deck::Metric::max_error)] =
        base::summarize({run.max_error});
  }
  return result;
}

double product_flops(const schedule::Schedule& schedule) {
  double flops = 0;
  for (const schedule::Task& task : schedule.tasks) {
    if (schedule.tiling && !schedule::is_copy(task.stage)) flops += task.flops;
  }
  return flops;
}

int host_tiles(const schedule::Schedule& schedule) {
  return static_cast<int>(
      std::count_if(schedule.tasks.begin(), schedule.tasks.end(), [](const schedule::Task& task) {
        return task.stage == schedule::Stage::host && !task.operands.empty();
      }));
}

}  // namespace overlap::experiment
