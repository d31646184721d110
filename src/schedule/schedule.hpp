#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"

/// Schedules: tasks, lanes and issue order as plain data, without Kokkos.
namespace overlap::schedule {

/// Bytes of a host array: equidistant planes of equidistant lines of contiguous bytes.
struct Region {
  std::size_t begin = 0;       ///< offset of the first byte
  std::size_t line_bytes = 0;  ///< per line
  std::size_t lines = 1;       ///< per plane
  std::size_t planes = 1;
  std::size_t pitch = 0;        ///< bytes between starts of adjacent lines
  std::size_t plane_pitch = 0;  ///< bytes between starts of adjacent planes
  bool operator==(const Region&) const = default;

  std::size_t all_lines() const { return lines * planes; }
  std::size_t bytes() const { return line_bytes * all_lines(); }
  /// Offset of the i-th line of the region.
  std::size_t line_begin(std::size_t i) const {
    return begin + i / lines * plane_pitch + i % lines * pitch;
  }
};

/// A region of contiguous planes of one line each.
inline Region adjacent(std::size_t line_bytes, std::size_t planes) {
  return {.line_bytes = line_bytes, .planes = planes, .plane_pitch = line_bytes};
}

/// The same bytes in as few lines and planes as possible: merges contiguous lines, and planes whose
/// lines are all equidistant.
inline Region merged(Region region) {
  if (region.lines == 1 || region.plane_pitch == region.lines * region.pitch) {
    if (region.lines == 1) region.pitch = region.plane_pitch;
    region.lines *= region.planes;
    region.planes = 1;
  }
  if (region.pitch == region.line_bytes) {
    region.line_bytes *= region.lines;
    region.lines = region.planes;
    region.planes = 1;
    region.pitch = region.plane_pitch;
  }
  return region;
}

/// Visits the bytes [begin, end) of a region line by line, counted without padding: calls
/// body(offset in the host array, offset in the region, bytes).
template <class Body>
void for_lines(const Region& region, std::size_t begin, std::size_t end, const Body& body) {
  if (begin == end) return;
  std::size_t skipped = begin % region.line_bytes;
  for (std::size_t line = begin / region.line_bytes; begin < end; ++line) {
    const std::size_t bytes = std::min(end - begin, region.line_bytes - skipped);
    body(region.line_begin(line) + skipped, begin, bytes);
    begin += bytes;
    skipped = 0;
  }
}

using deck::Order;
using deck::Stage;

const char* to_string(Stage stage);

/// Whether the task copies between host and device.
constexpr bool is_copy(Stage stage) { return stage == Stage::h2d || stage == Stage::d2h; }
/// Whether the task runs kernels on the device.
constexpr bool is_kernel(Stage stage) {
  return stage == Stage::kernel || stage == Stage::default_stream;
}
/// Whether the issuing host thread executes the task itself before it issues the next one. Such a
/// task is not part of a lane: the lane of a query is the one that it queries, that of host work is
/// meaningless.
constexpr bool on_host(Stage stage) {
  return stage == Stage::host || stage == Stage::query || stage == Stage::disturbance;
}

using TaskId = std::uint32_t;  ///< index into Schedule::tasks: position in the issue order

/// An array of the workload, on host and device. It consists of units: elements, lines of a 2-D
/// array, planes or rows of a box, or columns of a matrix.
struct Array {
  std::string name;
  int op = 0;                     ///< the operation that uses it; custom: one per chunk number
  std::size_t unit_bytes = 0;     ///< bytes per unit in a device slot, where tiles are packed
  bool to_device = false;         ///< copied to the device before the kernel
  bool to_host = false;           ///< copied back after it
  bool resident = false;          ///< on the device before the run and never written
  Region host = {};               ///< its units on the host, one plane each
  std::size_t host_bytes = 0;     ///< size on the host, with padding between and behind lines
  std::int64_t device_units = 0;  ///< that the device array holds, in all slots
};

/// What a task accesses: a piece of an array, in host memory and in a device slot. Equal numbers of
/// pieces (slots) mean the same bytes of the host (device) array, different ones separate bytes. A
/// copy reads one side and writes the other. Any other task reads the arrays that are copied to the
/// device and writes those that are copied back.
struct Operand {
  int array = 0;
  int piece = 0;
  int slot = -1;                  ///< -1: it is used in host memory
  bool loads = true;              ///< a copy fills the slot; false: it holds the piece already
  std::int64_t begin = 0;         ///< first unit in the host array
  std::int64_t device_begin = 0;  ///< first unit of the slot in the device array
  Region host = {};               ///< on the host, a plane per unit; of a matrix a part of each
  std::int64_t size() const { return static_cast<std::int64_t>(host.planes); }
  bool operator==(const Operand&) const = default;
};

/// One stage of one chunk for one array (copies) or one operation (kernels): the unit of issuing,
/// timing and drawing.
struct Task {
  Stage stage = Stage::kernel;
  int op = 0;
  int chunk = 0;
  int lane = 0;
  std::size_t bytes = 0;  ///< copies: bytes moved; kernels: device memory read and written
  double flops = 0;       ///< kernels: floating-point (or integer) operations
  double duration_s = 0;  ///< custom: as given in the deck; host work: as planned; else 0
  double share = 0;       ///< custom kernels: fraction of the device that it fills
  int number = 0;         ///< custom: index in the list of the deck
  deck::Disturbance call = deck::Disturbance::synchronize;  ///< operation of a disturbance
  bool blocking = false;  ///< the host waits for completion before it issues the next task
  /// Tasks of other lanes that must be complete before it starts; host work waits for all
  /// tasks issued to those lanes.
  std::vector<TaskId> after;
  std::vector<Operand> operands = {};  ///< copies: one; kernels: one per array of the operation
  bool operator==(const Task&) const = default;
};

/// C (m x n) <- A (m x k) B (k x n) + beta C in tiles of C. A tile needs one panel of A (its
/// rows) and one panel of B (its columns). Tiles and panels at the edges may be smaller.
struct Tiling {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t tile_m = 1, tile_n = 1;
  std::size_t element_bytes = 8;

