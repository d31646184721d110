#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"
#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

namespace overlap::model {

/// Measured times of all tasks of a stage, back to back in one lane, in seconds, without the
/// overhead of a run.
struct Rates {
  double h2d_s = 0;     ///< all copies to the device, alone
  double d2h_s = 0;     ///< all copies back, alone
  double both_s = 0;    ///< both directions at once, at most their sum; 0 on a host
  double kernel_s = 0;  ///< all kernels, alone
  std::optional<double> kernel_beside_copies;  ///< time factor of kernels during copies
};

/// One of the times.
using Rate = double Rates::*;
inline constexpr std::array<Rate, 4> all_rates = {&Rates::h2d_s, &Rates::d2h_s, &Rates::both_s,
                                                  &Rates::kernel_s};

/// The median of each time over those samples that have it (NaN: not sampled; none has it: 0).
Rates median(const std::vector<Rates>& samples);

/// Lower bounds of the time, in seconds. Fill and drain, the time of the first and last chunk while
/// not all engines have work, are included in schedule_bound_s only.
struct Bounds {
  double serial_s = 0;      ///< nothing overlaps
  double one_engine_s = 0;  ///< both directions share one copy engine; 0 on a host
  double two_engines_s = 0;
  double bound_s = 0;  ///< the bound that applies to this device
  double schedule_bound_s = 0;
  std::string limit;  ///< what limits: "H2D", "D2H", "H2D and D2H", "copy", "SM", "host", "workers"
};

/// The bounds of a schedule but for schedule_bound_s. `best`: the smallest times over all measured
/// chunk sizes.
Bounds hardware_bounds(const schedule::Schedule& schedule, const Rates& best,
                       const timeline::Engines& engines);

/// All bounds of a schedule. `rates`: those with its chunks.
Bounds bounds(const schedule::Schedule& schedule, const Rates& rates, const Rates& best,
              const timeline::Engines& engines);

/// The rates that these bounds follow from: what limits.
std::vector<Rate> limiting_rates(const Bounds& bounds);

}  // namespace overlap::model
