#include "results/read_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <span>
#include <sstream>

#include "base/input_file.hpp"
#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "results/describe.hpp"

namespace overlap::results {
namespace {

using base::ExitCode;
using describe::Reader;

[[noreturn]] void fail(const std::string& message) {
  throw base::Error(ExitCode::runtime_error, message);
}

std::string content_of(const std::string& file) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  return base::read_file(file, most_bytes, "a result file", ExitCode::runtime_error);
}

/// What is most of a file and what no figure needs.
constexpr auto bulk =
    std::to_array<std::string_view>({"timeline", "predicted_timeline", "devices", "comparisons"});

describe::Document parsed(const std::string& file, const std::string& text,
                          Extent extent = Extent::metrics) {
  std::span<const std::string_view> without;
  if (extent == Extent::metrics) without = bulk;
  return describe::parse_json(file, text, without);
}

Result read_result(const Reader& reader, const Rule& rule) {
  Result result;
  describe::read(reader, result);
  result.file = reader.document().origins.front();
  if (rule) rule(reader, result);
  return result;
}

/// Requires measured and verified runs, or points that did not run.
void require_measured(const Reader& file, const Result& result, Extent extent) {
  const bool has_runs =
      std::ranges::any_of(result.points, [](const Point& point) { return !point.runs.empty(); });
  if (result.error && !has_runs && extent != Extent::all) {
    file.at("error").fail(fmt::format("found {}; allowed: null", describe::quoted(*result.error)));
  }
  if (result.interrupted())
    file.at("verdict").fail("found an interrupted run; allowed: a whole one");
  if (!result.error && !has_runs) {
    file.at("points").fail("found no run; allowed: measured runs");
  }
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const std::vector<Run>& runs = result.points[i].runs;
    for (std::size_t j = 0; j < runs.size(); ++j) {
      const Reader at = file.at("points").item(i).at("runs").item(j);
      if (!runs[j].ran()) at.at("samples_s").fail("found a prediction; allowed: measured runs");
      if (!runs[j].wrong && runs[j].verified) continue;
      throw base::Error(ExitCode::wrong_data, fmt::format("{}: {}: found wrong data; allowed: true",
                                                          result.file, at.at("verified").path()));
    }
  }
}

/// Requires runs of one device without a sweep, or the reason why there are none.
void require_device(const Reader& file, const Result& result) {
  if (result.sweeps()) {
    file.at("points").fail("found a sweep; allowed: a deck without a sweep");
  }
  if (result.predicts()) {
    file.at("predicted_for").fail("found a prediction; allowed: measured runs");
  }
  if (result.ran() || result.error || result.interrupted()) return;
  file.at("points").fail("found no run; allowed: measured runs");
}

