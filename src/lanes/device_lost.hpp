#pragma once

#include "base/error.hpp"

namespace overlap::lanes {

/// The device is in a state from which this process cannot recover: nothing on it can be freed or
/// finalized any more. Whatever holds memory or lanes must outlive this error: see measure::Bench.
struct DeviceLost : base::Error {
  explicit DeviceLost(const base::Error& error) : base::Error(error) {}
};

}  // namespace overlap::lanes
