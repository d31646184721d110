#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/device.hpp"

/// Reading and writing device files.
namespace overlap::model {

/// A device file to start from, which predicts all workloads.
extern const std::string_view first_device_file;

/// A name that is not shipped.
struct UnknownDevice : base::Error {
  using Error::Error;
};

/// Reads a device description: a name (without '/' and '.yaml') of a file in input/devices, or a
/// path. Pageable copies without a description take as long as pinned ones. Throws Error{usage}
/// with the place, the found value, the allowed values and the nearest match.
Device load_device(const std::string& name_or_path);

/// Reads several devices, and numbers those that share a name: "h200", "h200 2".
std::vector<Device> load_devices(const std::vector<std::string>& names_or_paths);

/// The shipped device that was measured on such a device and link; empty: there is none.
std::optional<Device> shipped_device(const Match& match);

/// Names of the devices in input/devices, sorted.
std::vector<std::string> device_names();

/// A device file that load_device() reads back as an equal device, with seven significant digits.
/// `heading`: how and when it was measured, one or more lines.
std::string to_yaml(const Device& device, const std::string& heading);

}  // namespace overlap::model
