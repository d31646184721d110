#include "schedule/builder.hpp"

namespace overlap::schedule {

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

}  // namespace overlap::schedule
