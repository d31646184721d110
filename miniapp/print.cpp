#include "print.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "report/console.hpp"
#include "report/lines.hpp"

namespace overlap {
namespace {

using Clock = std::chrono::steady_clock;

/// Columns of the terminal on stdout; without one those of $COLUMNS, or 100.
int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* const columns = std::getenv("COLUMNS");
  const int given = columns == nullptr ? 0 : std::atoi(columns);
  return given > 0 ? std::clamp(given, 40, 1000) : 100;
}

}  // namespace

void occupy_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

Terminal::Terminal(bool quiet)
    : quiet_(quiet),
      out_is_terminal_(isatty(STDOUT_FILENO) == 1),
      error_is_terminal_(isatty(STDERR_FILENO) == 1),
      width_(terminal_width()) {}

Terminal::~Terminal() { end_progress(); }

void Terminal::text(const std::string& words) {
  end_progress();
  std::cout << words << std::flush;
}

void Terminal::shown(const std::string& words) {
  if (!quiet_) text(words);
}

void Terminal::verdict(const report::Study& study) {
  if (!study.predicts()) shown(report::verdict_words(study));
  const bool all = quiet_ || !out_is_terminal_;
  text(all ? report::result_lines(study) : report::verdict_line(study));
}

void Terminal::lines(const std::string& text) {
  if (text.empty()) return;
  end_progress();
  std::cerr << text << std::flush;
}

void Terminal::note(const std::string& words) { lines("miniapp: " + words + '\n'); }

void Terminal::error(const std::string& words) { note("error: " + words); }

bool Terminal::flush() { return static_cast<bool>(std::cout.flush()); }

double Terminal::elapsed_s() const {
  return std::chrono::duration<double>(Clock::now() - *start_).count();
}

void Terminal::show(const std::string& line) {
  line_ = true;
  last_ = Clock::now();
  std::cerr << "\r\033[K" << line << std::flush;
}

void Terminal::end_progress() {
  if (line_) std::cerr << "\r\033[K" << std::flush;
  line_ = false;
  if (!part_) start_.reset();
}

void Terminal::begin_part(std::size_t number, std::size_t parts, const std::string& what) {
  part_ = {part_ ? part_->first : number, number, parts, what};
  progress(0, 1, what);
}

void Terminal::show_part(double done) {
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

void Terminal::progress(int done, int total, const std::string& what) {
  const auto now = Clock::now();
  if (!start_) start_ = now;
  const bool soon = line_ && now - last_ < std::chrono::milliseconds(100);
  if (!error_is_terminal_ || soon) return;
  if (part_) {
    if (total > 0) show_part(static_cast<double>(done) / total);
    return;
  }
  if (total == 0) {
    show(fmt::format("{}, {:.0f} s", what, elapsed_s()));
    return;
  }
  std::string line = fmt::format("{:3d} %  {}", 100 * done / total, what);
  if (done > 0) {
    line += fmt::format("  about {:.0f} s left", std::ceil(elapsed_s() * (total - done) / done));
  }
  show(line);
}

}  // namespace overlap
