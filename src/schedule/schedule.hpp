#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
  int op = 0;                  ///< the operation that uses it; custom: one per chunk number
  std::size_t unit_bytes = 0;  ///< bytes per unit in a device slot, where tiles are packed
  bool to_device = false;      ///< copied to the device before the kernel
  bool to_host = false;        ///< copied back after it
  bool resident = false;       ///< on the device before the run and never written
  Region host = {};            ///< its units on the host, one plane each
  std::size_t host_bytes = 0;  ///< size on the host, with padding between and behind lines
  int cut = 0;                 ///< index into Schedule::cuts
};

/// A piece of an array: units [begin, end); of a matrix, the same byte range of each of them.
struct Piece {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t from = 0;    ///< first byte within each unit
  std::size_t length = 0;  ///< bytes per unit; 0: all
  std::int64_t size() const { return end - begin; }
  bool operator==(const Piece&) const = default;
};

/// How arrays are cut into pieces, and the device slots for these pieces.
struct Cut {
  std::vector<Piece> pieces;
  std::vector<std::int64_t> slots;  ///< first unit of each in the device array
  std::int64_t device_units = 0;    ///< capacity of a device array
  bool operator==(const Cut&) const = default;
};

/// What a task accesses: a piece of an array, in a device slot or (slot -1) in host memory. A copy
/// reads one side and writes the other. Any other task reads the arrays that are copied to the
/// device and writes those that are copied back.
struct Use {
  int array = 0;
  int piece = 0;
  int slot = 0;
  bool loads = true;  ///< a copy of this chunk fills the slot; false: a copy of an earlier chunk
  bool operator==(const Use&) const = default;
};

/// A range of Schedule::uses.
struct UseRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  bool operator==(const UseRange&) const = default;
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
  UseRange uses = {};  ///< copies: one use; kernels: one per array of the operation
  bool operator==(const Task&) const = default;
};

/// C (m x n) <- alpha A (m x k) B (k x n) + beta C in tiles of C. A tile needs one panel of A (its
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
  std::vector<Cut> cuts;  ///< one for all arrays; of a matrix product one per array
  std::vector<Use> uses;  ///< accesses of the tasks; tasks on the same data share entries
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

/// Accesses of a task; of a copy, the one piece that it moves.
std::span<const Use> uses(const Schedule& schedule, const Task& task);
const Array& array_of(const Schedule& schedule, const Use& use);
const Cut& cut_of(const Schedule& schedule, const Array& array);
const Piece& piece_of(const Schedule& schedule, const Use& use);
/// The array of the piece that a copy moves; null for other tasks.
const Array* copied_array(const Schedule& schedule, const Task& task);

/// Host region of a piece or use, with lines as kernels see them; of a copy, merged().
Region host_region(const Array& array, const Piece& piece);
Region host_region(const Schedule& schedule, const Use& use);
Region host_region(const Schedule& schedule, const Task& copy);
/// First unit of the slot of a use in the device array.
std::int64_t slot_begin(const Schedule& schedule, const Use& use);
/// Offset of that slot in the device array, bytes.
std::size_t device_offset(const Schedule& schedule, const Use& use);
std::size_t device_offset(const Schedule& schedule, const Task& copy);

/// All units of the host array as regions of at most `most_bytes` each. Units of several lines must
/// fit into `most_bytes`.
std::vector<Region> regions_of(const Array& array, std::size_t most_bytes);

/// Size of a piece in units of work: its units; of a matrix, its elements.
double work_units(const Schedule& schedule, const Use& use);

/// The first of the largest chunks of an operation. Precondition: the schedule has chunks.
int largest_chunk(const Schedule& schedule);

/// The chunk that contains a unit of the arrays; of a product, an element of C.
int chunk_of(const Schedule& schedule, std::int64_t unit);

/// Host lines of a copy if they start at least 64 KiB apart; else empty. A GPU translates the
/// address of each such line, which is slow after kernels have evicted the page table entries from
/// its cache.
std::optional<Region> lines_apart(const Schedule& schedule, const Task& copy);

/// Operands of one tile of a matrix product, computed by a kernel or the host: C (m x n) from a
/// panel of A and one of B, all column-major.
struct Product {
  struct Matrix {
    std::size_t begin = 0;    ///< offset in its array, bytes
    std::int64_t stride = 0;  ///< elements between starts of adjacent columns
  };
  std::int64_t m = 0, n = 0, k = 0;
  std::array<Matrix, 3> matrices = {};  ///< A, B, C
};
/// The product that a task computes, on host or device as its uses say; empty if none.
std::optional<Product> product(const Schedule& schedule, const Task& task);

/// The calls of the issuing host thread with little work behind them: copies and kernels on the
/// first units of their pieces (4 KiB or a unit; of strided arrays at least two units, which take
/// the same calls), without waits and host work. Empty for matrix products, task lists of decks,
/// graphs and pageable memory.
std::optional<Schedule> calls_only(const Schedule& schedule);

/// Bytes moved between host and device in each direction, by copies or by zero-copy kernels.
struct Traffic {
  std::size_t h2d = 0;
  std::size_t d2h = 0;
};
Traffic traffic(const Schedule& schedule);
Traffic traffic(const Schedule& schedule, const Task& task);

}  // namespace overlap::schedule
