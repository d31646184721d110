#pragma once

#include <cuda_runtime.h>

#include <Kokkos_Core.hpp>

#define OVERLAP_GPU(name) cuda##name
#define OVERLAP_GPU_CALL(name) {cuda##name, "cuda" #name}
#include "lanes/api/gpu.hpp"
#include "workload/space.hpp"

namespace overlap::lanes {

/// The CUDA calls of stream lanes.
struct CudaApi : GpuCalls<CudaApi> {
  using Properties = cudaDeviceProp;
  using PointerAttributes = cudaPointerAttributes;
  using PageLockedMemory = Owned<void*, cudaFreeHost>;

  static constexpr const char* vendor = "CUDA";
  static Stream legacy_stream() { return cudaStreamLegacy; }
  static Stream stream_of(const workload::Space& instance) { return instance.cuda_stream(); }
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
};

using Api = CudaApi;

}  // namespace overlap::lanes
