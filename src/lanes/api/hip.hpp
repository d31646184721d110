#pragma once

#include <hip/hip_runtime.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "lanes/api/common.hpp"
#include "schedule/region.hpp"

namespace overlap::lanes {

template <>
inline void check(hipError_t code, const char* call, Where at) {
  if (code == hipSuccess) return;
  static_cast<void>(hipGetLastError());
  throw failed_call(call, hipGetErrorString(code), hipGetErrorName(code), at);
}

/// The HIP calls of stream lanes.
struct HipApi {
  using Space = Kokkos::HIP;
  using Stream = hipStream_t;
  using OwnedStream = Owned<hipStream_t, hipStreamDestroy>;
  using Event = Owned<hipEvent_t, hipEventDestroy>;
  using Graph = Owned<hipGraph_t, hipGraphDestroy>;
  using GraphExec = Owned<hipGraphExec_t, hipGraphExecDestroy>;
  using DeviceMemory = Owned<void*, hipFree>;
  using PageLockedMemory = Owned<void*, hipHostFree>;

  template <class Owner, class... Arguments>
  using Make = lanes::Make<Owner, hipError_t, Arguments...>;

  static constexpr const char* vendor = "HIP";

  // Streams and events, as in CudaApi.
  static constexpr unsigned own = hipStreamNonBlocking, blocking = hipStreamDefault;
  static constexpr unsigned untimed = hipEventDisableTiming, timed = hipEventDefault;
  static constexpr Make<OwnedStream, unsigned> make_stream{hipStreamCreateWithFlags,
                                                           "hipStreamCreate"};
  static constexpr Make<Event, unsigned> make_event{hipEventCreateWithFlags, "hipEventCreate"};
  static constexpr ApiCall record{hipEventRecord, "hipEventRecord"};
  static constexpr ApiCall wait{hipStreamWaitEvent, "hipStreamWaitEvent"};
  static constexpr ApiCall synchronize{hipStreamSynchronize, "hipStreamSynchronize"};
  static constexpr ApiCall synchronize_event{hipEventSynchronize, "hipEventSynchronize"};
  static constexpr ApiCall synchronize_device{hipDeviceSynchronize, "hipDeviceSynchronize"};
  static Stream legacy_stream() { return nullptr; }
  static Stream per_thread_stream() { return hipStreamPerThread; }
  static Stream stream_of(const Space& instance) { return instance.hip_stream(); }
  static double seconds(const Event& from, const Event& to, Where at = Where::current()) {
    float milliseconds = 0;
    check(hipEventElapsedTime(&milliseconds, from, to), "hipEventElapsedTime", at);
    return 1e-3 * double{milliseconds};
  }
  static bool is_complete(Stream stream, Where at = Where::current()) {
    const hipError_t code = hipStreamQuery(stream);
    if (code != hipErrorNotReady) check(code, "hipStreamQuery", at);
    take_last_error();  // Kokkos would report hipErrorNotReady as an error
    return code == hipSuccess;
  }
  /// Whether there was an error; clears it, so that no later check reports it.
  static bool take_last_error() { return hipGetLastError() != hipSuccess; }

  // Copies.
  static constexpr std::size_t longest_pitch = (std::size_t{1} << 31) - 1;
  static constexpr auto to_device = hipMemcpyHostToDevice;
  static constexpr auto to_host = hipMemcpyDeviceToHost;
  static constexpr auto within_device = hipMemcpyDeviceToDevice;
  static constexpr ApiCall copy{hipMemcpyAsync, "hipMemcpyAsync"};
  /// Copies several lines of a host array to packed memory or back.
  static void copy_lines(Stream stream, unsigned char* host, unsigned char* device,
                         const schedule::Region& region, hipMemcpyKind kind,
                         Where at = Where::current()) {
    const std::size_t width = region.line_bytes;
    const std::size_t lines_of_plane = region.plane_pitch / region.pitch;
    const auto on_host =
        make_hipPitchedPtr(host + region.begin, region.pitch, width, lines_of_plane);
    const auto on_device = make_hipPitchedPtr(device, width, width, region.lines);
    hipMemcpy3DParms lines = {};
    lines.srcPtr = kind == to_device ? on_host : on_device;
    lines.dstPtr = kind == to_device ? on_device : on_host;
    lines.extent = make_hipExtent(width, region.lines, region.planes);
    lines.kind = kind;
    if (region.planes > 1) return check(hipMemcpy3DAsync(&lines, stream), "hipMemcpy3DAsync", at);
    check(hipMemcpy2DAsync(lines.dstPtr.ptr, lines.dstPtr.pitch, lines.srcPtr.ptr,
                           lines.srcPtr.pitch, width, region.lines, kind, stream),
          "hipMemcpy2DAsync", at);
  }

  // Graphs.
  static constexpr auto relaxed = hipStreamCaptureModeRelaxed;
  static constexpr ApiCall begin_capture{hipStreamBeginCapture, "hipStreamBeginCapture"};
  static constexpr Make<GraphExec, hipGraph_t, unsigned long long> instantiate{
      hipGraphInstantiateWithFlags, "hipGraphInstantiate"};
  static constexpr ApiCall upload{hipGraphUpload, "hipGraphUpload"};
  static constexpr ApiCall launch{hipGraphLaunch, "hipGraphLaunch"};
  static Graph end_capture(Stream stream, Where at = Where::current()) {
    hipGraph_t graph = nullptr;
    check(hipStreamEndCapture(stream, &graph), "hipStreamEndCapture", at);
    return Graph(graph);
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

  // Calls that are said to break concurrency.
  static constexpr Make<DeviceMemory, std::size_t> allocate{hipMalloc, "hipMalloc"};
  /// Coherent: host writes are visible to running kernels.
  static PageLockedMemory allocate_page_locked(std::size_t bytes, Where at = Where::current()) {
    void* memory = nullptr;
    check(hipHostMalloc(&memory, bytes, hipHostMallocCoherent), "hipHostMalloc", at);
    return PageLockedMemory(memory);
  }
  static constexpr ApiCall set_bytes{hipMemset, "hipMemset"};
  static constexpr ApiCall set_bytes_async{hipMemsetAsync, "hipMemsetAsync"};
  static constexpr ApiCall copy_and_wait{hipMemcpy, "hipMemcpy"};
  static constexpr ApiCall set_cache_config{hipDeviceSetCacheConfig, "hipDeviceSetCacheConfig"};
  static constexpr auto more_shared = hipFuncCachePreferShared, more_cache = hipFuncCachePreferL1,
                        no_preference = hipFuncCachePreferNone;
};

template <>
struct ApiOf<Kokkos::HIP> {
  using type = HipApi;
};

}  // namespace overlap::lanes
