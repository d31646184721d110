#pragma once

#include <optional>
#include <string>

#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

namespace overlap::model {

/// What the hardware needs for the tasks of a schedule, measured in the same run: all of a stage
/// back to back in a lane, seconds, without what a run costs beside its tasks.
struct Rates {
  double h2d_s = 0;     ///< all copies to the device, alone
  double d2h_s = 0;     ///< all copies back, alone
  double both_s = 0;    ///< both at once, as far as the device has two copy engines; 0: no engines
  double kernel_s = 0;  ///< all kernels, alone
  std::optional<double> kernel_beside_copies;  ///< time factor of kernels while copies run
};

/// The least time that the hardware allows, from such rates. Fill and drain, the time of the first
/// and the last chunk when not all engines have work, count in schedule_bound_s alone.
struct Bounds {
  double serial_s = 0;      ///< nothing overlaps
  double one_engine_s = 0;  ///< both directions share a copy engine; 0 where workers are engines
  double two_engines_s = 0;
  double bound_s = 0;  ///< of the three the one that holds here, or that of the workers
  double schedule_bound_s = 0;
  std::string limit;  ///< what limits: "H2D", "D2H", "H2D and D2H", "copy", "SM", "host", "workers"
};

/// The bounds of a schedule whose tasks take `own` in its own chunks, and `least` in the best of
/// all chunks that were measured.
Bounds bounds(const schedule::Schedule& schedule, const Rates& own, const Rates& least,
              const timeline::Engines& engines);

}  // namespace overlap::model
