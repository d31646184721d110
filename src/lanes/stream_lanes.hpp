#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "lanes/disturber.hpp"
#include "lanes/graphs.hpp"
#include "lanes/lanes.hpp"
#include "lanes/stream_trace.hpp"

namespace overlap::lanes {

/// Lanes as GPU streams, by default non-blocking streams created here, each wrapped in an instance;
/// one event per task that another lane waits for. `Api`: the calls of a vendor, see lanes/api/.
/// Kokkos (up to 5.2) has neither: streams of partition_space() wait for the legacy default stream,
/// and instances wait for each other only through fences of the host.
template <class Api>
class StreamLanes final : public Lanes {
 public:
  StreamLanes(int lanes, const deck::Issue& options, const deck::Memory& memory)
      : sync_(options.sync), trace_(memory.host) {
    for (int lane = 0; lane < lanes; ++lane) {
      streams_.push_back(stream_of(options.streams));
      instances_.emplace_back(streams_.back());
    }
    // Constructing an instance enqueues memsets on the legacy stream, which non-blocking streams do
    // not wait for.
    Api::synchronize_device();
    last_tasks_.resize(streams_.size());
    while (done_.size() < streams_.size()) done_.push_back(Api::make_event(Api::untimed));
  }

  const workload::Space& instance(int lane) const override {
    return instances_[static_cast<std::size_t>(lane)];
  }

  void bind(const schedule::Schedule& schedule, const workload::Workload& workload) override {
    Lanes::bind(schedule, workload);
    bind_events();
    polls_ = 0;
    if (disturber_) {
      disturber_->clear();
    } else if (std::ranges::count(schedule.tasks, schedule::Stage::disturbance,
                                  &schedule::Task::stage) > 0) {
      disturber_.emplace();
    }
    trace_.bind(schedule);
    graph_ = nullptr;
    if (schedule.mechanism == deck::Mechanism::graph && is_capturable(schedule)) {
      graph_ = &graphs_.graph(schedule, workload, streams_, [this](auto id) { issue(id); });
    }
    std::fill(last_tasks_.begin(), last_tasks_.end(), std::nullopt);  // captured tasks have not run
    launched_ = false;
  }

  void attach_thread() override { Api::set_device(device_); }

  std::string trace(bool on) override { return trace_.turn(on); }
  Clock::time_point mark() override { return trace_.mark(instances_.front()); }
  void collect(std::vector<timeline::Span>& spans) override { trace_.collect(spans); }

  bool launch_graph() override {
    if (graph_ == nullptr) return false;
    Api::launch(graph_->exec, streams_.front());
    last_tasks_.front() = device_tasks(*schedule_) - 1;
    launched_ = true;
    return true;
  }

  std::int64_t polls() const override { return polls_; }

  std::optional<experiment::GraphCosts> graph_costs() const override {
    return graph_ != nullptr ? std::optional(graph_->costs) : std::nullopt;
  }

  void issue(schedule::TaskId id) override {
    const schedule::Task& task = schedule_->tasks[id];
    const auto lane = static_cast<std::size_t>(task.lane);
    last_tasks_[lane] = id;
    try {
      const auto stream = streams_[lane];
      for (const schedule::TaskId other : task.after) Api::wait(stream, *task_events_[other], 0);
      trace_.begin(id, instances_[lane]);
      perform(id);
      trace_.end(id, instances_[lane]);
      if (task_events_[id] != nullptr) Api::record(*task_events_[id], stream);
    } catch (const std::exception& error) {
      throw lane_error(*schedule_, id, base::error_of(error).what());
    }
  }

  void disturb(const schedule::Task& task) override {
    disturber_->call(task.call, streams_[static_cast<std::size_t>(task.lane)]);
  }

  void wait(int lane) override {
    if (launched_) lane = 0;  // all of the graph
    auto& last = last_tasks_[static_cast<std::size_t>(lane)];
    if (!last) return;
    const auto stream = streams_[static_cast<std::size_t>(lane)];
    try {
      // Space::fence() does the same, but (up to 5.2) prints a stack trace and aborts on an error.
      synchronize(stream, done_[static_cast<std::size_t>(lane)]);
    } catch (const base::Error& error) {
      const std::string context = "the lane stopped at this task or an earlier one: ";
      throw DeviceLost(lane_error(*schedule_, *last, context + error.what()));
    }
    last.reset();
  }

  bool query(int lane) override {
    try {
      return Api::is_complete(streams_[static_cast<std::size_t>(lane)]);
    } catch (const base::Error&) {  // sticky: wait() reports it
      return false;
    }
  }

 private:
  typename Api::Stream stream_of(deck::Streams kind) {
    if (kind == deck::Streams::legacy_default) return Api::legacy_stream();
    if (kind == deck::Streams::per_thread_default) return Api::per_thread_stream();
    owned_streams_.push_back(
        Api::make_stream(kind == deck::Streams::own ? Api::own : Api::blocking));
    return owned_streams_.back();
  }

  /// Assigns an event to each task that another lane waits for. The host waits for whole lanes.
  void bind_events() {
    task_events_.assign(schedule_->tasks.size(), nullptr);
    std::size_t used = 0;
    for (const schedule::Task& task : schedule_->tasks) {
      if (schedule::on_host(task.stage)) continue;
      for (const schedule::TaskId other : task.after) {
        if (task_events_[other] != nullptr) continue;
        if (used == events_.size()) events_.push_back(Api::make_event(Api::untimed));
        task_events_[other] = &events_[used++];
      }
    }
  }

  void synchronize(typename Api::Stream stream, const typename Api::Event& done) {
    switch (sync_) {
      case deck::Sync::device:
        return Api::synchronize_device();
      case deck::Sync::event:
        Api::record(done, stream);
        return Api::synchronize_event(done);
      case deck::Sync::event_query:
        Api::record(done, stream);
        return poll(done);
      case deck::Sync::query:
        return poll(stream);
      case deck::Sync::stream:
        return Api::synchronize(stream);
    }
  }

  void poll(const auto& handle) {
    do {
      ++polls_;
    } while (!Api::is_complete(handle));
  }

  // Instances must be destroyed before their streams.
  std::vector<typename Api::OwnedStream> owned_streams_;
  std::vector<typename Api::Stream> streams_;  ///< per lane
  std::vector<workload::Space> instances_;
  std::deque<typename Api::Event> events_;
  std::vector<const typename Api::Event*>
      task_events_;  ///< per task; null: no other lane waits for it
  std::vector<std::optional<schedule::TaskId>>
      last_tasks_;         ///< last task issued to each lane since its last wait
  bool launched_ = false;  ///< the graph, in the stream of lane 0
  std::optional<Disturber<Api>> disturber_;
  deck::Sync sync_;
  std::atomic<std::int64_t> polls_ = 0;
  std::vector<typename Api::Event> done_;  ///< per lane, behind its last task
  int device_ = Api::device();
  Graphs<Api> graphs_;
  const typename Graphs<Api>::Graph* graph_ = nullptr;  ///< of the bound schedule
  StreamTrace<Api> trace_;
};

}  // namespace overlap::lanes
