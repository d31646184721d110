#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <Kokkos_Core.hpp>
#include <vector>

#define OVERLAP_GPU(name) cuda##name
#define OVERLAP_GPU_CALL(name) {cuda##name, "cuda" #name}
#include "lanes/api/gpu.hpp"

namespace overlap::lanes {

template <>
inline void check(CUresult code, const char* call, Where at) {
  if (code == CUDA_SUCCESS) return;
  throw failed_call(call, "error of the driver", std::to_string(code), at);
}

/// The CUDA calls of stream lanes.
struct CudaApi : GpuCalls<CudaApi> {
  using Space = Kokkos::Cuda;
  using Properties = cudaDeviceProp;
  using PointerAttributes = cudaPointerAttributes;
  using PageLockedMemory = Owned<void*, cudaFreeHost>;

  static constexpr const char* vendor = "CUDA";
  static Stream legacy_stream() { return cudaStreamLegacy; }
  static Stream stream_of(const Space& instance) { return instance.cuda_stream(); }
  static constexpr Make<PageLockedMemory, std::size_t> allocate_page_locked =
      OVERLAP_GPU_CALL(MallocHost);

  /// Enqueues the move of the pages of managed memory.
  static void prefetch(Stream stream, void* begin, std::size_t bytes, bool to_device,
                       Where at = Where::current()) {
    int device = cudaCpuDeviceId;
    if (to_device) check(cudaGetDevice(&device), "cudaGetDevice", at);
#if CUDART_VERSION >= 13000
    const cudaMemLocation place = {to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost,
                                   to_device ? device : 0};
    const auto code = cudaMemPrefetchAsync(begin, bytes, place, 0, stream);
#else
    const auto code = cudaMemPrefetchAsync(begin, bytes, device, stream);
#endif
    check(code, "cudaMemPrefetchAsync", at);
  }

  // Stream operations on words of page-locked memory that host threads poll and set.
  static constexpr const char* word_call = "cuStreamBatchMemOp";
  class WordOperations {
   public:
    void wait(std::uint32_t* word, std::uint32_t value) {
      fill(operations_.emplace_back().waitValue, CU_STREAM_MEM_OP_WAIT_VALUE_32, word, value);
    }
    void write(std::uint32_t* word, std::uint32_t value) {
      fill(operations_.emplace_back().writeValue, CU_STREAM_MEM_OP_WRITE_VALUE_32, word, value);
    }
    static bool available() { return true; }
    void clear() { operations_.clear(); }
    /// Enqueues the collected operations in order.
    void enqueue(Stream stream, Where at = Where::current()) {
      if (operations_.empty()) return;
      const auto count = static_cast<unsigned>(operations_.size());
      const CUresult code = cuStreamBatchMemOp(stream, count, operations_.data(), 0);
      clear();
      check(code, word_call, at);
    }

   private:
    static void fill(auto& operation, auto type, std::uint32_t* word, std::uint32_t value) {
      operation.operation = type;  // flags 0: wait for this value or a later one
      operation.address = reinterpret_cast<CUdeviceptr>(word);
      operation.value = value;
    }
    std::vector<CUstreamBatchMemOpParams> operations_;
  };
};

template <>
struct ApiOf<Kokkos::Cuda> {
  using type = CudaApi;
};

}  // namespace overlap::lanes
