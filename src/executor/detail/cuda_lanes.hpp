#pragma once

#include "executor/detail/cuda_handles.hpp"

#if defined(KOKKOS_ENABLE_CUDA)

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/detail/cupti.hpp"
#include "executor/detail/disturber.hpp"
#include "executor/detail/lanes.hpp"
#include "executor/detail/staging_ring.hpp"

namespace overlap::executor::detail {

/// Lanes as CUDA streams, by default of our own, each wrapped in an instance; an event for each
/// task that another lane waits for.
class CudaLanes final : public Lanes<Kokkos::Cuda> {
 public:
  explicit CudaLanes(int lanes, const deck::Issue& options = {}, const deck::Memory& memory = {})
      : sync_(options.sync) {
    for (int lane = 0; lane < lanes; ++lane) {
      streams_.push_back(stream_of(options.streams));
      instances_.emplace_back(streams_.back());
    }
    // Constructing an instance enqueues memsets on the legacy stream, which non-blocking streams do
    // not wait for.
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    last_.resize(streams_.size());
    if (memory.host == deck::HostMemory::pageable_staged) {
      ring_ = std::make_unique<StagingRing>(memory.ring_slots, memory.ring_bytes);
    }
  }

  const Kokkos::Cuda& instance(int lane) const override {
    return instances_[static_cast<std::size_t>(lane)];
  }

  void bind(const schedule::Schedule& schedule,
            const workload::Workload<Kokkos::Cuda>& workload) override {
    schedule_ = &schedule;
    workload_ = &workload;
    event_of_.assign(schedule.tasks.size(), nullptr);
    std::size_t used = 0;
    for (const schedule::Task& task : schedule.tasks) {
      if (schedule::on_host(task.stage)) continue;  // the host waits for whole lanes
      for (const schedule::TaskId other : task.after) {
        if (event_of_[other] != nullptr) continue;
        if (used == events_.size()) events_.push_back(make_event());
        event_of_[other] = events_[used++].get();
      }
    }
    std::fill(last_.begin(), last_.end(), std::nullopt);
    polls_ = 0;
    if (ring_) ring_->begin_run();
    if (disturber_) {
      disturber_->clear();
    } else if (std::any_of(schedule.tasks.begin(), schedule.tasks.end(), [](const auto& task) {
                 return task.stage == schedule::Stage::disturbance;
               })) {
      disturber_.emplace();
    }
    const bool graph = schedule.mechanism == deck::Mechanism::graph && capturable();
    graph_ = graph ? &this->graph() : nullptr;
    times_.clear();
    if (!traced_ || cupti_) return;
    for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
      times_.emplace_back(make_timing_event(), make_timing_event());
    }
    mark_.emplace(make_timing_event());
  }

  TraceSource trace(bool on) override {
    if (on && !traced_) cupti_ = Cupti::load();
    const bool by_cupti = cupti_ != nullptr;
    if (!on) cupti_.reset();
    traced_ = on;
    if (by_cupti) return {"CUPTI", true};
    return {"CUDA events, for which a task also runs while it waits for its engine"};
  }

  Clock::time_point mark(const std::vector<bool>& timed) override {
    timed_ = timed;
    if (!cupti_) {
      record(*mark_, 0);
      return Clock::now();
    }
    cupti_->start();
    const auto now = Clock::now();
    mark_ns_ = cupti_->now_ns();
    return now;
  }

