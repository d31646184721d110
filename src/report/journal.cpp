#include "report/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "describe/document.hpp"
#include "report/output_file.hpp"

namespace overlap::report {
namespace {

using describe::Json;

constexpr const char* journal_schema = "overlap-points/1";

[[noreturn]] void fail(const std::string& path) {
  throw base::Error(base::ExitCode::runtime_error,
                    fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw base::Error(base::ExitCode::usage, path + ": " + why);
}

/// The line of a record, an object of JSON: with the sum that tells whether it is as it was
/// written.
std::string line_of(const std::string& record) {
  return fmt::format("{},\"sum\":\"{}\"}}", record.substr(0, record.size() - 1),
                     base::sha256(record).substr(0, 16));
}

/// The record of a line; empty: the line is none, or not as it was written.
std::optional<std::string> record_of(const std::string& line) {
  const std::size_t end = line.rfind(",\"sum\":");
  if (end == line.npos) return std::nullopt;
  std::string record = line.substr(0, end) + "}";
  return line_of(record) == line ? std::optional(std::move(record)) : std::nullopt;
}

/// The line that says whose points follow.
std::string header(const Identity& identity) {
  Json json = {{"schema", journal_schema}};
  for (const auto& [name, value] : identity) json[name] = value;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Journal::Journal(const std::string& path, const Identity& identity, bool resume) : path_(path) {
  constexpr int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
  descriptor_ = open(path_.c_str(), flags, 0666);
  if (descriptor_ < 0) fail(path_);
  try {
    struct stat opened{};
    if (fstat(descriptor_, &opened) != 0 || !S_ISREG(opened.st_mode)) {
      refuse(path_, "found no regular file; allowed: a file of its own next to the result file");
    }
    read(identity, resume);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

Journal::~Journal() {
  if (!keep_) unlink(path_.c_str());
  close(descriptor_);
}

void Journal::read(const Identity& identity, bool resume) {
  std::ifstream file(path_);
  std::vector<std::string> lines;
  std::string line;
  std::size_t intact = 0;  // bytes of complete lines
  // A process that was killed may have left a line without its end.
  for (; std::getline(file, line) && !file.eof(); intact += line.size() + 1) lines.push_back(line);
  if (file.bad()) fail(path_);
  const std::string first_line = header(identity);
  Json first;
  try {
    if (!lines.empty()) first = describe::parse_json(path_, lines[0]).root;
  } catch (const base::Error&) {  // another file
  }
  const bool ours = first.is_object() && first.value("schema", Json()) == journal_schema;
  if (!ours && !(lines.empty() && first_line.starts_with(line))) {
    refuse(path_, "found no points of a sweep; allowed: another name for the result file");
  }
  if (lines.size() < 2) {
    if (ftruncate(descriptor_, 0) != 0) fail(path_);
    write_all(descriptor_, path_, first_line + '\n');
    return;
  }
  const Json wanted = Json::parse(first_line);
  for (const auto& [name, value] : wanted.items()) {
    const Json found = first.value(name, Json());
    if (found == value) continue;
    refuse(path_, fmt::format("{}: found points with {}, here it is {}; allowed: --resume where "
                              "the points come from, or remove the file",
                              name, found.dump(), value.dump()));
  }
  std::vector<std::string> records;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto record = record_of(lines[i]);
    if (!record) {
      refuse(path_, fmt::format("line {}: found a damaged point; allowed: remove the line or the "
                                "file",
                                i + 1));
    }
    records.push_back(*record);
  }
  if (!resume) {
    refuse(path_, fmt::format("found {} {} of an unfinished sweep; allowed: --resume to "
                              "continue, or remove the file",
                              lines.size() - 1, lines.size() == 2 ? "point" : "points"));
  }
  if (ftruncate(descriptor_, static_cast<off_t>(intact)) != 0) fail(path_);
  records_ = std::move(records);
  keep_ = true;
}

void Journal::add(const std::string& record) {
  write_all(descriptor_, path_, line_of(record) + '\n');
  if (fsync(descriptor_) != 0) fail(path_);
  keep_ = true;
}

void Journal::remove() { keep_ = false; }

}  // namespace overlap::report
