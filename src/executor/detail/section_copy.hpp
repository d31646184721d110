#pragma once

#include <Kokkos_Core.hpp>

#include "executor/detail/cuda_check.hpp"
#include "schedule/section.hpp"
#include "workload/workload.hpp"

namespace overlap::executor::detail {

/// Enqueues a copy between a region of a host array and packed device memory as one operation of
/// the space, asynchronously, where it has one for several lines. Returns whether it did.
template <class Space>
bool copy_lines(const Space& /*instance*/, workload::Byte* /*host*/, workload::Byte* /*device*/,
                const schedule::Region& /*region*/, bool /*to_device*/) {
  return false;
}

#if defined(KOKKOS_ENABLE_CUDA)

inline bool copy_lines(const Kokkos::Cuda& instance, workload::Byte* host, workload::Byte* device,
                       const schedule::Region& region, bool to_device) {
  constexpr std::size_t longest_pitch = (std::size_t{1} << 31) - 1;
  if (region.pitch > longest_pitch) return false;  // CUDA refuses it
  const std::size_t width = region.line_bytes;
  const cudaMemcpyKind kind = to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  workload::Byte* const begin = host + region.begin;
  if (region.planes == 1) {
    check_cuda(cudaMemcpy2DAsync(to_device ? device : begin, to_device ? width : region.pitch,
                                 to_device ? begin : device, to_device ? region.pitch : width,
                                 width, region.lines, kind, instance.cuda_stream()),
               "cudaMemcpy2DAsync");
    return true;
  }
  const cudaPitchedPtr on_host =
      make_cudaPitchedPtr(begin, region.pitch, width, region.plane_pitch / region.pitch);
  const cudaPitchedPtr on_device = make_cudaPitchedPtr(device, width, width, region.lines);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = to_device ? on_host : on_device;
  copy.dstPtr = to_device ? on_device : on_host;
  copy.extent = make_cudaExtent(width, region.lines, region.planes);
  copy.kind = kind;
  check_cuda(cudaMemcpy3DAsync(&copy, instance.cuda_stream()), "cudaMemcpy3DAsync");
  return true;
}

#endif

}  // namespace overlap::executor::detail
