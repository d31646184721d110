#include "report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace overlap::report {

using Clock = std::chrono::steady_clock;

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::update(int done, int total, const std::string& what) {
  const auto now = Clock::now();
  if (!terminal_ || total == 0 || (shown_ && now - last_ < std::chrono::milliseconds(100))) return;
  last_ = now;
  shown_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("\r\033[K{:3d} %  {}", 100 * done / total, what);
  if (done > 0) {
    line += fmt::format("  about {:.0f} s left", std::ceil(elapsed * (total - done) / done));
  }
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace overlap::report
