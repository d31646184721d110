#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "experiment/run.hpp"
#include "schedule/costs.hpp"
#include "schedule/schedule.hpp"
#include "workload/space.hpp"

/// A workload at run time: buffers, kernels, verification.
namespace overlap::workload {

using Byte = unsigned char;

/// Host memory of an array, including padding between lines. Kept by `copy`.
struct HostArray {
  std::span<Byte> bytes = {};

  /// Enqueues the copy between a region of this array and contiguous memory of the device array
  /// from `device_offset` on, both in bytes: Buffers::copy(). Owns both arrays.
  std::function<void(const Space&, const schedule::Region&, std::size_t device_offset,
                     bool to_device)>
      copy = {};
  std::shared_ptr<const void> lock = {};  ///< registered memory: keeps it page-locked

  Byte* data() const { return bytes.data(); }
  std::size_t size() const { return bytes.size(); }
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
  std::optional<schedule::TileProduct> product =
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
  std::vector<schedule::Array> arrays;
  std::vector<HostArray> host;          ///< one per array
  std::vector<std::span<Byte>> device;  ///< one per array
  std::int64_t repeats = 1;             ///< of the arithmetic per kernel; custom: steps per second
  double host_steps_per_s = 0;          ///< of host work: rate of the issuing thread
  std::int64_t unit_elements = 1;       ///< elements per unit of the outputs
  std::string kernel;                   ///< name of the kernel if there is a choice
  std::string blas;  ///< what computes products, and how it was limited; empty: no products

  /// Enqueues the kernel on the instance without a fence; host spaces may run it synchronously.
  std::function<void(const Space&, const Call&)> launch;
  /// dgemm only: computes a tile on the host arrays; blocking.
  std::function<void(const Call&)> compute_on_host;
  /// Fills the host inputs with the data of one repetition. On a GPU also flushes all host arrays
  /// from the caches of the processor.
  std::function<void(std::uint32_t repetition)> generate;
  /// Writes resident data to the device; empty if there are none.
  std::function<void(const Space&, std::uint32_t repetition)> place;
  /// Compares the outputs (custom: also the device arrays) with a reference, which shares no code
  /// with the kernels except for custom.
  std::function<Verification(std::uint32_t repetition, std::int64_t repeats)> verify;
};

/// Why this build cannot run a kind of workload; empty if it can.
std::optional<std::string> unavailable(deck::WorkloadKind kind);

/// Throws base::Error{skipped} if the deck's workload is unavailable().
void require_available(const deck::Deck& deck);

/// Creates the workload of a deck, with `device_bytes` per array on the device and
/// `repeats` of the arithmetic. Throws as require_available(), and base::Error{precondition} if
/// memory is short.
Workload make(const deck::Deck& deck, const schedule::Costs& costs,
              const std::vector<std::size_t>& device_bytes, std::int64_t repeats);

/// Fills the device arrays with bytes of 0xff: NaN in floating point, -1 as an integer, which
/// correct results contain at most by chance. So a missing copy or kernel is detected.
void poison(const Workload& workload, const Space& instance);

}  // namespace overlap::workload
