#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "report/study.hpp"

namespace overlap {

/// Files that are opened later must not become a closed standard stream.
void occupy_standard_streams();

/// The one place that prints: text on stdout, errors and one live line of progress on stderr.
class Terminal {
 public:
  explicit Terminal(bool quiet);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int width() const { return width_; }

  void text(const std::string& words);   ///< whatever was asked for
  void shown(const std::string& words);  ///< for people: not with --quiet
  /// The end of a study: result lines, but on a terminal OVERLAP_RESULT alone, and the verdict.
  void verdict(const report::Study& study);
  /// Lines on stderr as they are.
  void lines(const std::string& text);
  /// "miniapp: words"
  void note(const std::string& words);
  /// The same for an error.
  void error(const std::string& words);

  /// From here on progress is about part `number` of `parts`, counted from 0, called `what`. The
  /// first one that is begun may not be number 0: earlier ones took no time.
  void begin_part(std::size_t number, std::size_t parts, const std::string& what);
  /// Shown at most ten times a second, and only on a terminal: "  42 %  depth_first  about 3 s
  /// left"; total 0: "measuring the device, 2 s".
  void progress(int done, int total, const std::string& what);
  /// The next progress starts anew.
  void end_progress();

  /// Whether all of stdout was written.
  bool flush();

 private:
  void show_part(double done);  ///< of the part, from 0 to 1
  void show(const std::string& line);
  double elapsed_s() const;

  struct Part {
    std::size_t first;  ///< number of the first one
    std::size_t number;
    std::size_t parts;
    std::string what;
  };

  bool quiet_;
  bool out_is_terminal_;
  bool error_is_terminal_;
  int width_;
  std::optional<Part> part_;
  bool line_ = false;  ///< of progress is shown
  std::optional<std::chrono::steady_clock::time_point> start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace overlap
