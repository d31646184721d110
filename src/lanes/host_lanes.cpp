#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lanes/lanes.hpp"

namespace overlap::lanes {
namespace {

using workload::Space;

#if defined(KOKKOS_ENABLE_SERIAL)
[[maybe_unused]] Kokkos::Serial part_of(const Kokkos::Serial&, int) {
  return Kokkos::Serial(Kokkos::NewInstance{});
}
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
// partition_space would return copies of the default instance if nested parallelism is off.
[[maybe_unused]] Kokkos::OpenMP part_of(const Kokkos::OpenMP& all, int parts) {
  return Kokkos::OpenMP(std::max(1, all.concurrency() / parts));
}
#endif
/// Other spaces have no parts that our own threads can use.
template <class Whole>
[[maybe_unused]] Whole part_of(const Whole& all, int) {
  return all;
}

/// Lanes for host back ends, whose launches block the calling thread: one worker thread per lane
/// runs its tasks in order on an instance of its own, so that lanes overlap without a GPU. One
/// mutex protects the queues; waiting threads sleep.
class HostLanes final : public Lanes {
 public:
  HostLanes(int lanes, bool poll) : poll_(poll) {
    for (int lane = 0; lane < lanes; ++lane) lanes_.emplace_back(lane_instance(lanes));
    for (Lane& lane : lanes_) {
      workers_.emplace_back([this, &lane](const std::stop_token& stop) { work(stop, lane); });
    }
  }

  const Space& instance(int lane) const override {
    return lanes_[static_cast<std::size_t>(lane)].instance;
  }

  void bind(const schedule::Schedule& schedule, const workload::Workload& workload) override {
    const std::scoped_lock lock(mutex_);
    Lanes::bind(schedule, workload);
    complete_.assign(schedule.tasks.size(), false);
    spans_.assign(schedule.tasks.size(), {});
    failure_.reset();
    polls_ = 0;
  }

  std::int64_t polls() const override { return polls_; }

  std::string trace(bool /*on*/) override { return {"the workers' clocks"}; }

  Clock::time_point mark() override { return mark_ = Clock::now(); }

  void collect(std::vector<timeline::Span>& spans) override {
    const std::scoped_lock lock(mutex_);
    for (std::size_t id = 0; id < spans_.size(); ++id) {
      if (schedule::on_host(schedule_->tasks[id].stage)) continue;
      spans[id].start_s = spans_[id].start_s;
      spans[id].stop_s = spans_[id].stop_s;
    }
  }

  void issue(schedule::TaskId id) override {
    Lane& lane = lane_at(schedule_->tasks[id].lane);
    const std::scoped_lock lock(mutex_);
    lane.queue.push_back(id);
    if (lane.queue.front() == id && is_ready(lane)) lane.ready.notify_one();
  }

  void wait(int index) override {
    if (poll_) {
      do {
        ++polls_;
      } while (!query(index));
    }
    Lane& lane = lane_at(index);
    std::unique_lock lock(mutex_);
    lane.empty.wait(lock, [&] { return lane.queue.empty(); });
    if (failure_) throw *failure_;
  }

  bool query(int lane) override {
    const std::scoped_lock lock(mutex_);
    return lane_at(lane).queue.empty();
  }

 private:
  struct Lane {
    explicit Lane(Space space) : instance(std::move(space)) {}

    Space instance;
    std::deque<schedule::TaskId> queue = {};
    std::condition_variable_any ready = {};  ///< the first task of the queue may start
    std::condition_variable empty = {};      ///< so is the queue
  };

  Lane& lane_at(int index) { return lanes_[static_cast<std::size_t>(index)]; }

  void work(const std::stop_token& stop, Lane& lane) {
    std::unique_lock lock(mutex_);
    while (lane.ready.wait(lock, stop, [&] { return is_ready(lane); })) {
      const schedule::TaskId id = lane.queue.front();
      // After a failure skips all remaining tasks, so that waiting threads return.
      if (!failure_) {
        std::optional<base::Error> task_failure;
        lock.unlock();
        timeline::Span span = {.start_s = seconds_since(mark_)};
        try {
          perform(id);
          lane.instance.fence("overlap::task");
        } catch (const std::exception& error) {
          task_failure = lane_error(*schedule_, id, base::error_of(error).what());
        }
        span.stop_s = seconds_since(mark_);
        lock.lock();
        spans_[id] = span;
        if (!failure_) failure_ = task_failure;
      }
      complete_[id] = true;
      lane.queue.pop_front();  // only now: an empty queue means that all tasks are complete
      if (lane.queue.empty()) lane.empty.notify_all();
      for (Lane& other : lanes_) {
        if (&other != &lane && is_ready(other)) other.ready.notify_one();
      }
    }
  }

  /// Whether the lane's next task may start.
  bool is_ready(const Lane& lane) const {
    if (lane.queue.empty()) return false;
    const auto& after = schedule_->tasks[lane.queue.front()].after;
    return std::all_of(after.begin(), after.end(), [&](auto other) { return complete_[other]; });
  }

  bool poll_;
  std::atomic<std::int64_t> polls_ = 0;
  std::mutex mutex_;
  std::deque<Lane> lanes_;
  std::vector<bool> complete_;
  std::optional<base::Error> failure_;  ///< first failure
  Clock::time_point mark_;              ///< set while all workers are idle
  std::vector<timeline::Span> spans_;   ///< per task, relative to mark_
  std::vector<std::jthread> workers_;   ///< last member, so that they end before what they use
};

}  // namespace

Space lane_instance(int lanes) { return part_of(Space(), lanes); }

std::unique_ptr<Lanes> make_host_lanes(int lanes, bool poll) {
  return std::make_unique<HostLanes>(lanes, poll);
}

}  // namespace overlap::lanes
