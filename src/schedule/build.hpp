#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "schedule/costs.hpp"
#include "schedule/schedule.hpp"
#include "schedule/tiles.hpp"

namespace overlap::schedule {

/// How the data are cut and moved, and how much of them the device holds. The orders of a deck
/// share the layout, but the baseline uses staged copies without a graph, and one chunk per
/// iteration if the data fit.
struct Layout {
  deck::HostMemory host_memory = deck::HostMemory::pinned;
  deck::Transfer transfer = deck::Transfer::staged;
  deck::Mechanism mechanism = deck::Mechanism::streams;
  deck::Streams streams = deck::Streams::own;
  int threads = 1;  ///< that issue
  std::int64_t chunks_per_iteration = 1;
  /// Per iteration: the first unit of each chunk, and the end of the last. Empty for a matrix
  /// product.
  std::vector<std::int64_t> borders;
  std::int64_t slots = 1;  ///< chunks that fit on the device; of a product, tiles of C
  std::int64_t largest_chunk_units =
      0;                          ///< units of the largest chunk; of a product, elements of a tile
  bool out_of_core = false;       ///< the device cannot hold all data of an iteration
  std::int64_t device_limit = 0;  ///< maximum bytes of device memory for the data
  std::optional<TilePlan> tiles = {};  ///< of a matrix product, whose chunks are tiles
};

/// Cuts the data of the deck into chunks and reserves as many slots as fit into the smaller of
/// `memory.device_limit` and `device_free_bytes` (empty: unknown). Throws base::Error{usage} for
/// fewer units than chunks, a chunk below one unit, more than 2^20 chunks, an order that is
/// misplaced(), or a `device_limit` below the minimum, and base::Error{precondition} for too little
/// free device memory.
Layout layout(const deck::Deck& deck, const Costs& costs,
              std::optional<std::int64_t> device_free_bytes);

/// Device memory in bytes for each array: of a product from the layout, otherwise for `units`
/// units.
std::vector<std::size_t> device_bytes(const Costs& costs, const Layout& layout, std::int64_t units);

/// Why an order cannot issue the tasks of a custom workload: it would issue a task before one that
/// must precede it. Empty if it can.
std::optional<std::string> misplaced(const Costs& costs, Order order);

/// Builds the schedule of one issue order: tasks, lanes and dependencies. Dependencies between
/// lanes are those that data and slot reuse require and that neither the order within the lanes nor
/// earlier ones of the lane imply; of a custom workload, those that the deck requests and that the
/// lanes do not imply. Precondition: `order` is not misplaced().
Schedule build(const Costs& costs, const Layout& layout, Order order, int lanes);

/// Inserts the calls of a disturbance, on the lane of the task that follows them.
Schedule disturbed(Schedule schedule, const deck::Disturb& disturb);

/// Inserts host work of `per_chunk_s` seconds for each of `pieces` pieces, an equal number per
/// chunk: in the baseline during the last kernel of each chunk, before its copies back; otherwise
/// after all tasks are issued.
Schedule with_host_work(Schedule schedule, double per_chunk_s, std::int64_t pieces);

}  // namespace overlap::schedule
