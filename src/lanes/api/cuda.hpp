#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <Kokkos_Core.hpp>
#include <vector>

#include "lanes/api/common.hpp"
#include "schedule/region.hpp"

namespace overlap::lanes {

template <>
inline void check(cudaError_t code, const char* call, Where at) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw failed_call(call, cudaGetErrorString(code), cudaGetErrorName(code), at);
}

template <>
inline void check(CUresult code, const char* call, Where at) {
  if (code == CUDA_SUCCESS) return;
  throw failed_call(call, "error of the driver", std::to_string(code), at);
}

/// The CUDA calls of stream lanes.
struct CudaApi {
  using Space = Kokkos::Cuda;
  using Stream = cudaStream_t;
  using OwnedStream = Owned<cudaStream_t, cudaStreamDestroy>;
  using Event = Owned<cudaEvent_t, cudaEventDestroy>;
  using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
  using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;
  using DeviceMemory = Owned<void*, cudaFree>;
  using PageLockedMemory = Owned<void*, cudaFreeHost>;

  template <class Owner, class... Arguments>
  using Make = lanes::Make<Owner, cudaError_t, Arguments...>;

  static constexpr const char* vendor = "CUDA";

  // Streams and events. Own streams do not synchronize with the legacy default stream, blocking
  // ones do. Untimed events are the cheapest for ordering.
  static constexpr unsigned own = cudaStreamNonBlocking, blocking = cudaStreamDefault;
  static constexpr unsigned untimed = cudaEventDisableTiming, timed = cudaEventDefault;
  static constexpr Make<OwnedStream, unsigned> make_stream{cudaStreamCreateWithFlags,
                                                           "cudaStreamCreate"};
  static constexpr Make<Event, unsigned> make_event{cudaEventCreateWithFlags, "cudaEventCreate"};
  static constexpr ApiCall record{cudaEventRecord, "cudaEventRecord"};
  static constexpr ApiCall wait{cudaStreamWaitEvent, "cudaStreamWaitEvent"};
  static constexpr ApiCall synchronize{cudaStreamSynchronize, "cudaStreamSynchronize"};
  static constexpr ApiCall synchronize_event{cudaEventSynchronize, "cudaEventSynchronize"};
  static constexpr ApiCall synchronize_device{cudaDeviceSynchronize, "cudaDeviceSynchronize"};
  static Stream legacy_stream() { return cudaStreamLegacy; }
  static Stream per_thread_stream() { return cudaStreamPerThread; }
  static Stream stream_of(const Space& instance) { return instance.cuda_stream(); }
  static double seconds(const Event& from, const Event& to, Where at = Where::current()) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime", at);
    return 1e-3 * double{milliseconds};
  }
  static bool is_complete(Stream stream, Where at = Where::current()) {
    const cudaError_t code = cudaStreamQuery(stream);
    if (code != cudaErrorNotReady) check(code, "cudaStreamQuery", at);
    take_last_error();  // Kokkos would report cudaErrorNotReady as an error
    return code == cudaSuccess;
  }
  /// Whether there was an error; clears it, so that no later check reports it.
  static bool take_last_error() { return cudaGetLastError() != cudaSuccess; }

  // Copies.
  static constexpr std::size_t longest_pitch = (std::size_t{1} << 31) - 1;
  static constexpr auto to_device = cudaMemcpyHostToDevice;
  static constexpr auto to_host = cudaMemcpyDeviceToHost;
  static constexpr auto within_device = cudaMemcpyDeviceToDevice;
  static constexpr ApiCall copy{cudaMemcpyAsync, "cudaMemcpyAsync"};
  /// Copies several lines of a host array to packed memory or back.
  static void copy_lines(Stream stream, unsigned char* host, unsigned char* device,
                         const schedule::Region& region, cudaMemcpyKind kind,
                         Where at = Where::current()) {
    const std::size_t width = region.line_bytes;
    const std::size_t lines_of_plane = region.plane_pitch / region.pitch;
    const auto on_host =
        make_cudaPitchedPtr(host + region.begin, region.pitch, width, lines_of_plane);
    const auto on_device = make_cudaPitchedPtr(device, width, width, region.lines);
    cudaMemcpy3DParms lines = {};
    lines.srcPtr = kind == to_device ? on_host : on_device;
    lines.dstPtr = kind == to_device ? on_device : on_host;
    lines.extent = make_cudaExtent(width, region.lines, region.planes);
    lines.kind = kind;
    if (region.planes > 1) return check(cudaMemcpy3DAsync(&lines, stream), "cudaMemcpy3DAsync", at);
    check(cudaMemcpy2DAsync(lines.dstPtr.ptr, lines.dstPtr.pitch, lines.srcPtr.ptr,
                            lines.srcPtr.pitch, width, region.lines, kind, stream),
          "cudaMemcpy2DAsync", at);
  }

  // Graphs.
  static constexpr auto relaxed = cudaStreamCaptureModeRelaxed;
  static constexpr ApiCall begin_capture{cudaStreamBeginCapture, "cudaStreamBeginCapture"};
  static constexpr Make<GraphExec, cudaGraph_t, unsigned long long> instantiate{
      cudaGraphInstantiateWithFlags, "cudaGraphInstantiate"};
  static constexpr ApiCall upload{cudaGraphUpload, "cudaGraphUpload"};
  static constexpr ApiCall launch{cudaGraphLaunch, "cudaGraphLaunch"};
  static Graph end_capture(Stream stream, Where at = Where::current()) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture", at);
    return Graph(graph);
  }

  // Stream operations on words of page-locked memory that host threads poll and set.
  static constexpr const char* word_call = "cuStreamBatchMemOp";
  class WordOperations {
   public:
    /// Looks up the driver function, which has no counterpart in the runtime.
    explicit WordOperations(Where at = Where::current()) {
      cudaDriverEntryPointQueryResult found{};
      auto** const function = reinterpret_cast<void**>(&batch_);
      check(cudaGetDriverEntryPointByVersion(word_call, function, 12000, cudaEnableDefault, &found),
            "cudaGetDriverEntryPoint", at);
    }
    void wait(std::uint32_t* word, std::uint32_t value) {
      fill(operations_.emplace_back().waitValue, CU_STREAM_MEM_OP_WAIT_VALUE_32, word, value);
    }
    void write(std::uint32_t* word, std::uint32_t value) {
      fill(operations_.emplace_back().writeValue, CU_STREAM_MEM_OP_WRITE_VALUE_32, word, value);
    }
    bool available() const { return batch_ != nullptr; }
    void clear() { operations_.clear(); }
    /// Enqueues the collected operations in order.
    void enqueue(Stream stream, Where at = Where::current()) {
      if (operations_.empty()) return;
      const auto count = static_cast<unsigned>(operations_.size());
      const CUresult code = batch_(stream, count, operations_.data(), 0);
      clear();
      check(code, word_call, at);
    }

   private:
    static void fill(auto& operation, auto type, std::uint32_t* word, std::uint32_t value) {
      operation.operation = type;  // flags 0: wait for this value or a later one
      operation.address = reinterpret_cast<CUdeviceptr>(word);
      operation.value = value;
    }
    decltype(&cuStreamBatchMemOp) batch_ = nullptr;
    std::vector<CUstreamBatchMemOpParams> operations_;
  };

  // Calls that are said to break concurrency.
  static constexpr Make<DeviceMemory, std::size_t> allocate{cudaMalloc, "cudaMalloc"};
  static constexpr Make<PageLockedMemory, std::size_t> allocate_page_locked{cudaMallocHost,
                                                                            "cudaMallocHost"};
  static constexpr ApiCall set_bytes{cudaMemset, "cudaMemset"};
  static constexpr ApiCall set_bytes_async{cudaMemsetAsync, "cudaMemsetAsync"};
  static constexpr ApiCall copy_and_wait{cudaMemcpy, "cudaMemcpy"};
  static constexpr ApiCall set_cache_config{cudaDeviceSetCacheConfig, "cudaDeviceSetCacheConfig"};
  static constexpr auto more_shared = cudaFuncCachePreferShared, more_cache = cudaFuncCachePreferL1,
                        no_preference = cudaFuncCachePreferNone;
};

template <>
struct ApiOf<Kokkos::Cuda> {
  using type = CudaApi;
};

}  // namespace overlap::lanes
