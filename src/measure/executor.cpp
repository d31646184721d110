#include "measure/executor.hpp"

#include <algorithm>

#include "lanes/range.hpp"
#include "measure/host_worker.hpp"
#include "workload/arithmetic.hpp"

namespace overlap::measure {

/// A run that is being issued.
struct Executor::Issue {
  const schedule::Schedule& schedule;
  const workload::Workload& workload;
  std::vector<timeline::Span>* spans =
      nullptr;  ///< of a traced run: notes what the host does itself
  lanes::Clock::time_point start = {};
  Elapsed elapsed = {};

  double since_start() const { return lanes::seconds_since(start); }
};

Elapsed Executor::run(const schedule::Schedule& schedule, const workload::Workload& workload,
                      const std::function<void()>& before_start) {
  lanes_->bind(schedule, workload);
  if (before_start) before_start();
  Issue run{.schedule = schedule, .workload = workload, .start = lanes::Clock::now()};
  return issue_all(run);
}

timeline::Timeline Executor::run_traced(const schedule::Schedule& schedule,
                                        const workload::Workload& workload,
                                        const timeline::Engines& engines, std::vector<bool> timed) {
  timeline::Timeline traced;
  traced.engines = engines.names();
  traced.spans.resize(schedule.tasks.size());
  lanes_->bind(schedule, workload);
  timed.resize(schedule.tasks.size(), true);
  Issue run{.schedule = schedule,
            .workload = workload,
            .spans = &traced.spans,
            .start = lanes_->mark(timed)};
  const Elapsed elapsed = issue_all(run);
  lanes_->collect(traced.spans);
  for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
    traced.spans[id].engine = engines.of(schedule.tasks[id]);
  }
  traced.issued_s = elapsed.issued_s;
  traced.complete_s = elapsed.complete_s;
  return traced;
}

/// Issues the schedule and waits for its lanes.
Elapsed Executor::issue_all(Issue& run) {
  const auto& tasks = run.schedule.tasks;
  const auto last = std::find_if(tasks.rbegin(), tasks.rend(), [](const schedule::Task& task) {
    return task.stage != schedule::Stage::host;
  });
  const auto issued = static_cast<schedule::TaskId>(tasks.rend() - last);  // the host's own left
  try {
    const bool launched = run.spans == nullptr && lanes_->launch();
    for (schedule::TaskId id = launched ? issued : 0; id < issued; ++id) issue(run, id);
    run.elapsed.issued_s = run.since_start();
    for (schedule::TaskId id = issued; id < tasks.size(); ++id) issue(run, id);
    for (int lane = 0; lane < run.schedule.lanes; ++lane) {
      const lanes::Range range("wait", lane);
      lanes_->wait(lane);
    }
    run.elapsed.complete_s = run.since_start();
    run.elapsed.polls = lanes_->polls();
  } catch (const base::Error& error) {
    // The first failure says more, but that the device is lost must not be forgotten over it.
    if (drain(run.schedule.lanes)) throw lanes::DeviceLost(error.code(), error.what());
    throw;
  }
  return run.elapsed;
}

void Executor::issue(Issue& run, schedule::TaskId id) {
  const schedule::Task& task = run.schedule.tasks[id];
  const auto& names = run.schedule.names;
  const lanes::Range range(names.empty() ? schedule::to_string(task.stage) : names[id].c_str(),
                           task.chunk);
  const bool noted = run.spans != nullptr && schedule::on_host(task.stage);
  if (noted) (*run.spans)[id].start_s = run.since_start();
  switch (task.stage) {
    case schedule::Stage::host:
      for (const schedule::TaskId other : task.after) {
        lanes_->wait(run.schedule.tasks[other].lane);
      }
      work(run, task);
      break;
    case schedule::Stage::query:
      lanes_->query(task.lane);
      break;
    case schedule::Stage::disturbance:
      lanes_->disturb(task);
      break;
    default:
      lanes_->issue(id);
      if (task.blocking) lanes_->wait(task.lane);
  }
  if (noted) (*run.spans)[id].stop_s = run.since_start();
}

/// Computes a tile of a product, does a chunk's part of the host's work or, in a custom workload,
/// keeps the issuing thread busy.
void Executor::work(Issue& run, const schedule::Task& task) {
  if (const auto tile = schedule::product(run.schedule, task, schedule::Access::Side::host)) {
    return run.workload.compute_on_host({.product = tile});
  }
  const double begin_s = run.since_start();
  if (host_worker_ != nullptr) {
    const std::int64_t pieces = host_worker_->pieces() / run.schedule.chunks;
    host_worker_->run(task.chunk * pieces, (task.chunk + 1) * pieces);
  } else {
    const auto steps = static_cast<std::int64_t>(task.duration_s * run.workload.host_steps_per_s);
    [[maybe_unused]] const volatile std::uint32_t end = workload::chain(steps);
  }
  run.elapsed.host_work_s += run.since_start() - begin_s;
}

/// Waits for every lane, whatever else fails: the first error is already on its way. Returns
/// whether the device is lost.
bool Executor::drain(int lanes) {
  bool lost = false;
  for (int lane = 0; lane < lanes; ++lane) {
    try {
      lanes_->wait(lane);
    } catch (const lanes::DeviceLost&) {
      lost = true;
    } catch (const base::Error&) {
      continue;
    }
  }
  return lost;
}

}  // namespace overlap::measure
