#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>

#include "base/parallel.hpp"
#include "workload/workload.hpp"

/// Filling host arrays and comparing them with what they should hold.
namespace overlap::workload {

template <class T>
std::int64_t count_elements(const HostArray& array) {
  return static_cast<std::int64_t>(array.region.bytes() / sizeof(T));
}

/// The elements [begin, end) of a host array, line by line: calls body(index of the first, span).
template <class T, class Body>
void for_lines(const HostArray& array, std::int64_t begin, std::int64_t end, const Body& body) {
  schedule::for_lines(
      array.region, static_cast<std::size_t>(begin) * sizeof(T),
      static_cast<std::size_t>(end) * sizeof(T),
      [&](std::size_t place, std::size_t position, std::size_t bytes) {
        body(static_cast<std::int64_t>(position / sizeof(T)),
             std::span<T>(reinterpret_cast<T*>(array.data() + place), bytes / sizeof(T)));
      });
}

/// The bytes of a host array that do not belong to its region, in parallel: calls body(span, bytes
/// of the region before it).
template <class Body>
void for_padding(const HostArray& array, const Body& body) {
  const schedule::Region& region = array.region;
  const auto gap = [&](std::size_t line) {
    const std::size_t begin = line == 0 ? 0 : region.line_begin(line - 1) + region.line_bytes;
    const std::size_t end = line == region.all_lines() ? array.size() : region.line_begin(line);
    body(std::span<Byte>(array.data() + begin, end - begin), line * region.line_bytes);
  };
  base::parallel_for(
      static_cast<std::int64_t>(region.all_lines()) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) gap(static_cast<std::size_t>(i));
      },
      64);
}

/// What padding holds: as a number of any type, no element of an input or of an output in place.
inline constexpr Byte padding_byte = 0x5a;

/// Fills a host array with value(index), and its padding.
template <class T, class Value>
void fill(const HostArray& array, const Value& value) {
  base::parallel_for(count_elements<T>(array), [&](std::int64_t begin, std::int64_t end) {
    for_lines<T>(array, begin, end, [&](std::int64_t i, std::span<T> line) {
      for (T& element : line) element = value(i++);
    });
  });
  for_padding(array, [](std::span<Byte> gap, std::size_t) {
    std::fill(gap.begin(), gap.end(), padding_byte);
  });
}

/// What an element should be, and how far rounding may take it from there. Whole numbers use
/// `whole`, reduced to their type; as doubles, large ones could look alike.
struct Expected {
  double value = 0;
  double tolerance = 0;
  std::int64_t whole = 0;
};

/// Compares `count` elements with expected(index), in parallel, and adds what it finds to `result`.
/// `lines(begin, end, body)` calls body(index of the first, span) for the elements of a range.
template <class T, class Lines, class Reference>
void compare_lines(std::int64_t count, const Lines& lines, const std::string& name,
                   const Reference& expected, Verification& result, std::int64_t smallest_part) {
  std::mutex mutex;
  base::parallel_for(
      count,
      [&](std::int64_t begin, std::int64_t end) {
        Verification part;
        const auto check = [&](std::int64_t i, T found) {
          const Expected reference = expected(i);
          double wanted = reference.value;
          double error = 0;
          if constexpr (std::is_integral_v<T>) {
            const T whole = static_cast<T>(reference.whole);
            wanted = static_cast<double>(whole);
            if (found != whole)
              error = std::max(1.0, std::abs(static_cast<double>(found) - wanted));
          } else {
            error = std::abs(static_cast<double>(found) - wanted);
            if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
          }
          part.max_error = std::max(part.max_error, error);
          part.tolerance = std::max(part.tolerance, reference.tolerance);
          if (error > reference.tolerance && !part.mismatch) {
            part.mismatch = {name, i, wanted, static_cast<double>(found)};
          }
        };
        lines(begin, end, [&](std::int64_t i, std::span<const T> line) {
          for (const T found : line) check(i++, found);
        });
        const std::scoped_lock lock(mutex);
        result.max_error = std::max(result.max_error, part.max_error);
        result.tolerance = std::max(result.tolerance, part.tolerance);
        // The first wrong element of the first wrong array is the one to name.
        if (part.mismatch &&
            (!result.mismatch ||
             (result.mismatch->array == name && part.mismatch->index < result.mismatch->index))) {
          result.mismatch = part.mismatch;
        }
      },
      smallest_part);
}

/// Compares every element with expected(index), in parallel, and adds what it finds to `result`.
/// `smallest_part`: elements that are worth a thread.
template <class T, class Reference>
void compare(std::span<const T> data, const std::string& name, const Reference& expected,
             Verification& result, std::int64_t smallest_part = 1 << 14) {
  compare_lines<T>(
      static_cast<std::int64_t>(data.size()),
      [&](std::int64_t begin, std::int64_t end, const auto& body) {
        body(begin,
             data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
      },
      name, expected, result, smallest_part);
}

/// The same for a host array, without its padding.
template <class T, class Reference>
void compare(const HostArray& array, const std::string& name, const Reference& expected,
             Verification& result, std::int64_t smallest_part = 1 << 14) {
  compare_lines<T>(
      count_elements<T>(array),
      [&](std::int64_t begin, std::int64_t end, const auto& body) {
        for_lines<T>(array, begin, end, body);
      },
      name, expected, result, smallest_part);
}

/// Compares the padding of a host array with what fill() wrote there.
template <class T>
void compare_padding(const HostArray& array, const std::string& name, Verification& result) {
  std::mutex mutex;
  for_padding(array, [&](std::span<Byte> gap, std::size_t before) {
    const auto wrong =
        std::find_if(gap.begin(), gap.end(), [](Byte byte) { return byte != padding_byte; });
    if (wrong == gap.end()) return;
    const std::int64_t index = static_cast<std::int64_t>(before / sizeof(T)) - 1;
    const std::scoped_lock lock(mutex);
    if (result.mismatch && (result.mismatch->array != name || result.mismatch->index < index)) {
      return;
    }
    result.mismatch = {name, std::max<std::int64_t>(index, 0), double{padding_byte},
                       static_cast<double>(*wrong)};
  });
}

}  // namespace overlap::workload
