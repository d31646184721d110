#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "deck/deck.hpp"
#include "schedule/schedule.hpp"

namespace overlap::schedule {

/// Arrays and arithmetic of a workload before it is cut into chunks. costs_of() may leave the host
/// region of an array empty (units are then adjacent) and, except for matrix products, leaves the
/// number of units in it to costs().
struct Costs {
  std::string kernel;  ///< see Schedule::kernel
  std::vector<Array> arrays;
  int ops = 1;                  ///< independent operations per chunk, each with its own arrays
  std::int64_t units = 0;       ///< units of one iteration
  std::int64_t iterations = 1;  ///< each with its own host data, all on the same device buffers
  double flops_per_unit = 0;    ///< floating-point operations of one operation
  std::optional<Tiling> tiling = {};  ///< of a matrix product of arrays A, B and C
  int host_tiles = 0;                 ///< of a product: tiles that four_way leaves to the host
  /// Custom workloads: the tasks of the deck. Lanes count from 1, 0 is no lane; `after` holds list
  /// indices; of the operand of a copy only the array is set.
  std::vector<Task> tasks;
  std::vector<std::string> names;  ///< of `tasks`
};

/// Costs of a workload of a deck. `repeats`: of the arithmetic (measured if the intensity is
/// balanced).
Costs costs(const deck::Workload& workload, std::int64_t repeats);

/// Costs of one kind of workload except `kernel`; each kind specialises it in its own file.
template <deck::WorkloadKind>
Costs costs_of(const deck::Workload&, std::int64_t repeats);

/// Bytes of device memory that the kernel of one operation reads and writes per unit.
double kernel_bytes_per_unit(const Costs& costs);

/// Whether a custom workload contains copies given by their duration.
bool has_timed_copies(const deck::Workload& workload);
/// Sets the bytes of copies given by their duration to `bytes_in(stage, seconds)`, rounded to 4 KiB
/// pages. (Otherwise costs() assumes a nominal rate.) Throws base::Error{usage} if they exceed 2^60
/// bytes in total.
deck::Workload size_copies(deck::Workload workload,
                           const std::function<double(Stage, double)>& bytes_in);

using deck::size_of;

}  // namespace overlap::schedule
