#pragma once

#include <string>
#include <vector>

#include "deck/deck.hpp"
#include "describe/words.hpp"

/// Spelling of all enumerators of a deck.
namespace overlap::deck {

using describe::in_order;
using describe::spellings;
using describe::to_string;
using describe::words;

constexpr auto words_of(WorkloadKind) { return workloads; }
constexpr auto words_of(Order) { return orders; }
constexpr auto words_of(Stage) {
  return in_order<Stage>("h2d", "kernel", "d2h", "host", "query", "default_stream", "disturbance");
}
constexpr auto words_of(ElementType) {
  return in_order<ElementType>("int32", "int64", "float32", "float64");
}
constexpr auto words_of(SumType) { return in_order<SumType>("same", "int64"); }
constexpr auto words_of(SumAxis) { return in_order<SumAxis>("rows", "columns"); }
constexpr auto words_of(RowsumKernel) {
  return in_order<RowsumKernel>("auto", "thread_per_row", "team_per_row");
}
constexpr auto words_of(HostMemory) {
  return in_order<HostMemory>("pinned", "pageable", "registered", "managed");
}
constexpr auto words_of(Transfer) {
  return in_order<Transfer>("staged", "zero_copy", "prefetch", "on_demand");
}
constexpr auto words_of(Mechanism) { return in_order<Mechanism>("streams", "graph", "portable"); }
constexpr auto words_of(Sync) {
  return in_order<Sync>("device", "stream", "event", "query", "event_query");
}
constexpr auto words_of(Streams) {
  return in_order<Streams>("own", "blocking", "legacy_default", "per_thread_default");
}
constexpr auto words_of(Disturbance) {
  return in_order<Disturbance>("default_stream", "malloc", "malloc_host", "memset", "blocking_copy",
                               "small_copy", "device_copy", "cache_config", "timing_event",
                               "stream_query", "synchronize");
}
constexpr auto words_of(Phase) { return in_order<Phase>("alone", "together"); }
constexpr auto words_of(Verify) { return in_order<Verify>("every", "ends"); }
constexpr auto words_of(Metric) { return metrics; }

inline std::vector<std::string> names_of(const std::vector<Order>& list) {
  std::vector<std::string> names;
  for (const Order order : list) names.emplace_back(to_string(order));
  return names;
}

/// The orders that a kind of workload supports.
inline std::vector<Order> orders_of(WorkloadKind kind) {
  const Split split = row_of(kind).split;
  std::vector<Order> suitable;
  for (const OrderRow& row : orders) {
    const bool suits = split == Split::tiles   ? row.tiles
                       : split == Split::tasks ? row.listed
                                               : row.chunks;
    if (suits) suitable.push_back(row.value);
  }
  return suitable;
}

}  // namespace overlap::deck