  int rows() const { return static_cast<int>((m + tile_m - 1) / tile_m); }
  int columns() const { return static_cast<int>((n + tile_n - 1) / tile_n); }
  int tiles() const { return rows() * columns(); }
  /// Tiles are numbered column by column, as elements are stored.
  int row(int tile) const { return tile % rows(); }
  int column(int tile) const { return tile / rows(); }
  int tile(int row, int column) const { return column * rows() + row; }
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * element_bytes;
  }
};

/// Tasks in issue order. Tasks of one lane run one after the other; `after` orders tasks of
/// different lanes and contains only tasks issued earlier.
struct Schedule {
  Order order = Order::sequential;
  std::vector<Array> arrays;
  std::vector<Task> tasks;
  std::vector<std::string> names;  ///< task names of custom workloads; else empty
  std::string kernel;              ///< key of its kernels in device files
  deck::HostMemory host_memory = deck::HostMemory::pinned;
  deck::Transfer transfer =
      deck::Transfer::staged;  ///< zero_copy: no copies, kernels access host memory
  deck::Mechanism mechanism = deck::Mechanism::streams;
  deck::Streams streams = deck::Streams::own;
  int threads = 1;  ///< that issue, at most `lanes`
  int lanes = 1;
  int instances = 1;  ///< lanes that exist, at least `lanes`; on a host they share the cores
  int chunks = 1;     ///< of a matrix product: tiles
  int slots = 1;      ///< chunks that the device holds at once
  std::int64_t chunk_units = 1;  ///< work_units() of the largest chunk of the layout
  bool out_of_core = false;
  std::optional<Tiling> tiling = {};  ///< of a matrix product, whose chunks are tiles of C
};

/// The host thread that issues a task. Each issues its tasks in the order of the schedule, and a
/// task only after those in `after`. With several threads the schedule has no blocking tasks.
inline int thread_of(const Schedule& schedule, const Task& task) {
  return task.lane % schedule.threads;
}

/// The array of the piece that a copy moves; null for other tasks.
const Array* copied_array(const Schedule& schedule, const Task& task);

/// Host region of `size` units from `begin` on, one plane each.
Region units_of(const Array& array, std::int64_t begin, std::int64_t size);
/// Offset of the slot of an operand in its device array, bytes.
std::size_t device_offset(const Schedule& schedule, const Operand& operand);

/// All units of the host array as regions of at most `most_bytes` each. Units of several lines must
/// fit into `most_bytes`.
std::vector<Region> regions_of(const Array& array, std::size_t most_bytes);

/// Size of an operand in units of work: its units; of a matrix, its elements.
double work_units(const Schedule& schedule, const Operand& operand);

/// The first of the largest chunks of an operation. Precondition: the schedule has chunks.
int largest_chunk(const Schedule& schedule);

/// The chunk that contains a unit of the arrays; of a product, an element of C.
int chunk_of(const Schedule& schedule, std::int64_t unit);

/// Operands of one tile of a matrix product, computed by a kernel or the host: C (m x n) from a
/// panel of A and one of B, all column-major.
struct TileProduct {
  struct Matrix {
    std::size_t begin = 0;    ///< offset in its array, bytes
    std::int64_t stride = 0;  ///< elements between starts of adjacent columns
  };
  std::int64_t m = 0, n = 0, k = 0;
  std::array<Matrix, 3> matrices = {};  ///< A, B, C
};
/// The product that a task computes, on host or device as its operands say; empty if none.
std::optional<TileProduct> product(const Schedule& schedule, const Task& task);

/// Bytes moved between host and device in each direction, by copies or by zero-copy kernels.
struct Traffic {
  std::size_t h2d = 0;
  std::size_t d2h = 0;
};
Traffic traffic(const Schedule& schedule);
Traffic traffic(const Schedule& schedule, const Task& task);

}  // namespace overlap::schedule
