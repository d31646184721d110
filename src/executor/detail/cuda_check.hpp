#pragma once

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

#include <cuda_runtime.h>

#include <string>

#include "base/error.hpp"

namespace overlap::executor::detail {

inline std::string cuda_message(const char* call, cudaError_t code) {
  return std::string(call) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
}

inline void check_cuda(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    throw base::Error(base::ExitCode::runtime_error, cuda_message(call, code));
  }
}

}  // namespace overlap::executor::detail

#endif
