#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "lanes/lanes.hpp"

namespace overlap::measure {

class IssueThreads;

/// Wall-clock times since the start of the first issue, seconds.
struct Elapsed {
  double issued_s = 0;     ///< until all threads have issued everything, without final host work
  double host_work_s = 0;  ///< spent on host work
  double complete_s = 0;   ///< until the host has seen all lanes complete
  std::int64_t polls = 0;  ///< number of queries of lanes by the waiting host
  // On host back ends:
  double cpu_s = 0;     ///< CPU time of the process
  double wanted_s = 0;  ///< that workers with a task and issuing threads that compute have use for
};

/// Runs schedules on lanes that are created once, for the widest schedule.
class Executor {
 public:
  /// On the lanes of the back end.
  explicit Executor(int lanes, const deck::Issue& options = {}, const deck::Memory& memory = {})
      : Executor(lanes::make_lanes(lanes, options, memory), lanes, options.threads) {}
  /// On these lanes, `count` in number, with this many threads that can issue.
  Executor(std::unique_ptr<lanes::Lanes> lanes, int count, int threads = 1);

  /// Issues the schedule and waits for its lanes, without a device-wide fence unless issue.sync
  /// asks for one. The first run of several threads is issued by the caller alone: Kokkos prepares
  /// a kernel when it is first launched, which two threads must not do at once. Calls
  /// `before_start`, if set, when everything is ready and before time counts. With `lane_s` it
  /// polls all lanes in turn and notes when each was complete. With `spans` it sets the times of
  /// all tasks, which requires lanes().trace(true). Throws base::Error{runtime_error} with task and
  /// lane; the lanes are then idle. Throws lanes::DeviceLost if the device is lost, and
  /// std::logic_error if the schedule has more lanes or threads.
  Elapsed run(const schedule::Schedule& schedule, const workload::Workload& workload,
              const std::function<void()>& before_start = {}, std::vector<double>* lane_s = nullptr,
              std::vector<timeline::Span>* spans = nullptr);

  lanes::Lanes& lanes() const { return *lanes_; }

  /// As run(), with the times of all tasks, on this many copy engines or on workers.
  timeline::Timeline run_traced(const schedule::Schedule& schedule,
                                const workload::Workload& workload, int copy_engines = 2);

 private:
  std::unique_ptr<lanes::Lanes> lanes_;
  int count_;
  std::shared_ptr<IssueThreads> threads_;
  double cores_;       ///< that this process may use
  bool warm_ = false;  ///< one thread has issued the kernels
};

}  // namespace overlap::measure
