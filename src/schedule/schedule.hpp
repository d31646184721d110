#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "schedule/section.hpp"
#include "schedule/tiles.hpp"

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
  return stage == Stage::host || stage == Stage::query || stage == Stage::disturbance;
}

using TaskId = std::uint32_t;  ///< index into Schedule::tasks, hence the place in the issue order

/// An array of the workload, on the host and on the device. It is chunked along one dimension,
/// whose elements are called units here (elements, or lines of a 2-D array).
struct Array {
  std::string name;
  int op = 0;                  ///< the operation that uses it (pipeline: 0 and 1; others: 0)
  std::size_t unit_bytes = 0;  ///< bytes of one unit
  bool to_device = false;      ///< copied to the device before the kernel
  bool to_host = false;        ///< copied back after it
  bool resident = false;       ///< its data lie on the device before the run: nothing writes them
  std::optional<Section> section = {};  ///< empty: units are adjacent on the host, too
  /// Of a tiled array: where its panels or tiles lie on the host. Its units are slots, each of
  /// which holds any of them, packed; tasks name both.
  std::vector<Region> pieces = {};
  int slots = 0;  ///< of a tiled array: the device holds so many pieces
};

/// A piece of a tiled array and the slot on the device that it is in.
struct Place {
  int array = 0;
  int piece = 0;
  int slot = 0;
  bool operator==(const Place&) const = default;
};

/// Where a unit begins on the host, in bytes.
std::size_t host_begin(const Array& array, std::int64_t unit);

/// Bytes that an array of so many units takes on the host, with those between its lines.
std::size_t host_bytes(const Array& array, std::int64_t units);

/// Where so many units from `begin` on lie on the host; of a tiled array, where all of it lies.
Region host_region(const Array& array, std::int64_t begin, std::int64_t units);

/// One independent piece of the data: the units [begin, end) of every array.
struct Chunk {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int slot = 0;                   ///< the place on the device that it uses, of Schedule::slots
  std::int64_t device_begin = 0;  ///< first unit of the slot in the device arrays
  std::int64_t size() const { return end - begin; }
  bool operator==(const Chunk&) const = default;
};

/// One stage of one chunk for one array (copies) or one operation (kernels): the unit that is
/// issued, timed and drawn.
struct Task {
  Stage stage = Stage::kernel;
  int op = 0;
  int chunk = 0;
  int array = -1;  ///< copies: which array; kernels: -1
  int lane = 0;
  std::size_t bytes = 0;  ///< copies: bytes moved; kernels: device memory read and written
  double flops = 0;       ///< kernels: floating-point (or integer) operations
  double duration_s = 0;  ///< of custom schedules, as asked for; else 0
  double share = 0;       ///< and the part of the device that such a kernel fills, up to 1
  int number = 0;         ///< of custom schedules: the place in the deck's list, from 0
  deck::Disturbance call = deck::Disturbance::synchronize;  ///< of a disturbance
  bool blocking = false;  ///< the host waits for it before it issues the next task
  /// Tasks of other lanes that must be complete before it starts; host work waits for all that was
  /// issued to their lanes.
  std::vector<TaskId> after;
  /// Of tiled arrays: what a copy moves, or all that a kernel works on.
  std::vector<Place> places = {};
  bool operator==(const Task&) const = default;
};

/// Tasks in issue order. Tasks of one lane run one after the other; `after` orders tasks of
/// different lanes and names only tasks issued earlier.
struct Schedule {
  Order order = Order::sequential;
  std::vector<Array> arrays;
  std::vector<Chunk> chunks;
  std::vector<Task> tasks;
  std::vector<std::string> names;  ///< of the tasks, where the deck names them; else empty
  std::string kernel;              ///< what its kernels compute: a key of device descriptions
  deck::HostMemory host_memory = deck::HostMemory::pinned;
  deck::Transfer transfer = deck::Transfer::staged;  ///< zero_copy: kernels alone, on host memory
  deck::Mechanism mechanism = deck::Mechanism::streams;
  int lanes = 1;
  int instances = 1;  ///< lanes that are made, at least `lanes`: hosts share the cores out to them
  int slots = 1;
  std::int64_t chunk_units = 1;  ///< units of a chunk as the deck cuts them; `chunks` may be larger
  std::int64_t device_units = 0;  ///< units that each device array must hold
  std::int64_t host_units = 0;    ///< units of each host array
  bool out_of_core = false;
  std::optional<Tiling> tiling = {};  ///< of a matrix product; its chunks are tiles of C
};

/// Where a copy's bytes lie on the host, and from which byte of the device array on.
Region host_region(const Schedule& schedule, const Task& copy);
std::size_t device_begin(const Schedule& schedule, const Task& copy);

/// The lines of a copy on the host that begin at least 64 KiB apart; empty: they lie closer, or its
/// bytes are adjacent. A GPU looks up the page of each, which takes long where a kernel's data have
/// taken the place of the pages' addresses in its cache.
std::optional<Region> lines_apart(const Schedule& schedule, const Task& copy);

/// A range of bytes of one array on one side that a task reads, writes or both. On the host it
/// counts what lies between the lines of a section, and behind each, as touched. Of tiled arrays,
/// whose pieces interleave, it counts pieces and slots.
struct Access {
  enum class Side { host, device } side;
  int array;
  std::size_t begin;
  std::size_t end;
  bool reads;
  bool writes;
};

/// What a kernel of a matrix product, or the host in its place, is to compute: a tile of C from a
/// panel of A and one of B, all column major.
struct Product {
  struct Matrix {
    std::size_t begin = 0;    ///< bytes of its array before it
    std::int64_t stride = 0;  ///< elements from a column to the next
  };
  std::int64_t m = 0, n = 0, k = 0;
  std::array<Matrix, 3> matrices;  ///< A, B, C
};

/// A task's product, with the matrices on one side; empty: it is none.
std::optional<Product> product(const Schedule& schedule, const Task& task, Access::Side side);

/// What a task touches: copies read one side and write the other; kernels read the arrays of their
/// operation that came from the host and write those that go back, on the device or, with zero
/// copy, on the host.
std::vector<Access> accesses(const Schedule& schedule, const Task& task);

/// Bytes that move between host and device in each direction, by copies or by kernels themselves.
struct Traffic {
  std::size_t h2d = 0;
  std::size_t d2h = 0;
};
Traffic traffic(const Schedule& schedule);
Traffic traffic(const Schedule& schedule, const Task& task);

}  // namespace overlap::schedule
