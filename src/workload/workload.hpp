#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deck/deck.hpp"
#include "experiment/run.hpp"
#include "schedule/costs.hpp"
#include "schedule/schedule.hpp"
#include "workload/spaces.hpp"

/// A workload at run time: buffers, kernels, verification.
namespace overlap::workload {

using Byte = unsigned char;

/// Uninitialized elements in a Kokkos memory space from a multiple of 4096 bytes on: Kokkos
/// allocations begin 128 bytes after one, where concurrent transfers in both directions are slower
/// (0.7 % on an H200).
template <class T, class MemorySpace>
Kokkos::View<T*, MemorySpace> aligned(const std::string& label, std::size_t count) {
  constexpr std::size_t alignment = 4096;
  const Kokkos::View<T*, MemorySpace> memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                             count + alignment / sizeof(T));
  void* begin = memory.data();
  std::size_t space = memory.size() * sizeof(T);
  std::align(alignment, count * sizeof(T), begin, space);
  const auto first = static_cast<std::size_t>(static_cast<T*>(begin) - memory.data());
  return Kokkos::subview(memory, std::pair(first, first + count));
}

/// The memory of a view without its element type, for what lies outside Kokkos: native copies, page
/// locking. Keeps the view.
class Bytes {
 public:
  Bytes() = default;
  template <class View>
  explicit Bytes(const View& view)
      : data_(std::make_shared<View>(view), static_cast<Byte*>(static_cast<void*>(view.data()))),
        size_(view.size() * sizeof(typename View::value_type)) {}

  Byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::shared_ptr<Byte> data_;
  std::size_t size_ = 0;
};

/// Host storage of an array, including padding between lines.
struct HostArray : Bytes {
  deck::HostMemory memory = deck::HostMemory::pinned;
  schedule::Region region = {};           ///< the array within this memory
  std::shared_ptr<const void> lock = {};  ///< registered memory: keeps it page-locked

  /// Enqueues Kokkos::deep_copy between a region of this array and contiguous memory of the device
  /// array from `device_offset` on, both in bytes. See copy() in mirror.hpp.
  std::function<void(const InstanceRef&, const schedule::Region&, std::size_t device_offset,
                     bool to_device)>
      copy = {};
};

/// Arguments of a kernel; op -1: no data. Sizes and positions are in units of the arrays of the
/// schedule.
struct Call {
  int op = 0;
  std::int64_t begin = 0;         ///< first unit in the host arrays
  std::int64_t device_begin = 0;  ///< first unit in the device arrays
  std::int64_t size = 0;
  std::int64_t repeats = 1;  ///< of the arithmetic; custom: steps
  bool mapped = false;       ///< zero_copy, prefetch, on_demand: works on the host arrays
  int number = 0;            ///< custom: index in the list of the deck
  double share = 1;          ///< custom: fraction of the device that it fills
  std::optional<schedule::Product> product =
      {};  ///< dgemm: the tile to compute, instead of a chunk
};

/// Number of chain steps for `duration_s` seconds.
inline std::int64_t steps(double duration_s, std::int64_t steps_per_s) {
  return std::llround(duration_s * static_cast<double>(steps_per_s));
}

struct Verification {
  double max_error = 0;  ///< largest absolute difference; infinite for a NaN result
  double tolerance = 0;  ///< largest difference that rounding can explain
  /// The first wrong element by position; for wrong padding, the last element before it. Its chunk
  /// is -1 if it follows from the index.
  std::optional<experiment::WrongData> mismatch = {};
};

struct Workload {
  SpaceId space = default_space;
  std::vector<schedule::Array> arrays;
  std::vector<HostArray> host;     ///< one per array
  std::vector<Bytes> device;       ///< one per array
  std::int64_t repeats = 1;        ///< of the arithmetic per kernel; custom: steps per second
  double host_steps_per_s = 0;     ///< of host work: rate of the issuing thread
  std::int64_t unit_elements = 1;  ///< elements per unit of the outputs
  std::string kernel;              ///< name of the kernel if there is a choice
  std::string blas;  ///< what computes products, and how it was limited; empty: no products

  /// Enqueues the kernel on the instance without a fence; host spaces may run it synchronously.
  std::function<void(const InstanceRef&, const Call&)> launch;
  /// dgemm only: computes a tile on the host arrays; blocking.
  std::function<void(const Call&)> compute_on_host;
  /// Fills the host inputs with the data of one repetition. On a GPU also flushes all host arrays
  /// from the caches of the processor.
  std::function<void(std::uint32_t repetition)> generate;
  /// Writes resident data to the device; empty if there are none.
  std::function<void(const InstanceRef&, std::uint32_t repetition)> place;
  /// Compares the outputs (custom: also the device arrays) with a reference, which shares no code
  /// with the kernels except for custom.
  std::function<Verification(std::uint32_t repetition, std::int64_t repeats)> verify;
};

/// Why this build cannot run a kind of workload; empty if it can.
std::optional<std::string> unavailable(deck::WorkloadKind kind);

/// Throws base::Error{skipped} if the deck's workload is unavailable().
void require_available(const deck::Deck& deck);

/// Creates the workload of a deck for a space, with `device_bytes` per array on the device and
/// `repeats` of the arithmetic. Throws as require_available(), and base::Error{precondition} if
/// memory is short.
Workload make(SpaceId space, const deck::Deck& deck, const schedule::Costs& costs,
              const std::vector<std::size_t>& device_bytes, std::int64_t repeats);

/// Fills the device arrays with bytes of 0xff: NaN in floating point, -1 as an integer, which
/// correct results contain at most by chance. So a missing copy or kernel is detected.
void poison(const Workload& workload, const InstanceRef& instance);

}  // namespace overlap::workload
