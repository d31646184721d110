#pragma once

#include <string>
#include <vector>

#include "experiment/recorded.hpp"

/// Reading result files.
namespace overlap::report {

/// How much of a file is read: what metrics are made from, or measured timelines and decks that
/// could not run as well.
enum class Extent { metrics, all };

/// The results of files, and of all *.json files in folders, in their sequence; a folder's by name.
/// Throws base::Error{runtime_error}, one line that names the file and the field: for what is no
/// result file, for wrong data, for interrupted runs and for what was not measured.
std::vector<experiment::Recorded> read_results(const std::vector<std::string>& files_or_folders,
                                               Extent extent = Extent::metrics);

/// The same of a file's text.
std::vector<experiment::Recorded> results_of(const std::string& file, const std::string& text,
                                             Extent extent = Extent::metrics);

}  // namespace overlap::report
