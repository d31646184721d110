#pragma once

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

#include <cuda_runtime.h>

#include <memory>
#include <optional>
#include <vector>

#include "executor/detail/lanes.hpp"

namespace overlap::executor::detail {

inline std::string cuda_message(const char* call, cudaError_t code) {
  return std::string(call) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
}

inline void check_cuda(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    throw base::Error(base::ExitCode::runtime_error, cuda_message(call, code));
  }
}

/// A stream that does not synchronize with the legacy default stream.
class Stream {
 public:
  Stream() {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream& operator=(Stream&&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event for ordering only: without timing it costs least.
class Event {
 public:
  Event() {
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event& operator=(Event&&) = delete;

  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Lanes as CUDA streams of our own, each wrapped in an instance; an event for each task that
/// another lane waits for.
class CudaLanes final : public Lanes<Kokkos::Cuda> {
 public:
  explicit CudaLanes(int lanes) : streams_(static_cast<std::size_t>(lanes)) {
    for (const Stream& stream : streams_) instances_.emplace_back(stream.get());
    // Constructing an instance enqueues memsets on the legacy stream, which non-blocking streams do
    // not wait for.
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    last_.resize(streams_.size());
  }

  int size() const override { return static_cast<int>(instances_.size()); }
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
      for (const schedule::TaskId other : task.after) {
        if (event_of_[other] != nullptr) continue;
        if (used == events_.size()) events_.emplace_back();
        event_of_[other] = events_[used++].get();
      }
    }
    std::fill(last_.begin(), last_.end(), std::nullopt);
  }

  void issue(schedule::TaskId id) override {
    const schedule::Task& task = schedule_->tasks[id];
    const auto lane = static_cast<std::size_t>(task.lane);
    last_[lane] = id;
    try {
      const cudaStream_t stream = streams_[lane].get();
      for (const schedule::TaskId other : task.after) {
        check_cuda(cudaStreamWaitEvent(stream, event_of_[other], 0), "cudaStreamWaitEvent");
      }
      perform(instances_[lane], *workload_, *schedule_, task);
      if (event_of_[id] != nullptr) {
        check_cuda(cudaEventRecord(event_of_[id], stream), "cudaEventRecord");
      }
    } catch (const std::exception& error) {
      throw lane_error(*schedule_, id, error.what());
    }
  }

  void wait(int lane) override {
    auto& last = last_[static_cast<std::size_t>(lane)];
    if (!last) return;
    // An instance's fence does the same, but prints a stack trace and aborts on an error.
    const cudaError_t code = cudaStreamSynchronize(streams_[static_cast<std::size_t>(lane)].get());
    if (code != cudaSuccess) {
      const base::Error error = lane_error(*schedule_, *last,
                                           "the lane stopped at this task or one before it: " +
                                               cuda_message("cudaStreamSynchronize", code));
      throw DeviceLost(error.code(), error.what());
    }
    last.reset();
  }

 private:
  // Instances must die before the streams that they wrap.
  std::vector<Stream> streams_;
  std::vector<Kokkos::Cuda> instances_;
  std::vector<Event> events_;
  std::vector<cudaEvent_t> event_of_;  ///< of each task; null where no other lane waits for it
  std::vector<std::optional<schedule::TaskId>> last_;  ///< issued to each lane since its last wait
  const schedule::Schedule* schedule_ = nullptr;
  const workload::Workload<Kokkos::Cuda>* workload_ = nullptr;
};

}  // namespace overlap::executor::detail

#endif
