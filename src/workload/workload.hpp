#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "deck/deck.hpp"
#include "schedule/costs.hpp"
#include "schedule/schedule.hpp"

/// A workload at run time: its buffers, its kernels and the check of its results.
namespace overlap::workload {

using Byte = unsigned char;

template <class Space>
inline constexpr bool is_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

/// Page-locked host memory for the space's copies; host back ends have no use for page locking.
template <class Space>
using PinnedSpace =
    std::conditional_t<is_host<Space>, Kokkos::HostSpace, Kokkos::SharedHostPinnedSpace>;

/// Bytes in a memory space, on a boundary that suits copy engines. Kokkos' own allocations begin
/// 128 bytes behind one, where transfers in both directions at once are slower (0.7 % on an H200).
template <class MemorySpace>
class AlignedBytes {
 public:
  AlignedBytes() = default;
  AlignedBytes(const std::string& label, std::size_t size)
      : storage_(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), size + alignment),
        size_(size) {
    void* begin = storage_.data();
    std::size_t space = size + alignment;
    data_ = static_cast<Byte*>(std::align(alignment, size, begin, space));
  }

  Byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t alignment = 4096;

  Kokkos::View<Byte*, MemorySpace> storage_;
  Byte* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class Space>
using DeviceArray = AlignedBytes<typename Space::memory_space>;

/// An array's mirror on the host; one of the two holds it and what lies between its lines.
template <class Space>
struct HostArray {
  AlignedBytes<PinnedSpace<Space>> pinned;
  AlignedBytes<Kokkos::HostSpace> pageable;
  std::shared_ptr<const void> lock;  ///< keeps `pageable` page-locked, where it is registered
  deck::HostMemory memory = deck::HostMemory::pinned;
  schedule::Region region;  ///< where the array lies in it

  Byte* data() const {
    return memory == deck::HostMemory::pinned ? pinned.data() : pageable.data();
  }
  std::size_t size() const {
    return memory == deck::HostMemory::pinned ? pinned.size() : pageable.size();
  }
};

/// What a kernel is to work on; `op` -1: on nothing. Sizes and positions are in units of the
/// schedule's arrays.
struct Call {
  int op = 0;
  std::int64_t begin = 0;         ///< first unit's position in the host arrays
  std::int64_t device_begin = 0;  ///< and in the device arrays
  std::int64_t size = 0;
  std::int64_t repeats = 1;                       ///< of the arithmetic; custom: steps
  bool mapped = false;                            ///< works on the host arrays themselves
  int number = 0;                                 ///< custom: the kernel's place in the deck's list
  double share = 1;                               ///< custom: the part of the device that it fills
  std::optional<schedule::Product> product = {};  ///< dgemm: that, instead of a chunk
};

/// Steps of a busy kernel that is to take `duration_s`.
inline std::int64_t steps(double duration_s, std::int64_t steps_per_s) {
  return std::llround(duration_s * static_cast<double>(steps_per_s));
}

/// The first wrong element, by position.
struct Mismatch {
  std::string array;
  std::int64_t index = 0;  ///< element of the array; of padding, the last one before it
  double expected = 0;
  double found = 0;
  std::optional<int> chunk = {};  ///< where the index does not tell it
};

struct Verification {
  double max_error = 0;  ///< largest absolute difference; infinite where a result is no number
  double tolerance = 0;  ///< largest that rounding can explain, over all elements
  std::optional<Mismatch> mismatch;
};

template <class Space>
struct Workload {
  std::vector<schedule::Array> arrays;
  std::vector<HostArray<Space>> host;      ///< one for each of `arrays`
  std::vector<DeviceArray<Space>> device;  ///< one for each of `arrays`
  std::int64_t repeats = 1;        ///< of the arithmetic in each kernel; custom: steps a second
  double host_steps_per_s = 0;     ///< custom: of the issuing thread's work
  std::int64_t unit_elements = 1;  ///< elements of a unit of the outputs
  std::string kernel;              ///< which kernel runs, where there is a choice

