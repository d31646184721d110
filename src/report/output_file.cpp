#include "report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace overlap::report {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw base::Error(base::ExitCode::runtime_error, fmt::format("{}: cannot write: {}", path, why));
}

/// A file that is removed unless it was renamed to its place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target), path_(target + ".XXXXXX"), descriptor_(mkstemp(path_.data())) {
    if (descriptor_ < 0) fail(target, std::strerror(errno));
  }
  ~TemporaryFile() {
    close(descriptor_);
    if (!renamed_) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_; }

  void move_to_target() {
    struct stat before{};
    // As open() would have made it, or as the file that it replaces was.
    const mode_t mask = umask(0);
    umask(mask);
    const mode_t mode = stat(target_.c_str(), &before) == 0 ? before.st_mode & 07777 : 0666 & ~mask;
    if (fchmod(descriptor_, mode) != 0 || fsync(descriptor_) != 0 ||
        std::rename(path_.c_str(), target_.c_str()) != 0) {
      fail(target_, std::strerror(errno));
    }
    renamed_ = true;
  }

 private:
  std::string target_;
  std::string path_;
  int descriptor_;
  bool renamed_ = false;
};

void write_all(int descriptor, const std::string& path, const std::string& content) {
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t n = write(descriptor, content.data() + written, content.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, std::strerror(errno));
    written += static_cast<std::size_t>(n);
  }
}

bool is_stream(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail(path, "is a folder");
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

void require_writable(const std::string& path) {
  if (path.empty()) fail("''", "the file name is empty");
  if (is_stream(path)) {
    if (access(path.c_str(), W_OK) != 0) fail(path, std::strerror(errno));
    return;
  }
  const TemporaryFile probe(path);
}

void write_file(const std::string& path, const std::string& content) {
  if (is_stream(path)) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) fail(path, std::strerror(errno));
    write_all(descriptor, path, content);
    close(descriptor);
    return;
  }
  TemporaryFile file(path);
  write_all(file.descriptor(), path, content);
  file.move_to_target();
}

}  // namespace overlap::report
