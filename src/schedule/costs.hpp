#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "deck/deck.hpp"
#include "schedule/schedule.hpp"

namespace overlap::schedule {

/// What a workload needs, before it is cut into chunks: its arrays and the work on one unit. Where
/// costs_of() leaves an array's place on the host open, units are adjacent there; it also leaves it
/// to costs() how many there are.
struct Costs {
  std::string kernel;  ///< see Schedule::kernel
  std::vector<Array> arrays;
  int ops = 1;                  ///< independent operations on each chunk, with arrays of their own
  std::int64_t units = 0;       ///< units of one iteration
  std::int64_t iterations = 1;  ///< each on host data of its own, all on the same device buffers
  double flops_per_unit = 0;    ///< of one operation
  std::optional<Tiling> tiling = {};  ///< of a matrix product: arrays A, B and C
  int host_tiles = 0;                 ///< of a product: those that four_way leaves to the host
  double host_flops_per_s = 0;        ///< at which it computes them; 0: unknown
  /// Custom workloads: the deck's list. Lanes count from 1, 0 is none; `after` holds places in the
  /// list; a copy's `uses` begin with the number of its array.
  std::vector<Task> tasks;
  std::vector<std::string> names;  ///< of `tasks`
};

/// Costs of the deck's workload. `repeats` is the arithmetic's number of repeats, which a balanced
/// intensity leaves to a measurement.
Costs costs(const deck::Workload& workload, std::int64_t repeats);

/// Those of one kind of workload, without `kernel`: a specialization in the kind's own file.
template <deck::WorkloadKind>
Costs costs_of(const deck::Workload&, std::int64_t repeats);

/// Device memory that one operation's kernel reads and writes for a unit.
double kernel_bytes_per_unit(const Costs& costs);

/// Whether a custom workload has copies that are given by their duration.
bool has_timed_copies(const deck::Workload& workload);
/// Gives such copies the bytes that `bytes_in(stage, seconds)` says, in whole pages. (costs()
/// assumes a nominal rate where nobody has.)
deck::Workload size_copies(deck::Workload workload,
                           const std::function<double(Stage, double)>& bytes_in);

using deck::size_of;

}  // namespace overlap::schedule
