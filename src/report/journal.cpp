#include "report/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace overlap::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "overlap-points/1";

[[noreturn]] void fail(const std::string& path) {
  throw base::Error(base::ExitCode::runtime_error,
                    fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw base::Error(base::ExitCode::usage, path + ": " + why);
}

/// The line that says whose points follow.
std::string first_line(const Identity& identity) {
  Json json = {{"schema", schema}};
  for (const auto& [name, words] : identity) json[name] = words;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void expect_identity(const std::string& path, const Json& found, const Identity& identity) {
  const Json wanted = Json::parse(first_line(identity));
  for (const auto& [name, words] : wanted.items()) {
    const Json there = found.value(name, Json());
    if (there == words) continue;
    refuse(path, fmt::format("{}: found points with {}, here it is {}; allowed: --resume where "
                             "the points come from, or remove the file",
                             name, there.dump(), words.dump()));
  }
}

}  // namespace

Journal::Journal(const std::string& path, const Identity& identity, bool resume) : path_(path) {
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor_ < 0) fail(path);
  try {
    struct stat status{};
    if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      refuse(path, "found no file; allowed: a file of its own next to the result file");
    }
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      refuse(path, "found in use by another run; allowed: one run a result file");
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
  std::string text;
  std::array<char, 1 << 16> piece;
  ssize_t n = 0;
  while ((n = ::read(descriptor_, piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  if (n < 0) fail(path_);
  // A process that was killed may have left a line without its end.
  const std::size_t whole = text.rfind('\n') + 1;
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < whole;) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const Json first = Json::parse(lines.empty() ? "" : lines[0], nullptr, false);
  const bool ours = first.is_object() && first.value("schema", Json()) == schema;
  if (!ours && !(lines.empty() && (text.empty() || first_line(identity).starts_with(text)))) {
    refuse(path_, "found no points of a sweep; allowed: another name for the result file");
  }
  if (lines.size() < 2) {
    if (ftruncate(descriptor_, 0) != 0) fail(path_);
    add(first_line(identity));
    keep_ = false;
    return;
  }
  expect_identity(path_, first, identity);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!Json::accept(lines[i])) {
      refuse(path_, fmt::format("line {}: found no point; allowed: remove the file", i + 1));
    }
  }
  if (!resume) {
    refuse(path_, fmt::format("found {} {} of a sweep that did not end; allowed: --resume to go "
                              "on, or remove the file",
                              lines.size() - 1, lines.size() == 2 ? "point" : "points"));
  }
  if (ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) fail(path_);
  records_.assign(lines.begin() + 1, lines.end());
  keep_ = true;
}

void Journal::add(const std::string& record) {
  const std::string line = record + '\n';
  ssize_t n = 0;
  do {
    n = write(descriptor_, line.data(), line.size());
  } while (n < 0 && errno == EINTR);
  if (n >= 0 && static_cast<std::size_t>(n) < line.size()) errno = ENOSPC;
  if (n < 0 || static_cast<std::size_t>(n) < line.size() || fsync(descriptor_) != 0) fail(path_);
  keep_ = true;
}

void Journal::remove() { keep_ = false; }

}  // namespace overlap::report
