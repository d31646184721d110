#pragma once

#include <span>
#include <vector>

#include "schedule/build.hpp"

namespace overlap::schedule {

/// Interface of the issue orders: an order selects stage, chunk and lane of each next task. The
/// dependencies are added after all tasks are issued.
struct Builder {
  const Costs& costs;
  int lanes;
  Schedule schedule;
  std::vector<Operand> operands;  ///< of each chunk, by operation

  /// A schedule without tasks, with the data cut according to the layout.
  Builder(const Costs& costs, const Layout& layout, Order order, int lanes);

  /// The operands of one operation on one chunk.
  std::span<const Operand> operands_of(int chunk, int op) const;

  /// End (exclusive) of the longest range of chunks from `first` on that fits on the device.
  int window_end(int first) const;

  /// Issues all tasks of one stage of one operation on one chunk: one copy per array, or one
  /// kernel, or the host computation of a tile on host memory.
  void issue(Stage stage, int chunk, int op, int lane, bool blocking = false);
};

/// Issues all tasks of an order, in orders.cpp; those of a list in custom.cpp.
template <Order>
void issue(Builder& builder);
template <>
void issue<Order::custom>(Builder& builder);
void issue(Builder& builder, Order order);

/// Round-robin lane of an operation on a chunk.
inline int lane_in_turn(const Builder& builder, int chunk, int op) {
  return (chunk * builder.costs.ops + op) % builder.lanes;
}

}  // namespace overlap::schedule
