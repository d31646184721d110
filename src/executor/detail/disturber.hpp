#pragma once

#include "executor/detail/cuda_handles.hpp"

#if defined(KOKKOS_ENABLE_CUDA)

#include <cstddef>
#include <memory>
#include <vector>

#include "deck/deck.hpp"

namespace overlap::executor::detail {

/// Makes the CUDA calls that are said to break concurrency, each as a program would that does not
/// know better. What they allocate stays until clear(), as freeing synchronizes by itself.
class Disturber {
 public:
  Disturber() : host_(bytes) {
    for (void*& buffer : device_) check_cuda(cudaMalloc(&buffer, bytes), "cudaMalloc");
  }
  ~Disturber() {
    clear();
    for (void* buffer : device_) cudaFree(buffer);
  }
  Disturber(const Disturber&) = delete;
  Disturber& operator=(const Disturber&) = delete;

  void call(deck::Disturbance operation, cudaStream_t lane) {
    using deck::Disturbance;
    switch (operation) {
      case Disturbance::default_stream:
        return check_cuda(cudaMemsetAsync(device_[0], 0, small_bytes, cudaStreamLegacy),
                          "cudaMemsetAsync");
      case Disturbance::malloc:
        allocated_.push_back(nullptr);
        return check_cuda(cudaMalloc(&allocated_.back(), bytes), "cudaMalloc");
      case Disturbance::malloc_host:
        page_locked_.push_back(nullptr);
        return check_cuda(cudaMallocHost(&page_locked_.back(), bytes), "cudaMallocHost");
      case Disturbance::memset:
        return check_cuda(cudaMemset(device_[0], 0, bytes), "cudaMemset");
      case Disturbance::blocking_copy:
        return check_cuda(cudaMemcpy(device_[0], host_.data(), bytes, cudaMemcpyHostToDevice),
                          "cudaMemcpy");
      case Disturbance::small_copy:
        return check_cuda(cudaMemcpy(device_[0], host_.data(), small_bytes, cudaMemcpyHostToDevice),
                          "cudaMemcpy");
      case Disturbance::device_copy:
        return check_cuda(cudaMemcpy(device_[1], device_[0], bytes, cudaMemcpyDeviceToDevice),
                          "cudaMemcpy");
      case Disturbance::cache_config:
        // Another one than before each time.
        shared_ = !shared_;
        return check_cuda(
            cudaDeviceSetCacheConfig(shared_ ? cudaFuncCachePreferShared : cudaFuncCachePreferL1),
            "cudaDeviceSetCacheConfig");
      case Disturbance::timing_event:
        return check_cuda(cudaEventRecord(event_.get(), lane), "cudaEventRecord");
      case Disturbance::stream_query:
        cudaStreamQuery(lane);
        cudaGetLastError();  // not ready is no error
        return;
      case Disturbance::synchronize:
        return check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
  }

  /// Frees what calls have allocated.
  void clear() {
    for (void* memory : allocated_) cudaFree(memory);
    for (void* memory : page_locked_) cudaFreeHost(memory);
    allocated_.clear();
    page_locked_.clear();
  }

 private:
  static constexpr std::size_t bytes = 1 << 20;
  static constexpr std::size_t small_bytes = 64 << 10;

  std::vector<std::byte> host_;  ///< pageable
  void* device_[2] = {};
  std::vector<void*> allocated_;
  std::vector<void*> page_locked_;
  Event event_ = make_timing_event();
  bool shared_ = false;
};

}  // namespace overlap::executor::detail

#endif
