#include "model/predict.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <utility>

#include "model/running_tasks.hpp"

namespace overlap::model {
namespace {

using schedule::Schedule;
using schedule::Stage;
using schedule::Task;
using schedule::TaskId;

constexpr TaskId none = std::numeric_limits<TaskId>::max();

/// A task waits for its issue, its predecessors and the start of the task in front of it in its
/// queue; then its engine may start it.
class Simulation {
 public:
  Simulation(const Schedule& schedule, const Device& device)
      : schedule_(schedule),
        device_(device),
        running_(schedule, device),
        states_(schedule.tasks.size()),
        lanes_(static_cast<std::size_t>(schedule.lanes)),
        threads_(static_cast<std::size_t>(schedule.threads)) {
    const timeline::Engines engines = {
        .workers = device.queues == Queues::worker ? schedule.lanes : 0,
        .copy_engines = device.copy_engines};
    timeline_.engines = engines.names();
    timeline_.spans.resize(schedule.tasks.size());
    for (TaskId id = 0; id < states_.size(); ++id) {
      states_[id].engine = static_cast<std::uint32_t>(engines.index_of(task(id)));
    }
    engines_.resize(timeline_.engines.size() - 1);  // without the host
    for (Engine& engine : engines_) {
      const int connections = is_sm(engine) ? device.connections : device.copy_connections;
      const int queues = device.queues == Queues::connection ? connections : 1;
      // Each lane uses one queue at a time.
      engine.queues.resize(static_cast<std::size_t>(std::min(queues, schedule.lanes)));
    }
    link_tasks();
    if (device.delayed_signal) find_batches();
  }

  timeline::Timeline run(const std::function<void()>& step) {
    for (IssueThread& thread : threads_) resume(thread, 0);
    while (true) {
      step();
      IssueThread& thread = *std::ranges::min_element(threads_, std::less(), &IssueThread::when);
      const bool thread_first = events_.empty() || events_.top() > thread.event;
      const double event = thread_first ? thread.event.time : events_.top().time;
      // Engines choose after all simultaneous events.
      if (event > now_ && !running_.has_ended() && serve_engines()) continue;
      const double finish = running_.next_end(now_);
      const double next = std::min(event, finish);
      if (next == never) break;
      running_.advance(now_, next);
      now_ = next;
      if (finish <= event) {
        complete(running_.finish());
      } else if (thread_first) {
        thread.event.time = never;
        step_thread(thread);
      } else {
        const Event happened = events_.top();
        events_.pop();
        offer(happened.task);
      }
    }
    if (done_threads_ < threads_.size())
      throw std::logic_error("the schedule never ends: a task waits for a later one");
    return std::move(timeline_);
  }

 private:
  /// A thread continues, or a task may start.
  struct Event {
    double time = never;
    std::uint64_t sequence = 0;  ///< of simultaneous events
    TaskId task = none;
    bool operator>(const Event& other) const {
      return std::pair(time, sequence) > std::pair(other.time, other.sequence);
    }
  };

  struct Queue {
    TaskId last = none;  ///< last task issued to it
    int lane = -1;       ///< of that task
  };

  struct Engine {
    std::vector<Queue> queues;
    std::vector<TaskId> ready;  ///< queue heads that wait only for the engine
    std::uint32_t next = 0;     ///< queue to serve if it has a ready task
    int running = 0;
  };

  struct State {
    std::vector<TaskId> dependents;  ///< dependent tasks of other lanes
    TaskId next_in_lane = none;
    TaskId next_in_queue = none;
    TaskId next_in_thread = none;
    std::uint32_t engine = 0;
    std::uint32_t queue = 0;     ///< of its engine
    std::uint32_t batch = none;  ///< kernels with delayed signals: index in batches_
    std::uint32_t unmet = 1;     ///< predecessors to wait for, and the issue
    double ready_s = 0;          ///< earliest start so far
    bool issued = false;
    bool started = false;
    bool complete = false;
  };

  /// Consecutive kernels in issue order: operations on other engines are signalled when the last of
  /// them completes.
  struct KernelBatch {
    std::vector<TaskId> kernels;
    std::size_t complete = 0;
  };

  struct Lane {
    TaskId issued = none;  ///< last task issued
    TaskId seen = none;    ///< last task that the host waited for
  };

