#pragma once

#include <optional>

#include "measure/measure.hpp"

namespace overlap::measure {

/// Arrays and lanes in use, of one point or calibration. They are held here, not by the functions
/// that use them, so that a lost device, on which nothing can be freed, may be left by an
/// exception.
struct Bench {
  workload::Workload workload;
  std::optional<Executor> executor;
  std::optional<Executor> meter;  ///< for rates
  /// With managed memory: the same with page-locked memory, for rates; empty: no memory.
  std::optional<workload::Workload> pinned;
  std::optional<LinkMeter> link;
};

}  // namespace overlap::measure
