#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lanes/lanes.hpp"
#include "lanes/perform.hpp"

namespace overlap::lanes {

/// Lanes for host back ends, whose launches block the calling thread: one worker thread per lane,
/// each with its own instance, so that lanes overlap without a GPU. One mutex protects the queues;
/// waiting threads sleep. Wakes only threads that can proceed: any other would occupy an idle core
/// for a moment, and the thread that can proceed would then preempt the one that woke it.
template <class Space>
class HostLanes final : public Lanes {
 public:
  /// With `poll` the host polls the state of a lane instead of sleeping.
  HostLanes(std::vector<Space> instances, bool poll)
      : instances_(std::move(instances)),
        poll_(poll),
        ready_(instances_.size()),
        empty_(instances_.size()),
        queues_(instances_.size()) {
    for (std::size_t lane = 0; lane < instances_.size(); ++lane) {
      workers_.emplace_back([this, lane](const std::stop_token& stop) { work(stop, lane); });
    }
  }

  workload::InstanceRef instance(int lane) const override {
    return instances_[static_cast<std::size_t>(lane)];
  }

  void bind(const schedule::Schedule& schedule, const workload::Workload& workload) override {
    const std::scoped_lock lock(mutex_);
    schedule_ = &schedule;
    workload_ = &workload;
    complete_.assign(schedule.tasks.size(), false);
    spans_.assign(schedule.tasks.size(), {});
    failure_.reset();
    polls_ = 0;
  }

  std::int64_t polls() const override { return polls_; }

  TraceSource trace(bool /*on*/) override { return {"the workers' clocks"}; }

  Clock::time_point mark(const std::vector<bool>& /*timed*/) override {
    return mark_ = Clock::now();
  }

  void collect(std::vector<timeline::Span>& spans) override {
    const std::scoped_lock lock(mutex_);
    for (std::size_t id = 0; id < spans_.size(); ++id) {
      if (!schedule::on_host(schedule_->tasks[id].stage)) spans[id] = spans_[id];
    }
  }

  void issue(schedule::TaskId id) override {
    const auto lane = static_cast<std::size_t>(schedule_->tasks[id].lane);
    bool may_start = false;
    {
      const std::scoped_lock lock(mutex_);
      may_start = queues_[lane].empty() && ready(id);
      queues_[lane].push_back(id);
    }
    if (may_start) ready_[lane].notify_one();
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
  void work(const std::stop_token& stop, std::size_t lane) {
    std::unique_lock lock(mutex_);
    auto& queue = queues_[lane];
    while (ready_[lane].wait(lock, stop, [&] { return !queue.empty() && ready(queue.front()); })) {
      const schedule::TaskId id = queue.front();
      // After a failure skips all remaining tasks, so that waiting threads return.
      if (!failure_) {
        std::optional<base::Error> failed;
        lock.unlock();
        timeline::Span span = {.start_s = seconds_since(mark_)};
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
      queue.pop_front();  // only now: an empty queue means that all tasks are complete
      const bool empty = queue.empty();
      const std::vector<std::size_t> released = released_by(id);
      lock.unlock();
      for (const std::size_t other : released) ready_[other].notify_one();
      if (empty) empty_[lane].notify_one();
      lock.lock();
    }
  }

  /// The other lanes whose next task waited for this one alone.
  std::vector<std::size_t> released_by(schedule::TaskId id) const {
    std::vector<std::size_t> lanes;
    for (std::size_t lane = 0; lane < queues_.size(); ++lane) {
      if (queues_[lane].empty()) continue;
      const schedule::TaskId next = queues_[lane].front();
      const auto& after = schedule_->tasks[next].after;
      if (std::ranges::find(after, id) != after.end() && ready(next)) lanes.push_back(lane);
    }
    return lanes;
  }

  bool ready(schedule::TaskId id) const {
    const auto& after = schedule_->tasks[id].after;
    return std::all_of(after.begin(), after.end(), [&](auto other) { return complete_[other]; });
  }

  std::vector<Space> instances_;
  bool poll_;
  std::int64_t polls_ = 0;  ///< used by the issuing thread only
  std::mutex mutex_;
  std::vector<std::condition_variable_any> ready_;  ///< by lane: its next task may start
  std::vector<std::condition_variable> empty_;      ///< by lane: its queue is empty
  std::vector<std::deque<schedule::TaskId>> queues_;
  std::vector<bool> complete_;
  std::optional<base::Error> failure_;  ///< first failure
  Clock::time_point mark_;              ///< set while all workers are idle
  std::vector<timeline::Span> spans_;   ///< per task, relative to mark_
  const schedule::Schedule* schedule_ = nullptr;
  const workload::Workload* workload_ = nullptr;
  std::vector<std::jthread> workers_;  ///< last member, so that they end before what they use
};

}  // namespace overlap::lanes
