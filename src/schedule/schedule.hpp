#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "schedule/region.hpp"

/// What is to be done, where and in which order: pure data, no Kokkos in it.
namespace overlap::schedule {

using deck::Order;
using deck::Stage;

const char* to_string(Stage stage);

/// Whether the task moves data between host and device.
constexpr bool is_copy(Stage stage) { return stage == Stage::h2d || stage == Stage::d2h; }
/// Whether the task runs kernels on the device.
constexpr bool is_kernel(Stage stage) {
  return stage == Stage::kernel || stage == Stage::default_stream;
}
/// Whether the issuing host thread itself does it, before it issues the next task. No lane takes
/// part: a query's lane is the one that it asks for, and host work's lane means nothing.
constexpr bool on_host(Stage stage) {
  return stage == Stage::host || stage == Stage::query || stage == Stage::disturbance ||
         stage == Stage::fence;
}
/// Whether the host thread first waits for all that was issued to the lanes of the tasks that it
/// comes after.
constexpr bool waits_for_lanes(Stage stage) {
  return stage == Stage::host || stage == Stage::fence;
}

using TaskId = std::uint32_t;  ///< index into Schedule::tasks, hence the place in the issue order

/// An array of the workload, on the host and on the device. It consists of units: elements, lines
/// of a 2-D array, planes or rows of a box, columns of a matrix.
struct Array {
  std::string name;
  int op = 0;                  ///< the operation that uses it (pipeline: 0 and 1; others: 0)
  std::size_t unit_bytes = 0;  ///< bytes of a unit in a slot on the device; there a tile is packed
  bool to_device = false;      ///< copied to the device before the kernel
  bool to_host = false;        ///< copied back after it
  bool resident = false;       ///< its data lie on the device before the run: nothing writes them
  Region host = {};            ///< its units there, each a plane
  std::size_t host_bytes = 0;  ///< that it takes there, with what lies between and behind its lines
  int cut = 0;                 ///< into which of Schedule::cuts it is cut
};

/// A piece of an array: units [begin, end) or, of a matrix, the same bytes of each.
struct Piece {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t from = 0;    ///< first byte of each unit that belongs to it
  std::size_t length = 0;  ///< and their number; 0: all
  std::int64_t size() const { return end - begin; }
  bool operator==(const Piece&) const = default;
};

/// How arrays are cut into pieces, and the slots that pieces take on the device.
struct Cut {
  std::vector<Piece> pieces;
  std::vector<std::int64_t> slots;  ///< where each begins in the device array, in units
  std::int64_t device_units = 0;    ///< that a device array must hold
  bool operator==(const Cut&) const = default;
};

/// What a task works on: a piece of an array, in a slot on the device or, slot -1, where it lies on
/// the host. A copy reads one of the two and writes the other. Whatever else a task does, it reads
/// arrays that are copied to the device and writes arrays that are copied back.
struct Use {
  int array = 0;
  int piece = 0;
  int slot = 0;
  bool loads = true;  ///< the chunk's own copy fills the slot; else an earlier chunk's has
  bool operator==(const Use&) const = default;
};

/// A part of Schedule::uses.
struct UseRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  bool operator==(const UseRange&) const = default;
};

/// One stage of one chunk for one array (copies) or one operation (kernels): the unit that is
/// issued, timed and drawn.
struct Task {
  Stage stage = Stage::kernel;
  int op = 0;
  int chunk = 0;
  int lane = 0;
  std::size_t bytes = 0;  ///< copies: bytes moved; kernels: device memory read and written
  double flops = 0;       ///< kernels: floating-point (or integer) operations
  double duration_s = 0;  ///< custom schedules: as the deck asks; else 0
  double share = 0;       ///< and the part of the device that such a kernel fills, up to 1
  int number = 0;         ///< custom schedules: the place in the deck's list, from 0
  deck::Disturbance call = deck::Disturbance::synchronize;  ///< a disturbance's
  bool blocking = false;  ///< the host waits for it before it issues the next task
  /// Tasks of other lanes that must be complete before it starts; host work and fences wait for all
  /// that was issued to their lanes.
  std::vector<TaskId> after;
  UseRange uses = {};  ///< copies have one use, kernels one for each array of their operation
  bool operator==(const Task&) const = default;
};

/// C (m x n) <- alpha A (m x k) B (k x n) + beta C, in tiles of C. A tile needs a panel of A, its
/// rows, and a panel of B, its columns; those at the edges may be smaller.
struct Tiling {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t tile_m = 1, tile_n = 1;
  std::size_t element_bytes = 8;

