#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "../operands.hpp"
#include "deck/words.hpp"
#include "schedule/build.hpp"

/// Small schedules for tests, and a compact way to write them down.
namespace overlap::schedule {

inline deck::Deck small_deck(deck::WorkloadKind kind, std::int64_t units, std::int64_t chunks) {
  deck::Deck deck;
  deck.path = "test.yaml";
  deck.workload.kind = kind;
  deck.workload.elements = units;
  deck.workload.rows = units;
  deck.workload.columns = 6;
  deck.workload.type = deck::row_of(kind).type;
  deck.chunks.count = chunks;
  return deck;
}

/// The schedule of a deck with `slots` chunks on the device (0: all of them).
inline Schedule small_schedule(const deck::Deck& deck, Order order, int lanes, int slots = 0) {
  const Costs costs = schedule::costs(deck.workload, 1);
  std::optional<std::int64_t> free;
  if (slots > 0) {
    const Layout all = layout(deck, costs, std::nullopt);
    std::int64_t unit = 0;
    for (const Array& array : costs.arrays) unit += static_cast<std::int64_t>(array.unit_bytes);
    free = all.largest_chunk_units * unit * slots;
  }
  return build(costs, layout(deck, costs, free), order, lanes);
}

/// "h2d 0 L0", "kernel 0 L1 < 0": stage, chunk, lane, and the tasks that it comes after; with two
/// operations "h2d 0.1 ..."; "!" for a task that blocks the host.
inline std::vector<std::string> text(const Schedule& schedule) {
  bool several = false;
  for (const Task& task : schedule.tasks) several = several || task.op > 0;
  std::vector<std::string> lines;
  for (const Task& task : schedule.tasks) {
    std::string line = fmt::format("{} {}", to_string(task.stage), task.chunk);
    if (several) line += fmt::format(".{}", task.op + 1);
    line += fmt::format(" L{}", task.lane);
    if (!task.after.empty()) line += fmt::format(" < {}", fmt::join(task.after, " "));
    if (task.blocking) line += " !";
    lines.push_back(line);
  }
  return lines;
}

}  // namespace overlap::schedule
