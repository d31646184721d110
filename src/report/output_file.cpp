#include "report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace overlap::report {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why = std::strerror(errno)) {
  throw base::Error(base::ExitCode::runtime_error, fmt::format("{}: cannot write: {}", path, why));
}

/// The result of a call of the system, again for as long as a signal interrupts it.
template <class Call>
int uninterrupted(const Call& call) {
  int result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

void remove_file(const std::string& path) {
  uninterrupted([&] { return unlink(path.c_str()); });
}

/// An open file.
struct Open {
  int descriptor = -1;

  explicit Open(int number) : descriptor(number) {}
  ~Open() {
    if (descriptor >= 0) close(descriptor);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  /// Closes it; throws if what was written is not safe. Linux closes a file even if a signal
  /// interrupts the call.
  void finish(const std::string& path) {
    if (close(std::exchange(descriptor, -1)) != 0 && errno != EINTR) fail(path);
  }
};

/// A file beside another one with a new name.
int open_beside(const std::string& target, std::string& name) {
  const int descriptor = uninterrupted([&] {
    name = target + ".XXXXXX";
    return mkstemp(name.data());
  });
  if (descriptor < 0) fail(target);
  return descriptor;
}

/// Opens a device or a pipe for writing. Waits a while for a process that reads the pipe.
int open_stream(const std::string& path) {
  using namespace std::chrono_literals;
  for (int waits = 0;; ++waits) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0) {
      if (fcntl(descriptor, F_SETFL, O_WRONLY) != 0) fail(path);
      return descriptor;
    }
    if (errno != ENXIO || !std::filesystem::is_fifo(path)) fail(path);
    base::check_interrupt();
    if (waits == 200) fail(path, "no process has read this pipe for 10 s");
    std::this_thread::sleep_for(50ms);
  }
}

/// Where a file name leads.
struct Target {
  std::filesystem::path path;     ///< its last part is no link
  std::optional<int> descriptor;  ///< what the process has open under names such as /dev/stdout
};

/// Follows links ("-": standard output), so that writing beside and renaming replaces the file and
/// not a link to it.
Target follow(const std::string& name) {
  constexpr int most_links = 40;
  if (name == "-") return {.path = name, .descriptor = STDOUT_FILENO};
  Target target{.path = name, .descriptor = {}};
  std::error_code error;
  for (int i = 0; i < most_links; ++i) {
    const auto folder = target.path.has_parent_path() ? target.path.parent_path() : ".";
    if (std::filesystem::equivalent(folder, "/proc/self/fd", error)) {
      const std::string number = target.path.filename().string();
      int descriptor = -1;
      std::from_chars(number.data(), number.data() + number.size(), descriptor);
      target.descriptor = descriptor;
      return target;
    }
    const auto next = std::filesystem::read_symlink(target.path, error);
    if (error) return target;
    target.path = folder / next;
  }
  fail(name, std::strerror(ELOOP));
}

/// Where a name leads, the same for all names of one file.
std::string place_of(const std::string& path) {
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(follow(path).path, ignored);
  const auto canonical = std::filesystem::weakly_canonical(absolute, ignored);
  return canonical.empty() ? path : canonical.string();
}

/// The lock beside an output, until its owner goes; null: this user cannot lock it. Throws
/// base::Error{usage} if another process has it.
std::shared_ptr<void> lock(const std::string& path, const std::string& option) {
  const std::string name = follow(path).path.string() + ".lock";
  while (true) {
    constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    const auto file =
        std::make_shared<Open>(uninterrupted([&] { return open(name.c_str(), flags, 0666); }));
    // Another user's lock file is no reason not to write the result.
    if (file->descriptor < 0 && (errno == EACCES || errno == EPERM)) return nullptr;
    if (file->descriptor < 0) fail(path);
    const int locked = uninterrupted([&] { return flock(file->descriptor, LOCK_EX | LOCK_NB); });
    if (locked != 0 && errno == EWOULDBLOCK) {
      throw base::Error(base::ExitCode::usage,
                        fmt::format("{}: found {}, which another process is going to write; "
                                    "allowed: one file for each process",
                                    option, path));
    }
    // Between opening and locking, another process that ends may have removed it.
    struct stat opened{}, present{};
    const bool same = fstat(file->descriptor, &opened) == 0 && stat(name.c_str(), &present) == 0 &&
                      opened.st_dev == present.st_dev && opened.st_ino == present.st_ino;
    if (!same) continue;
    if (!S_ISREG(opened.st_mode) || opened.st_size > 0) return file;
    return {file.get(), [file, name](void*) { remove_file(name); }};
  }
}

