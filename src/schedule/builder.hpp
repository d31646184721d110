#pragma once

#include <vector>

#include "schedule/build.hpp"

namespace overlap::schedule {

/// Lanes that an operation has where each engine has its own.
inline constexpr int engine_lanes = 3;

/// What an issue order uses to write its schedule: it says which stage of which chunk comes next
/// and on which lane. The dependencies that the tasks need are added when all are issued.
struct Builder {
  const Costs& costs;
  int lanes;
  Schedule schedule;
  std::vector<int> by_op;  ///< arrays, those of an operation next to each other

  /// A schedule without tasks, its data cut as the layout says.
  Builder(const Costs& costs, const Layout& layout, Order order, int lanes);

  int op_of(int array) const { return costs.arrays[static_cast<std::size_t>(array)].op; }
  /// What the operation's kernel uses on a chunk. For each chunk the uses lie `by_op`.
  UseRange uses_of(int chunk, int op) const;

  /// The chunk behind the last of those from `first` on that the device can hold at once.
  int window_end(int first) const;

  /// Issues all tasks of one stage of one operation on one chunk: a copy for each array, the kernel
  /// or, of a product, the host's computation in its place and on the host's memory.
  void issue(Stage stage, int chunk, int op, int lane, bool blocking = false);
};

/// Writes the order's schedule; every order has a specialisation in a file of its own.
template <Order>
void issue(Builder& builder);

/// Issues a custom workload's tasks with the dependencies that they ask for: in the list's order
/// (custom; sequential, on one lane), lane by lane (depth_first), or the i-th tasks of all lanes in
/// turn (breadth_first). Host work and default_stream operations, which have no lane, go with the
/// task listed before them.
void issue_listed(Builder& builder);

/// The lane of an operation on a chunk where lanes are dealt out in turn.
inline int lane_in_turn(const Builder& builder, int chunk, int op) {
  return (chunk * builder.costs.ops + op) % builder.lanes;
}

}  // namespace overlap::schedule