  int rows() const { return static_cast<int>((m + tile_m - 1) / tile_m); }
  int columns() const { return static_cast<int>((n + tile_n - 1) / tile_n); }
  int tiles() const { return rows() * columns(); }
  /// Tiles are numbered column by column, as their elements lie.
  int row(int tile) const { return tile % rows(); }
  int column(int tile) const { return tile / rows(); }
  int tile(int row, int column) const { return column * rows() + row; }
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * element_bytes;
  }
};

/// Tasks in issue order. Tasks of one lane run one after the other; `after` orders tasks of
/// different lanes and names only tasks issued earlier.
struct Schedule {
  Order order = Order::sequential;
  std::vector<Array> arrays;
  std::vector<Cut> cuts;  ///< one for all arrays; of a matrix product one for each
  std::vector<Use> uses;  ///< what tasks use; tasks on the same data share entries
  std::vector<Task> tasks;
  std::vector<std::string> names;  ///< of the tasks, where the deck names them; else empty
  std::string kernel;              ///< what its kernels compute: a key of device descriptions
  deck::HostMemory host_memory = deck::HostMemory::pinned;
  deck::Transfer transfer = deck::Transfer::staged;  ///< zero_copy: kernels alone, on host memory
  deck::Mechanism mechanism = deck::Mechanism::streams;
  int lanes = 1;
  int instances = 1;  ///< lanes that are made, at least `lanes`: hosts share the cores out to them
  int chunks = 1;     ///< of a matrix product: its tiles
  int slots = 1;      ///< chunks that the device holds at once
  std::int64_t chunk_units = 1;  ///< work_units() of a chunk as the deck cuts them
  bool out_of_core = false;
  std::optional<Tiling> tiling = {};  ///< of a matrix product; its chunks are tiles of C
};

/// What a task uses; of a copy, the one piece that it moves.
std::span<const Use> uses(const Schedule& schedule, const Task& task);
const Array& array_of(const Schedule& schedule, const Use& use);
const Cut& cut_of(const Schedule& schedule, const Array& array);
const Piece& piece_of(const Schedule& schedule, const Use& use);
/// The array that a copy moves a piece of; null for other tasks.
const Array* copied_array(const Schedule& schedule, const Task& task);

/// Where a piece lies on the host, its lines as kernels see them; a copy's, in as few lines as
/// possible.
Region host_region(const Array& array, const Piece& piece);
Region host_region(const Schedule& schedule, const Use& use);
Region host_region(const Schedule& schedule, const Task& copy);
/// Where a use's slot begins in the device array, in units.
std::int64_t slot_begin(const Schedule& schedule, const Use& use);
/// The same, or that of a copy, in bytes.
std::size_t device_begin(const Schedule& schedule, const Use& use);
std::size_t device_begin(const Schedule& schedule, const Task& copy);

/// All of a host array as regions of at most `most_bytes` each.
std::vector<Region> parts_of(const Array& array, std::size_t most_bytes);

/// What a piece's work grows with: its units; of a matrix, its elements.
double work_units(const Schedule& schedule, const Use& use);

/// The chunk that a unit of the arrays belongs to; of a product, an element of C.
int chunk_of(const Schedule& schedule, std::int64_t unit);

/// The lines of a copy on the host that begin at least 64 KiB apart; empty: they lie closer, or its
/// bytes are adjacent. A GPU looks up the page of each, which takes long where a kernel's data have
/// taken the place of the pages' addresses in its cache.
std::optional<Region> lines_apart(const Schedule& schedule, const Task& copy);

/// What a kernel of a matrix product, or the host in its place, is to compute: a tile of C from a
/// panel of A and one of B, all column major.
struct Product {
  struct Matrix {
    std::size_t begin = 0;    ///< bytes of its array before it
    std::int64_t stride = 0;  ///< elements from a column to the next
  };
  std::int64_t m = 0, n = 0, k = 0;
  std::array<Matrix, 3> matrices = {};  ///< A, B, C
};
/// A task's product, with the matrices where it uses them; empty: it computes none.
std::optional<Product> product(const Schedule& schedule, const Task& task);

/// Bytes that move between host and device in each direction, by copies or by kernels themselves.
struct Traffic {
  std::size_t h2d = 0;
  std::size_t d2h = 0;
};
Traffic traffic(const Schedule& schedule);
Traffic traffic(const Schedule& schedule, const Task& task);

}  // namespace overlap::schedule
