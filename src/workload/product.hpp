#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "workload/check.hpp"
#include "workload/data.hpp"

namespace overlap::workload {

/// Enqueues C <- A B + beta C on the instance for the given parts of arrays A, B and C on the
/// device, through KokkosBlas::gemm: cuBLAS or rocBLAS on GPUs, where only one thread may call
/// this. On host spaces it is complete on return and uses all threads that the BLAS has. With beta
/// = 0 it does not read C. T: float or double. Throws base::Error{skipped} in a build without
/// Kokkos Kernels.
template <class T>
void gemm(const Space& instance, const schedule::TileProduct& product,
          const std::array<T*, 3>& arrays, int beta);

/// Verification of matrix products.
namespace product {

/// Data of C <- A B + beta C, beta 0 or 1. Elements of A and B are scaled integers with so few bits
/// that their products and sums of `k` of these are exact in T in any order; elements of C have
/// twice as many bits and the scale of the products. So C is computed without rounding.
template <class T>
struct Problem {
  std::int64_t m, n, k;
  int beta;

  /// Bits of elements of A (0), B (1) and C (2). All lie in [-1/2, 1/2), those of A and B in steps
  /// of 2^-bits, those of C in steps of 2^-bits(2).
  int bits(int matrix) const {
    const auto width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(k)));
    const int bits = (std::numeric_limits<T>::digits - 1 - width) / 2;
    return matrix == 2 ? 2 * bits : bits;
  }
  /// An element as a number of steps.
  std::int64_t element_steps(std::int64_t index, std::uint32_t repetition, int matrix) const {
    return integer_value(bits(matrix), index, repetition, matrix);
  }
  T element(std::int64_t index, std::uint32_t repetition, int matrix) const {
    const auto steps = static_cast<double>(element_steps(index, repetition, matrix));
    return static_cast<T>(std::ldexp(steps, -bits(matrix)));
  }
};

/// Adds the product of a column-major matrix, with elements element(index), and a vector to `sums`,
/// modulo 2^64.
template <class Element>
void add_product(std::vector<std::uint64_t>& sums, const Element& element,
                 const std::vector<std::uint64_t>& vector) {
  const auto rows = static_cast<std::int64_t>(sums.size());
  base::parallel_for(
      rows,
      [&](std::int64_t begin, std::int64_t end) {
        std::int64_t first = 0;  // first element of a column
        for (const std::uint64_t factor : vector) {
          for (std::int64_t i = begin; i < end; ++i) {
            sums[static_cast<std::size_t>(i)] += element(first + i) * factor;
          }
          first += rows;
        }
      },
      std::max<std::int64_t>(1, (1 << 14) / static_cast<std::int64_t>(vector.size())));
}

/// The first row in which C is not A B + beta C0, by Freivalds' check: multiplies both sides by a
/// random vector with m n + k n + m k integer operations. Empty: none.
template <class T>
std::optional<std::int64_t> wrong_row(const Problem<T>& problem, const T* c,
                                      std::uint32_t repetition) {
  const auto input = [&](int matrix) {
    return [&problem, repetition, matrix](std::int64_t i) {
      return static_cast<std::uint64_t>(problem.element_steps(i, repetition, matrix));
    };
  };
  const double steps_per_unit = std::ldexp(1.0, problem.bits(2));
  const auto output = [&](std::int64_t i) {
    constexpr std::uint64_t wrong = 0xd6e8feb86659fd93U;  // arbitrary value for non-integers
    const double steps = static_cast<double>(c[i]) * steps_per_unit;
    if (!(std::abs(steps) < 0x1p62)) return wrong;
    const auto integer = static_cast<std::int64_t>(steps);
    return static_cast<double>(integer) == steps ? static_cast<std::uint64_t>(integer) : wrong;
  };
  std::vector<std::uint64_t> x, bx(static_cast<std::size_t>(problem.k));
  // Odd weights map no number but 0 to 0.
  for (std::int64_t j = 0; j < problem.n; ++j) x.push_back(mix(j, repetition, 3) | 1);
  add_product(bx, input(1), x);
  std::vector<std::uint64_t> expected(static_cast<std::size_t>(problem.m)), found = expected;
  add_product(expected, input(0), bx);
  if (problem.beta != 0) add_product(expected, input(2), x);
  add_product(found, output, x);
  const auto wrong = std::ranges::mismatch(expected, found).in1;
  if (wrong == expected.end()) return std::nullopt;
  return wrong - expected.begin();
}

/// The expected element of C.
template <class T>
Expected<T> expected(const Problem<T>& problem, std::int64_t index, std::uint32_t repetition) {
  std::int64_t steps = problem.beta * problem.element_steps(index, repetition, 2);
  for (std::int64_t l = 0; l < problem.k; ++l) {
    steps += problem.element_steps(l * problem.m + index % problem.m, repetition, 0) *
             problem.element_steps(index / problem.m * problem.k + l, repetition, 1);
  }
  return {std::ldexp(static_cast<double>(steps), -problem.bits(2))};
}

/// Verifies C: with Freivalds' check, and then the elements of the first wrong row; or all elements
/// if that is fast. `max_error` covers the elements compared.
template <class T>
Verification verify(const Problem<T>& problem, const HostData<T>& c, std::uint32_t repetition) {
  const auto element = [&](std::int64_t i) { return expected(problem, i, repetition); };
  constexpr double few_operations = 0x1p27;
  const double operations = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                            static_cast<double>(problem.k);
  if (operations <= few_operations) {
    return compare(c, element, std::max<std::int64_t>(1, (1 << 14) / problem.k));
  }
  Verification result;
  const T* const elements = c.memory.data();
  const auto row = wrong_row(problem, elements, repetition);
  if (!row) return result;
  for (std::int64_t i = *row; i < problem.m * problem.n; i += problem.m) {
    add<T>(result, c.name, i, elements[i], element(i));
  }
  return result;
}

}  // namespace product

}  // namespace overlap::workload
