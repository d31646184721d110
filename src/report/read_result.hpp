#pragma once

#include <string>
#include <vector>

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

}  // namespace overlap::report
