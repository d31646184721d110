#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.hpp"
#include "executor/detail/make_lanes.hpp"
#include "executor/detail/range.hpp"
#include "executor/host_work.hpp"
#include "workload/custom.hpp"

namespace overlap::executor {

/// Wall-clock seconds from before the first issue.
struct Elapsed {
  double issued_s = 0;     ///< until the host had issued all but its own work at the end
  double host_work_s = 0;  ///< that it spent on its own work
  double complete_s = 0;   ///< until it had seen the last lane complete
  std::int64_t polls = 0;  ///< of lanes by the waiting host
};

/// Runs schedules on lanes that are made once, for the longest schedule.
template <class Space>
class Executor {
 public:
  /// With the back end's own lanes.
  explicit Executor(int lanes, const deck::Issue& options = {}, const deck::Memory& memory = {})
      : Executor(detail::make_lanes<Space>(lanes, options, memory)) {}
  explicit Executor(std::unique_ptr<detail::Lanes<Space>> lanes) : lanes_(std::move(lanes)) {}

  /// What schedules of other than custom workloads mean by host work; null: nothing. It must
  /// outlive the runs.
  void set_host_work(HostWork* work) { host_work_ = work; }
  HostWork* host_work() const { return host_work_; }

  /// Issues the schedule and waits for its lanes. No fence of the whole device takes part.
  /// Throws base::Error{runtime_error} naming the task and its lane; the lanes are idle then.
  Elapsed run(const schedule::Schedule& schedule, const workload::Workload<Space>& workload) {
    lanes_->bind(schedule, workload);
    return issue_all(schedule, workload);
  }

  /// What making the graph of the schedule that ran last took; empty: it has none.
  std::optional<timeline::GraphCosts> graph_costs() const { return lanes_->graph_costs(); }

  /// What the staging ring did in the run before; empty: there is none.
  std::optional<timeline::StagingCosts> staging_costs() const { return lanes_->staging_costs(); }

  /// Whether run_traced() is to be used from now on. Returns what takes the times of tasks.
  detail::TraceSource trace(bool on) { return lanes_->trace(on); }

  /// run() with the times of tasks, whose engines the caller names; between trace(true) and
  /// trace(false). A selective source leaves out tasks that are not `timed`, where it is given.
  timeline::Timeline run_traced(const schedule::Schedule& schedule,
                                const workload::Workload<Space>& workload,
                                const timeline::Engines& engines, std::vector<bool> timed = {}) {
    timeline::Timeline traced;
    traced.engines = engines.names();
    traced.spans.resize(schedule.tasks.size());
    lanes_->bind(schedule, workload);
    timed.resize(schedule.tasks.size(), true);
    const Elapsed elapsed = issue_all(schedule, workload, &traced.spans, timed);
    lanes_->collect(traced.spans);
    for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
      traced.spans[id].engine = engines.of(schedule.tasks[id]);
    }
    traced.issued_s = elapsed.issued_s;
    traced.complete_s = elapsed.complete_s;
    return traced;
  }

  /// An instance for work outside the timed region, when nothing runs.
  const Space& instance() const { return lanes_->instance(0); }

 private:
  /// Issues the schedule and waits for its lanes. A traced run has `spans`, in which the times of
  /// what the host does itself are noted, and which tasks are `timed`.
  Elapsed issue_all(const schedule::Schedule& schedule, const workload::Workload<Space>& workload,
                    std::vector<timeline::Span>* spans = nullptr,
                    const std::vector<bool>& timed = {}) {
    const auto& tasks = schedule.tasks;
    const auto last = std::find_if(tasks.rbegin(), tasks.rend(), [](const schedule::Task& task) {
      return task.stage != schedule::Stage::host;
    });
    const auto issued = static_cast<schedule::TaskId>(tasks.rend() - last);  // the host's own left
    const auto start = spans == nullptr ? detail::Clock::now() : lanes_->mark(timed);
    const auto since_start = [&] {
      return std::chrono::duration<double>(detail::Clock::now() - start).count();
    };
    Elapsed elapsed;
    try {
      const bool launched = spans == nullptr && lanes_->launch();
      const auto issue = [&](schedule::TaskId id) {
        const schedule::Task& task = tasks[id];
        const detail::Range range(
            schedule.names.empty() ? schedule::to_string(task.stage) : schedule.names[id].c_str(),
            task.chunk);
        const bool noted = spans != nullptr && schedule::on_host(task.stage);
        if (noted) (*spans)[id].start_s = since_start();
        if (task.stage == schedule::Stage::host) {
          for (const schedule::TaskId other : task.after) lanes_->wait(schedule.tasks[other].lane);
          const double begin_s = since_start();
          if (const auto tile = schedule::product(schedule, task, schedule::Access::Side::host)) {
            workload.compute_on_host({.product = tile});
          } else {
            work(schedule, task, workload.host_steps_per_s);
            elapsed.host_work_s += since_start() - begin_s;
          }
        } else if (task.stage == schedule::Stage::query) {
          lanes_->query(task.lane);
        } else if (task.stage == schedule::Stage::disturbance) {
          lanes_->disturb(task);
        } else {
          lanes_->issue(id);
          if (task.blocking) lanes_->wait(task.lane);
        }
        if (noted) (*spans)[id].stop_s = since_start();
      };
      for (schedule::TaskId id = launched ? issued : 0; id < issued; ++id) issue(id);
      elapsed.issued_s = since_start();
      for (schedule::TaskId id = issued; id < tasks.size(); ++id) issue(id);
      for (int lane = 0; lane < schedule.lanes; ++lane) {
        const detail::Range range("wait", lane);
        lanes_->wait(lane);
      }
      elapsed.complete_s = since_start();
      elapsed.polls = lanes_->polls();
    } catch (const base::Error& error) {
      // What failed first tells more; that the device is lost must not be forgotten over it.
      if (drain(schedule.lanes)) throw DeviceLost(error.code(), error.what());
      throw;
    }
    return elapsed;
  }

  /// Does a chunk's part of the host's work or, in a custom workload, keeps the issuing thread
  /// busy.
  void work(const schedule::Schedule& schedule, const schedule::Task& task, double steps_per_s) {
    if (host_work_ != nullptr) {
      const auto pieces = host_work_->pieces() / schedule.chunks;
      host_work_->run(task.chunk * pieces, (task.chunk + 1) * pieces);
      return;
    }
    const auto steps = static_cast<std::int64_t>(task.duration_s * steps_per_s);
    [[maybe_unused]] const volatile std::uint32_t end = workload::custom::chain(steps);
  }

  /// Waits for every lane, whatever else fails: the first error is already on its way. Returns
  /// whether the device is lost.
  bool drain(int lanes) {
    bool lost = false;
    for (int lane = 0; lane < lanes; ++lane) {
      try {
        lanes_->wait(lane);
      } catch (const DeviceLost&) {
        lost = true;
      } catch (const base::Error&) {
        continue;
      }
    }
    return lost;
  }

  std::unique_ptr<detail::Lanes<Space>> lanes_;
  HostWork* host_work_ = nullptr;
};

}  // namespace overlap::executor
