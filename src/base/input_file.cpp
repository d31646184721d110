#include "base/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace overlap::base {
namespace {

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() { close(number); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number;
};

bool is_open_here(const std::string& path) {
  constexpr std::array<const char*, 2> folders = {"/dev/fd/", "/proc/self/fd/"};
  return path == "/dev/stdin" ||
         std::ranges::any_of(folders, [&](const char* folder) { return path.starts_with(folder); });
}

}  // namespace

std::string read_file(const std::string& path, std::size_t most_bytes, const std::string& allowed,
                      ExitCode code) {
  const auto fail = [&](const std::string& why) {
    throw Error(code, fmt::format("{}: {}", path.empty() ? "''" : path, why));
  };
  const auto fail_to_read = [&] {
    fail(fmt::format("cannot be read: {}", std::strerror(errno != 0 ? errno : EIO)));
  };
  // Opening a pipe that nobody writes to would wait for ever.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found{};
  if (file.number < 0 || fstat(file.number, &found) != 0) fail_to_read();
  if (!S_ISREG(found.st_mode)) {
    if (S_ISDIR(found.st_mode)) fail("is a folder; allowed: " + allowed);
    if (!is_open_here(path)) fail("is a pipe or a device; allowed: " + allowed);
    if (fcntl(file.number, F_SETFL, O_RDONLY) != 0) fail_to_read();
  }
  std::string text;
  const auto size = S_ISREG(found.st_mode) ? static_cast<std::size_t>(found.st_size) : 0;
  if (size <= most_bytes) text.reserve(size + 1);
  std::array<char, 1 << 16> piece;
  while (true) {
    const ssize_t n = ::read(file.number, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_to_read();
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
    if (text.size() > most_bytes) {
      fail(fmt::format("found more than {} MiB; allowed: {}", most_bytes >> 20, allowed));
    }
  }
}

}  // namespace overlap::base
