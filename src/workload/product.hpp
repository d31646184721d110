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

/// Enqueues C <- alpha A B + beta C on the instance, for the product's parts of arrays A, B and C,
/// by KokkosBlas::gemm: cuBLAS or rocBLAS on GPUs, where only one thread may call this; host spaces
/// have computed it, on all threads of their BLAS, when this returns. With beta 0 what C holds is
/// not read. T: float or double. Throws base::Error{skipped} in a build without Kokkos Kernels.
template <class T>
void gemm(const InstanceRef& instance, const schedule::Product& product,
          const std::array<Byte*, 3>& arrays, double alpha, double beta);

/// The check of products' results.
namespace product {

/// What C <- alpha A B + beta C is about. Elements of A and B are whole numbers of so few bits,
/// scaled, that their products and the sums of `k` of them are exact in T, in any order; those of C
/// have twice as many bits and the same scale as the products.
template <class T>
struct Problem {
  std::int64_t m, n, k;
  double alpha, beta;

  /// Elements of A (0) and B (1) lie in [-1/2, 1/2), in steps of 2^-bits, those of C (2) in steps
  /// of 2^-(2 bits).
  int bits(int matrix) const {
    const auto width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(k)));
    const int bits = (std::numeric_limits<T>::digits - 1 - width) / 2;
    return matrix == 2 ? 2 * bits : bits;
  }
  /// An element, as a number of steps.
  std::int64_t whole(std::int64_t index, std::uint32_t repetition, int matrix) const {
    return whole_value(bits(matrix), index, repetition, matrix);
  }
  T element(std::int64_t index, std::uint32_t repetition, int matrix) const {
    const auto steps = static_cast<double>(whole(index, repetition, matrix));
    return static_cast<T>(std::ldexp(steps, -bits(matrix)));
  }
  /// Whether nothing is rounded on the way to C.
  bool exact() const { return std::abs(alpha) == 1 && (beta == 0 || std::abs(beta) == 1); }
  /// How far rounding may take an element of C: each of at most k + 3 operations by half an epsilon
  /// of the largest that it can be (Higham, Accuracy and Stability, 3.1).
  double tolerance() const {
    if (exact()) return 0;
    const double largest = 0.25 * std::abs(alpha) * static_cast<double>(k) + 0.5 * std::abs(beta);
    return (static_cast<double>(k) + 3) * std::numeric_limits<T>::epsilon() * largest;
  }
  /// How far rounding may take the sum of a row's elements, each times a number from 1 to 2 or
  /// below 0, in steps. Errors of a row are as good as independent and grow with the root of the
  /// number of operations; 100 times what that comes to is still far below what a wrong tile does
  /// to a row.
  double row_tolerance() const {
    if (exact()) return 0;
    const double operations = std::sqrt(static_cast<double>(k) + 3);
    const double typical =
        std::abs(alpha) * std::sqrt(static_cast<double>(k)) / 12 + 0.5 * std::abs(beta);
    return std::ldexp(100 * 1.6 * std::sqrt(static_cast<double>(n)) * operations *
                          std::numeric_limits<T>::epsilon() * typical,
                      bits(2));
  }
};

/// A number of steps of C in the arithmetic that compares rows: integers modulo 2^64, which are as
/// exact as exact results, or floating point of higher precision than the results'.
template <class Number>
Number number(double steps) {
  if constexpr (std::is_floating_point_v<Number>) {
    return steps;
  } else {
    constexpr Number wrong = 0xd6e8feb86659fd93U;  // any, for what is no whole number
    if (!(std::abs(steps) < 0x1p62)) return wrong;
    const auto whole = static_cast<std::int64_t>(steps);
    return static_cast<double>(whole) == steps ? static_cast<Number>(whole) : wrong;
  }
}

/// A factor of a row's elements. Integers are odd, so that no other number but 0 becomes 0 by it;
/// others lie between 1 and 2, or -2 and -1.
template <class Number>
Number weight(std::uint64_t random) {
  if constexpr (std::is_integral_v<Number>) {
    return random | 1;
  } else {
    const Number size = 1 + static_cast<Number>(random >> 1) * 0x1p-63L;
    return (random & 1) == 0 ? size : -size;
  }
}

/// Adds to `sums` the product of a column-major matrix, with elements element(index), and a vector.
template <class Number, class Element>
void add_product(std::vector<Number>& sums, const Element& element,
                 const std::vector<Number>& vector) {
  const auto rows = static_cast<std::int64_t>(sums.size());
  base::parallel_for(
      rows,
      [&](std::int64_t begin, std::int64_t end) {
        std::int64_t first = 0;  // of a column
        for (const Number factor : vector) {
          for (std::int64_t i = begin; i < end; ++i) {
            sums[static_cast<std::size_t>(i)] += element(first + i) * factor;
          }
          first += rows;
        }
      },
      std::max<std::int64_t>(1, (1 << 14) / static_cast<std::int64_t>(vector.size())));
}

