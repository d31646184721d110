#pragma once

#include <string>
#include <vector>

#include "model/device.hpp"

/// Device files: reading them and writing them.
namespace overlap::model {

/// Reads a device description: a name (without '/' and '.yaml') of one in input/devices, or the
/// path of a file. Pageable copies that it does not describe take as long as pinned ones. Throws
/// Error{usage} that says what was found where, what is allowed, and the nearest match.
Device load_device(const std::string& name_or_path);

/// Names of the devices in input/devices, sorted.
std::vector<std::string> device_names();

/// A device file that load_device() reads back as an equal device, numbers rounded to seven
/// significant digits. `how` tells how and when it was measured; it may have several lines.
std::string to_yaml(const Device& device, const std::string& how);

}  // namespace overlap::model
