#pragma once

#include <string>
#include <variant>
#include <vector>

#include "results/compare.hpp"
#include "results/fleet.hpp"

/// Reads the files of commands.
namespace overlap::results {

/// The files that the arguments of a command stand for.
struct Sources {
  std::vector<std::string> files;
  std::vector<std::string>
      others;  ///< skipped in folders: no *.json, and other files of this program
};

/// The given files and all *.json files of given folders and their subfolders, each once, folders
/// sorted by name. Throws base::Error for a folder that cannot be read or has no such file.
Sources source_files(const std::vector<std::string>& files_or_folders);

/// "skipped 2 files, no result: a.txt, b.csv"; `files` is not empty.
std::string text_of_left_out(const std::vector<std::string>& files);

/// What to read of files, and which decks: those that ran, without timelines; or all.
enum class Extent { metrics, all };

/// The measured results of files and folders. Throws base::Error with file and field in one line
/// for files that are not results, wrong data, interrupted runs and predictions.
std::vector<Result> read_measured(const std::vector<std::string>& files_or_folders,
                                  Extent extent = Extent::metrics);

/// The measured results in the text of one file.
std::vector<Result> measured_results(const std::string& file, const std::string& text,
                                     Extent extent = Extent::metrics);

/// The devices of one result file, one per deck, including errors and interrupted runs; see
/// device_of(). Throws base::Error with file and field in one line for anything that is not a
/// result of a device: broken files, predictions, sweeps.
std::vector<FleetDevice> devices_of(const std::string& file, const std::string& text,
                                    const Reference* reference = nullptr);

/// Reads the devices of all files in parallel; keeps nothing else in memory. Lists files that are
/// not results as broken.
Fleet read_devices(const Sources& sources, const Reference* reference = nullptr);

/// What a file of this program holds. Throws base::Error with file and field in one line.
using Content = std::variant<std::vector<Result>, Fleet, Comparisons>;
Content read_content(const std::string& file);

/// `host` or `host:devices` from each line of a file; `#` starts a comment. Throws
/// base::Error{usage} for anything else, and for an empty list.
std::vector<ExpectedHost> read_hosts(const std::string& file);

}  // namespace overlap::results
