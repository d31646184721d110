#pragma once

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

#include <utility>

#include "executor/detail/cuda_check.hpp"

namespace overlap::executor::detail {

/// A stream, an event or a graph that is destroyed with this.
template <class Handle, cudaError_t (*destroy)(Handle)>
class Owned {
 public:
  explicit Owned(Handle handle) : handle_(handle) {}
  ~Owned() {
    if (handle_ != nullptr) destroy(handle_);
  }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned& operator=(Owned&&) = delete;

  Handle get() const { return handle_; }

 private:
  Handle handle_;
};
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

/// A stream that does not synchronize with the legacy default stream, or one that does.
inline Stream make_stream(bool non_blocking = true) {
  cudaStream_t stream = nullptr;
  check_cuda(
      cudaStreamCreateWithFlags(&stream, non_blocking ? cudaStreamNonBlocking : cudaStreamDefault),
      "cudaStreamCreate");
  return Stream(stream);
}

/// An event for ordering only: without timing it costs least.
inline Event make_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return Event(event);
}

/// An event that tells when it was reached.
inline Event make_timing_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  return Event(event);
}

}  // namespace overlap::executor::detail

#endif
