#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"
#include "workload/spaces.hpp"

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

/// A schedule's product on three arrays.
template <class T, class Pointers>
Gemm<T> gemm_of(const schedule::Product& p, const Pointers& data, double alpha, double beta) {
  const auto at = [&](std::size_t i) {
    return reinterpret_cast<T*>(data[i] + p.matrices[i].begin);
  };
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .alpha = static_cast<T>(alpha),
          .a = {at(0), p.matrices[0].stride},
          .b = {at(1), p.matrices[1].stride},
          .beta = static_cast<T>(beta),
          .c = {at(2), p.matrices[2].stride}};
}

/// Why this build has no products; null: it has.
const char* why_no_gemm();

/// Enqueues the product on the instance, by KokkosBlas::gemm: cuBLAS on CUDA, where only one thread
/// may call this; host spaces have computed it, on all threads of their BLAS, when this returns.
/// Throws base::Error{skipped} where why_no_gemm().
void gemm(const InstanceRef& instance, const Gemm<float>& product);
void gemm(const InstanceRef& instance, const Gemm<double>& product);

}  // namespace overlap::workload