  /// A thread of the host that issues.
  struct IssueThread {
    Event event;         ///< the only one of its kind
    TaskId next = none;  ///< to issue
    TaskId issuing = none;
    TaskId waits_for = none;  ///< to complete
    TaskId unissued = none;   ///< of another thread: waits for its issue
    double ready = 0;         ///< earliest return of the current call
    bool all_issued = false;
    std::size_t next_lane = 0;  ///< to wait for

    std::pair<double, std::uint64_t> when() const { return {event.time, event.sequence}; }
  };

  const Task& task(TaskId id) const { return schedule_.tasks[id]; }
  IssueThread& thread_of_task(TaskId id) {
    return threads_[static_cast<std::size_t>(thread_of(schedule_, task(id)))];
  }
  std::size_t engine_of(TaskId id) const { return states_[id].engine; }
  Lane& lane_of(TaskId id) { return lanes_[static_cast<std::size_t>(task(id).lane)]; }

  void link_tasks() {
    std::vector<TaskId> lanes(lanes_.size(), none);
    for (auto id = static_cast<TaskId>(states_.size()); id-- > 0;) {
      states_[id].next_in_thread = std::exchange(thread_of_task(id).next, id);
    }
    for (TaskId id = 0; id < states_.size(); ++id) {
      const Task& t = task(id);
      if (schedule::on_host(t.stage)) continue;
      for (const TaskId other : t.after) {
        if (fences() || schedule::on_host(task(other).stage)) continue;
        states_[other].dependents.push_back(id);
        ++states_[id].unmet;
      }
      TaskId& last = lanes[static_cast<std::size_t>(t.lane)];
      if (last != none) {
        states_[last].next_in_lane = id;
        ++states_[id].unmet;
      }
      last = id;
    }
  }

  void find_batches() {
    bool open = false;
    for (TaskId id = 0; id < states_.size(); ++id) {
      const Task& t = task(id);
      if (fences() && !t.after.empty()) open = false;
      if (schedule::is_kernel(t.stage)) {
        if (!open) batches_.emplace_back();
        batches_.back().kernels.push_back(id);
        states_[id].batch = static_cast<std::uint32_t>(batches_.size() - 1);
        open = !t.blocking;
      } else if (schedule::is_copy(t.stage) ||
                 (t.stage == Stage::query && device_.query_releases)) {
        open = false;
      }
    }
  }

  // Queues and engines

  /// Issues a task to a queue of its engine: that of the previous task of its lane unless another
  /// lane has used it since, otherwise the one that has not been used for longest. (Observed on an
  /// H100 and an H200.)
  void enter_queue(TaskId id) {
    std::vector<Queue>& queues = engines_[engine_of(id)].queues;
    const int lane = task(id).lane;
    auto queue = std::ranges::find(queues, lane, &Queue::lane);
    if (queue == queues.end()) {
      queue = std::ranges::min_element(
          queues, {}, [](const Queue& q) { return std::pair(q.last != none, q.last); });
    }
    if (queue->last != none && !states_[queue->last].started) {
      states_[queue->last].next_in_queue = id;
      ++states_[id].unmet;
    }
    queue->last = id;
    queue->lane = lane;
    states_[id].queue = static_cast<std::uint32_t>(queue - queues.begin());
  }

  /// Removes one predecessor; the task may start `latency_s` from now at the earliest.
  void release(TaskId id, double latency_s) {
    State& state = states_[id];
    state.ready_s = std::max(state.ready_s, now_ + latency_s);
    if (--state.unmet == 0) offer(id);
  }

  /// Makes a task without remaining predecessors available to its engine.
  void offer(TaskId id) {
    // At most `window` operations between this task and the first incomplete one.
    if (device_.window > 0 && id > first_incomplete_ + static_cast<TaskId>(device_.window) + 1) {
      held_by_window_.push_back(id);
    } else if (states_[id].ready_s > now_) {
      events_.push({states_[id].ready_s, sequence_++, id});
    } else {
      engines_[engine_of(id)].ready.push_back(id);
    }
  }

  /// Starts tasks on free engines; returns whether any started.
  bool serve_engines() {
    bool started = false;
    for (Engine& engine : engines_) {
      while (!engine.ready.empty() && has_room(engine)) {
        start(engine, take(engine));
        started = true;
      }
    }
    return started;
  }

