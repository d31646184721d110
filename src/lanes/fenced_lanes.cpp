#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <vector>

#include "lanes/api.hpp"
#include "lanes/lanes.hpp"
#include "lanes/stream_trace.hpp"

namespace overlap::lanes {
namespace {

using workload::Space;

#if defined(OVERLAP_GPU)
using Trace = StreamTrace<Api>;
#else
/// Kokkos does not time tasks.
struct Trace {
  void bind(const schedule::Schedule&) {}
  std::string turn(bool) { return {}; }
  Clock::time_point mark(const Space&) { return Clock::now(); }
  void begin(schedule::TaskId, const Space&) {}
  void end(schedule::TaskId, const Space&) {}
  void collect(std::vector<timeline::Span>&) {}
};
#endif

/// Lanes for any Kokkos space that use instances, deep_copy and fences only. A task that depends on
/// another lane is issued after the host has fenced that lane. Always correct; as asynchronous as
/// the space.
class FencedLanes final : public Lanes {
 public:
  FencedLanes(int lanes, int threads)
      : instances_(instances(lanes, threads)),
        issued_(static_cast<std::size_t>(lanes)),
        complete_(issued_.size()) {}

#if defined(OVERLAP_GPU)
  void attach_thread() override { Api::set_device(device_); }
#endif

  const Space& instance(int lane) const override {
    return instances_[static_cast<std::size_t>(lane) % instances_.size()];
  }

  void bind(const schedule::Schedule& schedule, const workload::Workload& workload) override {
    Lanes::bind(schedule, workload);
    for (auto& issued : issued_) issued = 0;
    for (auto& complete : complete_) complete = 0;
    trace_.bind(schedule);
  }

  std::string trace(bool on) override { return trace_.turn(on); }
  Clock::time_point mark() override { return trace_.mark(instance(0)); }
  void collect(std::vector<timeline::Span>& spans) override { trace_.collect(spans); }

  void issue(schedule::TaskId id) override {
    const schedule::Task& task = schedule_->tasks[id];
    for (const schedule::TaskId other : task.after) {
      const int lane = schedule_->tasks[other].lane;
      if (other >= complete_[static_cast<std::size_t>(lane)]) wait(lane);
    }
    std::atomic<schedule::TaskId>& issued = issued_[static_cast<std::size_t>(task.lane)];
    try {
      trace_.begin(id, instance(task.lane));
      perform(id, CopyCalls::kokkos);
      trace_.end(id, instance(task.lane));
      issued = id + 1;  // only now: other threads fence what is issued
    } catch (const std::exception& error) {
      issued = id + 1;
      throw lane_error(*schedule_, id, base::error_of(error).what());
    }
  }

  void wait(int lane) override {
    if (query(lane)) return;
    const schedule::TaskId issued = issued_[static_cast<std::size_t>(lane)];
    try {
      instance(lane).fence("overlap::wait");
    } catch (const std::exception& error) {
      throw lane_error(*schedule_, issued - 1, base::error_of(error).what());
    }
    complete_[static_cast<std::size_t>(lane)] = issued;
  }

  /// Spaces have no query: returns what the last wait has established.
  bool query(int lane) override {
    const auto index = static_cast<std::size_t>(lane);
    return issued_[index] == complete_[index];
  }

 private:
  /// Of one thread at most as many as the space has threads, because some Kokkos versions cannot
  /// partition it further. Threads of a host need instances that do not lock each other.
  static std::vector<Space> instances(int lanes, int threads) {
    if (threads > 1 && has_concurrent_instances) {
      std::vector<Space> result;
      while (std::ssize(result) < lanes) result.push_back(lane_instance(lanes));
      return result;
    }
    const auto count = static_cast<std::size_t>(std::min(lanes, Space().concurrency()));
    return Kokkos::Experimental::partition_space(Space(), std::vector<int>(count, 1));
  }

  std::vector<Space> instances_;
  /// Per lane: one past the last task issued, and one past the last task seen complete.
  std::vector<std::atomic<schedule::TaskId>> issued_, complete_;
  Trace trace_;
#if defined(OVERLAP_GPU)
  int device_ = Api::device();
#endif
};

}  // namespace

std::unique_ptr<Lanes> make_fenced_lanes(int lanes, int threads) {
  return std::make_unique<FencedLanes>(lanes, threads);
}

}  // namespace overlap::lanes
