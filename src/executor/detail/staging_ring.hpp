#pragma once

#include "executor/detail/cuda_handles.hpp"

#if defined(KOKKOS_ENABLE_CUDA)

#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "executor/detail/copy_pool.hpp"
#include "experiment/run.hpp"
#include "workload/workload.hpp"

namespace overlap::executor::detail {

/// A function of the driver that the runtime has not.
template <class Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check_cuda(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found),
             "cudaGetDriverEntryPoint");
  if (found != cudaDriverEntryPointSuccess) {
    throw base::Error(base::ExitCode::skipped, std::string("memory.host: pageable_staged needs ") +
                                                   name + ", which this driver lacks");
  }
  return reinterpret_cast<Function>(function);
}

/// Page-locked slots through which pageable memory passes. Threads fill slots for copies to the
/// device and drain those of copies back, each a slot of its own; copies between slots and the
/// device run in the lanes. Lanes and threads wait for each other's turns at a slot, so that
/// neither the issuing thread nor any of CUDA's waits. A lane goes on behind a copy to the host
/// when its data are in the slots; who waits for the lane must wait for them to leave, too. What
/// came back does not go out again in the same run.
class StagingRing {
 public:
  StagingRing(std::int64_t slots, std::int64_t slot_bytes)
      : slot_bytes_(static_cast<std::size_t>(slot_bytes)),
        up_(static_cast<std::size_t>(slots), slot_bytes_),
        down_(static_cast<std::size_t>(slots), slot_bytes_),
        pool_(std::max(1, base::usable_cpus() - 1)) {}  // one is left to the issuing thread

  /// All copies before are complete.
  void begin_run() {
    pool_.reset();
    up_.reset();
    down_.reset();
    draining_.clear();
    operations_.clear();
  }

  void to_device(cudaStream_t lane, workload::Byte* device, const workload::Byte* host,
                 std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += slot_bytes_) {
      const std::size_t part = std::min(slot_bytes_, bytes - at);
      const Use use = up_.next();
      pool_.push(fill, {use.data, host + at, part, use.lanes, use.turn - 1, use.threads, use.turn});
      wait_value(use.threads, use.turn);
      enqueue(lane);
      copy(lane, device + at, use.data, part, cudaMemcpyHostToDevice);
      write_value(use.lanes, use.turn);
    }
    enqueue(lane);
  }

  void to_host(cudaStream_t lane, workload::Byte* host, const workload::Byte* device,
               std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += slot_bytes_) {
      const std::size_t part = std::min(slot_bytes_, bytes - at);
      const Use use = down_.next();
      wait_value(use.threads, use.turn - 1);
      enqueue(lane);
      copy(lane, use.data, device + at, part, cudaMemcpyDeviceToHost);
      write_value(use.lanes, use.turn);
      pool_.push(drain, {host + at, use.data, part, use.lanes, use.turn, use.threads, use.turn});
      draining_[lane].push_back(use);
    }
    enqueue(lane);
  }

  /// Waits until what a lane's copies brought has left the slots; the lane is complete.
  void finish(cudaStream_t lane) {
    for (const Use& use : draining_[lane]) {
      while (!has_reached(*use.threads, use.turn)) std::this_thread::yield();
    }
    draining_[lane].clear();
  }

  /// Times of a thread, were the work the same for all.
  experiment::StagingCosts costs() const {
    return {pool_.seconds(fill) / pool_.threads(), pool_.seconds(drain) / pool_.threads(),
            pool_.threads()};
  }

 private:
  static constexpr std::size_t fill = 0;
  static constexpr std::size_t drain = 1;
  using Pinned = workload::AlignedBytes<Kokkos::CudaHostPinnedSpace>;

  /// A slot's next use: its memory, and the words with the turns that threads and lanes finished.
  struct Use {
    workload::Byte* data;
    Turn* threads;
    Turn* lanes;
    Turn turn;
  };

  /// Slots that are used in turn.
  class Slots {
   public:
    Slots(std::size_t count, std::size_t bytes)
        : bytes_(bytes),
          turns_(count, 0),
          data_("overlap::staging", count * bytes),
          words_("overlap::staging words", 2 * count * line) {}

    void reset() {
      used_ = 0;
      std::fill(turns_.begin(), turns_.end(), 0);
      std::memset(words_.data(), 0, words_.size());
    }

    Use next() {
      const std::size_t slot = used_++ % turns_.size();
      const auto word = [&](std::size_t i) {
        return reinterpret_cast<Turn*>(words_.data() + i * line);
      };
      return {.data = data_.data() + slot * bytes_,
              .threads = word(2 * slot),
              .lanes = word(2 * slot + 1),
              .turn = ++turns_[slot]};
    }

   private:
    static constexpr std::size_t line = 128;  // no two words in one

    std::size_t bytes_;
    std::size_t used_ = 0;
    std::vector<Turn> turns_;
    Pinned data_;
    Pinned words_;
  };

  static void copy(cudaStream_t lane, void* to, const void* from, std::size_t bytes,
                   cudaMemcpyKind kind) {
    check_cuda(cudaMemcpyAsync(to, from, bytes, kind, lane), "cudaMemcpyAsync");
  }

  void wait_value(Turn* word, Turn turn) {
    if (turn == 0) return;
    CUstreamBatchMemOpParams& operation = operations_.emplace_back();
    operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operation.waitValue.address = reinterpret_cast<CUdeviceptr>(word);
    operation.waitValue.value = turn;
    operation.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  }

  void write_value(Turn* word, Turn turn) {
    CUstreamBatchMemOpParams& operation = operations_.emplace_back();
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = reinterpret_cast<CUdeviceptr>(word);
    operation.writeValue.value = turn;
    operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  }

  /// Enqueues what was noted for the lane, in this order.
  void enqueue(cudaStream_t lane) {
    if (operations_.empty()) return;
    const CUresult code =
        batch_(lane, static_cast<unsigned>(operations_.size()), operations_.data(), 0);
    operations_.clear();
    if (code == CUDA_SUCCESS) return;
    throw base::Error(base::ExitCode::runtime_error,
                      "cuStreamBatchMemOp: the driver's error " + std::to_string(code));
  }

  using BatchMemOp = CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);

  BatchMemOp batch_ = driver_function<BatchMemOp>("cuStreamBatchMemOp");
  std::vector<CUstreamBatchMemOpParams> operations_;   ///< of a lane, not yet enqueued
  std::map<cudaStream_t, std::vector<Use>> draining_;  ///< since the lane was last waited for
  std::size_t slot_bytes_;
  Slots up_;
  Slots down_;
  CopyPool pool_;  ///< last, so that its threads end before what they use
};

}  // namespace overlap::executor::detail

#endif
