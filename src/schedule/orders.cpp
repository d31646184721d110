#include <array>
#include <utility>

#include "schedule/builder.hpp"

/// The issue orders.
namespace overlap::schedule {
namespace {

/// Copies to the device, kernels and copies back of the chunks before `end` on separate lanes;
/// kernels use several lanes in turn.
void issue_at_once(Builder& builder, int end, int kernel_lanes) {
  for (int chunk = 0; chunk < end; ++chunk) {
    builder.issue(Stage::h2d, chunk, 0, 0);
    builder.issue(Stage::kernel, chunk, 0, 1 + chunk % kernel_lanes);
    builder.issue(Stage::d2h, chunk, 0, 1 + kernel_lanes);
  }
}

}  // namespace

/// The baseline of the seeds: one lane, the whole data at once (slot by slot only out of core); the
/// host waits after every task.
template <>
void issue<Order::sequential>(Builder& builder) {
  for (int chunk = 0; chunk < builder.schedule.chunks; ++chunk) {
    for (int op = 0; op < builder.costs.ops; ++op) {
      for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
        builder.issue(stage, chunk, op, 0, true);
      }
    }
  }
}

/// Version 1 of the seeds: all stages of a chunk on its lane, then the next chunk.
template <>
void issue<Order::depth_first>(Builder& builder) {
  for (int chunk = 0; chunk < builder.schedule.chunks; ++chunk) {
    for (int op = 0; op < builder.costs.ops; ++op) {
      for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
        builder.issue(stage, chunk, op, lane_in_turn(builder, chunk, op));
      }
    }
  }
}

/// Version 2 of the seeds: all copies to the device, all kernels, all copies back; out of core, in
/// windows of as many chunks as the device holds.
template <>
void issue<Order::breadth_first>(Builder& builder) {
  for (int end = 0; end < builder.schedule.chunks;) {
    const int window = end;
    end = builder.window_end(window);
    for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
      for (int chunk = window; chunk < end; ++chunk) {
        for (int op = 0; op < builder.costs.ops; ++op) {
          builder.issue(stage, chunk, op, lane_in_turn(builder, chunk, op));
        }
      }
    }
  }
}

/// One lane per copy direction and one for kernels, per operation; events between them. With two
/// operations these are the six streams of seed 001, in the same issue order: stage by stage, both
/// operations in turn.
template <>
void issue<Order::by_engine>(Builder& builder) {
  constexpr int engines = 3;
  for (int chunk = 0; chunk < builder.schedule.chunks; ++chunk) {
    for (const Stage stage : {Stage::h2d, Stage::kernel, Stage::d2h}) {
      for (int op = 0; op < builder.costs.ops; ++op) {
        builder.issue(stage, chunk, op, engines * op + static_cast<int>(stage));
      }
    }
  }
}

// Degrees of concurrency as counted in "Streams and Concurrency" (seed 004).

/// Out of core, proceeds in windows of as many tiles as the device holds with their panels.
template <>
void issue<Order::two_way>(Builder& builder) {
  for (int end = 0; end < builder.schedule.chunks;) {
    const int window = end;
    end = builder.window_end(window);
    for (int chunk = window; chunk < end; ++chunk) builder.issue(Stage::h2d, chunk, 0, 0);
    for (int chunk = window; chunk < end; ++chunk) {
      builder.issue(Stage::kernel, chunk, 0, 0);
      builder.issue(Stage::d2h, chunk, 0, 1);
    }
  }
}

template <>
void issue<Order::three_way>(Builder& builder) {
  issue_at_once(builder, builder.schedule.chunks, 1);
}

template <>
void issue<Order::four_way>(Builder& builder) {
  const int on_device = builder.schedule.chunks - builder.costs.host_tiles;
  issue_at_once(builder, on_device, 1);
  for (int chunk = on_device; chunk < builder.schedule.chunks; ++chunk)
    builder.issue(Stage::host, chunk, 0, 0);
}

template <>
void issue<Order::four_plus>(Builder& builder) {
  issue_at_once(builder, builder.schedule.chunks, builder.lanes);
}

/// One function per order; an order without one does not link.
void issue(Builder& builder, Order order) {
  constexpr auto issuers = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<void (*)(Builder&), sizeof...(I)>{&issue<deck::orders[I].value>...};
  }(std::make_index_sequence<deck::orders.size()>());
  issuers[static_cast<std::size_t>(order)](builder);
}

}  // namespace overlap::schedule
