#pragma once

#include "lanes/api/common.hpp"
#include "schedule/schedule.hpp"

// What CUDA and HIP have under the same names. The header of the vendor includes this one after it
// has defined, for example for CUDA,
//   OVERLAP_GPU(name)       cuda##name
//   OVERLAP_GPU_CALL(name)  {cuda##name, "cuda" #name}
namespace overlap::lanes {

template <>
inline void check(OVERLAP_GPU(Error_t) code, const char* call, Where at) {
  if (code == OVERLAP_GPU(Success)) return;
  static_cast<void>(OVERLAP_GPU(GetLastError)());
  const bool memory_is_short = code == OVERLAP_GPU(ErrorMemoryAllocation);
  throw failed_call(call, OVERLAP_GPU(GetErrorString)(code), OVERLAP_GPU(GetErrorName)(code), at,
                    memory_is_short ? base::ExitCode::precondition : base::ExitCode::runtime_error);
}

/// The calls of stream lanes that both vendors have. The parameter, CudaApi or HipApi, only keeps
/// the symbols apart in a program that has both (tests/hip_on_cuda).
template <class Api>
struct GpuCalls {
  using Stream = OVERLAP_GPU(Stream_t);
  using OwnedStream = Owned<Stream, OVERLAP_GPU(StreamDestroy)>;
  using Event = Owned<OVERLAP_GPU(Event_t), OVERLAP_GPU(EventDestroy)>;
  using Graph = Owned<OVERLAP_GPU(Graph_t), OVERLAP_GPU(GraphDestroy)>;
  using GraphExec = Owned<OVERLAP_GPU(GraphExec_t), OVERLAP_GPU(GraphExecDestroy)>;
  using DeviceMemory = Owned<void*, OVERLAP_GPU(Free)>;

  template <class Owner, class... Arguments>
  using Make = lanes::Make<Owner, OVERLAP_GPU(Error_t), Arguments...>;

  // Streams and events. Own streams do not synchronize with the legacy default stream, blocking
  // ones do. Untimed events are the cheapest for ordering.
  static constexpr unsigned own = OVERLAP_GPU(StreamNonBlocking);
  static constexpr unsigned blocking = OVERLAP_GPU(StreamDefault);
  static constexpr unsigned untimed = OVERLAP_GPU(EventDisableTiming);
  static constexpr unsigned timed = OVERLAP_GPU(EventDefault);
  static constexpr Make<OwnedStream, unsigned> make_stream =
      OVERLAP_GPU_CALL(StreamCreateWithFlags);
  static constexpr Make<Event, unsigned> make_event = OVERLAP_GPU_CALL(EventCreateWithFlags);
  static constexpr ApiCall record = OVERLAP_GPU_CALL(EventRecord);
  static constexpr ApiCall wait = OVERLAP_GPU_CALL(StreamWaitEvent);
  static constexpr ApiCall synchronize = OVERLAP_GPU_CALL(StreamSynchronize);
  static constexpr ApiCall synchronize_event = OVERLAP_GPU_CALL(EventSynchronize);
  static constexpr ApiCall synchronize_device = OVERLAP_GPU_CALL(DeviceSynchronize);
  /// Each thread has a current device, at first device 0.
  static constexpr ApiCall set_device = OVERLAP_GPU_CALL(SetDevice);
  static int device(Where at = Where::current()) {
    int device = 0;
    get_device(&device, at);
    return device;
  }
  static Stream per_thread_stream() { return OVERLAP_GPU(StreamPerThread); }
  static double seconds(const Event& from, const Event& to, Where at = Where::current()) {
    float milliseconds = 0;
    elapsed(&milliseconds, from, to, at);
    return 1e-3 * double{milliseconds};
  }
  static bool is_complete(Stream stream, Where at = Where::current()) {
    return is_ready(query, stream, at);
  }
  static bool is_complete(const Event& event, Where at = Where::current()) {
    return is_ready(query_event, event, at);
  }
  /// Whether there was an error; clears it, so that no later check reports it.
  static bool take_last_error() { return OVERLAP_GPU(GetLastError)() != OVERLAP_GPU(Success); }

