#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/metrics.hpp"
#include "deck/orders.hpp"
#include "deck/workloads.hpp"

namespace overlap::describe {
struct Document;
}

/// The deck: the complete description of one experiment, parsed once, with all defaults filled in.
namespace overlap::deck {

/// What a task does. `host` is work of the issuing host thread. Custom workloads only: `query` is a
/// query of the state of a lane by that thread, `default_stream` an operation that waits for all
/// earlier ones and delays all later ones (as in the legacy default stream). `disturbance` is a
/// call by the issuing thread that a deck inserts between the tasks.
enum class Stage { h2d, kernel, d2h, host, query, default_stream, disturbance };

enum class SumType { same, int64 };
enum class SumAxis { rows, columns };
enum class RowsumKernel { automatic, thread_per_row, team_per_row };
/// Kind of host memory: page-locked at allocation; pageable; page-locked after allocation;
/// or managed, whose pages move between host and device.
enum class HostMemory { pinned, pageable, registered, managed };
/// Whether the arrays themselves are page-locked.
constexpr bool page_locked(HostMemory memory) {
  return memory == HostMemory::pinned || memory == HostMemory::registered;
}
/// Whether kernels work on copies in device memory or directly on host memory, page-locked or
/// managed. Pages of managed memory move when a lane prefetches a chunk, or when a kernel needs
/// them.
enum class Transfer { staged, zero_copy, prefetch, on_demand };
/// Whether chunks have tasks that move data.
constexpr bool has_copies(Transfer transfer) {
  return transfer == Transfer::staged || transfer == Transfer::prefetch;
}
/// How data move where a run must have copies, as the baseline does.
constexpr Transfer copying_transfer(HostMemory memory) {
  return memory == HostMemory::managed ? Transfer::prefetch : Transfer::staged;
}
/// How tasks reach the device: one by one with native streams and events; all at once as a captured
/// graph; or one by one with portable Kokkos only (instances, deep_copy and fences).
enum class Mechanism { streams, graph, portable };
/// How the host waits: for the whole device, for a stream, for an event recorded after the last
/// task of the lane, or by polling the state of the stream or of that event.
enum class Sync { device, stream, event, query, event_query };
/// Streams of the lanes on a GPU: non-blocking streams; streams that synchronize with the legacy
/// default stream; the legacy default stream for all lanes; or the default stream of the issuing
/// thread.
enum class Streams { own, blocking, legacy_default, per_thread_default };
/// Whether all lanes of an issuing thread are the same stream.
constexpr bool is_one_stream(Streams streams) {
  return streams == Streams::legacy_default || streams == Streams::per_thread_default;
}
/// Runtime calls that are said to break concurrency, or to leave it intact.
enum class Disturbance {
  default_stream,  ///< 64 KiB memset in the legacy default stream
  malloc,
  malloc_host,
  memset,
  blocking_copy,  ///< 1 MiB of pageable memory to the device
  small_copy,     ///< 64 KiB of pageable memory to the device, small enough not to block
  device_copy,    ///< within device memory
  cache_config,
  timing_event,
  stream_query,
  synchronize,  ///< waits for the whole device
};
enum class Verify { every, ends };
/// Which devices work at the same time: one device of a node, or all of them.
enum class Phase { alone, together };

/// Arithmetic intensity of a kernel: `repeats` of the arithmetic; with balance > 0 the number is
/// measured so that one kernel takes `balance` times as long as the H2D copies of its chunk.
struct Intensity {
  std::int64_t repeats = 1;
  double balance = 0;
};

/// A task of a custom workload, as listed in the deck.
struct CustomTask {
  std::string name;
  Stage stage = Stage::kernel;
  int lane = 0;            ///< from 1; 0: no lane (host, default_stream)
  std::int64_t bytes = 0;  ///< of a copy; 0: as many as take `duration_s`
  double duration_s = 0;   ///< 0: a copy given by its bytes
  double sms = 1;          ///< of a kernel: fraction of the device that it fills
  std::vector<int> after;  ///< indices of the tasks that must be complete before it starts
  int chunk = 0;           ///< chunk that it works on, from 1; 0: no data
};

/// A box in a 3-D array. Each triple is planes, rows and columns, in elements.
struct Box {
  std::array<std::int64_t, 3> extent = {1, 1, 1};
  std::array<std::int64_t, 3> array = {1, 1, 1};   ///< extent of the enclosing array
  std::array<std::int64_t, 3> origin = {0, 0, 0};  ///< first element of the box in the array
};

struct Workload {
  WorkloadKind kind = WorkloadKind::increment;
  std::int64_t elements = 4194304;  ///< increment, pipeline: elements per array
  ElementType type = ElementType::float32;
  Intensity intensity;
  std::optional<Box> box;  ///< increment: the box to work on, of `elements` elements
  /// Rowsum, increment of a box: bytes between the starts of adjacent lines on the host, a multiple
  /// of the element size; empty: no padding.
  std::optional<std::int64_t> pitch;
  std::int64_t rows = 8000000;
  std::int64_t columns = 6;
  SumAxis axis = SumAxis::rows;  ///< rowsum: along rows (row-major array) or along columns
                                 ///< (column-major array)
  SumType sum_type = SumType::same;
  RowsumKernel kernel = RowsumKernel::automatic;
  std::int64_t iterations = 5;
  std::vector<CustomTask> tasks;  ///< custom: in the order of the deck
  /// Dgemm: C (m x n) = A (m x k) B (k x n) + beta C, column-major, in tiles of C.
  std::int64_t m = 8192, n = 8192, k = 288;
  std::int64_t tile_m = 2048, tile_n = 2048;
  std::int64_t beta = 1;             ///< or 0
  std::optional<double> host_share;  ///< dgemm: fraction of the tiles, required by four_way
};

/// How the data are cut into chunks. Exactly one of `count` and `bytes` is set.
struct Chunks {
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> bytes;  ///< maximum H2D bytes per chunk
};

struct Memory {
  HostMemory host = HostMemory::pinned;
  Transfer transfer = Transfer::staged;      ///< for all orders except the baseline
  std::optional<std::int64_t> device_limit;  ///< bytes
};

struct Issue {
  std::vector<Order> orders = {Order::sequential, Order::depth_first, Order::breadth_first};
  int lanes = 4;
  Mechanism mechanism = Mechanism::streams;
  Sync sync = Sync::stream;
  Streams streams = Streams::own;
  int threads = 1;  ///< of the host that issue, each its own lanes; the baseline uses one

