#pragma once

#include <memory>
#include <vector>

#include "base/error.hpp"

namespace overlap::lanes {

/// The device is in a state from which this process cannot recover: nothing on it can be freed or
/// finalized any more.
struct DeviceLost : base::Error {
  explicit DeviceLost(const base::Error& error) : base::Error(error) {}

  std::vector<std::shared_ptr<const void>> kept = {};  ///< what must not be freed
};

/// body(). If the device is lost in it, copies of `owners` remain, so that what they share is not
/// freed.
template <class Body, class... Owners>
auto keep_if_lost(const Body& body, const Owners&... owners) {
  try {
    return body();
  } catch (DeviceLost& error) {
    (error.kept.push_back(std::make_shared<Owners>(owners)), ...);
    throw;
  }
}

}  // namespace overlap::lanes
