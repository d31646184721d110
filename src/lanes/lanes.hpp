#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "experiment/run.hpp"
#include "workload/workload.hpp"

/// Where tasks run.
namespace overlap::lanes {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The device is in a state from which this process cannot recover it: nothing on it can be freed
/// or finalized any more.
struct DeviceLost : base::Error {
  explicit DeviceLost(const base::Error& error) : base::Error(error) {}
};

/// What takes the times of tasks lost one of them.
struct TraceLost : base::Error {
  using base::Error::Error;
};

/// What takes the times of tasks.
struct TraceSource {
  std::string name;        ///< for people to read; empty: these lanes take no times
  bool selective = false;  ///< tasks can be left out, and then take no longer than untraced
};

/// A back end's lanes: a fixed number of instances of a space that run tasks in the order in which
/// each was given them. The one virtual interface of the program.
class Lanes {
 public:
  virtual ~Lanes() = default;

  /// Makes ready for a schedule (events, queues); outside the timed region. Both arguments must
  /// outlive the run.
  virtual void bind(const schedule::Schedule& schedule, const workload::Workload& workload) = 0;

  /// Issues the whole schedule at once, where lanes and schedule allow it; returns whether it did.
  virtual bool launch() { return false; }

  /// Hands a task to its lane, to start when the tasks that it comes after are complete. Does not
  /// wait for it where the back end can avoid that.
  virtual void issue(schedule::TaskId task) = 0;

  /// Blocks the host until all that was issued to the lane is complete; throws what failed in it.
  virtual void wait(int lane) = 0;

  /// Whether all that was issued to the lane is known to be complete; never waits. What failed
  /// there is left to wait().
  virtual bool query(int lane) = 0;

  /// Makes a call that a deck puts between the tasks.
  virtual void disturb(const schedule::Task& task);

  /// How often the host has asked for a lane's state since bind(), while it waited.
  virtual std::int64_t polls() const { return 0; }

  /// What making the bound schedule's graph took; empty: it has none.
  virtual std::optional<experiment::GraphCosts> graph_costs() const { return std::nullopt; }

  /// What the staging ring's threads have done since bind(); empty: there is none.
  virtual std::optional<experiment::StagingCosts> staging_costs() const { return std::nullopt; }

  /// Takes the times of tasks from the next bind() on, or no longer.
  virtual TraceSource trace(bool /*on*/) { return {}; }

  /// A traced run begins: its times count from here, which is returned on the host's clock. A
  /// selective source leaves out the tasks that are not `timed`.
  virtual Clock::time_point mark(const std::vector<bool>& /*timed*/) { return Clock::now(); }

  /// Start and stop of every timed task that lanes of the last traced run executed, seconds from
  /// mark(). Throws TraceLost.
  virtual void collect(std::vector<timeline::Span>& /*spans*/) {}

  /// An instance for work outside the timed region.
  virtual workload::InstanceRef instance(int lane) const = 0;
};

/// The lanes that suit the space: streams where there is an API for them, worker threads on Serial
/// and OpenMP, instances and fences elsewhere and for the mechanism `portable`. Throws
/// base::Error{skipped} for options that the space does not have.
std::unique_ptr<Lanes> make_lanes(workload::SpaceId space, int lanes,
                                  const deck::Issue& options = {}, const deck::Memory& memory = {});

/// What failed in a lane, with the task named; of a longer text the first line.
base::Error lane_error(const schedule::Schedule& schedule, schedule::TaskId task,
                       const std::string& what);

}  // namespace overlap::lanes
