#include "measure/executor.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>

#include "lanes/perform.hpp"
#include "lanes/range.hpp"
#include "measure/host_worker.hpp"
#include "measure/measure.hpp"
#include "workload/arithmetic.hpp"

namespace overlap::measure {
namespace {

/// One run of a schedule.
struct IssuedRun {
  lanes::Lanes& lanes;
  HostWorker* host_worker;
  const schedule::Schedule& schedule;
  const workload::Workload& workload;
  lanes::Clock::time_point start;
  std::vector<timeline::Span>* spans;  ///< of a traced run: receives the times of host tasks
  std::vector<double>* lane_s = nullptr;
  Elapsed elapsed = {};

  double since_start() const { return lanes::seconds_since(start); }

  /// Issues the schedule and waits for its lanes.
  Elapsed run() {
    const auto& tasks = schedule.tasks;
    const auto last = std::find_if(tasks.rbegin(), tasks.rend(), [](const schedule::Task& task) {
      return task.stage != schedule::Stage::host;
    });
    const auto issued =
        static_cast<schedule::TaskId>(tasks.rend() - last);  // without final host work
    const bool launched = spans == nullptr && lanes.launch();
    for (schedule::TaskId id = launched ? issued : 0; id < issued; ++id) issue(id);
    elapsed.issued_s = since_start();
    for (schedule::TaskId id = issued; id < tasks.size(); ++id) issue(id);
    if (lane_s != nullptr) poll_lanes();
    for (int lane = 0; lane < schedule.lanes; ++lane) {
      const lanes::Range range("wait", lane);
      lanes.wait(lane);
    }
    elapsed.complete_s = since_start();
    elapsed.polls = lanes.polls();
    return elapsed;
  }

  void issue(schedule::TaskId id) {
    const schedule::Task& task = schedule.tasks[id];
    const auto& names = schedule.names;
    const lanes::Range range(names.empty() ? schedule::to_string(task.stage) : names[id].c_str(),
                             task.chunk);
    const bool noted = spans != nullptr && schedule::on_host(task.stage);
    if (noted) (*spans)[id].start_s = since_start();
    switch (task.stage) {
      case schedule::Stage::host:
        wait_for_lanes(task);
        work(task);
        break;
      case schedule::Stage::fence:
        wait_for_lanes(task);
        break;
      case schedule::Stage::query:
        lanes.query(task.lane);
        break;
      case schedule::Stage::disturbance:
        lanes.disturb(task);
        break;
      default:
        lanes.issue(id);
        if (task.blocking) lanes.wait(task.lane);
    }
    if (noted) (*spans)[id].stop_s = since_start();
  }

  void poll_lanes() {
    constexpr double longest_s = 10;  // a lane that failed is never complete: wait() says why
    lane_s->assign(static_cast<std::size_t>(schedule.lanes), longest_s);
    for (int left = schedule.lanes; left > 0 && since_start() < longest_s;
         std::this_thread::yield()) {
      for (int lane = 0; lane < schedule.lanes; ++lane) {
        double& time_s = (*lane_s)[static_cast<std::size_t>(lane)];
        if (time_s < longest_s || !lanes.query(lane)) continue;
        time_s = since_start();
        --left;
      }
    }
  }

  void wait_for_lanes(const schedule::Task& task) {
    for (const schedule::TaskId other : task.after) lanes.wait(schedule.tasks[other].lane);
  }

  /// Computes a tile of a product, or the host work of a chunk, or, in a custom workload, keeps the
  /// issuing thread busy.
  void work(const schedule::Task& task) {
    if (const auto tile = schedule::product(schedule, task)) {
      return workload.compute_on_host({.product = tile});
    }
    const double begin_s = since_start();
    if (host_worker != nullptr) {
      const std::int64_t pieces = host_worker->pieces() / schedule.chunks;
      host_worker->run(task.chunk * pieces, (task.chunk + 1) * pieces);
    } else {
      const auto steps = static_cast<std::int64_t>(task.duration_s * workload.host_steps_per_s);
      [[maybe_unused]] const volatile std::uint32_t end = workload::chain(steps);
    }
    elapsed.host_work_s += since_start() - begin_s;
  }
};

/// Waits for the first `count` lanes, ignoring errors because the first one is being reported.
/// Returns whether the device is lost, also where no lane has a task.
bool drain(lanes::Lanes& lanes, int count) {
  bool lost = false;
  const auto look = [&](const auto& wait) {
    try {
      wait();
    } catch (const base::Error& error) {
      lost = lost || dynamic_cast<const lanes::DeviceLost*>(&error) != nullptr;
    }
  };
  for (int lane = 0; lane < count; ++lane) look([&] { lanes.wait(lane); });
  look([&] { lanes::wait_for(lanes.instance(0), "drain"); });
  return lost;
}

}  // namespace

template <class Body>
auto Executor::guarded(const schedule::Schedule& schedule, const workload::Workload& workload,
                       const Body& body) {
  if (schedule.lanes > count_) {
    throw std::logic_error("a schedule of " + std::to_string(schedule.lanes) + " lanes on " +
                           std::to_string(count_));
  }
  try {
    return body();
  } catch (const std::exception& error) {
    if (!drain(*lanes_, schedule.lanes)) throw;
    lanes::DeviceLost lost(base::error_of(error));  // with the words of the first error
    lost.kept = {std::shared_ptr<const lanes::Lanes>(std::move(lanes_)),
                 std::make_shared<workload::Workload>(workload)};
    throw lost;
  }
}

Elapsed Executor::run(const schedule::Schedule& schedule, const workload::Workload& workload,
                      const std::function<void()>& before_start, std::vector<double>* lane_s) {
  return guarded(schedule, workload, [&] {
    lanes_->bind(schedule, workload);
    if (before_start) before_start();
    const auto start = lanes::Clock::now();
    return IssuedRun{*lanes_, host_worker_, schedule, workload, start, nullptr, lane_s}.run();
  });
}

timeline::Timeline Executor::run_traced(const schedule::Schedule& schedule,
                                        const workload::Workload& workload, int copy_engines) {
  const timeline::Engines engines = {
      .workers = workload::on_host(workload.space) ? schedule.lanes : 0,
      .copy_engines = copy_engines};
  timeline::Timeline traced;
  traced.engines = engines.names();
  traced.spans.resize(schedule.tasks.size());
  for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
    traced.spans[id].engine = engines.of(schedule.tasks[id]);
  }
  const Elapsed elapsed = guarded(schedule, workload, [&] {
    lanes_->bind(schedule, workload);
    const auto start = lanes_->mark();
    const Elapsed of_run =
        IssuedRun{*lanes_, host_worker_, schedule, workload, start, &traced.spans}.run();
    lanes_->collect(traced.spans);
    return of_run;
  });
  traced.issued_s = elapsed.issued_s;
  traced.complete_s = elapsed.complete_s;
  align_clocks(schedule, traced);
  return traced;
}

}  // namespace overlap::measure
