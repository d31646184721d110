#include "report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace overlap::report {
namespace {

constexpr std::size_t least_room = 64 << 10;  // bytes on the disk, before anything runs

[[noreturn]] void fail(const std::string& path, const std::string& why = std::strerror(errno)) {
  throw base::Error(base::ExitCode::runtime_error, fmt::format("{}: cannot write: {}", path, why));
}

/// A descriptor that is closed at the end.
struct Open {
  int descriptor;
  explicit Open(int number) : descriptor(number) {}
  ~Open() { close(descriptor); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
};

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

/// Whether it names an open file of this process, which no other file may replace.
bool is_open_file(const std::string& path) {
  return path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/self/fd/");
}

/// The file of a name, the same for all names of one file.
std::string place_of(const std::string& path) {
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(path, ignored);
  const auto canonical = std::filesystem::weakly_canonical(absolute, ignored);
  return canonical.empty() ? path : canonical.string();
}

/// A new file beside another one, for its next content. Throws if it cannot be created.
std::pair<std::string, int> open_beside(const std::string& path) {
  std::string name = fmt::format("{}.{}", place_of(path), getpid());
  const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(path);
  return {std::move(name), descriptor};
}

/// Writes all of a file until the disk has it, and closes it.
void write_to_disk(int descriptor, const std::string& path, std::string_view content) {
  const Open file(descriptor);
  write_all(descriptor, path, content);
  if (fsync(descriptor) != 0) fail(path);
}

/// The lock beside an output, until its owner goes; null: this user cannot lock it. Throws
/// base::Error{usage} if another process has it.
std::shared_ptr<void> lock(const std::string& path, const std::string& option) {
  const std::string name = place_of(path) + ".lock";
  const int descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  // What another user's killed process left is no reason not to write the result.
  if (descriptor < 0 && (errno == EACCES || errno == EPERM)) return nullptr;
  if (descriptor < 0) fail(path);
  auto file = std::make_unique<Open>(descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: found {}, which another process is going to write; allowed: "
                                  "one file for each process",
                                  option, path));
  }
  struct stat opened{};
  if (fstat(descriptor, &opened) != 0 || opened.st_size > 0) return file;  // somebody's file
  if (opened.st_nlink == 0) return lock(path, option);  // its last owner has just removed it
  return {file.release(), [name](Open* locked) {
            unlink(name.c_str());
            delete locked;
          }};
}

}  // namespace

void write_all(int descriptor, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) fail(path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool is_stream(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return is_standard_output(path) || is_open_file(path) ||
         (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
          !std::filesystem::is_directory(status));
}

void require_writable(const std::string& path) {
  std::error_code ignored;
  if (path.empty()) fail("''", "the file name is empty");
  if (std::filesystem::is_directory(path, ignored)) fail(path, "is a folder");
  if (is_stream(path)) {
    if (!is_standard_output(path) && access(path.c_str(), W_OK) != 0) fail(path);
    return;
  }
  const auto [name, descriptor] = open_beside(path);
  unlink(name.c_str());
  write_to_disk(descriptor, path, std::string(least_room, ' '));
}

void Files::reads(const std::string& path, const std::string& description) {
  if (!path.empty()) descriptions_.emplace(place_of(path), description);
}

void Files::writes(const std::string& path, const std::string& option) {
  require_writable(path);
  if (is_stream(path)) return;
  const auto [registered, is_new] = descriptions_.emplace(place_of(path), option);
  if (!is_new) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: found {}, which is also {}; allowed: one file for each",
                                  option, path, registered->second));
  }
  locks_.push_back(lock(path, option));
}

void Files::draft(const std::string& path, const std::string& content) {
  if (const auto [former, is_new] = former_.try_emplace(path);
      is_new && std::filesystem::exists(path)) {
    constexpr auto any_size = std::numeric_limits<std::size_t>::max();
    former->second = base::read_file(path, any_size, "", base::ExitCode::runtime_error);
  }
  write_file(path, content);
}

void Files::restore() {
  for (const auto& [path, content] : std::exchange(former_, {})) {
    try {
      content ? write_file(path, *content) : static_cast<void>(std::filesystem::remove(path));
    } catch (const std::exception&) {  // the draft stays
    }
  }
}

void write_file(const std::string& path, const std::string& content) {
  if (is_standard_output(path)) return write_all(STDOUT_FILENO, path, content);
  if (is_stream(path)) {
    const Open stream(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    return write_all(stream.descriptor, path, content);
  }
  const auto [name, descriptor] = open_beside(path);
  try {
    write_to_disk(descriptor, path, content);
    if (std::rename(name.c_str(), place_of(path).c_str()) != 0) fail(path);
  } catch (...) {
    unlink(name.c_str());
    throw;
  }
}

}  // namespace overlap::report