  bool has(Order order) const { return std::ranges::find(orders, order) != orders.end(); }
};

/// A call inserted between the tasks. Every order except the baseline runs with and without it.
struct Disturb {
  Disturbance operation = Disturbance::synchronize;
  double at = 0.5;  ///< fraction of the tasks that are issued before it
  int times = 1;    ///< number of consecutive calls
};

/// Computation by the host while the device works. Every order runs with and without it.
struct HostWork {
  double per_chunk_s = 0;
};

/// Number of repetitions: fixed, or until `precision` is reached, or until `duration_s` has passed.
struct Measure {
  int warmup = 3;
  int repetitions = 10;                   ///< with `precision`: the minimum
  std::optional<double> precision = {};   ///< maximum width of the 95 % intervals / their medians
  int at_most = 200;                      ///< maximum number of repetitions with `precision`
  std::optional<double> budget_s = {};    ///< maximum time with `precision`
  std::optional<double> duration_s = {};  ///< of a soak, with as many repetitions as fit
  Verify verify = Verify::every;
};

/// Preconditions on the machine, checked before anything runs.
struct Require {
  struct Link {
    int gen = 0;  ///< 0: the best that device and slot support
    int width = 0;
    bool operator==(const Link&) const = default;
  };
  std::optional<Link> pcie;      ///< minimum link. Empty here and below: no requirement
  std::optional<bool> ecc, mig;  ///< required state
  bool no_processes = false;     ///< no other process computes on the device
  bool default_power_limit = false;
  bool local_numa = false;     ///< the CPUs of the process belong to the NUMA node of the device
  std::vector<int> driver;     ///< minimum version
  std::optional<int> devices;  ///< visible to the process

  bool operator==(const Require&) const = default;
};

/// How --fleet runs a deck on all devices of all nodes.
struct FleetRun {
  std::vector<Phase> phases = {Phase::alone, Phase::together};
  double deadline_s = 60;      ///< maximum silence of a rank before it counts as lost
  std::optional<int> devices;  ///< required on each node, one per rank; empty: any number

