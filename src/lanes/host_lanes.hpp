#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "lanes/lanes.hpp"
#include "lanes/perform.hpp"

namespace overlap::lanes {

#if defined(KOKKOS_ENABLE_SERIAL)
template <class Space>
inline constexpr bool is_serial = std::is_same_v<Space, Kokkos::Serial>;
#else
template <class Space>
inline constexpr bool is_serial = false;
#endif

template <class Space>
inline constexpr bool is_open_mp = workload::is_host<Space> && std::is_constructible_v<Space, int>;

/// Whether our own threads can use instances of the space concurrently.
template <class Space>
inline constexpr bool has_own_instances = is_serial<Space> || is_open_mp<Space>;

/// Such instances, one per lane.
template <class Space>
std::vector<Space> own_instances(int lanes) {
  std::vector<Space> instances;
  // OpenMP's partition_space would return copies of the default instance if nested parallelism is
  // off.
  [[maybe_unused]] const int threads = std::max(1, Space().concurrency() / lanes);
  for (int lane = 0; lane < lanes; ++lane) {
#if defined(KOKKOS_ENABLE_SERIAL)
    if constexpr (is_serial<Space>) instances.emplace_back(Kokkos::NewInstance{});
#endif
    if constexpr (is_open_mp<Space>) instances.emplace_back(threads);
  }
  return instances;
}

/// Lanes for host back ends, whose launches block the calling thread: worker threads run the tasks,
/// those of a lane on its own instance, so that lanes overlap without a GPU. Each worker serves one
/// lane; if a schedule has more lanes than there are workers, a free worker takes, of the tasks
/// that may start, the one issued first. While a schedule's workers, of one thread each, fill all
/// cores, each keeps to its own. One mutex protects the queues; waiting threads sleep. Wakes only
/// threads that can proceed: any other would occupy an idle core for a moment, and the thread that
/// can proceed would then preempt the one that woke it.
template <class Space>
class HostLanes final : public Lanes {
 public:
  /// With `poll` the host polls the state of a lane instead of sleeping.
  HostLanes(std::vector<Space> instances, int most_workers, bool poll)
      : instances_(std::move(instances)),
        poll_(poll),
        ready_(std::min(instances_.size(), static_cast<std::size_t>(most_workers))),
        busy_(ready_.size()),
        empty_(instances_.size()),
        queues_(instances_.size()),
        running_(instances_.size()) {
    for (std::size_t worker = 0; worker < ready_.size(); ++worker) {
      workers_.emplace_back([this, worker](const std::stop_token& stop) { work(stop, worker); });
    }
  }

  workload::InstanceRef instance(int lane) const override {
    return instances_[static_cast<std::size_t>(lane)];
  }

  Workers workers() const override {
    return {static_cast<int>(workers_.size()), fill_cores(workers_.size())};
  }

  void bind(const schedule::Schedule& schedule, const workload::Workload& workload) override {
    const std::scoped_lock lock(mutex_);
    const auto lanes = static_cast<std::size_t>(schedule.lanes);
    shared_ = lanes > workers_.size();
    keep_apart(fill_cores(std::min(lanes, workers_.size())));
    schedule_ = &schedule;
    workload_ = &workload;
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
      if (!schedule::on_host(schedule_->tasks[id].stage)) spans[id] = spans_[id];
    }
  }

  void issue(schedule::TaskId id) override {
    const auto lane = static_cast<std::size_t>(schedule_->tasks[id].lane);
    std::vector<std::size_t> woken;
    {
      const std::scoped_lock lock(mutex_);
      queues_[lane].push_back(id);
      if (queues_[lane].front() == id && is_ready(lane)) woken = assigned({lane});
    }
    wake(woken);
  }

  void wait(int lane) override {
    if (poll_) {
      do {
        ++polls_;
      } while (!query(lane));
    }
    std::unique_lock lock(mutex_);
    const auto& queue = queues_[static_cast<std::size_t>(lane)];
    empty_[static_cast<std::size_t>(lane)].wait(lock, [&] { return queue.empty(); });
    if (failure_) throw *failure_;
  }

  bool query(int lane) override {
    const std::scoped_lock lock(mutex_);
    return queues_[static_cast<std::size_t>(lane)].empty();
  }

 private:
  /// Other threads of an instance, which only OpenMP has, would not follow their worker.
  bool fill_cores(std::size_t workers) const {
    return single_threaded_ && !cpus_.empty() && workers >= cpus_.size();
  }

