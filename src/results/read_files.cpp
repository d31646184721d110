#include "results/read_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>

#include "base/input_file.hpp"
#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
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
constexpr auto bulk = std::to_array<std::string_view>(
    {"timeline", "predicted_timeline", "health_series", "series", "devices", "comparisons"});

describe::Document parsed(const std::string& file, const std::string& text,
                          Extent extent = Extent::metrics) {
  std::span<const std::string_view> without;
  if (extent == Extent::metrics) without = bulk;
  return describe::parse_json(file, text, without);
}

/// The schema of another kind of file of this program; empty: it is none.
std::string other_schema(const describe::Document& document) {
  const Reader schema = Reader(document).at("schema");
  const bool other = schema.is_text() && schema.text().starts_with("overlap-") &&
                     !schema.text().starts_with("overlap-result/");
  return other ? schema.text() : "";
}

/// Requires measured and verified runs without a sweep's skipped points.
void require_measured(const Reader& file, const Result& result, Extent extent) {
  if (!result.error.empty() && result.runs.empty() && extent != Extent::all) {
    file.at("error").fail(fmt::format("found {}; allowed: null", describe::quoted(result.error)));
  }
  if (result.interrupted) file.at("interrupted").fail("found true; allowed: false");
  if (result.error.empty() && result.runs.empty()) {
    file.at("runs").fail("found no run; allowed: measured runs");
  }
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const Run& run = result.runs[i];
    const Reader at = file.at("runs").item(i);
    if (!run.ran()) at.at("samples_s").fail("found a prediction; allowed: measured runs");
    if (!run.wrong && run.verified) continue;
    throw base::Error(ExitCode::wrong_data, fmt::format("{}: {}: found wrong data; allowed: true",
                                                        result.file, at.at("verified").path()));
  }
}

std::vector<Result> measured(const describe::Document& document, Extent extent) {
  return read_results(document, [&](const Reader& reader, const Result& result) {
    require_measured(reader, result, extent);
  });
}

/// Requires runs of one device without a sweep, or the reason why there are none.
void require_device(const Reader& file, const Result& result) {
  bool predicted = false;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    predicted = predicted || !result.runs[i].ran();
    if (result.runs[i].point.empty()) continue;
    file.at("runs").item(i).at("point").fail("found a sweep; allowed: a deck without a sweep");
  }
  const bool ended_early = !result.error.empty() || result.interrupted;
  if ((result.ran() && !predicted) || ended_early) return;
  file.at("runs").fail(
      fmt::format("found {}; allowed: measured runs", predicted ? "a prediction" : "no run"));
}

/// What became of one file.
struct Reading {
  std::vector<Device> devices;
  std::string broken;    ///< why it is
  std::string left_out;  ///< the same
};

std::vector<Device> devices_in(const describe::Document& document) {
  std::vector<Device> devices;
  for (const Result& result : read_results(document, require_device)) {
    devices.push_back(device_of(result));
  }
  return devices;
}

Reading reading_of(const SourceFile& file) {
  Reading reading;
  try {
    const describe::Document document = parsed(file.path, content_of(file.path));
    const std::string schema = file.named ? "" : other_schema(document);
    if (schema.empty()) {
      reading.devices = devices_in(document);
    } else {
      reading.left_out =
          base::one_line(fmt::format("{}: {}, not a result file; skipped", file.path, schema));
    }
  } catch (const base::Error& error) {
    reading.broken = error.what();
  }
  return reading;
}

/// The files *.json of a folder, by name. Throws base::Error{runtime_error}, also if there is none.
std::vector<std::string> files_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (auto at = std::filesystem::directory_iterator(folder, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  }
  if (error) fail(folder + ": cannot read: " + error.message());
  if (files.empty()) {
    fail(folder + ": found no file *.json; allowed: a folder with result files");
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<SourceFile> source_files(const std::vector<std::string>& files_or_folders) {
  std::vector<SourceFile> files;
  std::set<std::string> known;
  for (const std::string& path : files_or_folders) {
    std::error_code unknown;
    const bool named = !std::filesystem::is_directory(path, unknown);
    for (std::string& file : named ? std::vector{path} : files_in(path)) {
      const auto place = std::filesystem::absolute(file, unknown).lexically_normal();
      if (known.insert(place.string()).second) files.push_back({std::move(file), named});
    }
  }
  return files;
}

bool is_left_out(const SourceFile& file) {
  try {
    return !file.named && !other_schema(parsed(file.path, content_of(file.path))).empty();
  } catch (const base::Error&) {
    return false;
  }
}

std::vector<Result> measured_results(const std::string& file, const std::string& text,
                                     Extent extent) {
  return measured(parsed(file, text, extent), extent);
}

std::vector<Result> read_measured(const std::vector<std::string>& files_or_folders, Extent extent) {
  std::vector<Result> results;
  for (const SourceFile& file : source_files(files_or_folders)) {
    base::check_interrupt();
    const describe::Document document = parsed(file.path, content_of(file.path), extent);
    if (!file.named && !other_schema(document).empty()) continue;
    std::ranges::move(measured(document, extent), std::back_inserter(results));
  }
  if (results.empty()) {
    fail(files_or_folders.front() + ": found no result file; allowed: at least one");
  }
  return results;
}

std::vector<Device> devices_of(const std::string& file, const std::string& text) {
  return devices_in(parsed(file, text));
}

FleetInput read_devices(const std::vector<SourceFile>& files) {
  std::vector<Reading> readings(files.size());
  const auto read = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      base::check_interrupt();
      readings[i] = reading_of(files[i]);
    }
  };
  constexpr std::int64_t least_files = 16;  // of a thread
  base::parallel_for(static_cast<std::int64_t>(files.size()), read, least_files);
  FleetInput input{.devices = {}, .broken = {}, .left_out = {}, .files = files.size()};
  for (std::size_t i = 0; i < files.size(); ++i) {
    Reading& reading = readings[i];
    std::ranges::move(reading.devices, std::back_inserter(input.devices));
    if (!reading.broken.empty()) input.broken.push_back({files[i].path, reading.broken});
    if (!reading.left_out.empty()) input.left_out.push_back(reading.left_out);
  }
  return input;
}

Content read_content(const std::string& file) {
  const describe::Document document = parsed(file, content_of(file), Extent::all);
  const std::string schema = other_schema(document);
  if (schema.empty()) return read_results(document);
  const auto read = [&](auto content) {
    describe::read(Reader(document), content);
    return content;
  };
  if (schema == fleet_schema) return read(Fleet());
  return read(Comparisons());  // whose schema is the only other one
}

}  // namespace overlap::results
