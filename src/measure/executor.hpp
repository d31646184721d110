#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lanes/lanes.hpp"

namespace overlap::measure {

class HostWorker;

/// Wall-clock seconds from before the first issue.
struct Elapsed {
  double issued_s = 0;     ///< until the host had issued all but its own work at the end
  double host_work_s = 0;  ///< that it spent on its own work
  double complete_s = 0;   ///< until it had seen the last lane complete
  std::int64_t polls = 0;  ///< of lanes by the waiting host
};

/// Runs schedules on lanes that are made once, for the longest schedule.
class Executor {
 public:
  /// With the back end's own lanes.
  explicit Executor(int lanes, const deck::Issue& options = {}, const deck::Memory& memory = {},
                    workload::SpaceId space = workload::default_space)
      : Executor(lanes::make_lanes(space, lanes, options, memory)) {}
  explicit Executor(std::unique_ptr<lanes::Lanes> lanes) : lanes_(std::move(lanes)) {}

  /// Does the host work of all but custom workloads; null: there is none. It must outlive the runs.
  void set_host_worker(HostWorker* worker) { host_worker_ = worker; }
  HostWorker* host_worker() const { return host_worker_; }

  /// Issues the schedule and waits for its lanes. No fence of the whole device takes part.
  /// `before_start` is called when all is ready, before time counts; it may be empty. Throws
  /// base::Error{runtime_error} with the task and its lane; the lanes are idle then.
  Elapsed run(const schedule::Schedule& schedule, const workload::Workload& workload,
              const std::function<void()>& before_start = {});

  lanes::Lanes& lanes() const { return *lanes_; }

  /// run() with the times of tasks, on engines as named; while lanes().trace(true). A
  /// selective source leaves out tasks that are not `timed`, where it is given.
  timeline::Timeline run_traced(const schedule::Schedule& schedule,
                                const workload::Workload& workload,
                                const timeline::Engines& engines, std::vector<bool> timed = {});

 private:
  std::unique_ptr<lanes::Lanes> lanes_;
  HostWorker* host_worker_ = nullptr;
};

}  // namespace overlap::measure
