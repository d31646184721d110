#include "schedule/builder.hpp"

namespace overlap::schedule {

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

}  // namespace overlap::schedule
