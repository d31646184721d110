#pragma once

#include <optional>

#include "measure/executor.hpp"
#include "workload/workload.hpp"

namespace overlap::measure {

/// Buffers and lanes of one point.
struct Bench {
  workload::Workload workload;
  std::optional<Executor> executor;
  std::optional<Executor> meter;  ///< for rates
  /// With managed memory: the same with page-locked memory, for rates; empty: no memory.
  std::optional<workload::Workload> pinned;
};

}  // namespace overlap::measure