  // Copies.
  static constexpr std::size_t longest_pitch = (std::size_t{1} << 31) - 1;
  static constexpr auto to_device = OVERLAP_GPU(MemcpyHostToDevice);
  static constexpr auto to_host = OVERLAP_GPU(MemcpyDeviceToHost);
  static constexpr auto within_device = OVERLAP_GPU(MemcpyDeviceToDevice);
  /// Copies several lines of a host array to packed memory or back.
  static void copy_lines(Stream stream, unsigned char* host, unsigned char* device,
                         const schedule::Region& region, OVERLAP_GPU(MemcpyKind) kind,
                         Where at = Where::current()) {
    const std::size_t width = region.line_bytes;
    OVERLAP_GPU(Memcpy3DParms) lines = {};
    auto& on_host = kind == to_device ? lines.srcPtr : lines.dstPtr;
    auto& on_device = kind == to_device ? lines.dstPtr : lines.srcPtr;
    on_host = {host + region.begin, region.pitch, width, region.plane_pitch / region.pitch};
    on_device = {device, width, width, region.lines};
    lines.extent = {width, region.lines, region.planes};
    lines.kind = kind;
    if (region.planes > 1) return copy_3d(&lines, stream, at);
    copy_2d(lines.dstPtr.ptr, lines.dstPtr.pitch, lines.srcPtr.ptr, lines.srcPtr.pitch, width,
            region.lines, kind, stream, at);
  }

  // Graphs.
  static constexpr auto relaxed = OVERLAP_GPU(StreamCaptureModeRelaxed);
  static constexpr ApiCall begin_capture = OVERLAP_GPU_CALL(StreamBeginCapture);
  static constexpr Make<GraphExec, OVERLAP_GPU(Graph_t), unsigned long long> instantiate =
      OVERLAP_GPU_CALL(GraphInstantiateWithFlags);
  static constexpr ApiCall upload = OVERLAP_GPU_CALL(GraphUpload);
  static constexpr ApiCall launch = OVERLAP_GPU_CALL(GraphLaunch);
  static Graph end_capture(Stream stream, Where at = Where::current()) {
    OVERLAP_GPU(Graph_t) graph = nullptr;
    end(stream, &graph, at);
    return Graph(graph);
  }

  // Calls that are said to break concurrency.
  static constexpr Make<DeviceMemory, std::size_t> allocate = OVERLAP_GPU_CALL(Malloc);
  static constexpr ApiCall set_bytes = OVERLAP_GPU_CALL(Memset);
  static constexpr ApiCall set_bytes_async = OVERLAP_GPU_CALL(MemsetAsync);
  static constexpr ApiCall copy_and_wait = OVERLAP_GPU_CALL(Memcpy);
  static constexpr ApiCall set_cache_config = OVERLAP_GPU_CALL(DeviceSetCacheConfig);
  static constexpr auto more_shared = OVERLAP_GPU(FuncCachePreferShared);
  static constexpr auto more_cache = OVERLAP_GPU(FuncCachePreferL1);
  static constexpr auto no_preference = OVERLAP_GPU(FuncCachePreferNone);

 private:
  static constexpr ApiCall get_device = OVERLAP_GPU_CALL(GetDevice);
  static constexpr ApiCall elapsed = OVERLAP_GPU_CALL(EventElapsedTime);
  static bool is_ready(const auto& call, const auto& handle, Where at) {
    const auto code = call.function(handle);
    if (code != OVERLAP_GPU(ErrorNotReady)) check(code, call.name, at);
    take_last_error();  // Kokkos would report ErrorNotReady as an error
    return code == OVERLAP_GPU(Success);
  }
  static constexpr ApiCall query = OVERLAP_GPU_CALL(StreamQuery);
  static constexpr ApiCall query_event = OVERLAP_GPU_CALL(EventQuery);
  static constexpr ApiCall copy_2d = OVERLAP_GPU_CALL(Memcpy2DAsync);
  static constexpr ApiCall copy_3d = OVERLAP_GPU_CALL(Memcpy3DAsync);
  static constexpr ApiCall end = OVERLAP_GPU_CALL(StreamEndCapture);
};

}  // namespace overlap::lanes
