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

bool ProgressLine::due() {
  const auto now = Clock::now();
  if (!terminal_ || (shown_ && now - last_ < std::chrono::milliseconds(100))) return false;
  last_ = now;
  shown_ = true;
  return true;
}

double ProgressLine::elapsed_s() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void ProgressLine::show(const std::string& line) {
  std::fputs(("\r\033[K" + line).c_str(), stderr);
  std::fflush(stderr);
}

void ProgressLine::begin_part(std::size_t number, std::size_t parts, const std::string& what) {
  part_ = {part_ ? part_->first : number, number, parts, what};
  if (due()) show_part(0);
}

void ProgressLine::show_part(double done) {
  const auto parts = static_cast<double>(part_->parts);
  const double at = static_cast<double>(part_->number) + done;
  const double here = at - static_cast<double>(part_->first);
  std::string line = fmt::format("{:3.0f} %", std::floor(100 * at / parts));
  if (here > 0) {
    line += fmt::format("  about {:.0f} s left", std::ceil(elapsed_s() * (parts - at) / here));
  }
  line += fmt::format("  point {} of {}: {}", part_->number + 1, part_->parts, part_->what);
  constexpr std::size_t narrow = 79;  // columns: a line that is wrapped cannot be wiped
  show(line.substr(0, narrow));
}

void ProgressLine::update(int done, int total, const std::string& what) {
  if (total == 0 || !due()) return;
  if (part_) {
    show_part(static_cast<double>(done) / total);
    return;
  }
  std::string line = fmt::format("{:3d} %  {}", 100 * done / total, what);
  if (done > 0) {
    line += fmt::format("  about {:.0f} s left", std::ceil(elapsed_s() * (total - done) / done));
  }
  show(line);
}

void ProgressLine::update(const std::string& what) {
  if (part_ || !due()) return;
  show(fmt::format("{}, {:.0f} s", what, elapsed_s()));
}

}  // namespace overlap::report
