#pragma once

#include "measure/platform.hpp"

/// The part of the platform that only a vendor's runtime knows. Together with devices(),
/// has_graphs(), page_locked() and page_lock() it has one file per vendor, which CMake picks.
namespace overlap::measure::vendor {

/// The version of the vendor's toolkit; empty without one.
std::string toolkit();

/// Throws base::Error{precondition} when there is no device to run on. Needs no Kokkos runtime.
void require_device();

/// The device that Kokkos chose.
DeviceInfo chosen_device();

/// Reads again what changes with the load.
void update(DeviceInfo& device);

}  // namespace overlap::measure::vendor
