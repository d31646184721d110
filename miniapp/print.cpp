#include "print.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "base/text.hpp"
#include "report/writers.hpp"

namespace overlap {
void occupy_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

/// Whether a line can be wiped from standard error.
static bool wipes_lines() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

Terminal::~Terminal() { end_progress(); }

int Terminal::width() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* const text = std::getenv("COLUMNS");
  const int columns = text == nullptr ? 0 : std::atoi(text);
  return columns > 0 ? std::clamp(columns, 40, 1000) : 100;
}

void Terminal::text(const std::string& output) {
  end_progress();
  if (name_.empty()) std::cout << base::safe_lines(output) << std::flush;
}

void Terminal::show(const std::string& message) {
  if (!quiet_) text(base::prose(message));
}

void Terminal::show(report::Blocks blocks) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const report::Screen screen{.width = width(),
                              .narrow = terminal,
                              .colour = terminal && wipes_lines(),
                              .verbose = verbose_};
  if (quiet_ || blocks.empty()) return;
  const std::string piece = report::terminal({.blocks = std::move(blocks)}, screen);
  if (!piece.empty()) text(std::exchange(has_shown_, true) ? "\n" + piece : piece);
}

void Terminal::verdict(const report::Results& results) {
  for (const results::Result& result : results) {
    show(report::verdict(result, results.size() > 1, false));
    if (wants_all_lines()) text(report::result_lines(result));
  }
  if (!results.empty()) result(report::verdict_line(results));
}

void Terminal::result(const std::string& lines) {
  owes_result = false;
  text(lines);
}

void Terminal::failed(base::ExitCode code) {
  if (owes_result) result(report::verdict_line(results::verdict_of(code), code, false));
}

bool Terminal::wants_all_lines() const { return quiet_ || isatty(STDOUT_FILENO) == 0; }

void Terminal::lines(const std::string& text) {
  if (text.empty()) return;
  end_progress();
  std::cerr << base::safe_lines(text) << std::flush;
}

void Terminal::note(const std::string& message) {
  lines("miniapp: " + (name_.empty() ? "" : name_ + ": ") + base::one_line(message) + '\n');
}

void Terminal::error(const std::string& message) { note("error: " + message); }

bool Terminal::flush() { return static_cast<bool>(std::cout.flush()); }

void Terminal::end_progress() {
  if (has_line_) std::cerr << "\r\033[K" << std::flush;
  has_line_ = false;
  if (!part_) start_.reset();
}

void Terminal::begin_part(std::size_t number, std::size_t parts, const std::string& name) {
  part_ = {part_ ? part_->first : number, number, parts, name};
  progress(0, 1, name);
}

void Terminal::progress(int done, int total, const std::string& activity) {
  const auto now = std::chrono::steady_clock::now();
  if (!start_) start_ = now;
  const bool soon = has_line_ && now - last_ < std::chrono::milliseconds(100);
  if (!name_.empty() || soon || (part_ && total == 0) || !wipes_lines()) return;
  const double elapsed_s = std::chrono::duration<double>(now - *start_).count();
  std::string line;
  if (total == 0) {
    line = fmt::format("{}, {:.0f} s", activity, elapsed_s);
  } else {
    const auto [first, number, parts, name] = part_.value_or(Part{});
    const double steps = total * static_cast<double>(parts);
    const double steps_done = total * static_cast<double>(number) + done;
    const double steps_here = steps_done - total * static_cast<double>(first);
    const double percent = std::floor(100 * steps_done / steps);
    const double left_s = std::ceil(elapsed_s * (steps - steps_done) / steps_here);
    const auto [left, unit] =
        left_s >= 120 ? std::pair(std::ceil(left_s / 60), "min") : std::pair(left_s, "s");
    const std::string remaining =
        steps_here > 0 ? fmt::format("  about {:.0f} {} left", left, unit) : "";
    line = part_ ? fmt::format("{:3.0f} %{}  point {} of {}: {}", percent, remaining, number + 1,
                               parts, name)
                 : fmt::format("{:3.0f} %  {}{}", percent, activity, remaining);
  }
  has_line_ = true;
  last_ = now;
  constexpr std::size_t narrow = 79;  // columns: a line that is wrapped cannot be wiped
  std::cerr << "\r\033[K" << base::first_columns(base::one_line(line), narrow) << std::flush;
}

}  // namespace overlap
