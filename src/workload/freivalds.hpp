#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "workload/check.hpp"
#include "workload/data.hpp"

namespace overlap::workload {

/// Matrix products and the check of their results.
namespace product {

/// What C <- alpha A B + beta C is about. Elements of A and B are whole numbers of so few bits,
/// scaled, that their products and the sums of `k` of them are exact in T, in any order; those of C
/// have twice as many bits and the same scale as the products.
template <class T>
struct Problem {
  std::int64_t m, n, k;
  double alpha, beta;

  int bits() const {
    return (std::numeric_limits<T>::digits - 1 - std::bit_width(static_cast<std::uint64_t>(k))) / 2;
  }
  /// Elements of A (0) and B (1) lie in [-1/2, 1/2), in steps of 2^-bits, those of C (2) in steps
  /// of 2^-(2 bits); as numbers of steps.
  std::int64_t whole(std::int64_t index, std::uint32_t repetition, int matrix) const {
    const int own = matrix == 2 ? 2 * bits() : bits();
    return static_cast<std::int64_t>(mix(index, repetition, matrix) >> (64 - own)) -
           (std::int64_t{1} << (own - 1));
  }
  T element(std::int64_t index, std::uint32_t repetition, int matrix) const {
    const int own = matrix == 2 ? 2 * bits() : bits();
    return static_cast<T>(std::ldexp(static_cast<double>(whole(index, repetition, matrix)), -own));
  }
  /// Whether nothing is rounded on the way to C.
  bool exact() const { return std::abs(alpha) == 1 && (beta == 0 || std::abs(beta) == 1); }
  /// The largest that an element of C can be, and how far rounding may take it: each of at most
  /// k + 3 operations on it by half an epsilon (Higham, Accuracy and Stability, 3.1).
  double largest() const {
    return 0.25 * std::abs(alpha) * static_cast<double>(k) + 0.5 * std::abs(beta);
  }
  double tolerance() const {
    if (exact()) return 0;
    return (static_cast<double>(k) + 3) * std::numeric_limits<T>::epsilon() * largest();
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
                      2 * bits());
  }
};

/// Arithmetic on numbers of steps of C, modulo 2^64: as exact as the results are.
struct Steps {
  using Number = std::uint64_t;
  static Number whole(std::int64_t value) { return static_cast<Number>(value); }
  static Number scaled(double factor, Number value) {
    return factor == 0 ? 0 : factor > 0 ? value : Number{0} - value;
  }
  /// Of a result in steps; any number where that is no whole one.
  static Number result(double steps) {
    constexpr double most = 0x1p62;
    constexpr Number wrong = 0xd6e8feb86659fd93U;
    if (!(std::abs(steps) < most)) return wrong;
    const auto number = static_cast<std::int64_t>(steps);
    return static_cast<double>(number) == steps ? static_cast<Number>(number) : wrong;
  }
  /// An odd number: no other number but 0 becomes 0 by it.
  static Number weight(std::uint64_t random) { return random | 1; }
  static double size(Number apart) { return apart == 0 ? 0 : 1; }
};

/// The same in higher precision than the results'.
struct Extended {
  using Number = long double;
  static Number whole(std::int64_t value) { return static_cast<Number>(value); }
  static Number scaled(double factor, Number value) { return static_cast<Number>(factor) * value; }
  static Number result(double steps) { return static_cast<Number>(steps); }
  /// From 1 to 2, or from -2 to -1.
  static Number weight(std::uint64_t random) {
    const Number size = 1 + static_cast<Number>(random >> 1) * 0x1p-63L;
    return (random & 1) == 0 ? size : -size;
  }
  static double size(Number apart) {
    const auto size = static_cast<double>(std::abs(apart));
    return std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
  }
};

/// Freivalds' check of C = alpha A B + beta C0: multiplies both sides with a vector of random
/// numbers, which takes m n + k n + m k operations, and compares row by row. Returns for each row
/// how far the sides are apart: in Steps 0 or 1, in Extended as elements are.
template <class T, class Arithmetic>
std::vector<double> residuals(const Problem<T>& problem, const T* c, std::uint32_t repetition) {
  using Number = typename Arithmetic::Number;
  const std::int64_t m = problem.m;
  const std::int64_t n = problem.n;
  const std::int64_t k = problem.k;
  const double steps = std::ldexp(1.0, 2 * problem.bits());  // in 1
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<Number> x;
  for (std::int64_t j = 0; j < n; ++j) x.push_back(Arithmetic::weight(mix(j, repetition, 3)));
  std::vector<Number> bx(at(k));
  base::parallel_for(
      k,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t l = begin; l < end; ++l) {
            bx[at(l)] += Arithmetic::whole(problem.whole(j * k + l, repetition, 1)) * x[at(j)];
          }
        }
      },
      std::max<std::int64_t>(1, (1 << 14) / n));
  std::vector<double> apart(at(m));
  base::parallel_for(
      m,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<Number> left(at(end - begin));
        std::vector<Number> right(at(end - begin));
        for (std::int64_t l = 0; l < k; ++l) {
          for (std::int64_t i = begin; i < end; ++i) {
            right[at(i - begin)] +=
                Arithmetic::whole(problem.whole(l * m + i, repetition, 0)) * bx[at(l)];
          }
        }
        for (Number& sum : right) sum = Arithmetic::scaled(problem.alpha, sum);
        for (std::int64_t j = 0; j < n; ++j) {
          const Number factor = Arithmetic::scaled(problem.beta, x[at(j)]);
          for (std::int64_t i = begin; i < end; ++i) {
            left[at(i - begin)] +=
                Arithmetic::result(static_cast<double>(c[j * m + i]) * steps) * x[at(j)];
            if (problem.beta != 0) {
              right[at(i - begin)] +=
                  Arithmetic::whole(problem.whole(j * m + i, repetition, 2)) * factor;
            }
          }
        }
        for (std::int64_t i = begin; i < end; ++i) {
          apart[at(i)] = Arithmetic::size(left[at(i - begin)] - right[at(i - begin)]);
        }
      },
      std::max<std::int64_t>(1, (1 << 14) / (n + k)));
  return apart;
}