/// Freivalds' check of C = alpha A B + beta C0: multiplies both sides with a vector of random
/// numbers, which takes m n + k n + m k operations, and compares row by row. Returns for each row
/// how far the sides are apart: 0 or 1 in integers, in floating point as elements are.
template <class Number, class T>
std::vector<double> residuals_in(const Problem<T>& problem, const T* c, std::uint32_t repetition) {
  const auto given = [&](int matrix) {
    return [&problem, repetition, matrix](std::int64_t i) {
      return static_cast<Number>(problem.whole(i, repetition, matrix));
    };
  };
  const double steps = std::ldexp(1.0, problem.bits(2));  // in 1
  const auto found = [&](std::int64_t i) {
    return number<Number>(static_cast<double>(c[i]) * steps);
  };
  const auto times = [](double factor, std::vector<Number> vector) {
    for (Number& x : vector) x *= number<Number>(factor);
    return vector;
  };
  std::vector<Number> x;
  for (std::int64_t j = 0; j < problem.n; ++j) x.push_back(weight<Number>(mix(j, repetition, 3)));
  std::vector<Number> bx(static_cast<std::size_t>(problem.k));
  add_product(bx, given(1), x);
  std::vector<Number> apart(static_cast<std::size_t>(problem.m));
  add_product(apart, given(0), times(problem.alpha, bx));
  if (problem.beta != 0) add_product(apart, given(2), times(problem.beta, x));
  add_product(apart, found, times(-1, x));
  std::vector<double> sizes;
  for (const Number difference : apart) {
    if constexpr (std::is_integral_v<Number>) {
      sizes.push_back(difference == 0 ? 0 : 1);
    } else {
      const auto size = static_cast<double>(std::abs(difference));
      sizes.push_back(std::isnan(size) ? std::numeric_limits<double>::infinity() : size);
    }
  }
  return sizes;
}

template <class T>
std::vector<double> residuals(const Problem<T>& problem, const T* c, std::uint32_t repetition) {
  return problem.exact() ? residuals_in<std::uint64_t>(problem, c, repetition)
                         : residuals_in<long double>(problem, c, repetition);
}

/// An element of C as it should be.
template <class T>
Expected<T> expected(const Problem<T>& problem, std::int64_t index, std::uint32_t repetition) {
  std::int64_t sum = 0;
  for (std::int64_t l = 0; l < problem.k; ++l) {
    sum += problem.whole(l * problem.m + index % problem.m, repetition, 0) *
           problem.whole(index / problem.m * problem.k + l, repetition, 1);
  }
  const auto steps = static_cast<long double>(problem.alpha) * static_cast<long double>(sum) +
                     static_cast<long double>(problem.beta) *
                         static_cast<long double>(problem.whole(index, repetition, 2));
  return {static_cast<double>(std::ldexp(steps, -problem.bits(2))), problem.tolerance()};
}

/// Freivalds' check of all; and of the elements one by one in a row that is wrong, or everywhere
/// where that takes no longer than moments. `max_error` is the largest of the elements so compared;
/// of rounded products of which none was, what the rows' sums are off, for an element.
template <class T>
Verification verify(const Problem<T>& problem, const HostArray& c, std::uint32_t repetition) {
  const auto element = [&](std::int64_t i) { return expected(problem, i, repetition); };
  const auto* const found = reinterpret_cast<const T*>(c.data());
  const std::vector<double> apart = residuals(problem, found, repetition);
  const auto worst = std::max_element(apart.begin(), apart.end());
  const bool wrong = *worst > problem.row_tolerance();
  constexpr double few = 0x1p27;
  const double operations = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                            static_cast<double>(problem.k);
  if (!wrong && operations <= few) {
    return compare<T>(c, "C", element, std::max<std::int64_t>(1, (1 << 14) / problem.k));
  }
  Verification result{.tolerance = problem.tolerance()};
  if (wrong) {
    const std::int64_t row = worst - apart.begin();
    for (std::int64_t i = row; i < problem.m * problem.n; i += problem.m) {
      add<T>(result, "C", i, found[i], element(i));
    }
    // None alone: all of them together.
    if (!result.mismatch) result.mismatch = {-1, "C times a vector", row, 0, *worst};
  } else if (!problem.exact()) {
    result.max_error =
        std::ldexp(*worst / std::sqrt(static_cast<double>(problem.n)), -problem.bits(2));
  }
  return result;
}

}  // namespace product

}  // namespace overlap::workload
