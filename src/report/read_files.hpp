#pragma once

#include <string>
#include <vector>

#include "experiment/fleet.hpp"
#include "experiment/recorded.hpp"

/// Reads result files.
namespace overlap::report {

/// How much of a file to read: inputs of the metrics only, or also measured timelines and decks
/// that failed to run.
enum class Extent { metrics, all };

/// The results of the given files and of all *.json files in given folders, in this order, folders
/// sorted by name. Throws base::Error{runtime_error} with file and field in one line for files that
/// are not results, wrong data, interrupted runs and predictions.
std::vector<experiment::Recorded> read_results(const std::vector<std::string>& files_or_folders,
                                               Extent extent = Extent::metrics);

/// The results in the text of one file.
std::vector<experiment::Recorded> results_of(const std::string& file, const std::string& text,
                                             Extent extent = Extent::metrics);

/// The devices of one result file, one record per deck, including errors and interrupted runs.
/// Throws base::Error with file and field in one line for anything that is not a result of a
/// device: broken files, predictions, sweeps.
std::vector<experiment::DeviceRecord> devices_of(const std::string& file, const std::string& text);

/// Removes the long lists that devices_of() does not read from a result file.
std::string without_lists(const std::string& text);

/// A file to read.
struct SourceFile {
  std::string path;
  bool named = false;  ///< given by its own name, not through its folder
};

/// The given files and all *.json files of given folders, each once. Throws base::Error for a
/// folder that cannot be read or has no such file.
std::vector<SourceFile> source_files(const std::vector<std::string>& files_or_folders);

/// Whether to ignore a file: found through a folder, and another kind of file of this program.
bool is_left_out(const SourceFile& file);

/// Reads the devices of all files in parallel; keeps only their records in memory. Lists files that
/// are not results as broken, and ignored files with a line each.
experiment::FleetInput read_devices(const std::vector<SourceFile>& files);

/// `host` or `host:devices` from a file, separated by blanks or line breaks; `#` starts a comment.
/// Throws base::Error{usage} for anything that is no host name, and for an empty list.
std::vector<experiment::ExpectedHost> read_hosts(const std::string& file);

}  // namespace overlap::report
