#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/metrics.hpp"
#include "deck/orders.hpp"
#include "yaml/document.hpp"

/// The deck: everything the user asks for, parsed once, every default filled in.
namespace overlap::deck {

/// Beside its row in deck/words.hpp a workload has its costs in src/schedule/NAME.cpp, its kernels
/// in src/workload and the keys that come with it in deck/fields.cpp.
enum class WorkloadKind { increment, rowsum, pipeline, dgemm, custom };

/// What a task does. Those from `host` to `default_stream` are for custom workloads: work of the
/// issuing host thread, a query of the lane's state by it, and an operation that waits for all that
/// was issued before it and that all issued after it waits for (as in the legacy default
/// stream). `disturbance` is a call by the issuing thread that a deck puts between the tasks.
/// `fence` is a wait by it, in place of dependencies between lanes.
enum class Stage { h2d, kernel, d2h, host, query, default_stream, disturbance, fence };

enum class Type { int32, int64, float32, float64 };
/// Bytes of one element.
constexpr std::size_t size_of(Type type) {
  return type == Type::int32 || type == Type::float32 ? 4 : 8;
}
enum class SumType { same, int64 };
enum class SumAxis { rows, columns };
enum class RowsumKernel { automatic, thread_per_row, team_per_row };
enum class Profile { uniform, ramp };
/// Page-locked when allocated, not at all, or afterwards; or pageable with a ring of page-locked
/// slots, through which host threads pass the data.
enum class HostMemory { pinned, pageable, registered, pageable_staged };
/// Whether the data themselves are page-locked.
constexpr bool page_locked(HostMemory memory) {
  return memory == HostMemory::pinned || memory == HostMemory::registered;
}
/// Whether kernels work on copies on the device or on the host's memory itself.
enum class Transfer { staged, zero_copy };
/// How tasks reach the device: one by one, or all at once as a graph that was captured before, both
/// with native streams and events; or one by one with nothing but what Kokkos offers on every back
/// end: instances, deep_copy and fences.
enum class Mechanism { streams, graph, portable };
/// How the host waits: for the whole device, for a lane, for an event behind the lane's last task,
/// or by asking for the lane's state over and over.
enum class Sync { device, stream, event, query };
/// What lanes are on a GPU: streams that ignore the legacy default stream; streams that wait for it
/// and that it waits for; all of them that stream itself, or the issuing thread's default stream.
enum class Streams { own, blocking, legacy_default, per_thread_default };
/// Calls of the device's runtime that are said to break concurrency, or not to.
enum class Disturbance {
  default_stream,  ///< an operation in the legacy default stream
  malloc,
  malloc_host,
  memset,
  blocking_copy,  ///< 1 MiB of pageable memory to the device
  small_copy,     ///< 64 KiB of it, which do not block the host
  device_copy,    ///< on the device
  cache_config,
  timing_event,
  stream_query,
  synchronize,  ///< the whole device
};
enum class Verify { every, ends };
/// Who works: one device of a node, or all of them at once.
enum class Phase { alone, together };

/// Arithmetic of a kernel: `repeats` of it, or as many as make one kernel `balance` times as long
/// as the copy of its chunk to the device (balance > 0; `repeats` is then found by measuring).
struct Intensity {
  std::int64_t repeats = 1;
  double balance = 0;
};

/// A task of a custom workload.
struct CustomTask {
  std::string name;
  Stage stage = Stage::kernel;
  int lane = 0;            ///< from 1 on; 0: none, which host and default_stream have
  std::int64_t bytes = 0;  ///< copies; 0: as many as take `duration_s`
  double duration_s = 0;   ///< 0: of a copy that is given by its bytes
  double sms = 1;          ///< kernels: the part of the device that they fill
  std::vector<int> after;  ///< places in the list of those that must be complete before it starts
  int chunk = 0;           ///< which data it works on, from 1 on; 0: none
};

/// A box of a 3-D array; planes, rows and columns of each, in elements.
struct Box {
  std::array<std::int64_t, 3> extent = {1, 1, 1};
  std::array<std::int64_t, 3> array = {1, 1, 1};   ///< of the array that it lies in
  std::array<std::int64_t, 3> origin = {0, 0, 0};  ///< its first element there
};

struct Workload {
  WorkloadKind kind = WorkloadKind::increment;
  std::int64_t elements = 4194304;  ///< increment, pipeline: elements of each array
  Type type = Type::float32;
  Intensity intensity;
  std::optional<Box> box;  ///< increment: what it works on; `elements` are its
  /// Rowsum, increment of a box: bytes from the start of a line to that of the next on the host, a
  /// multiple of an element's; empty: lines are adjacent.
  std::optional<std::int64_t> pitch;
  std::int64_t rows = 8000000;
  std::int64_t columns = 6;
  SumAxis axis =
      SumAxis::rows;  ///< rowsum: sum along rows (row major) or along columns (column major)
  SumType sum_type = SumType::same;
  RowsumKernel kernel = RowsumKernel::automatic;
  std::int64_t iterations = 5;
  std::vector<CustomTask> tasks;  ///< custom: in the list's order
  /// Dgemm: C (m x n) = alpha A (m x k) B (k x n) + beta C, column major, in tiles of C.
  std::int64_t m = 8192, n = 8192, k = 288;
  std::int64_t tile_m = 2048, tile_n = 2048;
  double alpha = 1, beta = 1;
  std::optional<double> host_share;  ///< dgemm, four_way: of the tiles; empty: what is fastest
};

/// Exactly one of the two is set.
struct Chunks {
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> bytes;  ///< host-to-device bytes of a chunk, at most
  Profile profile = Profile::uniform;
  double growth =
      2;  ///< ramp: how many times as large as its neighbour nearer to an end a chunk is
  double spread = 16;  ///< ramp: how many times as large as the smallest chunk the largest may be
};

struct Memory {
  HostMemory host = HostMemory::pinned;
  std::int64_t ring_slots = 32;              ///< pageable_staged: of each direction
  std::int64_t ring_bytes = 2 << 20;         ///< and a slot's size
  Transfer transfer = Transfer::staged;      ///< of all orders but the baseline
  std::optional<std::int64_t> device_limit;  ///< bytes
};

struct Issue {
  std::vector<Order> orders = {Order::sequential, Order::depth_first, Order::breadth_first};
  int lanes = 4;
  Mechanism mechanism = Mechanism::streams;
  Sync sync = Sync::stream;
  Streams streams = Streams::own;

