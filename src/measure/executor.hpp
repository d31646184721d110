#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "lanes/lanes.hpp"

namespace overlap::measure {

class HostWorker;

/// Wall-clock times since the start of the first issue, seconds.
struct Elapsed {
  double issued_s = 0;     ///< until the host has issued everything, excluding final host work
  double host_work_s = 0;  ///< spent on host work
  double complete_s = 0;   ///< until the host has seen all lanes complete
  std::int64_t polls = 0;  ///< number of queries of lanes by the waiting host
};

/// Runs schedules on lanes that are created once, for the widest schedule.
class Executor {
 public:
  /// On the lanes of the back end.
  explicit Executor(int lanes, const deck::Issue& options = {}, const deck::Memory& memory = {},
                    workload::SpaceId space = workload::default_space)
      : Executor(lanes::make_lanes(space, lanes, options, memory), lanes) {}
  /// On these lanes, `count` in number.
  Executor(std::unique_ptr<lanes::Lanes> lanes, int count)
      : lanes_(std::move(lanes)), count_(count) {}

  /// Sets the executor of the deck's `host_work`; null: none. Must outlive the runs. Host tasks of
  /// products and task lists do not use it.
  void set_host_worker(HostWorker* worker) { host_worker_ = worker; }
  HostWorker* host_worker() const { return host_worker_; }

  /// Issues the schedule and waits for its lanes, without a device-wide fence unless issue.sync
  /// asks for one. Calls `before_start`, if set, when everything is ready and before time counts.
  /// With `lane_s` it polls all lanes in turn and notes when each was complete.
  /// Throws base::Error{runtime_error} with task and lane; the lanes are then idle. Throws
  /// lanes::DeviceLost, which keeps lanes and workload, if the device is lost. Throws
  /// std::logic_error if the schedule has more lanes.
  Elapsed run(const schedule::Schedule& schedule, const workload::Workload& workload,
              const std::function<void()>& before_start = {},
              std::vector<double>* lane_s = nullptr);

  lanes::Lanes& lanes() const { return *lanes_; }

  /// As run(), with the times of all tasks, on this many copy engines or on workers. Requires
  /// lanes().trace(true).
  timeline::Timeline run_traced(const schedule::Schedule& schedule,
                                const workload::Workload& workload, int copy_engines = 2);

 private:
  /// Returns body(), as run() describes its errors.
  template <class Body>
  auto guarded(const schedule::Schedule& schedule, const workload::Workload& workload,
               const Body& body);

  std::unique_ptr<lanes::Lanes> lanes_;
  int count_;
  HostWorker* host_worker_ = nullptr;
};

}  // namespace overlap::measure
