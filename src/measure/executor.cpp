#include "measure/executor.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "lanes/range.hpp"
#include "measure/issue_threads.hpp"
#include "measure/measure.hpp"
#include "measure/platform.hpp"
#include "workload/data.hpp"

namespace overlap::measure {
namespace {

/// What one thread has issued, apart from what the others write.
struct alignas(128) Issued {
  std::atomic<schedule::TaskId> end = 0;  ///< one past its last task
  double complete_s = 0;
};

/// One run of a schedule, on one or several threads.
struct IssuedRun {
  lanes::Lanes& lanes;
  const schedule::Schedule& schedule;
  const workload::Workload& workload;
  std::function<lanes::Clock::time_point()> begin;  ///< called when all threads are ready
  std::vector<timeline::Span>* spans;  ///< of a traced run: receives the times of host tasks
  std::vector<double>* lane_s;
  int threads = 1;
  lanes::Clock::time_point start = {};
  Elapsed elapsed = {};
  std::vector<Issued> issued = std::vector<Issued>(static_cast<std::size_t>(threads));
  std::atomic<int> ready = 0;
  std::atomic<bool> begun = false;
  std::mutex mutex = {};
  std::exception_ptr failure = {};  ///< the first
  std::atomic<bool> failed = false;

  double since_start() const { return lanes::seconds_since(start); }

  Elapsed run(IssueThreads& team) {
    if (threads > 1) {
      team.run([this](int thread) {
        if (thread < threads) run_thread(thread);
      });
    } else {
      run_thread(0);
    }
    if (failure) std::rethrow_exception(failure);
    for (const Issued& thread : issued) {
      elapsed.issued_s = std::max(elapsed.issued_s, thread.complete_s);
    }
    elapsed.complete_s = since_start();
    elapsed.polls = lanes.polls();
    return elapsed;
  }

  /// Issues the tasks of a thread and waits for its lanes. After a failure it only waits, because
  /// no other thread can wait for what is in a per-thread default stream.
  void run_thread(int thread) {
    guard([&] {
      if (thread > 0) lanes.attach_thread();
    });
    ++ready;
    while (thread == 0 && ready < threads) std::this_thread::yield();
    if (thread == 0) guard([&] { start = begin(); });
    if (thread == 0) begun = true;
    while (!begun) std::this_thread::yield();
    if (!failed) guard([&] { issue_tasks(thread); });
    if (lane_s != nullptr && !failed) poll_lanes();
    for (int lane = thread; lane < schedule.lanes; lane += threads) {
      const lanes::ProfilerRange range("wait", lane);
      guard([&] { lanes.wait(lane); });
    }
  }