  bool has(Phase phase) const { return std::ranges::find(phases, phase) != phases.end(); }
  bool compares() const { return has(Phase::alone) && has(Phase::together); }
};

/// Word in `where` of a criterion for runs on a GPU.
inline constexpr const char* any_gpu = "gpu";

/// Reference word in decks for the file of --reference.
inline constexpr const char* given_reference = "given";

/// A limit on a metric: `min` and `max` in the unit of the metric, or a reference that gives the
/// limit.
struct Criterion {
  Metric metric = Metric::time;
  std::optional<Order> order;       ///< empty: every order
  std::optional<Phase> phase = {};  ///< empty: every phase
  std::optional<double> min;
  std::optional<double> max;
  std::optional<std::string> reference = {};  ///< path relative to the deck, or `given_reference`
  /// Relative tolerance to the worse side of the reference value; empty: the tolerance in the
  /// reference.
  std::optional<double> below = {};
  /// Where it is judged: `any_gpu`, or devices of predictions; empty: all measured runs.
  std::vector<std::string> where = {};

  /// Whether it is judged for a prediction for this device, or for measured runs on a GPU or a
  /// host.
  bool holds_for(const std::string& predicted) const {
    return std::ranges::find(where, predicted) != where.end();
  }
  bool holds_here(bool on_gpu) const { return where.empty() || (on_gpu && holds_for(any_gpu)); }

  /// Whether it limits a metric of this order (empty: the device) in this phase.
  bool judges(Metric judged_metric, std::optional<Order> judged_order, Phase judged_phase) const {
    return metric == judged_metric && (!order || order == judged_order) &&
           (!phase || phase == judged_phase);
  }
};

struct Deck {
  std::string path;
  std::string sha256;  ///< of the unmodified file, before --set
  std::string title;
  Workload workload;
  Chunks chunks;
  Memory memory;
  Issue issue;
  std::optional<HostWork> host_work;
  std::optional<Disturb> disturb;
  Measure measure;
  Require require;
  FleetRun fleet;
  std::vector<Criterion> acceptance;
  /// Places in the file, for later errors; null: deck made by the program.
  std::shared_ptr<const describe::Document> document;

  std::string mark = {};  ///< tells decks of one name in one call apart

  /// File name without folder and extension, for messages and result lines.
  std::string name() const;
};

/// One experiment: a deck with one value per swept key, or one phase of a fleet.
struct DeckPoint {
  struct Value {
    std::string key;   ///< dotted
    std::string text;  ///< as spelled in the deck
  };
  std::vector<Value> values;  ///< in the order of the deck; empty: no sweep
  Deck deck;
  Phase phase = Phase::alone;

  bool is_swept() const { return !values.empty(); }
};

/// Reads a deck, by its path or the name of a shipped one, and applies overrides "key.path=VALUE"
/// (VALUE is YAML) in order. Returns one point per combination of the lists in `sweep`, the values
/// of the last key varying fastest; one point without `sweep`. An override of a swept key replaces
/// its list. Throws base::Error{usage} with file:line:column, key, the found value, the allowed
/// values and the nearest valid spelling, also for a missing or unreadable deck.
std::vector<DeckPoint> load_points(const std::string& name_or_path,
                                   const std::vector<std::string>& overrides = {});

// Shipped files, which can be referred to by name.

/// Names of the YAML files in a folder of input/, recursively: relative paths without ".yaml",
/// sorted. "" means input/ itself without devices/ and references/.
std::vector<std::string> shipped_names(const std::string& folder);

/// The path of a file given by path, or by name if it is shipped in the folder. `kind`: its name in
/// messages. Throws base::Error{usage} with the nearest name if it is neither a shipped name nor a
/// path.
std::string shipped_path(const std::string& name_or_path, const std::string& folder,
                         const std::string& kind);

/// The place where `key` ("memory.device_limit"), or else the nearest enclosing key, is set.
base::SourcePlace place_of(const Deck& deck, const std::string& key);

/// An error about a key, detected after loading: "file:line:column: key: message".
base::Error error_at(const Deck& deck, base::ExitCode code, const std::string& key,
                     const std::string& message);

/// An error about the i-th order of the deck, which `why`.
base::Error error_at_order(const Deck& deck, std::size_t i, const std::string& why);

}  // namespace overlap::deck