  /// A copy engine stays with its queue until that has no more ready tasks; the SMs serve the
  /// queues in turn. (Observed on an H200 and on an H100.)
  TaskId take(Engine& engine) const {
    const auto chosen = std::ranges::min_element(engine.ready, {}, [&](TaskId id) {
      const std::uint32_t queue = states_[id].queue;
      return std::pair(queue < engine.next, queue);
    });
    const TaskId id = *chosen;
    engine.next = states_[id].queue + (is_sm(engine) ? 1 : 0);
    engine.ready.erase(chosen);
    return id;
  }

  bool is_sm(const Engine& engine) const {
    return device_.queues != Queues::worker && &engine == &engines_[1];
  }

  /// Kernels start while the running ones leave a part of the device free.
  bool has_room(const Engine& engine) const {
    if (engine.running == 0) return true;
    return is_sm(engine) && engine.running < device_.concurrent_kernels && running_.has_room();
  }

  void start(Engine& engine, TaskId id) {
    ++engine.running;
    timeline_.spans[id] = {static_cast<int>(&engine - engines_.data()), now_, now_};
    running_.start(id);
    states_[id].started = true;
    if (states_[id].next_in_queue != none) release(states_[id].next_in_queue, 0);
  }

  // Completion

  void complete(TaskId id) {
    timeline_.spans[id].stop_s = now_;
    --engines_[states_[id].engine].running;
    mark_complete(id);
    signal(id, true);
    if (states_[id].batch == none) {
      signal(id, false);
    } else if (KernelBatch& batch = batches_[states_[id].batch];
               ++batch.complete == batch.kernels.size()) {
      for (const TaskId kernel : batch.kernels) signal(kernel, false);
    }
    for (IssueThread& thread : threads_) {
      if (thread.waits_for != id) continue;
      thread.waits_for = none;
      resume(thread, std::max(thread.ready, now_ + device_.latency.notice_s));
    }
  }

  void mark_complete(TaskId id) {
    states_[id].complete = true;
    if (id != first_incomplete_) return;
    while (first_incomplete_ < states_.size() && states_[first_incomplete_].complete)
      ++first_incomplete_;
    for (const TaskId held : std::exchange(held_by_window_, {})) offer(held);
  }

  /// Releases dependent kernels, or all other dependents.
  void signal(TaskId id, bool kernels) {
    const auto release_kind = [&](TaskId dependent, double latency_s) {
      if (schedule::is_kernel(task(dependent).stage) == kernels) release(dependent, latency_s);
    };
    if (const TaskId next = states_[id].next_in_lane; next != none) {
      const bool same_engine = engine_of(next) == engine_of(id);
      release_kind(next, same_engine ? 0 : device_.latency.lane_s);
    }
    for (const TaskId other : states_[id].dependents) {
      release_kind(other, device_.latency.event_s);
    }
  }

  // The host

  void resume(IssueThread& thread, double at) {
    thread.event = {.time = at, .sequence = sequence_++};
  }

  /// The thread has finished its current action; starts the next one.
  void step_thread(IssueThread& thread) {
    if (thread.issuing != none) {
      const Task& t = task(thread.issuing);
      const TaskId id = std::exchange(thread.issuing, none);
      mark_issued(id);
      if (t.stage == Stage::host) running_.set_host_busy(false);
      if (schedule::on_host(t.stage)) {
        timeline_.spans[id].stop_s = now_;
        mark_complete(id);
      } else {
        lane_of(id).issued = id;
        enter_queue(id);
        release(id, device_.latency.start_s);
        if (t.blocking || holds_host(t)) return wait_for(thread, lane_of(id), t.blocking);
      }
    }
    if (thread.next == none) return end_thread(thread);
    // These waits do not count as host work.
    const Task& next = task(thread.next);
    if (wait_for_issue(thread, next)) return;
    if (wait_for_unseen(thread, next)) return;
    thread.issuing = std::exchange(thread.next, states_[thread.next].next_in_thread);
    timeline_.spans[thread.issuing] = {static_cast<int>(timeline_.engines.size()) - 1, now_, now_};
    if (next.stage == Stage::host) running_.set_host_busy(true);
    resume(thread, now_ + issue_seconds(thread.issuing));
  }

