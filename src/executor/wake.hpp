#pragma once

#include "executor/executor.hpp"

namespace overlap::executor {

/// For how long a GPU is kept busy before the warm-up.
inline constexpr double wake_s = 0.1;

/// Keeps a GPU busy until its clocks are up: they fall while the host prepares data, and what takes
/// microseconds then takes half as long again (seen on an H200 at 1 MiB).
template <class Space>
void wake([[maybe_unused]] Executor<Space>& executor,
          [[maybe_unused]] const schedule::Schedule& schedule,
          [[maybe_unused]] const workload::Workload<Space>& workload) {
  if constexpr (!workload::is_host<Space>) {
    for (double busy_s = 0; busy_s < wake_s;) {
      base::check_interrupt();
      busy_s += executor.run(schedule, workload).complete_s;
    }
  }
}

}  // namespace overlap::executor
