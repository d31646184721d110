#pragma once

#include <hip/hip_runtime.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#define OVERLAP_GPU(name) hip##name
#define OVERLAP_GPU_CALL(name) {hip##name, "hip" #name}
#include "lanes/api/gpu.hpp"

namespace overlap::lanes {

/// The HIP calls of stream lanes.
struct HipApi : GpuCalls<HipApi> {
  using Space = Kokkos::HIP;
  using Properties = hipDeviceProp_t;
  using PointerAttributes = hipPointerAttribute_t;
  using PageLockedMemory = Owned<void*, hipHostFree>;

  static constexpr const char* vendor = "HIP";
  static Stream legacy_stream() { return nullptr; }
  static Stream stream_of(const Space& instance) { return instance.hip_stream(); }
  /// Coherent: host writes are visible to running kernels.
  static PageLockedMemory allocate_page_locked(std::size_t bytes, Where at = Where::current()) {
    void* memory = nullptr;
    check(hipHostMalloc(&memory, bytes, hipHostMallocCoherent), "hipHostMalloc", at);
    return PageLockedMemory(memory);
  }

  /// Enqueues the move of the pages of managed memory.
  static void prefetch(Stream stream, void* begin, std::size_t bytes, bool to_device,
                       Where at = Where::current()) {
    int device = hipCpuDeviceId;
    if (to_device) check(hipGetDevice(&device), "hipGetDevice", at);
    check(hipMemPrefetchAsync(begin, bytes, device, stream), "hipMemPrefetchAsync", at);
  }

  // Stream operations on words of page-locked memory that host threads poll and set. One call per
  // operation: hipStreamBatchMemOp exists since ROCm 6.4, and its first version rejects all of
  // them. HIP documents waits for signal memory only; AMD's runtime accepts any memory unless
  // GPU_STREAMOPS_CP_WAIT is set.
  static constexpr const char* word_call = "hipStreamWaitValue32";
  class WordOperations {
   public:
    explicit WordOperations(Where at = Where::current()) {
      int device = 0;
      check(hipGetDevice(&device), "hipGetDevice", at);
      check(hipDeviceGetAttribute(&available_, hipDeviceAttributeCanUseStreamWaitValue, device),
            "hipDeviceGetAttribute", at);
    }
    void wait(std::uint32_t* word, std::uint32_t value) {
      operations_.push_back({word, value, true});
    }
    void write(std::uint32_t* word, std::uint32_t value) {
      operations_.push_back({word, value, false});
    }
    bool available() const { return available_ != 0; }
    void clear() { operations_.clear(); }
    /// Enqueues the collected operations in order.
    void enqueue(Stream stream, Where at = Where::current()) {
      for (const auto& [word, value, waits] : operations_) {
        if (waits) {  // for this value or a later one
          check(hipStreamWaitValue32(stream, word, value, hipStreamWaitValueGte, ~0U), word_call,
                at);
        } else {
          check(hipStreamWriteValue32(stream, word, value, 0), "hipStreamWriteValue32", at);
        }
      }
      clear();
    }

   private:
    struct Operation {
      std::uint32_t* word;
      std::uint32_t value;
      bool waits;
    };
    int available_ = 0;
    std::vector<Operation> operations_;
  };
};

template <>
struct ApiOf<Kokkos::HIP> {
  using type = HipApi;
};

}  // namespace overlap::lanes
