#pragma once

#include "executor/detail/cuda_handles.hpp"

#if defined(KOKKOS_ENABLE_CUDA)

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <vector>

#include "base/parallel.hpp"
#include "executor/detail/copy_team.hpp"
#include "timeline/run.hpp"
#include "workload/workload.hpp"

namespace overlap::executor::detail {

/// Page-locked slots through which pageable memory passes: host threads fill slots in one stream of
/// host functions and drain others in a second, while copies between slots and the device run in
/// the lanes. Nothing here makes the issuing thread wait; a lane goes on behind a copy to the host
/// when its data have left the slots.
class StagingRing {
 public:
  StagingRing(std::int64_t slots, std::int64_t slot_bytes)
      : slot_bytes_(static_cast<std::size_t>(slot_bytes)),
        up_(slots, slot_bytes_),
        down_(slots, slot_bytes_),
        team_(base::usable_cpus()) {}

  /// All copies before are complete.
  void begin_run() {
    jobs_.clear();
    fill_ns_ = drain_ns_ = 0;
  }

  void to_device(cudaStream_t lane, workload::Byte* device, const workload::Byte* host,
                 std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += slot_bytes_) {
      const std::size_t part = std::min(slot_bytes_, bytes - at);
      Slot& slot = up_.next();
      wait(up_.stream, slot.free);
      copy_in(up_.stream, {this, slot.data(), host + at, part, &fill_ns_});
      record(slot.full, up_.stream);
      wait(lane, slot.full);
      check_cuda(cudaMemcpyAsync(device + at, slot.data(), part, cudaMemcpyHostToDevice, lane),
                 "cudaMemcpyAsync");
      record(slot.free, lane);
    }
  }

  void to_host(cudaStream_t lane, workload::Byte* host, const workload::Byte* device,
               std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += slot_bytes_) {
      const std::size_t part = std::min(slot_bytes_, bytes - at);
      Slot& slot = down_.next();
      wait(lane, slot.free);
      check_cuda(cudaMemcpyAsync(slot.data(), device + at, part, cudaMemcpyDeviceToHost, lane),
                 "cudaMemcpyAsync");
      record(slot.full, lane);
      wait(down_.stream, slot.full);
      copy_in(down_.stream, {this, host + at, slot.data(), part, &drain_ns_});
      record(slot.free, down_.stream);
      if (at + part == bytes) wait(lane, slot.free);
    }
  }

  timeline::StagingCosts costs() const {
    return {1e-9 * static_cast<double>(fill_ns_), 1e-9 * static_cast<double>(drain_ns_),
            team_.threads()};
  }

 private:
  struct Slot {
    workload::AlignedBytes<Kokkos::CudaHostPinnedSpace> bytes;
    Event full = make_event();
    Event free = make_event();
    workload::Byte* data() const { return bytes.data(); }
  };
  /// Slots that are used in turn, and the stream in which the host works on them.
  struct Turns {
    Turns(std::int64_t count, std::size_t bytes) {
      for (std::int64_t i = 0; i < count; ++i) {
        slots.push_back({.bytes = {"overlap::staging", bytes}});
      }
    }
    Slot& next() { return slots[used++ % slots.size()]; }

    Stream stream = make_stream();
    std::vector<Slot> slots;
    std::size_t used = 0;
  };
  struct Job {
    StagingRing* ring;
    void* to;
    const void* from;
    std::size_t bytes;
    std::atomic<std::int64_t>* ns;
  };

  static void wait(cudaStream_t stream, const Event& event) {
    check_cuda(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
  }
  static void wait(const Stream& stream, const Event& event) { wait(stream.get(), event); }
  static void record(const Event& event, cudaStream_t stream) {
    check_cuda(cudaEventRecord(event.get(), stream), "cudaEventRecord");
  }
  static void record(const Event& event, const Stream& stream) { record(event, stream.get()); }

  void copy_in(const Stream& stream, const Job& job) {
    check_cuda(cudaLaunchHostFunc(stream.get(), perform, &jobs_.emplace_back(job)),
               "cudaLaunchHostFunc");
  }

  static void perform(void* data) {
    const Job& job = *static_cast<const Job*>(data);
    const std::scoped_lock lock(job.ring->mutex_);  // the driver may call from several threads
    const auto start = std::chrono::steady_clock::now();
    job.ring->team_.copy(job.to, job.from, job.bytes);
    *job.ns += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }

  std::size_t slot_bytes_;
  Turns up_;
  Turns down_;
  std::deque<Job> jobs_;  ///< of this run
  std::atomic<std::int64_t> fill_ns_ = 0;
  std::atomic<std::int64_t> drain_ns_ = 0;
  std::mutex mutex_;
  CopyTeam team_;
};

}  // namespace overlap::executor::detail

#endif
