#include "model/predict.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <stdexcept>
#include <utility>

#include "model/running.hpp"

namespace overlap::model {
namespace {

using schedule::Schedule;
using schedule::Stage;
using schedule::Task;
using schedule::TaskId;

constexpr TaskId none = std::numeric_limits<TaskId>::max();
constexpr double never = std::numeric_limits<double>::infinity();

template <class T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;
using Timed = std::pair<double, TaskId>;

/// The tasks that wait for each task by `after`, as one array with the begin of each task's part.
class Dependents {
 public:
  explicit Dependents(const Schedule& schedule) : begin_(schedule.tasks.size() + 2) {
    for (const Task& task : schedule.tasks) {
      for (const TaskId other : task.after) ++begin_[other + 2];
    }
    for (std::size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    ids_.resize(begin_.back());
    for (TaskId id = 0; id < schedule.tasks.size(); ++id) {
      for (const TaskId other : schedule.tasks[id].after) ids_[begin_[other + 1]++] = id;
    }
  }
  std::span<const TaskId> of(TaskId id) const {
    return std::span(ids_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<TaskId> ids_;
};

/// What takes tasks from its queues: one at a time, or (the SMs) as many as have room.
struct Engine {
  int first_queue = 0;  ///< it has queues one after the other
  int queues = 1;
  std::vector<int> ready;  ///< those whose heads nothing but the engine holds back
  int last = 0;            ///< the queue that it took from last
  int running = 0;
  bool dirty = false;
};

/// Kernels that signal other engines' operations when the last of them completes.
struct KernelRun {
  TaskId first = none;
  TaskId last = none;
  std::uint32_t left = 0;  ///< that are not complete
};

/// Tasks in issue order; links are in Simulation::next_.
struct Queue {
  TaskId head = none;
  TaskId tail = none;
  bool offered = false;  ///< its engine knows that its head is ready
};

class Simulation {
 public:
  Simulation(const Schedule& schedule, const Device& device)
      : schedule_(schedule),
        device_(device),
        running_(schedule, device),
        dependents_(schedule),
        waiting_(schedule.tasks.size()),
        ready_(schedule.tasks.size()),
        next_(schedule.tasks.size(), none),
        next_in_lane_(schedule.tasks.size(), none),
        complete_(schedule.tasks.size()),
        last_in_lane_(static_cast<std::size_t>(schedule.lanes), none) {
    set_up_engines();
    link_lanes();
    find_runs();
    timeline_.spans.resize(schedule.tasks.size());
    seen_.assign(last_in_lane_.size(), none);
  }

  timeline::Timeline run() {
    resume_host(0);
    while (true) {
      const double event = events_.empty() ? never : events_.top().time;
      const double finish = running_.next_end(now_);
      const double next = std::min(event, finish);
      // Engines choose when all that happens at one time has happened.
      if (next > now_ && serve_engines()) continue;
      if (next == never) break;
      running_.advance(now_, next);
      now_ = next;
      if (finish <= event) {
        complete(running_.finish());
      } else {
        const Event happened = events_.top();
        events_.pop();
        if (happened.kind == Event::Kind::host) step_host();
        if (happened.kind == Event::Kind::queue) offer(happened.index);
        if (happened.kind == Event::Kind::engine) {
          set_free(engines_[static_cast<std::size_t>(happened.index)]);
        }
      }
    }
    if (!host_done_)
      throw std::logic_error("the schedule never ends: a task waits for a later one");
    return std::move(timeline_);
  }

 private:
  /// At a time the host goes on, the head of a queue may go, or an engine is free again.
  struct Event {
    enum class Kind { host, queue, engine };
    double time;
    std::uint64_t order;
    Kind kind;
    int index;  ///< of the queue or the engine
    bool operator>(const Event& other) const {
      return std::pair(time, order) > std::pair(other.time, other.order);
    }
  };

  const Task& task(TaskId id) const { return schedule_.tasks[id]; }

  // Engines and queues

  void set_up_engines() {
    kinds_ = {.workers = device_.queues == Queues::worker ? schedule_.lanes : 0,
              .copy_engines = device_.copy_engines};
    timeline_.engines = kinds_.names();
    host_engine_ = static_cast<int>(timeline_.engines.size()) - 1;
    engines_.resize(timeline_.engines.size() - 1);
    int queues = 0;
    for (std::size_t e = 0; e < engines_.size(); ++e) {
      engines_[e].first_queue = engines_[e].last = queues;
      if (device_.queues == Queues::connection) {
        engines_[e].queues = e == 1 ? device_.connections : device_.copy_connections;
      }
      queues += engines_[e].queues;
    }
    queues_.resize(static_cast<std::size_t>(queues));
  }

  int engine_of(const Task& t) const { return kinds_.of(t); }
  int queue_of(const Task& t) const {
    const Engine& engine = engines_[static_cast<std::size_t>(engine_of(t))];
    return engine.first_queue + t.lane % engine.queues;
  }

  void link_lanes() {
    std::vector<TaskId> last(last_in_lane_.size(), none);
    for (TaskId id = 0; id < schedule_.tasks.size(); ++id) {
      const Task& t = task(id);
      if (schedule::on_host(t.stage)) continue;
      for (const TaskId other : t.after) {
        if (!schedule::on_host(task(other).stage)) ++waiting_[id];
      }
      TaskId& before = last[static_cast<std::size_t>(t.lane)];
      if (before != none) {
        next_in_lane_[before] = id;
        ++waiting_[id];
      }
      before = id;
    }
  }

  /// Kernels next to each other in issue order, whose signals wait for the last of them.
  void find_runs() {
    if (!device_.delayed_signal) return;
    run_of_.assign(schedule_.tasks.size(), none);
    bool open = false;
    for (TaskId id = 0; id < run_of_.size(); ++id) {
      const Task& t = task(id);
      if (schedule::is_kernel(t.stage)) {
        if (!open) runs_.push_back({.first = id});
        runs_.back().last = id;
        ++runs_.back().left;
        run_of_[id] = static_cast<TaskId>(runs_.size() - 1);
        open = !t.blocking;
      } else if (schedule::is_copy(t.stage) ||
                 (t.stage == Stage::query && device_.query_releases)) {
        open = false;
      }
    }
  }

  void enqueue(TaskId id) {
    const int index = queue_of(task(id));
    Queue& queue = queues_[static_cast<std::size_t>(index)];
    if (queue.head == none) {
      queue.head = id;
    } else {
      next_[queue.tail] = id;
    }
    queue.tail = id;
    offer(index);
  }

  /// Hands the queue's head to its engine if nothing but the engine itself holds it back.
  void offer(int index) {
    Queue& queue = queues_[static_cast<std::size_t>(index)];
    const TaskId id = queue.head;
    if (id == none || queue.offered || waiting_[id] > 0) return;
    // So many may stand between this task and the first that is not complete.
    if (device_.window > 0 && id > done_before_ + static_cast<TaskId>(device_.window) + 1) {
      held_by_window_.push_back(index);
      return;
    }
    if (ready_[id] > now_) {
      events_.push({ready_[id], order_++, Event::Kind::queue, index});
      return;
    }
    queue.offered = true;
    Engine& engine = engines_[static_cast<std::size_t>(engine_of(task(id)))];
    engine.ready.push_back(index);
    mark(engine);
  }

  void mark(Engine& engine) {
    if (engine.dirty) return;
    engine.dirty = true;
    dirty_.push_back(&engine);
  }

  /// Lets engines take what they can; whether any did.
  bool serve_engines() {
    bool started = false;
    while (!dirty_.empty()) {
      Engine& engine = *dirty_.back();
      dirty_.pop_back();
      engine.dirty = false;
      while (!engine.ready.empty() && has_room(engine)) {
        start(engine, take(engine));
        started = true;
      }
    }
    if (started) running_.set_speeds();
    return started;
  }

  /// The SMs take what was issued first. A copy engine stays with a queue as long as that has
  /// something ready; then the next one that has is served. (Seen on an H200.)
  int take(Engine& engine) const {
    const auto key = [&](int index) {
      return is_sm(engine) ? std::pair(false, queues_[static_cast<std::size_t>(index)].head)
                           : std::pair(index < engine.last, static_cast<TaskId>(index));
    };
    const auto chosen = std::min_element(engine.ready.begin(), engine.ready.end(),
                                         [&](int a, int b) { return key(a) < key(b); });
    engine.last = *chosen;
    engine.ready.erase(chosen);
    return engine.last;
  }

  bool is_sm(const Engine& engine) const {
    return device_.queues != Queues::worker && &engine == &engines_[1];
  }

  /// Kernels start while those before them leave a part of the device.
  bool has_room(const Engine& engine) const {
    if (engine.running == 0) return true;
    return is_sm(engine) && engine.running < device_.concurrent_kernels && running_.has_room();
  }

  void start(Engine& engine, int index) {
    Queue& queue = queues_[static_cast<std::size_t>(index)];
    const TaskId id = queue.head;
    ++engine.running;
    timeline_.spans[id] = {static_cast<int>(&engine - engines_.data()), now_, now_};
    running_.start(id);
    queue.head = next_[id];
    queue.offered = false;
    offer(index);
  }

  // Completion

  void complete(TaskId id) {
    timeline::Span& span = timeline_.spans[id];
    span.stop_s = now_;
    if (device_.latency.handover_s > 0 && hands_over(id)) {
      events_.push({now_ + device_.latency.handover_s, order_++, Event::Kind::engine, span.engine});
    } else {
      set_free(engines_[static_cast<std::size_t>(span.engine)]);
    }
    running_.set_speeds();
    mark_complete(id);
    KernelRun* const run = run_of_.empty() || run_of_[id] == none ? nullptr : &runs_[run_of_[id]];
    const bool alone = run == nullptr || run->first == run->last;
    release(id, true, alone);
    if (!alone && --run->left == 0) {
      for (TaskId k = run->first; k <= run->last; ++k) {
        if (run_of_[k] == run_of_[id]) release(k, false, true);
      }
    }
    if (host_waits_for_ == id) {
      host_waits_for_ = none;
      resume_host(std::max(host_ready_, now_ + device_.latency.notice_s));
    }
  }

  /// Whether a kernel is the lane's next task after the copy.
  bool hands_over(TaskId id) const {
    const TaskId next = next_in_lane_[id];
    return schedule::is_copy(task(id).stage) && next != none &&
           schedule::is_kernel(task(next).stage);
  }

  void set_free(Engine& engine) {
    --engine.running;
    mark(engine);
  }

  void mark_complete(TaskId id) {
    complete_[id] = true;
    if (id != done_before_) return;
    while (done_before_ < complete_.size() && complete_[done_before_]) ++done_before_;
    for (const int queue : std::exchange(held_by_window_, {})) offer(queue);
  }

  /// Tells those that wait for the task: kernels, others, or both.
  void release(TaskId id, bool kernels, bool others) {
    const auto tell = [&](TaskId to, double latency) {
      const bool is_kernel = schedule::is_kernel(task(to).stage);
      if (schedule::on_host(task(to).stage) || !(is_kernel ? kernels : others)) return;
      ready_[to] = std::max(ready_[to], now_ + latency);
      if (--waiting_[to] > 0) return;
      const int queue = queue_of(task(to));
      if (queues_[static_cast<std::size_t>(queue)].head == to) offer(queue);
    };
    if (const TaskId next = next_in_lane_[id]; next != none) {
      const bool same = engine_of(task(next)) == engine_of(task(id));
      tell(next, same ? 0 : device_.latency.lane_s);
    }
    for (const TaskId other : dependents_.of(id)) tell(other, device_.latency.event_s);
  }

  // The host

  void resume_host(double at) { events_.push({at, order_++, Event::Kind::host, 0}); }

  /// The host has finished what it did; does the next thing.
  void step_host() {
    if (issuing_ != none) {
      const TaskId id = std::exchange(issuing_, none);
      const Task& t = task(id);
      if (schedule::on_host(t.stage)) {
        timeline_.spans[id].stop_s = now_;
        mark_complete(id);
      } else {
        ready_[id] = std::max(ready_[id], now_ + device_.latency.start_s);
        last_in_lane_[static_cast<std::size_t>(t.lane)] = id;
        enqueue(id);
        if (t.blocking || holds_host(t)) return wait_for_lane(t.lane, t.blocking);
      }
    }
    if (next_issue_ == schedule_.tasks.size()) return end_host();
    const Task& t = task(next_issue_);
    if (t.stage == Stage::host) {
      // It waits for the lanes of what it comes after.
      for (const TaskId other : t.after) {
        const int lane = task(other).lane;
        const auto l = static_cast<std::size_t>(lane);
        if (!schedule::on_host(task(other).stage) && last_in_lane_[l] != seen_[l]) {
          return wait_for_lane(lane, true);
        }
      }
    }
    issuing_ = next_issue_++;
    timeline_.spans[issuing_] = {host_engine_, now_, now_};
    resume_host(now_ + issue_seconds(issuing_));
  }

  double issue_seconds(TaskId id) const {
    const Task& t = task(id);
    const HostCosts& cost = device_.host;
    if (t.stage == Stage::query) return cost.query_s;
    if (schedule::on_host(t.stage)) return t.duration_s;
    const auto& waiting = dependents_.of(id);
    const bool recorded = std::any_of(waiting.begin(), waiting.end(), [&](TaskId other) {
      return !schedule::on_host(task(other).stage);
    });
    return static_cast<double>(t.after.size()) * cost.wait_s + (recorded ? cost.record_s : 0) +
           (schedule::is_kernel(t.stage) ? cost.kernel_s : cost.copy_s);
  }

  /// Whether the copy is staged by the host thread.
  bool holds_host(const Task& t) const {
    if (!schedule::is_copy(t.stage) || schedule_.host_memory != deck::HostMemory::pageable ||
        device_.queues == Queues::worker || device_.unit_s > 0) {
      return false;
    }
    const Copies& copies = t.stage == Stage::h2d ? device_.h2d : device_.d2h;
    return static_cast<double>(t.bytes) > copies.unblocked_bytes;
  }

  /// The host goes on when all in the lane is complete; a wait that the program asks for costs a
  /// call.
  void wait_for_lane(int lane, bool call) {
    const auto l = static_cast<std::size_t>(lane);
    const double cost = call ? device_.host.synchronize_s : 0;
    seen_[l] = last_in_lane_[l];
    if (seen_[l] == none || complete_[seen_[l]]) return resume_host(now_ + cost);
    host_waits_for_ = seen_[l];
    host_ready_ = now_ + cost;
  }

  void end_host() {
    if (next_wait_ == 0) timeline_.issued_s = now_;
    while (next_wait_ < schedule_.lanes) {
      const auto lane = static_cast<std::size_t>(next_wait_++);
      if (last_in_lane_[lane] != seen_[lane]) return wait_for_lane(static_cast<int>(lane), true);
    }
    timeline_.complete_s = now_;
    host_done_ = true;
  }

  const Schedule& schedule_;
  const Device& device_;
  RunningTasks running_;
  Dependents dependents_;
  timeline::Timeline timeline_;

  double now_ = 0;
  MinHeap<Event> events_;
  std::uint64_t order_ = 0;
  std::vector<Engine> engines_;
  std::vector<Engine*> dirty_;
  std::vector<Queue> queues_;
  std::vector<int> held_by_window_;  ///< queues
  timeline::Engines kinds_;
  int host_engine_ = 0;

  // Of each task
  std::vector<std::uint32_t> waiting_;  ///< for how many tasks
  std::vector<double> ready_;           ///< when those that are complete let it go
  std::vector<TaskId> next_;            ///< in its queue
  std::vector<TaskId> next_in_lane_;
  std::vector<bool> complete_;
  TaskId done_before_ = 0;      ///< all before this one are complete
  std::vector<TaskId> run_of_;  ///< kernels: in runs_; empty without delayed signals
  std::vector<KernelRun> runs_;

  // The host
  TaskId next_issue_ = 0;
  TaskId issuing_ = none;
  TaskId host_waits_for_ = none;
  double host_ready_ = 0;  ///< when its call could return at the earliest
  int next_wait_ = 0;
  bool host_done_ = false;
  std::vector<TaskId> last_in_lane_;  ///< issued
  std::vector<TaskId> seen_;          ///< waited for
};

}  // namespace

timeline::Timeline predict(const Schedule& schedule, const Device& device) {
  return Simulation(schedule, device).run();
}

}  // namespace overlap::model
