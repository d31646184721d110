#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/in_sequence.hpp"

/// The issue orders. An order consists of an enumerator and its row here, and of a function in
/// src/schedule/orders.cpp, which issues the tasks to the lanes.
namespace overlap::deck {

enum class Order {
  sequential,
  depth_first,
  breadth_first,
  by_engine,
  two_way,
  three_way,
  four_way,
  four_plus,
  custom,
};

struct OrderRow {
  Order value;
  std::string_view name;
  std::string_view help;
  /// Workloads that support it: data in chunks, tiles of a matrix product, a list of tasks.
  bool chunks, tiles, listed;
  bool lanes;  ///< as many lanes as issue.lanes says; false: as many as it needs
};

// Tiles have three_way instead of by_engine; the tasks of a list name their lanes.
inline constexpr auto orders = std::to_array<OrderRow>({
    {Order::sequential, "sequential",
     "the baseline: each stage processes all data and blocks the host", true, true, true, false},
    {Order::depth_first, "depth_first", "all stages of a chunk, then the next chunk", true, true,
     true, true},
    {Order::breadth_first, "breadth_first",
     "all copies to the device, all kernels, all copies back", true, true, true, true},
    {Order::by_engine, "by_engine",
     "one lane for each copy direction and one for kernels, events between them",  //
     true, false, false, false},
    {Order::two_way, "two_way",
     "dgemm: all copies to the device, then kernels during the copies back",  //
     false, true, false, false},
    {Order::three_way, "three_way",
     "dgemm: copies to the device, kernels and copies back at the same time", false, true, false,
     false},
    {Order::four_way, "four_way", "three_way, and a share of the tiles on the host",  //
     false, true, false, false},
    {Order::four_plus, "four_plus", "three_way with concurrent kernels, on issue.lanes lanes",
     false, true, false, true},
    {Order::custom, "custom", "the tasks of a custom workload as the deck lists them",  //
     false, false, true, false},
});

constexpr const OrderRow& row_of(Order order) { return orders[static_cast<std::size_t>(order)]; }

static_assert(base::in_sequence(orders, Order::custom), "one row for each order");

}  // namespace overlap::deck