  /// Threads that wait for the issue of a task continue.
  void mark_issued(TaskId id) {
    states_[id].issued = true;
    for (IssueThread& thread : threads_) {
      if (thread.unissued != id) continue;
      thread.unissued = none;
      resume(thread, now_);
    }
  }

  /// Waits for another thread to issue a predecessor; returns whether there is one to wait for.
  bool wait_for_issue(IssueThread& thread, const Task& t) {
    const auto other =
        std::ranges::find_if(t.after, [&](TaskId id) { return !states_[id].issued; });
    if (other == t.after.end()) return false;
    thread.unissued = *other;
    return true;
  }

  /// Whether the host waits for the lanes that a task depends on, before it issues the task.
  bool fences() const { return schedule_.mechanism == deck::Mechanism::portable; }

  /// Waits for a lane of a predecessor that the host has not seen complete, before host work and
  /// where it fences; returns whether there is one.
  bool wait_for_unseen(IssueThread& thread, const Task& t) {
    const auto unseen = std::ranges::find_if(t.after, [&](TaskId other) {
      if (schedule::on_host(task(other).stage)) return false;
      const Lane& lane = lane_of(other);
      if (schedule::on_host(t.stage)) return t.stage == Stage::host && lane.issued != lane.seen;
      return fences() && (lane.seen == none || lane.seen < other);
    });
    if (unseen == t.after.end()) return false;
    wait_for(thread, lane_of(*unseen), true);
    return true;
  }

  double issue_seconds(TaskId id) const {
    const Task& t = task(id);
    const HostCosts& cost = device_.host;
    if (t.stage == Stage::query) return cost.query_s;
    if (schedule::on_host(t.stage)) return t.duration_s;
    return (fences() ? 0 : static_cast<double>(t.after.size()) * cost.wait_s) +
           (states_[id].dependents.empty() ? 0 : cost.record_s) +
           (schedule::is_kernel(t.stage) ? cost.kernel_s : cost.copy_s);
  }

  /// Whether the host is blocked: by a copy that the driver stages, or, on a host back end without
  /// worker threads of our own (portable), by any task.
  bool holds_host(const Task& t) const {
    if (device_.queues == Queues::worker) return fences();
    return schedule::is_copy(t.stage) && schedule_.host_memory == deck::HostMemory::pageable &&
           device_.unit_s == 0 &&
           static_cast<double>(t.bytes) > device_.copies(t.stage).unblocked_bytes;
  }

  /// Blocks the host until the lane is complete. An explicit wait costs a call.
  void wait_for(IssueThread& thread, Lane& lane, bool call) {
    thread.ready = now_ + (call ? device_.host.synchronize_s : 0);
    lane.seen = lane.issued;
    if (lane.seen == none || states_[lane.seen].complete) return resume(thread, thread.ready);
    thread.waits_for = lane.seen;
  }

  void end_thread(IssueThread& thread) {
    if (!thread.all_issued) {
      thread.all_issued = true;
      thread.next_lane = static_cast<std::size_t>(&thread - threads_.data());
      timeline_.issued_s = now_;  // of the last thread
    }
    while (thread.next_lane < lanes_.size()) {
      Lane& lane = lanes_[thread.next_lane];
      thread.next_lane += threads_.size();
      if (lane.issued != lane.seen) return wait_for(thread, lane, true);
    }
    timeline_.complete_s = now_;  // of the last thread
    ++done_threads_;
  }

  const Schedule& schedule_;
  const Device& device_;
  RunningTasks running_;
  timeline::Timeline timeline_;

  double now_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;  ///< but of threads
  std::uint64_t sequence_ = 0;
  std::vector<Engine> engines_;
  std::vector<State> states_;  ///< per task
  std::vector<KernelBatch> batches_;
  TaskId first_incomplete_ = 0;  ///< all tasks before it are complete
  std::vector<TaskId> held_by_window_;

  // The host
  std::vector<Lane> lanes_;
  std::vector<IssueThread> threads_;
  std::size_t done_threads_ = 0;
};

}  // namespace

timeline::Timeline predict(const Schedule& schedule, const Device& device,
                           const std::function<void()>& step) {
  return Simulation(schedule, device).run(step);
}

}  // namespace overlap::model
