#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <Kokkos_Core.hpp>
#include <vector>

#include "lanes/activity_trace.hpp"
#include "lanes/api/common.hpp"
#include "schedule/region.hpp"

namespace overlap::lanes {

/// CUDA as stream lanes use it. Calls throw base::Error{runtime_error} with their name and the
/// place they were made at, and leave no last error behind.
struct CudaApi {
  using Space = Kokkos::Cuda;
  using Stream = cudaStream_t;

  /// Whether there was one; then it is not left to whoever looks next.
  static bool take_last_error() { return cudaGetLastError() != cudaSuccess; }
  static void check(cudaError_t code, const char* call, Where at) {
    if (code == cudaSuccess) return;
    take_last_error();
    throw failed_call(call, cudaGetErrorString(code), cudaGetErrorName(code), at);
  }

  using OwnedStream = Owned<cudaStream_t, cudaStreamDestroy>;
  using Event = Owned<cudaEvent_t, cudaEventDestroy>;
  using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
  using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;
  using DeviceMemory = Owned<void*, cudaFree>;
  using PageLockedMemory = Owned<void*, cudaFreeHost>;

  /// Calls make(pointer to a handle, arguments...) and returns the handle, owned.
  template <class Owner, class Make, class... Arguments>
  static Owner made(const char* call, Where at, const Make& make, Arguments... arguments) {
    decltype(std::declval<Owner>().get()) handle = nullptr;
    check(make(&handle, arguments...), call, at);
    return Owner(handle);
  }

