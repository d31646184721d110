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

/// The text of a result file without the long lists that devices_of() does not read.
std::string without_lists(const std::string& text);

/// A file to read.
struct SourceFile {
  std::string path;
  bool named = false;  ///< by itself, not by its folder
};

/// Files, and all *.json files of folders, each once. Throws base::Error for a folder that cannot
/// be read or has no such file.
std::vector<SourceFile> source_files(const std::vector<std::string>& files_or_folders);

/// Whether a file is left out: it lies in a folder and is another kind of file of this program.
bool is_left_out(const SourceFile& file);

/// The devices of all files, read on all processors; nothing is kept of a file but its records. A
/// file that is no result is listed as broken, one that is left out with a line that says so.
experiment::FleetInput read_devices(const std::vector<SourceFile>& files);

/// Host names of a file, one or several a line; `#` starts a comment. Throws base::Error{usage}.
std::vector<std::string> read_hosts(const std::string& file);

}  // namespace overlap::report