/// A device or a pipe.
bool is_device(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail(path, "is a folder");
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

void write_all(int descriptor, const std::string& path, const std::string& content) {
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t n = ::write(descriptor, content.data() + written, content.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path);
    written += static_cast<std::size_t>(n);
  }
}

void require_writable(const std::string& path) {
  if (path.empty()) fail("''", "the file name is empty");
  const Target target = follow(path);
  if (target.descriptor) {
    const int flags = fcntl(*target.descriptor, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) fail(path, std::strerror(EBADF));
    return;
  }
  if (is_device(path)) {
    if (access(path.c_str(), W_OK) != 0) fail(path);
    return;
  }
  std::string name;
  const Open probe(open_beside(target.path, name));
  remove_file(name);
}

bool is_stream(const std::string& path) {
  try {
    return follow(path).descriptor || is_device(path);
  } catch (const base::Error&) {
    return false;
  }
}

void Files::reads(const std::string& path, const std::string& description) {
  if (!path.empty()) descriptions_.emplace(place_of(path), description);
}

void Files::writes(const std::string& path, const std::string& option) {
  require_writable(path);
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored)) {
    held_.push_back(std::make_shared<Open>(open_stream(path)));
  }
  if (is_stream(path)) return;
  const auto [registered, is_new] = descriptions_.emplace(place_of(path), option);
  if (!is_new) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: found {}, which is also {}; allowed: one file for each",
                                  option, path, registered->second));
  }
  held_.push_back(lock(path, option));
}

void Files::draft(const std::string& path, const std::string& content) {
  if (!former_.contains(path)) {
    std::ifstream file(path, std::ios::binary);
    auto& former = former_[path];
    if (file) former.emplace(std::istreambuf_iterator(file), std::istreambuf_iterator<char>());
  }
  write_file(path, content);
}

void Files::restore() {
  for (const auto& [path, content] : std::exchange(former_, {})) {
    try {
      content ? write_file(path, *content) : remove_file(follow(path).path);
    } catch (const base::Error&) {  // the draft stays
    }
  }
}

void write_file(const std::string& path, const std::string& content) {
  const Target target = follow(path);
  if (target.descriptor) {
    write_all(*target.descriptor, path, content);
    return;
  }
  if (is_device(path)) {
    Open stream(open_stream(path));
    write_all(stream.descriptor, path, content);
    stream.finish(path);
    return;
  }
  std::string name;
  Open file(open_beside(target.path, name));
  try {
    write_all(file.descriptor, path, content);
    // As open() would have made it, or as the file that it replaces was.
    struct stat before{};
    const mode_t mask = umask(0);
    umask(mask);
    const bool exists = stat(target.path.c_str(), &before) == 0;
    const mode_t mode = exists ? before.st_mode & 07777 : 0666 & ~mask;
    if (fchmod(file.descriptor, mode) != 0) fail(path);
    if (uninterrupted([&] { return fsync(file.descriptor); }) != 0) fail(path);
    file.finish(path);
  } catch (...) {
    remove_file(name);
    throw;
  }
  if (uninterrupted([&] { return std::rename(name.c_str(), target.path.c_str()); }) != 0) {
    fail(path, fmt::format("{}; the result is in {}", std::strerror(errno), name));
  }
}

}  // namespace overlap::report