  // Streams and events.
  static Stream legacy_stream() { return cudaStreamLegacy; }
  static Stream per_thread_stream() { return cudaStreamPerThread; }
  static Stream stream_of(const Space& instance) { return instance.cuda_stream(); }
  /// A stream that does not synchronize with the legacy default stream, or one that does.
  static OwnedStream make_stream(bool non_blocking, Where at = Where::current()) {
    const unsigned flags = non_blocking ? cudaStreamNonBlocking : cudaStreamDefault;
    return made<OwnedStream>("cudaStreamCreate", at, cudaStreamCreateWithFlags, flags);
  }
  /// Events for ordering only cost least without times.
  static Event make_event(bool timing = false, Where at = Where::current()) {
    const unsigned flags = timing ? cudaEventDefault : cudaEventDisableTiming;
    return made<Event>("cudaEventCreate", at, cudaEventCreateWithFlags, flags);
  }
  static void record(const Event& event, Stream stream, Where at = Where::current()) {
    check(cudaEventRecord(event.get(), stream), "cudaEventRecord", at);
  }
  static void wait(Stream stream, const Event& event, Where at = Where::current()) {
    check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent", at);
  }
  static double seconds(const Event& from, const Event& to, Where at = Where::current()) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, from.get(), to.get()), "cudaEventElapsedTime", at);
    return 1e-3 * double{milliseconds};
  }
  static void synchronize(Stream stream, Where at = Where::current()) {
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", at);
  }
  static void synchronize(const Event& event, Where at = Where::current()) {
    check(cudaEventSynchronize(event.get()), "cudaEventSynchronize", at);
  }
  static void synchronize_device(Where at = Where::current()) {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", at);
  }
  static bool is_complete(Stream stream, Where at = Where::current()) {
    const cudaError_t code = cudaStreamQuery(stream);
    if (code != cudaErrorNotReady) check(code, "cudaStreamQuery", at);
    take_last_error();  // not ready is no error, but Kokkos would find one
    return code == cudaSuccess;
  }

  // Copies.
  static constexpr std::size_t longest_pitch = (std::size_t{1} << 31) - 1;
  static constexpr auto to_device = cudaMemcpyHostToDevice;
  static constexpr auto to_host = cudaMemcpyDeviceToHost;
  static constexpr auto within_device = cudaMemcpyDeviceToDevice;
  static void copy(Stream stream, void* to, const void* from, std::size_t bytes,
                   cudaMemcpyKind kind, Where at = Where::current()) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync", at);
  }
  /// Several lines of a host array to packed memory or back.
  static void copy_lines(Stream stream, unsigned char* host, unsigned char* device,
                         const schedule::Region& region, cudaMemcpyKind kind,
                         Where at = Where::current()) {
    const std::size_t width = region.line_bytes;
    const std::size_t lines_of_plane = region.plane_pitch / region.pitch;
    const auto on_host =
        make_cudaPitchedPtr(host + region.begin, region.pitch, width, lines_of_plane);
    const auto on_device = make_cudaPitchedPtr(device, width, width, region.lines);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = kind == to_device ? on_host : on_device;
    copy.dstPtr = kind == to_device ? on_device : on_host;
    copy.extent = make_cudaExtent(width, region.lines, region.planes);
    copy.kind = kind;
    if (region.planes > 1) return check(cudaMemcpy3DAsync(&copy, stream), "cudaMemcpy3DAsync", at);
    check(cudaMemcpy2DAsync(copy.dstPtr.ptr, copy.dstPtr.pitch, copy.srcPtr.ptr, copy.srcPtr.pitch,
                            width, region.lines, kind, stream),
          "cudaMemcpy2DAsync", at);
  }

  // Graphs.
  static void begin_capture(Stream stream, Where at = Where::current()) {
    const auto mode = cudaStreamCaptureModeRelaxed;
    check(cudaStreamBeginCapture(stream, mode), "cudaStreamBeginCapture", at);
  }
  static Graph end_capture(Stream stream, Where at = Where::current()) {
    return made<Graph>("cudaStreamEndCapture", at,
                       [&](cudaGraph_t* graph) { return cudaStreamEndCapture(stream, graph); });
  }
  static GraphExec instantiate(const Graph& graph, Where at = Where::current()) {
    const auto make = cudaGraphInstantiateWithFlags;
    return made<GraphExec>("cudaGraphInstantiate", at, make, graph.get(), 0U);
  }
  static void upload(const GraphExec& exec, Stream stream, Where at = Where::current()) {
    check(cudaGraphUpload(exec.get(), stream), "cudaGraphUpload", at);
  }
  static void launch(const GraphExec& exec, Stream stream, Where at = Where::current()) {
    check(cudaGraphLaunch(exec.get(), stream), "cudaGraphLaunch", at);
  }

  // Operations of streams on words of page-locked memory that host threads watch and set.
  static constexpr const char* word_call = "cuStreamBatchMemOp";
  class WordOperations {
   public:
    /// Looks up the driver's function, which the runtime does not have.
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
    /// Enqueues what was noted, in this order.
    void enqueue(Stream stream, Where at = Where::current()) {
      if (operations_.empty()) return;
      const auto count = static_cast<unsigned>(operations_.size());
      const CUresult code = batch_(stream, count, operations_.data(), 0);
      clear();
      if (code == CUDA_SUCCESS) return;
      throw failed_call(word_call, "error of the driver", std::to_string(code), at);
    }

   private:
    static void fill(auto& operation, auto type, std::uint32_t* word, std::uint32_t value) {
      operation.operation = type;  // flags 0: waits for this value or a later one
      operation.address = reinterpret_cast<CUdeviceptr>(word);
      operation.value = value;
    }
    decltype(&cuStreamBatchMemOp) batch_ = nullptr;
    std::vector<CUstreamBatchMemOpParams> operations_;
  };

  // Calls that are said to break concurrency.
  static DeviceMemory allocate(std::size_t bytes, Where at = Where::current()) {
    const auto make = [=](void** memory) { return cudaMalloc(memory, bytes); };
    return made<DeviceMemory>("cudaMalloc", at, make);
  }
  static PageLockedMemory allocate_page_locked(std::size_t bytes, Where at = Where::current()) {
    const auto make = [=](void** memory) { return cudaMallocHost(memory, bytes); };
    return made<PageLockedMemory>("cudaMallocHost", at, make);
  }
  static void clear(void* memory, std::size_t bytes, Where at = Where::current()) {
    check(cudaMemset(memory, 0, bytes), "cudaMemset", at);
  }
  static void clear(Stream stream, void* memory, std::size_t bytes, Where at = Where::current()) {
    check(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync", at);
  }
  static void copy_and_wait(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            Where at = Where::current()) {
    check(cudaMemcpy(to, from, bytes, kind), "cudaMemcpy", at);
  }
  static void prefer_shared_memory(bool shared, Where at = Where::current()) {
    check(cudaDeviceSetCacheConfig(shared ? cudaFuncCachePreferShared : cudaFuncCachePreferL1),
          "cudaDeviceSetCacheConfig", at);
  }

  static constexpr const char *vendor = "CUDA", *activity_source = "CUPTI";
};

}  // namespace overlap::lanes
