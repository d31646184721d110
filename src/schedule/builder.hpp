#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/build.hpp"

namespace overlap::schedule {

/// Lanes that an operation has where each engine has its own.
inline constexpr int engine_lanes = 3;

/// What an issue order uses to write its schedule: it says which stage of which chunk comes next
/// and on which lane; the builder adds the tasks and the dependencies that they need.
class Builder {
 public:
  /// Keeps the costs.
  Builder(const Costs& costs, const Layout& layout, Order order, int lanes);

  int ops() const { return costs_.ops; }
  int lanes() const { return lanes_; }
  int chunks() const { return schedule_.chunks; }
  int host_chunks() const { return costs_.host_tiles; }  ///< that four_way leaves to the host
  /// The chunk behind the last of those from `first` on that the device can hold at once.
  int window_end(int first) const;

  /// Issues all tasks of one stage of one operation on one chunk: a copy for each array, or the
  /// kernel.
  void issue(Stage stage, int chunk, int op, int lane, bool blocking = false);

  /// Has the host compute a tile of a product, on its own memory.
  void issue_on_host(int chunk);

  /// Issues a task of a custom workload unchanged, with its dependencies.
  void issue(Task task, const std::string& name);
  const Task& task(TaskId id) const { return schedule_.tasks[id]; }

  /// The schedule, with lanes renumbered so that none is empty.
  Schedule finish();

 private:
  struct SlotState {  ///< who used an array's slot last
    std::optional<TaskId> writer;
    std::vector<TaskId> readers;  ///< since the last write
  };

  void cut_into_chunks(const Layout& layout);
  UseRange uses_of(int chunk, int op) const;
  Task kernel_of(int chunk, int op, int lane, bool blocking) const;
  /// Those that the task must come after, by what it does to its slots.
  std::vector<TaskId> predecessors(const Task& task);
  void add(Task task);

  const Costs& costs_;
  int lanes_;
  Schedule schedule_;
  std::vector<int>
      by_op_;  ///< arrays, those of an operation next to each other; a chunk's uses are
  std::vector<std::vector<SlotState>> states_;  ///< of each array's slots
  /// For each lane, how far all lanes are certain to be complete for its next task: the task behind
  /// the last one known of each. And the same at each task, itself included.
  std::vector<std::vector<TaskId>> complete_;
  std::vector<TaskId> complete_at_;
};

/// Writes the order's schedule; every order has a specialisation in a file of its own.
template <Order>
void issue(Builder& builder);

/// Issues a custom workload's tasks: in the list's order (custom; sequential, on one lane), lane by
/// lane (depth_first), or the i-th tasks of all lanes in turn (breadth_first). Host work and
/// default_stream operations, which have no lane, go with the task listed before them.
void issue_listed(Builder& builder, const Costs& costs, Order order);

/// The lane of an operation on a chunk where lanes are dealt out in turn.
inline int lane_in_turn(const Builder& builder, int chunk, int op) {
  return (chunk * builder.ops() + op) % builder.lanes();
}

}  // namespace overlap::schedule
