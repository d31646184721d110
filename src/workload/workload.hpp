#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "experiment/run.hpp"
#include "schedule/costs.hpp"
#include "schedule/schedule.hpp"
#include "workload/spaces.hpp"

/// A workload at run time: its buffers, its kernels and the check of its results.
namespace overlap::workload {

using Byte = unsigned char;

/// Memory that lives as long as a copy of this, on a boundary that suits copy engines. Kokkos' own
/// allocations begin 128 bytes after one, where transfers in both directions at once are slower
/// (0.7 % on an H200).
class Bytes {
 public:
  Bytes() = default;

  /// Uninitialised memory of a Kokkos memory space.
  template <class MemorySpace>
  static Bytes in(const std::string& label, std::size_t size) {
    constexpr std::size_t alignment = 4096;
    using View = Kokkos::View<Byte*, MemorySpace>;
    std::size_t space = size + alignment;
    const auto view =
        std::make_shared<View>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), space);
    void* begin = view->data();
    Bytes bytes;
    bytes.data_ = {view, static_cast<Byte*>(std::align(alignment, size, begin, space))};
    bytes.size_ = size;
    return bytes;
  }

  Byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::shared_ptr<Byte> data_;
  std::size_t size_ = 0;
};

/// An array's mirror on the host, with what lies between its lines.
struct HostArray : Bytes {
  deck::HostMemory memory = deck::HostMemory::pinned;
  schedule::Region region = {};           ///< where the array lies in it
  std::shared_ptr<const void> lock = {};  ///< keeps it page-locked, where it is registered
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

/// Steps of a chain that is to take `duration_s`.
inline std::int64_t steps(double duration_s, std::int64_t steps_per_s) {
  return std::llround(duration_s * static_cast<double>(steps_per_s));
}

struct Verification {
  double max_error = 0;  ///< largest absolute difference; infinite where a result is no number
  double tolerance = 0;  ///< largest that rounding can explain, over all elements
  /// The first wrong element by position, or of padding the last one before it. Its chunk is -1
  /// where the index tells it.
  std::optional<experiment::WrongData> mismatch = {};
};

struct Workload {
  SpaceId space = default_space;
  std::vector<schedule::Array> arrays;
  std::vector<HostArray> host;     ///< one per array
  std::vector<Bytes> device;       ///< one per array
  std::int64_t repeats = 1;        ///< of the arithmetic in each kernel; custom: steps per second
  double host_steps_per_s = 0;     ///< custom: of the issuing thread's work
  std::int64_t unit_elements = 1;  ///< elements of a unit of the outputs
  std::string kernel;              ///< which kernel runs, where there is a choice

  /// Enqueues the kernel on the instance; never waits.
  std::function<void(const InstanceRef&, const Call&)> launch;
  /// Does the same on the host arrays and returns when it is done; dgemm alone.
  std::function<void(const Call&)> compute_on_host;
  /// Fills the input arrays on the host with the data of one repetition.
  std::function<void(std::uint32_t repetition)> generate;
  /// Puts data on the device that a run finds there; empty where a run finds nothing.
  std::function<void(const InstanceRef&, std::uint32_t repetition)> place;
  /// Compares the output arrays on the host with a reference that shares no code with the kernels.
  std::function<Verification(std::uint32_t repetition, std::int64_t repeats)> verify;
};

/// Why this program cannot run a kind of workload; empty: it can.
std::optional<std::string> unavailable(deck::WorkloadKind kind);

/// The deck's workload for a space with its buffers, of `device_bytes` for each array on the
/// device, and `repeats` of the arithmetic. Throws base::Error{skipped} where unavailable(),
/// base::Error{precondition} when memory does not suffice.
Workload make(SpaceId space, const deck::Deck& deck, const schedule::Costs& costs,
              const std::vector<std::size_t>& device_bytes, std::int64_t repeats);

/// Fills the device arrays with a pattern that right results do not show (as floating point it is
/// no number, as an integer -1), so that a missing copy or kernel cannot pass.
void poison(const Workload& workload, const InstanceRef& instance);

}  // namespace overlap::workload