  template <class Body>
  void guard(const Body& body) {
    try {
      body();
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }

  void issue_tasks(int thread) {
    const auto& tasks = schedule.tasks;
    const auto last = std::find_if(tasks.rbegin(), tasks.rend(), [](const schedule::Task& task) {
      return task.stage != schedule::Stage::host;
    });
    const auto end = static_cast<schedule::TaskId>(tasks.rend() - last);  // without final host work
    const bool launched = spans == nullptr && lanes.launch_graph();
    const auto issue_range = [&](schedule::TaskId from, schedule::TaskId to) {
      for (schedule::TaskId id = from; id < to && !failed; ++id) {
        if (thread_of(tasks[id]) != thread) continue;
        for (const schedule::TaskId other : tasks[id].after) wait_for_issue(other);
        if (failed) return;  // a lane would wait forever for a task that was not issued
        issue(id);
        issued_by(thread).end.store(id + 1, std::memory_order_release);
      }
    };
    if (launched) issued_by(thread).end = end;
    issue_range(launched ? end : 0, end);
    issued_by(thread).complete_s = since_start();
    issue_range(end, static_cast<schedule::TaskId>(tasks.size()));
  }

  Issued& issued_by(int thread) { return issued[static_cast<std::size_t>(thread)]; }
  /// Of the threads of this run.
  int thread_of(const schedule::Task& task) const { return task.lane % threads; }

  /// Until another thread has issued the task, so that lanes know what to wait for.
  void wait_for_issue(schedule::TaskId task) {
    const auto& end = issued_by(thread_of(schedule.tasks[task])).end;
    while (end.load(std::memory_order_acquire) <= task && !failed) std::this_thread::yield();
  }

  void issue(schedule::TaskId id) {
    const schedule::Task& task = schedule.tasks[id];
    const auto& names = schedule.names;
    const lanes::ProfilerRange range(
        names.empty() ? schedule::to_string(task.stage) : names[id].c_str(), task.chunk);
    if (task.stage == schedule::Stage::host) wait_for_lanes(task);
    const bool timed =  // workers time their tasks themselves, too, and know better
        spans != nullptr && (schedule::on_host(task.stage) || workload::is_host);
    if (timed) (*spans)[id].start_s = since_start();
    switch (task.stage) {
      case schedule::Stage::host:
        work(task);
        break;
      case schedule::Stage::query:
        lanes.query(task.lane);
        break;
      case schedule::Stage::disturbance:
        lanes.disturb(task);
        break;
      default:
        lanes.issue(id);
        if (task.blocking) lanes.wait(task.lane);
    }
    if (timed) (*spans)[id].stop_s = since_start();
  }

  void poll_lanes() {
    constexpr double longest_s = 10;  // a lane that failed is never complete: wait() says why
    lane_s->assign(static_cast<std::size_t>(schedule.lanes), longest_s);
    for (int running = schedule.lanes; running > 0 && since_start() < longest_s;
         std::this_thread::yield()) {
      for (int lane = 0; lane < schedule.lanes; ++lane) {
        double& time_s = (*lane_s)[static_cast<std::size_t>(lane)];
        if (time_s < longest_s || !lanes.query(lane)) continue;
        time_s = since_start();
        --running;
      }
    }
  }

  void wait_for_lanes(const schedule::Task& task) {
    for (const schedule::TaskId other : task.after) lanes.wait(schedule.tasks[other].lane);
  }

  /// Computes a tile of a product, or keeps the issuing thread busy.
  void work(const schedule::Task& task) {
    if (const auto tile = schedule::product(schedule, task)) {
      return workload.compute_on_host({.product = tile});
    }
    const double begin_s = since_start();
    const auto steps = static_cast<std::int64_t>(task.duration_s * workload.host_steps_per_s);
    [[maybe_unused]] const volatile std::uint32_t end = workload::chain(steps);
    elapsed.host_work_s += since_start() - begin_s;
  }
};

/// Waits for the first `count` lanes, ignoring errors because the first one is being reported.
/// Returns whether the device is lost, also where no lane has a task.
bool drain(lanes::Lanes& lanes, int count) {
  bool lost = false;
  const auto check = [&](const auto& wait) {
    try {
      wait();
    } catch (const base::Error& error) {
      lost = lost || dynamic_cast<const lanes::DeviceLost*>(&error) != nullptr;
    }
  };
  for (int lane = 0; lane < count; ++lane) check([&] { lanes.wait(lane); });
  check([&] { lanes::wait_for(lanes.instance(0), "drain"); });
  return lost;
}

}  // namespace

Executor::Executor(std::unique_ptr<lanes::Lanes> lanes, int count, int threads)
    : lanes_(std::move(lanes)),
      count_(count),
      threads_(std::make_shared<IssueThreads>(threads)),
      cores_(base::host_info().usable_cores()) {}

Elapsed Executor::run(const schedule::Schedule& schedule, const workload::Workload& workload,
                      const std::function<void()>& before_start, std::vector<double>* lane_s,
                      std::vector<timeline::Span>* spans) {
  if (schedule.lanes > count_ || schedule.threads > threads_->count()) {
    throw std::logic_error("a schedule of " + std::to_string(schedule.lanes) + " lanes and " +
                           std::to_string(schedule.threads) + " threads on " +
                           std::to_string(count_) + " and " + std::to_string(threads_->count()));
  }
  try {
    lanes_->bind(schedule, workload);
    const int threads = warm_ ? schedule.threads : 1;
    std::vector<timeline::Span> host_spans(workload::is_host ? schedule.tasks.size() : 0);
    if (workload::is_host && spans == nullptr) spans = &host_spans;
    std::clock_t cpu_start = 0;
    const auto begin = [&] {
      if (before_start) before_start();
      cpu_start = std::clock();
      return spans != nullptr ? lanes_->mark() : lanes::Clock::now();
    };
    Elapsed elapsed =
        IssuedRun{*lanes_, schedule, workload, begin, spans, lane_s, threads}.run(*threads_);
    if (spans != nullptr) lanes_->collect(*spans);
    if (workload::is_host) {  // only now do all workers sleep, before which their last CPU time is
                              // unknown
      elapsed.cpu_s = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
      elapsed.wanted_s = timeline::wanted_s(schedule, *spans, cores_);
    }
    warm_ = true;
    return elapsed;
  } catch (const std::exception& error) {
    if (!drain(*lanes_, schedule.lanes)) throw;
    throw lanes::DeviceLost(base::error_of(error));  // with the words of the first error
  }
}

timeline::Timeline Executor::run_traced(const schedule::Schedule& schedule,
                                        const workload::Workload& workload, int copy_engines) {
  const timeline::Engines engines = {.workers = workload::is_host ? schedule.lanes : 0,
                                     .copy_engines = copy_engines};
  timeline::Timeline traced;
  traced.engines = engines.names();
  traced.spans.resize(schedule.tasks.size());
  for (schedule::TaskId id = 0; id < schedule.tasks.size(); ++id) {
    traced.spans[id].engine = engines.index_of(schedule.tasks[id]);
  }
  const Elapsed elapsed = run(schedule, workload, {}, nullptr, &traced.spans);
  traced.issued_s = elapsed.issued_s;
  traced.complete_s = elapsed.complete_s;
  align_clocks(schedule, traced);
  return traced;
}

}  // namespace overlap::measure
