#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "report/study.hpp"

namespace overlap {

/// Files that are opened later must not become a closed standard stream.
void occupy_standard_streams();

/// The one place that prints: text on stdout, errors and one live line of progress on stderr. No
/// bytes but safe ones leave it (base/text.hpp).
class Terminal {
 public:
  Terminal() = default;
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void be_quiet() { quiet_ = true; }  ///< --quiet
  /// From now on this is one of several processes, which names itself, and not the one that prints
  /// results.
  void speak_for(const std::string& name) { name_ = name; }
  /// Columns of the terminal on stdout; without one those of $COLUMNS, or 100.
  int width() const;

  void text(const std::string& words);   ///< whatever was asked for
  void shown(const std::string& words);  ///< prose: not with --quiet
  /// The end of a study: result lines, but on a terminal OVERLAP_RESULT alone, and the verdict.
  void verdict(const report::Study& study);
  /// Whether a harness reads what is printed: it gets every result line.
  bool wants_all_lines() const;
  void lines(const std::string& text);   ///< on stderr
  void note(const std::string& words);   ///< "miniapp: words"
  void error(const std::string& words);  ///< the same for an error

  /// From here on progress is about part `number` of `parts`, counted from 0, called `what`. The
  /// first one that is begun may not be number 0: earlier ones took no time.
  void begin_part(std::size_t number, std::size_t parts, const std::string& what);
  /// Shown at most ten times a second, and only on a terminal: "  42 %  depth_first  about 3 s
  /// left"; total 0: "measuring the device, 2 s".
  void progress(int done, int total, const std::string& what);

  /// Whether all of stdout was written.
  bool flush();

 private:
  /// The next progress starts anew.
  void end_progress();

  struct Part {
    std::size_t first = 0;  ///< number of the first one
    std::size_t number = 0;
    std::size_t parts = 1;
    std::string what;
  };

  bool quiet_ = false;
  std::string name_;  ///< empty: the only process, or the first
  std::optional<Part> part_;
  bool line_ = false;  ///< of progress is shown
  std::optional<std::chrono::steady_clock::time_point> start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace overlap
