#include "base/input_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace overlap::base {

std::string read_file(const std::string& path, std::size_t most_bytes, const std::string& allowed,
                      ExitCode code) {
  const auto fail = [&](const std::string& why) {
    throw Error(code, fmt::format("{}: {}", path.empty() ? "''" : path, why));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("is a folder; allowed: " + allowed);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (file) {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes) {
      fail(fmt::format("found more than {} MiB; allowed: {}", most_bytes >> 20, allowed));
    }
  }
  if (!file.eof()) {
    fail(fmt::format("cannot be read: {}", std::strerror(errno != 0 ? errno : EIO)));
  }
  return text;
}

}  // namespace overlap::base
