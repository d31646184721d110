#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/build.hpp"

namespace overlap::schedule {

/// Lanes that an operation has where each engine has its own.
inline constexpr int engine_lanes = 3;

/// What an issue order uses to write its schedule: it says which stage of which chunk comes next
/// and on which lane; the builder adds the tasks and the dependencies that they need.
class Builder {
 public:
  Builder(const Costs& costs, const Layout& layout, Order order, int lanes);

  int ops() const { return costs_.ops; }
  int lanes() const { return lanes_; }
  int chunks() const { return static_cast<int>(schedule_.chunks.size()); }
  int host_chunks() const { return costs_.host_tiles; }  ///< that four_way leaves to the host
  /// The chunk behind the last of those from `first` on that the device can hold at once.
  int window_end(int first) const;

  /// Cuts every iteration into one chunk instead, unless the device cannot hold it.
  void merge_chunks();

  /// Issues all tasks of one stage of one operation on one chunk: a copy for each array, or the
  /// kernel.
  void issue(Stage stage, int chunk, int op, int lane, bool blocking = false);

  /// Has the host compute a tile of a product, on its own memory.
  void issue_on_host(int chunk);

  /// Issues a task of a custom workload as it stands, with its dependencies.
  void issue(Task task, const std::string& name);
  const Task& task(TaskId id) const { return schedule_.tasks[id]; }

  /// The schedule, with lanes renumbered so that none is empty.
  Schedule finish();

 private:
  struct SlotState {  ///< who used an array's slot last
    std::optional<TaskId> writer;
    std::vector<TaskId> readers;  ///< since the last write
  };

  void cut(const std::vector<std::int64_t>& borders, std::int64_t slots);
  void cut(const Tiling& tiling, const TilePlan& plan);
  void issue_tile(Stage stage, int turn, int lane, bool blocking);
  Task kernel_of_tile(int turn) const;
  std::size_t bytes_of(const Place& place) const;
  /// What a task uses: arrays and slots, and whether it writes them.
  template <class Body>
  void for_uses(const Task& task, const Body& body) const;
  void add(Task task);
  SlotState& state(int array, int slot);

  Costs costs_;
  Layout layout_;
  int lanes_;
  Schedule schedule_;
  TilePlan plan_;                  ///< of a matrix product
  std::vector<SlotState> states_;  ///< of each array and slot
  int states_of_array_ = 0;
  /// For each lane, how far all lanes are certain to be complete for its next task: the task behind
  /// the last one known of each. And the same at each task, itself included.
  std::vector<std::vector<TaskId>> complete_;
  std::vector<TaskId> complete_at_;
};

#define OVERLAP_ORDER(name, ...) void name##_order(Builder&);
#include "deck/orders.def"
#undef OVERLAP_ORDER

/// Issues a custom workload's tasks: in the list's order (custom; sequential, on one lane), lane by
/// lane (depth_first), or the i-th tasks of all lanes in turn (breadth_first). Host work and
/// default_stream operations, which have no lane, go with the task listed before them.
void issue_listed(Builder& builder, const Costs& costs, Order order);

/// The lane of an operation on a chunk where lanes are dealt out in turn.
inline int lane_in_turn(const Builder& builder, int chunk, int op) {
  return (chunk * builder.ops() + op) % builder.lanes();
}

}  // namespace overlap::schedule