/// An element of C as it should be.
template <class T>
Expected expected(const Problem<T>& problem, std::int64_t index, std::uint32_t repetition) {
  std::int64_t sum = 0;
  for (std::int64_t l = 0; l < problem.k; ++l) {
    sum += problem.whole(l * problem.m + index % problem.m, repetition, 0) *
           problem.whole(index / problem.m * problem.k + l, repetition, 1);
  }
  const auto steps = static_cast<long double>(problem.alpha) * static_cast<long double>(sum) +
                     static_cast<long double>(problem.beta) *
                         static_cast<long double>(problem.whole(index, repetition, 2));
  return {.value = static_cast<double>(std::ldexp(steps, -2 * problem.bits())),
          .tolerance = problem.tolerance()};
}

/// Freivalds' check of all; and of the elements one by one in a row that is wrong, or everywhere
/// where that takes no longer than moments. `max_error` is the largest of the elements so compared;
/// of rounded products of which none was, what the rows' sums are off, for an element.
template <class T>
Verification verify(const Problem<T>& problem, std::span<const T> c, std::uint32_t repetition) {
  const auto apart = problem.exact() ? residuals<T, Steps>(problem, c.data(), repetition)
                                     : residuals<T, Extended>(problem, c.data(), repetition);
  const auto worst = std::max_element(apart.begin(), apart.end());
  Verification result;
  result.tolerance = problem.tolerance();
  constexpr double few = 0x1p27;
  const double operations = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                            static_cast<double>(problem.k);
  if (*worst > problem.row_tolerance()) {
    const std::int64_t row = worst - apart.begin();
    for (std::int64_t j = 0; j < problem.n; ++j) {
      const std::int64_t index = j * problem.m + row;
      const Expected reference = expected(problem, index, repetition);
      const auto found = static_cast<double>(c[static_cast<std::size_t>(index)]);
      const double error = std::abs(found - reference.value);
      result.max_error = std::max(
          result.max_error, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
      if (!(error <= reference.tolerance) && !result.mismatch) {
        result.mismatch = {"C", index, reference.value, found};
      }
    }
    // None alone: all of them together.
    if (!result.mismatch) result.mismatch = {"C times a vector", row, 0, *worst};
  } else if (operations <= few) {
    compare<T>(
        c, "C", [&](std::int64_t i) { return expected(problem, i, repetition); }, result,
        std::max<std::int64_t>(1, (1 << 14) / problem.k));
  } else if (!problem.exact()) {
    result.max_error =
        std::ldexp(*worst / std::sqrt(static_cast<double>(problem.n)), -2 * problem.bits());
  }
  return result;
}

}  // namespace product

}  // namespace overlap::workload
