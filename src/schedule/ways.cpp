// Degrees of concurrency as counted in "Streams and Concurrency" (seed 004).

#include "schedule/builder.hpp"

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

}  // namespace overlap::schedule
