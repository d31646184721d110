#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "experiment/run.hpp"
#include "lanes/device_lost.hpp"
#include "workload/workload.hpp"

/// Lanes: where tasks run.
namespace overlap::lanes {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The trace source lost the times of a task.
struct TraceLost : base::Error {
  using base::Error::Error;
};

/// Implementation of strided copies: the native call of the back end if available, or Kokkos.
enum class CopyCalls { native, kokkos };

/// The lanes of a back end: a fixed number of execution-space instances, each of which runs its
/// tasks in issue order. Several threads may issue and wait at once, each for lanes of its own;
/// bind() and the rest belong to one. The only virtual interface of the program.
class Lanes {
 public:
  virtual ~Lanes() = default;

  /// Prepares for a schedule (events, queues), outside the timed region. Both arguments must
  /// outlive the run.
  virtual void bind(const schedule::Schedule& schedule, const workload::Workload& workload) {
    schedule_ = &schedule;
    workload_ = &workload;
  }

  /// Prepares a further thread to issue.
  virtual void attach_thread() {}

  /// Issues all device tasks at once, if lanes and schedule support it; returns whether it did.
  virtual bool launch_graph() { return false; }

  /// Issues a task to its lane; it starts after the tasks in `after` are complete. Does not block
  /// if the back end can avoid it.
  virtual void issue(schedule::TaskId task) = 0;

  /// Blocks the host until all tasks issued to the lane are complete. Throws base::Error if one
  /// failed, DeviceLost if the device is unusable.
  virtual void wait(int lane) = 0;

  /// Whether all tasks issued to the lane are known to be complete. Never blocks; errors are left
  /// to wait().
  virtual bool query(int lane) = 0;

  /// Executes a disturbance. Throws base::Error{skipped} on lanes without streams.
  virtual void disturb(const schedule::Task& task);

  /// Number of queries of lanes by the waiting host since bind().
  virtual std::int64_t polls() const { return 0; }

  /// Cost of creating the graph of the bound schedule; empty: no graph.
  virtual std::optional<experiment::GraphCosts> graph_costs() const { return std::nullopt; }

  /// Enables or disables timing of tasks from the next bind() on. Returns the source of the times,
  /// for the report; empty: these lanes cannot time tasks.
  virtual std::string trace(bool /*on*/) { return {}; }

  /// Starts a traced run. Returns the origin of its times on the host clock.
  virtual Clock::time_point mark() { return Clock::now(); }

  /// Sets start and stop of all tasks of the last traced run, in seconds since mark(). Throws
  /// TraceLost.
  virtual void collect(std::vector<timeline::Span>& /*spans*/) {}

  /// The instance of a lane, for work outside the timed region.
  virtual const workload::Space& instance(int lane) const = 0;

 protected:
  /// Enqueues a copy or kernel of the bound schedule on the instance of its lane:
  /// Kokkos::deep_copy, a copy around Kokkos, or the launch of the workload.
  void perform(schedule::TaskId task, CopyCalls copies = CopyCalls::native) const;

  const schedule::Schedule* schedule_ = nullptr;  ///< bound
  const workload::Workload* workload_ = nullptr;
};

/// Creates the lanes of this build: streams if the space has a stream API, worker threads on Serial
/// and OpenMP, otherwise, and for the mechanism `portable`, instances and fences. Throws
/// base::Error{skipped} for options that the space does not support, base::Error{precondition} if
/// memory is short.
std::unique_ptr<Lanes> make_lanes(int lanes, const deck::Issue& options = {},
                                  const deck::Memory& memory = {});

/// The lanes of host_lanes.cpp; with `poll` the waiting host polls instead of sleeping.
std::unique_ptr<Lanes> make_host_lanes(int lanes, bool poll);
/// The lanes of fenced_lanes.cpp, for so many issuing threads.
std::unique_ptr<Lanes> make_fenced_lanes(int lanes, int threads);

/// Whether several threads of a host can use instances of the space at the same time.
inline constexpr bool has_concurrent_instances =
    workload::is_serial || workload::is_open_mp<workload::Space>;
/// An instance that shares no thread with those of the other lanes, if has_concurrent_instances.
workload::Space lane_instance(int lanes);

/// Throws base::Error{skipped} for options of the deck that the space does not support.
void require_options(const deck::Deck& deck);

/// Tasks that a host space runs at once in separate lanes: as many as it has threads, on Serial,
/// whose lanes bring their own, as many as there are cores.
int max_concurrent_lanes();

/// A runtime error that names the order and the task.
base::Error lane_error(const schedule::Schedule& schedule, schedule::TaskId task,
                       const std::string& reason);

// Work on an instance.

/// Enqueues a copy between a region of a host array and contiguous bytes of the device array from
/// `device_offset` on, without a fence. Contiguous bytes, and with CopyCalls::kokkos on a GPU all
/// regions, are copied by the workload with Kokkos::deep_copy. A native strided copy is one call on
/// a GPU, executed by copy engines; on a host, one kernel.
void copy(const workload::Space& instance, const workload::Workload& workload, std::size_t array,
          bool to_device, const schedule::Region& region, std::size_t device_offset,
          CopyCalls copies = CopyCalls::native);

/// Waits for the work of an instance, as its fence does, which on a lost device (up to 5.2) prints
/// a stack trace and aborts. Throws DeviceLost.
void wait_for(const workload::Space& instance, const std::string& label);

}  // namespace overlap::lanes
