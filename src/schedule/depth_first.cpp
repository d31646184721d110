#include "schedule/builder.hpp"

namespace overlap::schedule {

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

}  // namespace overlap::schedule
