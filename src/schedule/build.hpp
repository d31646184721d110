#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "schedule/costs.hpp"
#include "schedule/schedule.hpp"
#include "schedule/tiles.hpp"

namespace overlap::schedule {

/// How the data are cut, how they move and how much of them the device holds; the same for all
/// orders of a deck but the baseline, which is always one of staged copies, issued one by one.
struct Layout {
  deck::HostMemory host_memory = deck::HostMemory::pinned;
  deck::Transfer transfer = deck::Transfer::staged;
  deck::Mechanism mechanism = deck::Mechanism::streams;
  std::int64_t chunks_per_iteration = 1;
  /// Of an iteration: where each chunk begins, in units, and where the last one ends.
  std::vector<std::int64_t> borders;
  std::int64_t slots = 1;              ///< chunks that the device holds at once
  std::int64_t slot_units = 0;         ///< units of the largest chunk
  bool out_of_core = false;            ///< fewer slots than chunks of an iteration
  std::int64_t device_limit = 0;       ///< bytes that the device has for the data at most
  std::optional<TilePlan> tiles = {};  ///< of a matrix product, whose chunks are tiles
};

/// Cuts the deck's data into chunks and gives the device as many slots as fit into the smaller of
/// the deck's device_limit and `device_free_bytes` (empty: unknown). Throws base::Error{usage} when
/// there are more chunks than units, when an order of the deck is misplaced() or when the deck's
/// limit holds no chunk, and base::Error{precondition} when the device's free memory holds none.
Layout layout(const deck::Deck& deck, const Costs& costs,
              std::optional<std::int64_t> device_free_bytes);

/// Device memory for each array, bytes: of a product as the layout says, of others for so many
/// units.
std::vector<std::size_t> device_bytes(const Costs& costs, const Layout& layout, std::int64_t units);

/// Why an order cannot issue a custom workload's tasks: it would issue one before another that must
/// come first. Empty when it can.
std::optional<std::string> misplaced(const Costs& costs, Order order);

/// Tasks, lanes and dependencies of one issue order. Dependencies between lanes are exactly those
/// that the data and the re-use of slots need and that the lanes' own order does not give; those of
/// a custom workload are the ones that its deck asks for, where the lanes' order does not give
/// them. A portable schedule is fenced().
Schedule build(const Costs& costs, const Layout& layout, Order order, int lanes);

/// The schedule for lanes that only the host can wait for: in place of dependencies between lanes
/// it has fences, as late and as few as possible. A fence stands before the task that needs it and
/// is left out where the host has already seen complete what the task comes after.
Schedule fenced(const Schedule& schedule);

/// The schedule with the calls between its tasks, on the lane of the task that they stand before.
Schedule disturbed(Schedule schedule, const deck::Disturb& disturb);

/// The schedule with work of the host between its tasks, `per_chunk_s` for each of `pieces` pieces
/// that its chunks have in equal parts: in the baseline while each chunk's last kernel runs, before
/// its copies back; in all others after the last task was issued.
Schedule with_host_work(Schedule schedule, double per_chunk_s, std::int64_t pieces);

}  // namespace overlap::schedule