  /// Binds each worker to a core, or to none.
  void keep_apart(bool bound) {
    if (bound == bound_) return;
    bound_ = bound;
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
      const std::vector<std::size_t> own = {cpus_[worker % cpus_.size()]};
      base::keep_on(bound ? own : cpus_, workers_[worker].native_handle());
    }
  }

  void work(const std::stop_token& stop, std::size_t worker) {
    std::unique_lock lock(mutex_);
    std::size_t lane = worker;
    const auto found = [&] {
      lane = shared_ ? earliest() : worker;
      busy_[worker] = is_ready(lane);
      return bool{busy_[worker]};
    };
    while (ready_[worker].wait(lock, stop, found)) {
      auto& queue = queues_[lane];
      const schedule::TaskId id = queue.front();
      running_[lane] = true;
      // After a failure skips all remaining tasks, so that waiting threads return.
      if (!failure_) {
        std::optional<base::Error> failed;
        lock.unlock();
        timeline::Span span = {.engine = static_cast<int>(worker), .start_s = seconds_since(mark_)};
        try {
          perform(instances_[lane], *workload_, *schedule_, schedule_->tasks[id]);
          instances_[lane].fence("overlap::task");
        } catch (const std::exception& error) {
          failed = lane_error(*schedule_, id, base::error_of(error).what());
        }
        span.stop_s = seconds_since(mark_);
        lock.lock();
        spans_[id] = span;
        if (!failure_) failure_ = failed;
      }
      complete_[id] = true;
      running_[lane] = false;
      queue.pop_front();  // only now: an empty queue means that all tasks are complete
      const bool empty = queue.empty();
      std::vector<std::size_t> released = released_by(id);
      // This worker takes one of them itself.
      if (shared_ && !is_ready(lane) && !released.empty()) released.pop_back();
      const std::vector<std::size_t> woken = assigned(released);
      lock.unlock();
      wake(woken);
      if (empty) empty_[lane].notify_one();
      lock.lock();
    }
  }

  /// For each of these lanes, whose next task may start, a worker to wake, if one is idle.
  std::vector<std::size_t> assigned(std::vector<std::size_t> lanes) {
    if (!shared_) return lanes;
    std::vector<std::size_t> workers;
    for (std::size_t worker = 0; worker < busy_.size() && workers.size() < lanes.size(); ++worker) {
      if (busy_[worker]) continue;
      busy_[worker] = true;
      workers.push_back(worker);
    }
    return workers;
  }

  void wake(const std::vector<std::size_t>& workers) {
    for (const std::size_t worker : workers) ready_[worker].notify_one();
  }

  /// Of the lanes whose next task may start, the one whose task was issued first; else any.
  std::size_t earliest() const {
    std::size_t found = 0;
    for (std::size_t lane = 1; lane < queues_.size(); ++lane) {
      if (!is_ready(lane)) continue;
      if (!is_ready(found) || queues_[lane].front() < queues_[found].front()) found = lane;
    }
    return found;
  }

  /// The other lanes whose next task waited for this one alone.
  std::vector<std::size_t> released_by(schedule::TaskId id) const {
    std::vector<std::size_t> lanes;
    for (std::size_t lane = 0; lane < queues_.size(); ++lane) {
      if (!is_ready(lane)) continue;
      const auto& after = schedule_->tasks[queues_[lane].front()].after;
      if (std::ranges::find(after, id) != after.end()) lanes.push_back(lane);
    }
    return lanes;
  }

  /// Whether the lane's next task may start.
  bool is_ready(std::size_t lane) const {
    if (queues_[lane].empty() || running_[lane]) return false;
    const auto& after = schedule_->tasks[queues_[lane].front()].after;
    return std::all_of(after.begin(), after.end(), [&](auto other) { return complete_[other]; });
  }

  std::vector<Space> instances_;
  bool poll_;
  std::vector<std::size_t> cpus_ = base::cpus_of_thread();  ///< that the workers may use
  bool single_threaded_ = instances_.front().concurrency() == 1;
  bool bound_ = false;      ///< each worker to a core
  std::int64_t polls_ = 0;  ///< used by the issuing thread only
  std::mutex mutex_;
  bool shared_ = false;                             ///< each worker serves all lanes
  std::vector<std::condition_variable_any> ready_;  ///< by worker: a task may start
  std::vector<bool> busy_;                          ///< by worker: runs a task or is woken
  std::vector<std::condition_variable> empty_;      ///< by lane: its queue is empty
  std::vector<std::deque<schedule::TaskId>> queues_;
  std::vector<bool> running_;  ///< by lane: the first task of its queue
  std::vector<bool> complete_;
  std::optional<base::Error> failure_;  ///< first failure
  Clock::time_point mark_;              ///< set while all workers are idle
  std::vector<timeline::Span> spans_;   ///< per task, relative to mark_; the engine: its worker
  const schedule::Schedule* schedule_ = nullptr;
  const workload::Workload* workload_ = nullptr;
  std::vector<std::jthread> workers_;  ///< last member, so that they end before what they use
};

}  // namespace overlap::lanes