  bool has(Order order) const {
    return std::find(orders.begin(), orders.end(), order) != orders.end();
  }
};

/// A call between the tasks of every order but the baseline, each of which then also runs with it.
struct Disturb {
  Disturbance operation = Disturbance::synchronize;
  double at = 0.5;  ///< the part of the tasks that is issued before it
  int times = 1;    ///< calls, one after the other
};

/// Computation by the host while the device works; every order then also runs with it.
struct HostWork {
  double per_chunk_s = 0;
};

/// Repetitions are counted, or go on until `precision` is reached or `duration_s` has passed.
struct Measure {
  int warmup = 3;
  int repetitions = 10;                   ///< with `precision` the least
  std::optional<double> precision = {};   ///< width of 95 % intervals / their medians, at most
  int at_most = 200;                      ///< repetitions with `precision`
  std::optional<double> budget_s = {};    ///< time for them
  std::optional<double> duration_s = {};  ///< of a soak, which has as many as it takes
  Verify verify = Verify::every;
};

/// What the machine must be like before anything runs.
struct Require {
  struct Link {
    int gen = 0;  ///< 0: the best that device and slot can
    int width = 0;
    bool operator==(const Link&) const = default;
  };
  std::optional<Link> pcie;      ///< at least this; empty, as of the others: anything goes
  std::optional<bool> ecc, mig;  ///< on or off
  bool no_processes = false;     ///< but this one on the device
  bool default_power_limit = false;
  bool local_numa = false;  ///< the process's CPUs lie in the device's NUMA node
  std::vector<int> driver;  ///< the least version

  bool operator==(const Require&) const = default;
};

/// All devices of a node, all nodes of a machine: what --fleet does with a deck.
struct Fleet {
  std::vector<Phase> phases = {Phase::alone, Phase::together};
  double deadline_s = 60;  ///< since the last sign of life of a rank, until it counts as lost

  bool has(Phase phase) const { return std::ranges::find(phases, phase) != phases.end(); }
  bool compares() const { return has(Phase::alone) && has(Phase::together); }
};

/// The word for a reference that the command line names.
inline constexpr const char* given_reference = "given";

/// Limits on a metric, in its unit, or a reference that they are made from.
struct Criterion {
  Metric metric = Metric::time;
  std::optional<Order> order;       ///< empty: every order
  std::optional<Phase> phase = {};  ///< empty: every phase
  std::optional<double> min;
  std::optional<double> max;
  std::optional<std::string> reference = {};  ///< file, seen from the deck, or `given_reference`
  /// By what part of the reference a value may be worse; empty: by the reference's own tolerance.
  std::optional<double> below = {};
};

struct Deck {
  std::string path;
  std::string sha256;  ///< of the file as it stands, before --set
  std::string title;
  Workload workload;
  Chunks chunks;
  Memory memory;
  Issue issue;
  std::optional<HostWork> host_work;
  std::optional<Disturb> disturb;
  Measure measure;
  Require require;
  Fleet fleet;
  std::vector<Criterion> acceptance;
  yaml::NodePtr document;  ///< what it was read from, for later errors; null: made by a program

  /// File name without folder and ending, for messages and result lines.
  std::string name() const;
};

/// One experiment of a sweep, a deck in which swept keys have one of their values each; or one
/// phase of a fleet.
struct Point {
  struct Value {
    std::string key;   ///< dotted
    std::string text;  ///< as the deck spells it
  };
  std::vector<Value> values;  ///< in the deck's order; empty: the deck has no sweep
  Deck deck;
  Phase phase = Phase::alone;
};

/// Reads a deck, by its path or the name of a shipped one, and applies overrides "key.path=VALUE"
/// in order (VALUE is YAML). A deck without `sweep` is one point; the points of a sweep are the
/// product of its lists, the last key's values fastest. An override of a swept key pins it: it is
/// no longer swept. Throws base::Error{usage} with file:line:column, key, what was found, what is
/// allowed and the nearest valid spelling; a missing or unreadable deck is a usage error, too.
std::vector<Point> load_points(const std::string& name_or_path,
                               const std::vector<std::string>& overrides = {});

/// Where `key` ("memory.device_limit") or the nearest key above it was given.
base::SourcePlace place_of(const Deck& deck, const std::string& key);

/// An error at a key of the deck, found after loading: "file:line:column: key: message".
base::Error error_at(const Deck& deck, base::ExitCode code, const std::string& key,
                     const std::string& message);

}  // namespace overlap::deck