/// " (host n1)" as the beginning of a result file says.
std::string host_in(const std::string& text) {
  static const std::regex host(R"re("host"\s*:\s*\{\s*"name"\s*:\s*"([^"\\]+)")re");
  constexpr std::ptrdiff_t most_bytes = 1 << 12;  // std::regex takes stack for each character
  const auto end = text.begin() + std::min<std::ptrdiff_t>(std::ssize(text), most_bytes);
  std::smatch found;
  return std::regex_search(text.begin(), end, found, host) ? " (host " + found.str(1) + ")" : "";
}

/// Whether it begins as the other files of this program do: with another schema.
bool is_other_kind(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;
  std::string begin(1 << 12, '\0');
  std::ifstream(file).read(begin.data(), std::ssize(begin));
  return begin.find("\"overlap-result/") == begin.npos &&
         (begin.find("\"overlap-fleet/") != begin.npos ||
          begin.find("\"overlap-comparison/") != begin.npos ||
          begin.find("\"overlap-reference/") != begin.npos);
}

bool is_json(const std::string& file) { return file.ends_with(".json"); }

/// The regular files of a folder and its subfolders, and links that are broken, by name. Throws
/// where a folder cannot be read, or if there is no file *.json.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const bool is_lock = entry.path().extension() == ".lock";  // left by a killed process
    const bool is_file = entry.is_regular_file() || (entry.is_symlink() && !entry.is_directory());
    if (is_file && !is_lock) files.push_back(entry.path().string());
  }
  if (std::ranges::none_of(files, is_json)) {
    fail(folder + ": found no file *.json; allowed: a folder with result files");
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Sources source_files(const std::vector<std::string>& files_or_folders) {
  Sources sources;
  std::set<std::string> seen;
  for (const std::string& path : files_or_folders) {
    std::error_code unknown;
    const bool named = !std::filesystem::is_directory(path, unknown);
    for (std::string& file : named ? std::vector{path} : files_in(path)) {
      const auto place = std::filesystem::absolute(file, unknown).lexically_normal();
      if (!seen.insert(place.string()).second) continue;
      const bool reads = named || (is_json(file) && !is_other_kind(file));
      (reads ? sources.files : sources.others).push_back(std::move(file));
    }
  }
  return sources;
}

std::string text_of_left_out(const std::vector<std::string>& files) {
  constexpr std::size_t most = 8;
  const auto named = std::span(files).first(std::min(files.size(), most));
  std::string text = fmt::format("skipped {}, no result: {}", base::counted(files.size(), "file"),
                                 fmt::join(named, ", "));
  if (files.size() > most) text += fmt::format(" and {} more", files.size() - most);
  return base::one_line(text);
}

std::vector<Result> read_results(const describe::Document& document, const Rule& rule) {
  const Reader root(document);
  std::vector<Result> results;
  if (!root.has("results")) return {read_result(root, rule)};
  for (const Reader& item : root.at("results").items("a list of results")) {
    results.push_back(read_result(item, rule));
  }
  if (results.empty()) root.at("results").fail("found no result; allowed: one per deck");
  return results;
}

std::vector<Result> measured_results(const std::string& file, const std::string& text,
                                     Extent extent) {
  return read_results(parsed(file, text, extent), [&](const Reader& reader, const Result& result) {
    require_measured(reader, result, extent);
  });
}

std::vector<Result> read_measured(const std::vector<std::string>& files_or_folders, Extent extent) {
  std::vector<Result> results;
  for (const std::string& file : source_files(files_or_folders).files) {
    base::check_interrupt();
    std::ranges::move(measured_results(file, content_of(file), extent),
                      std::back_inserter(results));
  }
  if (results.empty()) {
    fail(files_or_folders.front() + ": found no result file; allowed: at least one");
  }
  return results;
}

std::vector<FleetDevice> devices_of(const std::string& file, const std::string& text,
                                    const Reference* reference) {
  std::vector<FleetDevice> devices;
  for (const Result& result : read_results(parsed(file, text), require_device)) {
    devices.push_back(device_of(result, reference));
  }
  return devices;
}

Fleet read_devices(const Sources& sources, const Reference* reference) {
  std::vector<Fleet> readings(sources.files.size());
  const auto read = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      base::check_interrupt();
      const std::string& file = sources.files[i];
      std::string text;
      try {
        text = content_of(file);
        readings[i].devices = devices_of(file, text, reference);
      } catch (const base::Error& error) {
        readings[i].broken.push_back({file, error.what() + host_in(text)});
      }
    }
  };
  constexpr std::int64_t least_files = 16;  // of a thread
  base::parallel_for(std::ssize(readings), read, least_files);
  Fleet fleet{.files = readings.size(), .left_out = sources.others};
  for (Fleet& reading : readings) {
    std::ranges::move(reading.devices, std::back_inserter(fleet.devices));
    std::ranges::move(reading.broken, std::back_inserter(fleet.broken));
  }
  return fleet;
}

Content read_content(const std::string& file) {
  const describe::Document document = parsed(file, content_of(file), Extent::all);
  const Reader reader(document), schema = reader.at("schema");
  const std::string name = schema.is_text() ? schema.text() : "";
  const auto read = [&](auto content) {
    describe::read(reader, content);
    return content;
  };
  if (name == fleet_schema) return read(Fleet());
  if (name == comparison_schema) return read(Comparisons());
  return read_results(document);
}

std::vector<ExpectedHost> read_hosts(const std::string& file) {
  constexpr std::size_t most_bytes = std::size_t{1} << 26;
  constexpr std::size_t longest_name = 255, most_shown = 400;
  constexpr int most_devices = 1024;
  // Of names as gethostname() returns them, without signs that only lists have.
  constexpr std::string_view letters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-.";
  std::vector<ExpectedHost> hosts;
  std::istringstream lines(
      base::read_file(file, most_bytes, "a file of host names", ExitCode::usage));
  lines.exceptions(std::ios::badbit);  // a lack of memory must not shorten the list
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word, second;
    if (!(words >> word)) continue;
    const std::size_t colon = word.find(':');
    const std::string name = word.substr(0, colon);
    const auto devices = colon == word.npos ? 1 : base::parse_count(word.substr(colon + 1));
    const bool is_name = letters.find_last_of(name.substr(0, 1)) < letters.find('-') &&
                         name.find_first_not_of(letters) == name.npos &&
                         name.size() <= longest_name;
    if (!is_name || devices < 1 || devices > most_devices || words >> second) {
      throw base::Error(
          ExitCode::usage,
          fmt::format("{}:{}: found {}; allowed: one host per line, as `scontrol show hostnames` "
                      "prints them, alone or with the number of its devices, such as node7:8",
                      file, number, describe::quoted(line.substr(0, most_shown))));
    }
    hosts.push_back({name, static_cast<int>(*devices)});
  }
  if (hosts.empty()) {
    throw base::Error(ExitCode::usage, file + ": found no host; allowed: host names");
  }
  return hosts;
}

}  // namespace overlap::results
