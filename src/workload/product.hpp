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

/// Enqueues C <- alpha A B + beta C on the instance for the given parts of arrays A, B and C on the
/// device, through KokkosBlas::gemm: cuBLAS or rocBLAS on GPUs, where only one thread may call
/// this. On host spaces it is complete on return and uses all threads that the BLAS has. With beta
/// = 0 it does not read C. T: float or double. Throws base::Error{skipped} in a build without
/// Kokkos Kernels.
template <class T>
void gemm(const Space& instance, const schedule::Product& product, const std::array<T*, 3>& arrays,
          double alpha, double beta);

/// Verification of matrix products.
namespace product {

/// Data of C <- alpha A B + beta C. Elements of A and B are scaled integers with so few bits that
/// their products and sums of `k` of these are exact in T in any order; elements of C have twice as
/// many bits and the scale of the products.
template <class T>
struct Problem {
  std::int64_t m, n, k;
  double alpha, beta;

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
  /// Whether C is computed without rounding.
  bool exact() const { return std::abs(alpha) == 1 && (beta == 0 || std::abs(beta) == 1); }
  /// Rounding error bound of an element of C: at most k + 3 operations, each with half an epsilon
  /// of the largest possible result (Higham, Accuracy and Stability, 3.1).
  double tolerance() const {
    if (exact()) return 0;
    const double largest = 0.25 * std::abs(alpha) * static_cast<double>(k) + 0.5 * std::abs(beta);
    return (static_cast<double>(k) + 3) * std::numeric_limits<T>::epsilon() * largest;
  }
  /// Rounding tolerance, in steps, of the sum of a row with weights of magnitude 1 to 2. Errors of
  /// a row are practically independent and grow with the square root of the number of operations;
  /// 100 times this estimate is still far below the effect of a wrong tile.
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

/// Converts steps of C to the arithmetic of the row comparison: integers modulo 2^64 for exact
/// results, otherwise floating point of higher precision.
template <class Number>
Number number(double steps) {
  if constexpr (std::is_floating_point_v<Number>) {
    return steps;
  } else {
    constexpr Number wrong = 0xd6e8feb86659fd93U;  // arbitrary value for non-integers
    if (!(std::abs(steps) < 0x1p62)) return wrong;
    const auto integer = static_cast<std::int64_t>(steps);
    return static_cast<double>(integer) == steps ? static_cast<Number>(integer) : wrong;
  }
}

/// A random weight. Integers are odd, so that they map no nonzero number to 0; floating-point
/// weights have magnitude 1 to 2 and either sign.
template <class Number>
Number weight(std::uint64_t random) {
  if constexpr (std::is_integral_v<Number>) {
    return random | 1;
  } else {
    const Number size = 1 + static_cast<Number>(random >> 1) * 0x1p-63L;
    return (random & 1) == 0 ? size : -size;
  }
}

/// Adds the product of a column-major matrix, with elements element(index), and a vector to `sums`.
template <class Number, class Element>
void add_product(std::vector<Number>& sums, const Element& element,
                 const std::vector<Number>& vector) {
  const auto rows = static_cast<std::int64_t>(sums.size());
  base::parallel_for(
      rows,
      [&](std::int64_t begin, std::int64_t end) {
        std::int64_t first = 0;  // first element of a column
        for (const Number factor : vector) {
          for (std::int64_t i = begin; i < end; ++i) {
            sums[static_cast<std::size_t>(i)] += element(first + i) * factor;
          }
          first += rows;
        }
      },
      std::max<std::int64_t>(1, (1 << 14) / static_cast<std::int64_t>(vector.size())));
}

/// Freivalds' check of C = alpha A B + beta C0: multiplies both sides by a random vector with m n +
/// k n + m k operations and compares the rows. Returns the difference per row: 0 or 1 for integers,
/// in steps for floating point.
template <class Number, class T>
std::vector<double> residuals_in(const Problem<T>& problem, const T* c, std::uint32_t repetition) {
  const auto input = [&](int matrix) {
    return [&problem, repetition, matrix](std::int64_t i) {
      return static_cast<Number>(problem.element_steps(i, repetition, matrix));
    };
  };
  const double steps = std::ldexp(1.0, problem.bits(2));  // per unit
  const auto output = [&](std::int64_t i) {
    return number<Number>(static_cast<double>(c[i]) * steps);
  };
  const auto times = [](double factor, std::vector<Number> vector) {
    for (Number& x : vector) x *= number<Number>(factor);
    return vector;
  };
  std::vector<Number> x;
  for (std::int64_t j = 0; j < problem.n; ++j) x.push_back(weight<Number>(mix(j, repetition, 3)));
  std::vector<Number> bx(static_cast<std::size_t>(problem.k));
  add_product(bx, input(1), x);
  std::vector<Number> differences(static_cast<std::size_t>(problem.m));
  add_product(differences, input(0), times(problem.alpha, bx));
  if (problem.beta != 0) add_product(differences, input(2), times(problem.beta, x));
  add_product(differences, output, times(-1, x));
  std::vector<double> magnitudes;
  for (const Number difference : differences) {
    if constexpr (std::is_integral_v<Number>) {
      magnitudes.push_back(difference == 0 ? 0 : 1);
    } else {
      const auto size = static_cast<double>(std::abs(difference));
      magnitudes.push_back(std::isnan(size) ? std::numeric_limits<double>::infinity() : size);
    }
  }
  return magnitudes;
}

template <class T>
std::vector<double> residuals(const Problem<T>& problem, const T* c, std::uint32_t repetition) {
  return problem.exact() ? residuals_in<std::uint64_t>(problem, c, repetition)
                         : residuals_in<long double>(problem, c, repetition);
}

/// The expected element of C.
template <class T>
Expected<T> expected(const Problem<T>& problem, std::int64_t index, std::uint32_t repetition) {
  std::int64_t sum = 0;
  for (std::int64_t l = 0; l < problem.k; ++l) {
    sum += problem.element_steps(l * problem.m + index % problem.m, repetition, 0) *
           problem.element_steps(index / problem.m * problem.k + l, repetition, 1);
  }
  const auto steps = static_cast<long double>(problem.alpha) * static_cast<long double>(sum) +
                     static_cast<long double>(problem.beta) *
                         static_cast<long double>(problem.element_steps(index, repetition, 2));
  return {static_cast<double>(std::ldexp(steps, -problem.bits(2))), problem.tolerance()};
}

/// Verifies C with Freivalds' check; additionally compares the elements of the worst row if that is
/// wrong, or all elements if that is fast. `max_error` covers the elements compared; without any,
/// for rounded products, it is estimated per element from the row sums.
template <class T>
Verification verify(const Problem<T>& problem, const HostData<T>& c, std::uint32_t repetition) {
  const auto element = [&](std::int64_t i) { return expected(problem, i, repetition); };
  const T* const elements = c.memory.data();
  const std::vector<double> row_errors = residuals(problem, elements, repetition);
  const auto worst = std::max_element(row_errors.begin(), row_errors.end());
  const bool wrong = *worst > problem.row_tolerance();
  constexpr double few_operations = 0x1p27;
  const double operations = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                            static_cast<double>(problem.k);
  if (!wrong && operations <= few_operations) {
    return compare(c, element, std::max<std::int64_t>(1, (1 << 14) / problem.k));
  }
  Verification result{.tolerance = problem.tolerance()};
  if (wrong) {
    const std::int64_t row = worst - row_errors.begin();
    for (std::int64_t i = row; i < problem.m * problem.n; i += problem.m) {
      add<T>(result, c.name, i, elements[i], element(i));
    }
    // No single element exceeds the tolerance, but their sum does.
    if (!result.mismatch)
      result.mismatch = {-1, "C times a vector, any tile of the row", row, 0, *worst};
  } else if (!problem.exact()) {
    result.max_error =
        std::ldexp(*worst / std::sqrt(static_cast<double>(problem.n)), -problem.bits(2));
  }
  return result;
}

}  // namespace product

}  // namespace overlap::workload