  void collect(std::vector<timeline::Span>& spans) override {
    if (cupti_) return collect_activities(spans);
    const auto seconds = [&](const Event& event) {
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, mark_->get(), event.get()),
                 "cudaEventElapsedTime");
      return std::max(0.0, milliseconds * 1e-3);
    };
    for (std::size_t id = 0; id < times_.size(); ++id) {
      if (schedule::on_host(schedule_->tasks[id].stage)) continue;
      spans[id].start_s = seconds(times_[id].first);
      spans[id].stop_s = seconds(times_[id].second);
    }
  }

  bool launch() override {
    if (graph_ == nullptr) return false;
    check_cuda(cudaGraphLaunch(graph_->exec.get(), streams_.front()), "cudaGraphLaunch");
    last_.front() = device_tasks() - 1;
    return true;
  }

  std::int64_t polls() const override { return polls_; }

  std::optional<timeline::GraphCosts> graph_costs() const override {
    if (graph_ == nullptr) return std::nullopt;
    return graph_->costs;
  }

  std::optional<timeline::StagingCosts> staging_costs() const override {
    if (!ring_) return std::nullopt;
    return ring_->costs();
  }

  void issue(schedule::TaskId id) override {
    const schedule::Task& task = schedule_->tasks[id];
    const auto lane = static_cast<std::size_t>(task.lane);
    last_[lane] = id;
    try {
      const cudaStream_t stream = streams_[lane];
      for (const schedule::TaskId other : task.after) {
        check_cuda(cudaStreamWaitEvent(stream, event_of_[other], 0), "cudaStreamWaitEvent");
      }
      if (!times_.empty()) record(times_[id].first, lane);
      const bool skipped = cupti_ && !timed_[id];
      if (skipped) cupti_->record_copies(false);
      if (cupti_) cupti_->tag(id);
      if (ring_ && schedule::is_copy(task.stage)) {
        stage(stream, task);
      } else {
        perform(instances_[lane], *workload_, *schedule_, task);
      }
      if (cupti_) cupti_->tag({});
      if (skipped) cupti_->record_copies(true);
      if (!times_.empty()) record(times_[id].second, lane);
      if (event_of_[id] != nullptr) {
        check_cuda(cudaEventRecord(event_of_[id], stream), "cudaEventRecord");
      }
    } catch (const std::exception& error) {
      throw lane_error(*schedule_, id, error.what());
    }
  }

  void disturb(const schedule::Task& task) override {
    disturber_->call(task.call, streams_[static_cast<std::size_t>(task.lane)]);
  }

  void wait(int lane) override {
    auto& last = last_[static_cast<std::size_t>(lane)];
    if (!last) return;
    // An instance's fence does the same, but prints a stack trace and aborts on an error.
    const cudaError_t code = synchronize(streams_[static_cast<std::size_t>(lane)]);
    if (code != cudaSuccess) {
      const base::Error error = lane_error(
          *schedule_, *last,
          "the lane stopped at this task or one before it: " + cuda_message(sync_call(), code));
      throw DeviceLost(error.code(), error.what());
    }
    if (ring_) ring_->finish(streams_[static_cast<std::size_t>(lane)]);
    last.reset();
  }

  bool query(int lane) override {
    if (cudaStreamQuery(streams_[static_cast<std::size_t>(lane)]) == cudaSuccess) return true;
    // Not ready is no error, but would be found where Kokkos looks for the last one. Other errors
    // stay with the stream.
    cudaGetLastError();
    return false;
  }

 private:
  /// A schedule that was captured, and what of the workload lies in it.
  struct Graph {
    std::vector<schedule::Task> tasks;
    std::vector<schedule::Use> uses;
    std::vector<schedule::Cut> cuts;
    const workload::Byte* data;
    std::int64_t repeats;
    GraphExec exec;
    timeline::GraphCosts costs;
  };

  cudaStream_t stream_of(deck::Streams kind) {
    switch (kind) {
      case deck::Streams::legacy_default:
        return cudaStreamLegacy;
      case deck::Streams::per_thread_default:
        return cudaStreamPerThread;
      case deck::Streams::own:
      case deck::Streams::blocking:
        break;
    }
    owned_streams_.push_back(make_stream(kind == deck::Streams::own));
    return owned_streams_.back().get();
  }

  /// A copy through the ring.
  void stage(cudaStream_t stream, const schedule::Task& task) {
    const CopyPlaces at = places_of(*schedule_, *workload_, task);
    if (task.stage == schedule::Stage::h2d) {
      ring_->to_device(stream, at.device, at.host, task.bytes);
    } else {
      ring_->to_host(stream, at.host, at.device, task.bytes);
    }
  }

  /// Tasks before the first of the host.
  schedule::TaskId device_tasks() const {
    const auto& tasks = schedule_->tasks;
    const auto first = std::find_if(tasks.begin(), tasks.end(), [](const schedule::Task& task) {
      return schedule::on_host(task.stage);
    });
    return static_cast<schedule::TaskId>(first - tasks.begin());
  }

  /// Whether the host takes no part between the tasks: it may work when all are issued.
  bool capturable() const {
    const auto& tasks = schedule_->tasks;
    return std::none_of(tasks.begin(), tasks.end(),
                        [](const schedule::Task& task) { return task.blocking; }) &&
           std::all_of(tasks.begin() + device_tasks(), tasks.end(), [](const schedule::Task& task) {
             return task.stage == schedule::Stage::host;
           });
  }

  /// The graph of the bound schedule; captured when it is asked for first.
  const Graph& graph() {
    const workload::Byte* const data = workload_->device.front().data();
    for (const Graph& graph : graphs_) {
      if (graph.data == data && graph.repeats == workload_->repeats &&
          graph.uses == schedule_->uses && graph.cuts == schedule_->cuts &&
          graph.tasks == schedule_->tasks) {
        return graph;
      }
    }
    const auto seconds = [](Clock::time_point from, Clock::time_point to) {
      return std::chrono::duration<double>(to - from).count();
    };
    const auto start = Clock::now();
    const cudaGraph_t graph = capture();
    const auto captured = Clock::now();
    cudaGraphExec_t exec = nullptr;
    const cudaError_t code = cudaGraphInstantiateWithFlags(&exec, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(code, "cudaGraphInstantiate");
    const auto instantiated = Clock::now();
    graphs_.push_back({schedule_->tasks,
                       schedule_->uses,
                       schedule_->cuts,
                       data,
                       workload_->repeats,
                       GraphExec(exec),
                       {seconds(start, captured), seconds(captured, instantiated)}});
    check_cuda(cudaGraphUpload(exec, streams_.front()), "cudaGraphUpload");
    check_cuda(cudaStreamSynchronize(streams_.front()), "cudaStreamSynchronize");
    return graphs_.back();
  }

  /// The lanes' work as a graph: they fork from the first lane and join it at the end.
  cudaGraph_t capture() {
    const auto order = [&](std::size_t before, std::size_t after, const Event& event) {
      record(event, before);
      check_cuda(cudaStreamWaitEvent(streams_[after], event.get(), 0), "cudaStreamWaitEvent");
    };
    const auto lanes = static_cast<std::size_t>(schedule_->lanes);
    const Event event = make_event();
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamBeginCapture(streams_.front(), cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCapture");
    try {
      for (std::size_t lane = 1; lane < lanes; ++lane) order(0, lane, event);
      for (schedule::TaskId id = 0; id < device_tasks(); ++id) issue(id);
      for (std::size_t lane = 1; lane < lanes; ++lane) order(lane, 0, event);
    } catch (...) {
      if (cudaStreamEndCapture(streams_.front(), &graph) == cudaSuccess) cudaGraphDestroy(graph);
      throw;
    }
    check_cuda(cudaStreamEndCapture(streams_.front(), &graph), "cudaStreamEndCapture");
    std::fill(last_.begin(), last_.end(), std::nullopt);
    return graph;
  }

  const char* sync_call() const {
    switch (sync_) {
      case deck::Sync::device:
        return "cudaDeviceSynchronize";
      case deck::Sync::event:
        return "cudaEventSynchronize";
      case deck::Sync::query:
        return "cudaStreamQuery";
      case deck::Sync::stream:
        break;
    }
    return "cudaStreamSynchronize";
  }

  cudaError_t synchronize(cudaStream_t stream) {
    switch (sync_) {
      case deck::Sync::device:
        return cudaDeviceSynchronize();
      case deck::Sync::event: {
        if (!done_) done_.emplace(make_event());
        const cudaError_t code = cudaEventRecord(done_->get(), stream);
        return code == cudaSuccess ? cudaEventSynchronize(done_->get()) : code;
      }
      case deck::Sync::query: {
        cudaError_t code = cudaSuccess;
        do {
          code = cudaStreamQuery(stream);
          ++polls_;
        } while (code == cudaErrorNotReady);
        cudaGetLastError();  // not ready is no error
        return code;
      }
      case deck::Sync::stream:
        break;
    }
    return cudaStreamSynchronize(stream);
  }

  void record(const Event& event, std::size_t lane) {
    check_cuda(cudaEventRecord(event.get(), streams_[lane]), "cudaEventRecord");
  }

  /// A task may have several activities: it lasts from the first's start to the last's end.
  void collect_activities(std::vector<timeline::Span>& spans) {
    std::vector<bool> seen(spans.size());
    for (const Cupti::Activity& activity : cupti_->stop()) {
      const auto id = static_cast<std::size_t>(activity.tag);
      const auto seconds = [&](std::uint64_t ns) {
        return std::max(0.0, (static_cast<double>(ns) - static_cast<double>(mark_ns_)) * 1e-9);
      };
      timeline::Span& span = spans[id];
      const double start_s = seconds(activity.start_ns);
      const double stop_s = seconds(activity.stop_ns);
      span.start_s = seen[id] ? std::min(span.start_s, start_s) : start_s;
      span.stop_s = seen[id] ? std::max(span.stop_s, stop_s) : stop_s;
      seen[id] = true;
    }
    for (schedule::TaskId id = 0; id < seen.size(); ++id) {
      if (seen[id] || !timed_[id] || schedule::on_host(schedule_->tasks[id].stage)) continue;
      throw TraceLost(base::ExitCode::runtime_error,
                      "CUPTI lost the record of " + schedule::describe(*schedule_, id));
    }
  }

  // Instances must die before the streams that they wrap.
  std::vector<Stream> owned_streams_;
  std::vector<cudaStream_t> streams_;  ///< of each lane
  std::vector<Kokkos::Cuda> instances_;
  std::vector<Event> events_;
  std::vector<cudaEvent_t> event_of_;  ///< of each task; null where no other lane waits for it
  std::vector<std::optional<schedule::TaskId>> last_;  ///< issued to each lane since its last wait
  std::unique_ptr<StagingRing> ring_;
  std::optional<Disturber> disturber_;
  deck::Sync sync_;
  std::int64_t polls_ = 0;
  std::optional<Event> done_;
  std::deque<Graph> graphs_;
  const Graph* graph_ = nullptr;  ///< of the bound schedule
  bool traced_ = false;
  std::unique_ptr<Cupti> cupti_;  ///< if it takes the times of traced runs; else events do
  std::vector<bool> timed_;
  std::uint64_t mark_ns_ = 0;
  std::optional<Event> mark_;
  std::vector<std::pair<Event, Event>> times_;  ///< around each task, if traced
  const schedule::Schedule* schedule_ = nullptr;
  const workload::Workload<Kokkos::Cuda>* workload_ = nullptr;
};

}  // namespace overlap::executor::detail

#endif
