#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>

#include "base/parallel.hpp"
#include "workload/buffers.hpp"

/// Fills host arrays and compares them with expected values.
namespace overlap::workload {

template <class T>
std::int64_t count_elements(const HostData<T>& array) {
  return static_cast<std::int64_t>(array.region.bytes() / sizeof(T));
}

/// Calls body(index, element) for the elements [begin, end) of a host array.
template <class T, class Body>
void for_elements(const HostData<T>& array, std::int64_t begin, std::int64_t end,
                  const Body& body) {
  schedule::for_lines(array.region, static_cast<std::size_t>(begin) * sizeof(T),
                      static_cast<std::size_t>(end) * sizeof(T),
                      [&](std::size_t place, std::size_t position, std::size_t bytes) {
                        auto i = static_cast<std::int64_t>(position / sizeof(T));
                        T* const line = array.memory.data() + place / sizeof(T);
                        for (T& element : std::span(line, bytes / sizeof(T))) body(i++, element);
                      });
}

/// Visits the padding of a host array in parallel: calls body(span, bytes of the region before it).
template <class T, class Body>
void for_padding(const HostData<T>& array, const Body& body) {
  const schedule::Region& region = array.region;
  const auto bytes = std::as_writable_bytes(std::span(array.memory.data(), array.memory.size()));
  const auto gap = [&](std::size_t line) {
    const std::size_t begin = line == 0 ? 0 : region.line_begin(line - 1) + region.line_bytes;
    const std::size_t end = line == region.all_lines() ? bytes.size() : region.line_begin(line);
    body(bytes.subspan(begin, end - begin), line * region.line_bytes);
  };
  base::parallel_for(
      static_cast<std::int64_t>(region.all_lines()) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) gap(static_cast<std::size_t>(i));
      },
      64);
}

/// Content of padding: as a number of any type, not a valid element of an input or in-place output.
inline constexpr Byte padding_byte = 0x5a;

/// Sets the elements of a host array to value(index), and fills its padding.
template <class T, class Value>
void fill(const HostData<T>& array, const Value& value) {
  base::parallel_for(count_elements(array), [&](std::int64_t begin, std::int64_t end) {
    for_elements(array, begin, end, [&](std::int64_t i, T& element) { element = value(i); });
  });
  for_padding(array, [](std::span<std::byte> gap, std::size_t) {
    std::ranges::fill(gap, std::byte{padding_byte});
  });
}

/// Sets the generator of the workload: elements of the inputs are value(position, repetition,
/// number of the array).
template <class T, class Value>
void fill_inputs_with(Workload& w, const std::vector<HostData<T>>& inputs, const Value& value) {
  w.generate = [inputs, value](std::uint32_t repetition) {
    for (const HostData<T>& input : inputs) {
      fill(input, [&](std::int64_t position) { return value(position, repetition, input.number); });
    }
  };
}

/// Expected value of an element, and its rounding tolerance.
template <class T>
struct Expected {
  std::conditional_t<std::is_integral_v<T>, T, double> value = 0;
  double tolerance = 0;
};

/// Merges the verification of another part of an array, or of another array. Keeps the first wrong
/// element of the first wrong array.
inline void add(Verification& result, const Verification& part) {
  result.max_error = std::max(result.max_error, part.max_error);
  result.tolerance = std::max(result.tolerance, part.tolerance);
  const auto& first = result.mismatch;
  const auto& other = part.mismatch;
  if (other && (!first || (first->array == other->array && other->index < first->index))) {
    result.mismatch = other;
  }
}

/// Adds one element of an array.
template <class T>
void add(Verification& result, const std::string& array, std::int64_t index, T found,
         const Expected<T>& expected) {
  const auto expected_value = static_cast<double>(expected.value);
  double error = std::abs(static_cast<double>(found) - expected_value);
  if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  if constexpr (std::is_integral_v<T>) {
    if (found != expected.value)
      error = std::max(error, 1.0);  // large integers may be equal as doubles
  }
  result.max_error = std::max(result.max_error, error);
  result.tolerance = std::max(result.tolerance, expected.tolerance);
  if (error > expected.tolerance && !result.mismatch) {
    result.mismatch = {-1, array, index, expected_value, static_cast<double>(found)};
  }
}

/// Compares every element of a host array with expected(index), and its padding with that of
/// fill(), in parallel. `smallest_part`: minimum elements per thread.
template <class T, class ExpectedAt>
Verification compare(const HostData<T>& array, const ExpectedAt& expected,
                     std::int64_t smallest_part = 1 << 14) {
  Verification result;
  std::mutex mutex;
  const auto add_part = [&](const Verification& part) {
    const std::scoped_lock lock(mutex);
    add(result, part);
  };
  base::parallel_for(
      count_elements(array),
      [&](std::int64_t begin, std::int64_t end) {
        Verification part;
        for_elements(array, begin, end, [&](std::int64_t i, T found) {
          add<T>(part, array.name, i, found, expected(i));
        });
        add_part(part);
      },
      smallest_part);
  for_padding(array, [&](std::span<const std::byte> gap, std::size_t before) {
    const auto wrong =
        std::ranges::find_if(gap, [](std::byte byte) { return byte != std::byte{padding_byte}; });
    if (wrong == gap.end()) return;
    const std::int64_t index = static_cast<std::int64_t>(before / sizeof(T)) - 1;
    add_part({.mismatch = {{-1, "padding of " + array.name, std::max<std::int64_t>(index, 0),
                            double{padding_byte}, static_cast<double>(*wrong)}}});
  });
  return result;
}

}  // namespace overlap::workload
