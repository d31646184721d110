#pragma once

#include <hip/hip_runtime.h>

#include <Kokkos_Core.hpp>

#define OVERLAP_GPU(name) hip##name
#define OVERLAP_GPU_CALL(name) {hip##name, "hip" #name}
#include "lanes/api/gpu.hpp"
#include "workload/space.hpp"

namespace overlap::lanes {

/// The HIP calls of stream lanes.
struct HipApi : GpuCalls<HipApi> {
  using Properties = hipDeviceProp_t;
  using PointerAttributes = hipPointerAttribute_t;
  using PageLockedMemory = Owned<void*, hipHostFree>;

  static constexpr const char* vendor = "HIP";
  static Stream legacy_stream() { return nullptr; }
  static Stream stream_of(const workload::Space& instance) { return instance.hip_stream(); }
  static PageLockedMemory allocate_page_locked(std::size_t bytes, Where at = Where::current()) {
    void* memory = nullptr;
    check(hipHostMalloc(&memory, bytes, hipHostMallocDefault), "hipHostMalloc", at);
    return PageLockedMemory(memory);
  }

  /// Enqueues the move of the pages of managed memory.
  static void prefetch(Stream stream, void* begin, std::size_t bytes, bool to_device,
                       Where at = Where::current()) {
    int device = hipCpuDeviceId;
    if (to_device) check(hipGetDevice(&device), "hipGetDevice", at);
    check(hipMemPrefetchAsync(begin, bytes, device, stream), "hipMemPrefetchAsync", at);
  }
};

using Api = HipApi;

}  // namespace overlap::lanes
