#pragma once

#include <string>
#include <vector>

#include "experiment/fleet.hpp"

/// Reading many result files as devices of a fleet.
namespace overlap::report {

/// The devices of one result file's text, one record per deck; errors and interrupted runs are
/// records, too. Throws base::Error, one line that names the file and the field, for what is no
/// result of a device: broken files, predictions, sweeps.
std::vector<experiment::DeviceRecord> devices_of(const std::string& file, const std::string& text);

/// The same of files, and of all *.json files in folders, on all processors; nothing is kept of a
/// file but its records. A file that cannot be read is listed as broken; other files of this
/// program in folders are left out with a line that says so. Throws base::Error for a folder
/// that cannot be read or has no file *.json.
experiment::FleetInput read_devices(const std::vector<std::string>& files_or_folders);

/// Host names of a file, one or several a line; `#` starts a comment. Throws base::Error{usage}.
std::vector<std::string> read_hosts(const std::string& file);

}  // namespace overlap::report
