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
    results::TaskRecord& entry = tasks.emplace_back();
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
  results::Run& run = planned.run;
  run.tasks = static_cast<std::int64_t>(schedule.tasks.size());
  run.chunks = schedule.chunks;
  run.lanes = schedule.lanes;
  run.slots = schedule.slots;
  run.h2d_bytes = static_cast<std::int64_t>(traffic.h2d);
  run.d2h_bytes = static_cast<std::int64_t>(traffic.d2h);
  run.transfer = schedule.transfer;
  run.mechanism = schedule.mechanism;
  run.product.reset();
  if (const double flops = product_flops(schedule); flops > 0) {
    run.product = results::Product{.flops = flops, .host_tiles = host_tiles(schedule)};
  }
  planned.schedule = std::move(schedule);
}

results::Run finished(const Case& ended, bool swept) {
  results::Run result = ended.run;
  result.issue = base::summary_if_any(ended.issue_s);
  if (result.product && result.ran()) {
    std::vector<double> rates;
    for (const double time_s : result.samples_s) rates.push_back(result.product->flops / time_s);
    result.product->flops_per_s = base::summarize(rates);
  }
  if (ended.traced) result.timeline = timeline_of(ended.schedule, *ended.traced);
  if (ended.prediction && !swept) {
    result.predicted_timeline = timeline_of(ended.schedule, *ended.prediction);
  }
  result.verified = result.verified && !result.wrong;
  if (result.verified) {
    result.metrics[static_cast<std::size_t>(deck::Metric::max_error)] =
        base::summarize({ended.max_error});
  }
  return result;
}

results::Runs runs_of(const std::vector<Case>& cases) {
  results::Runs runs;
  for (const Case& one : cases) runs.push_back(&one.run);
  return runs;
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
