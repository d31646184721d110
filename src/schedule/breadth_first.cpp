#include "schedule/builder.hpp"

namespace overlap::schedule {

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

}  // namespace overlap::schedule