  /// Enqueues the kernel on the instance; never waits.
  std::function<void(const Space&, const Call&)> launch;
  /// Does the same on the host arrays, and has done it when it returns; dgemm alone.
  std::function<void(const Call&)> compute_on_host;
  /// Fills the input arrays on the host with the data of one repetition.
  std::function<void(std::uint32_t repetition)> generate;
  /// Puts data on the device that a run finds there; empty where a run finds nothing.
  std::function<void(const Space&, std::uint32_t repetition)> place;
  /// Compares the output arrays on the host with a reference that shares no code with the kernels.
  std::function<Verification(std::uint32_t repetition, std::int64_t repeats)> verify;
};

/// Allocates host arrays, and device arrays of so many bytes; nothing is initialised. Throws
/// base::Error{precondition} when memory does not suffice.
template <class Space>
Workload<Space> allocate(const schedule::Costs& costs, const std::vector<std::size_t>& device,
                         deck::HostMemory memory) {
  Workload<Space> workload;
  workload.arrays = costs.arrays;
  for (std::size_t i = 0; i < costs.arrays.size(); ++i) {
    const schedule::Array& array = costs.arrays[i];
    const std::size_t device_bytes = device[i];
    const std::size_t host_bytes = schedule::host_bytes(array);
    try {
      HostArray<Space> host;
      host.memory = memory;
      host.region = schedule::host_region(array);
      const std::string label = "overlap::host::" + array.name;
      if (memory == deck::HostMemory::pinned) {
        host.pinned = AlignedBytes<PinnedSpace<Space>>(label, host_bytes);
      } else {
        host.pageable = AlignedBytes<Kokkos::HostSpace>(label, host_bytes);
      }
      workload.host.push_back(host);
      workload.device.emplace_back("overlap::device::" + array.name, device_bytes);
    } catch (const std::exception& error) {
      std::string reason = error.what();
      reason.resize(std::min(reason.size(), reason.find('\n')));
      const bool locked = memory == deck::HostMemory::pinned && !is_host<Space>;
      throw base::Error(base::ExitCode::precondition,
                        "not enough memory for array " + array.name + ", " +
                            base::format_bytes(host_bytes) +
                            (locked ? " page-locked on the host (with memory.host: pageable_staged "
                                      "a ring of slots is enough) and "
                                    : " on the host and ") +
                            base::format_bytes(device_bytes) + " on the device: " + reason);
    }
  }
  return workload;
}

/// The elements of a host array that is no section, typed.
template <class T, class Space>
std::span<T> elements(const HostArray<Space>& array) {
  return {reinterpret_cast<T*>(array.data()), array.size() / sizeof(T)};
}

template <class T, class Space>
T* device_elements(const Workload<Space>& workload, std::size_t array) {
  return reinterpret_cast<T*>(workload.device[array].data());
}

/// An array where kernels find it, typed; `length` elements make a unit.
template <class T>
struct Operand {
  T* device;
  T* host;
  std::int64_t length;

  /// The first element that a kernel is to work on.
  T* at(const Call& call) const {
    return call.mapped ? host + call.begin * length : device + call.device_begin * length;
  }
};

template <class T, class Space>
Operand<T> operand(const Workload<Space>& workload, std::size_t array, std::int64_t length = 1) {
  return {device_elements<T>(workload, array), reinterpret_cast<T*>(workload.host[array].data()),
          length};
}

template <class T, class Space>
std::int64_t count_elements(const HostArray<Space>& array) {
  return static_cast<std::int64_t>(array.region.bytes() / sizeof(T));
}

/// The elements [begin, end) of a host array, line by line: calls body(index of the first, span).
template <class T, class Space, class Body>
void for_lines(const HostArray<Space>& array, std::int64_t begin, std::int64_t end,
               const Body& body) {
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
template <class Space, class Body>
void for_padding(const HostArray<Space>& array, const Body& body) {
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
template <class T, class Space, class Value>
void fill(const HostArray<Space>& array, const Value& value) {
  base::parallel_for(count_elements<T>(array), [&](std::int64_t begin, std::int64_t end) {
    for_lines<T>(array, begin, end, [&](std::int64_t i, std::span<T> line) {
      for (T& element : line) element = value(i++);
    });
  });
  for_padding(array, [](std::span<Byte> gap, std::size_t) {
    std::fill(gap.begin(), gap.end(), padding_byte);
  });
}

/// Enqueues a kernel. Functors stay below 512 bytes: from there on CUDA back ends before Kokkos 5
/// send them through constant memory, and the host waits.
template <class Policy, class Functor>
void enqueue(const char* label, const Policy& policy, const Functor& functor) {
  static_assert(sizeof(Functor) < 512);
  Kokkos::parallel_for(label, policy, functor);
}

/// The range of a kernel that works on units one by one.
template <class Space>
auto units(const Space& instance, std::int64_t count) {
  return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, count);
}

/// Sets bytes of device memory.
struct SetBytes {
  Byte* data;
  Byte value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { data[i] = value; }
};

/// Fills the device arrays with a pattern that right results do not show (as floating point it is
/// no number, as an integer -1), so that a missing copy or kernel cannot pass. (Not by
/// Kokkos::deep_copy of a value: with Kokkos 4.6.99 and GCC 11 that wrote to addresses beside the
/// array.)
template <class Space>
void poison(const Workload<Space>& workload, const Space& instance) {
  constexpr Byte pattern = 0xff;
  for (const DeviceArray<Space>& array : workload.device) {
    enqueue("overlap::poison", units(instance, static_cast<std::int64_t>(array.size())),
            SetBytes{array.data(), pattern});
  }
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
template <class T, class Space, class Reference>
void compare(const HostArray<Space>& array, const std::string& name, const Reference& expected,
             Verification& result, std::int64_t smallest_part = 1 << 14) {
  compare_lines<T>(
      count_elements<T>(array),
      [&](std::int64_t begin, std::int64_t end, const auto& body) {
        for_lines<T>(array, begin, end, body);
      },
      name, expected, result, smallest_part);
}

/// Compares the padding of a host array with what fill() wrote there.
template <class T, class Space>
void compare_padding(const HostArray<Space>& array, const std::string& name, Verification& result) {
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
