#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace overlap::workload {

/// C (m x n) <- alpha A (m x k) B (k x n) + beta C; column major, columns `stride` elements apart.
/// With beta 0 what C holds is not read.
template <class T>
struct Gemm {
  template <class E>
  struct Matrix {
    E* data = nullptr;
    std::int64_t stride = 0;
  };
  std::int64_t m = 0, n = 0, k = 0;
  T alpha = 1;
  Matrix<const T> a;
  Matrix<const T> b;
  T beta = 0;
  Matrix<T> c;
};

/// Why this build has none; null: it has.
const char* why_no_gemm();

/// Enqueues the product on the instance, by KokkosBlas::gemm: cuBLAS on CUDA, where only one thread
/// may call this; host spaces have computed it, on all threads of their BLAS, when this returns.
/// Throws base::Error{skipped} where why_no_gemm().
template <class Space, class T>
void gemm(const Space& instance, const Gemm<T>& product);

}  // namespace overlap::workload
