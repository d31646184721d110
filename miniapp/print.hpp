#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "report/reports.hpp"

namespace overlap {

/// Opens closed standard streams, so that files opened later do not take their descriptors.
void occupy_standard_streams();

/// Whether this process is to end with OVERLAP_RESULT, which it has not yet printed: for handlers
/// of signals, which reach nothing but globals.
inline std::atomic<bool> owes_result = true;

/// The only place that prints: text on stdout, errors and a live progress line on stderr. Only safe
/// bytes leave it (base/text.hpp).
class Terminal {
 public:
  Terminal() = default;
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void be_quiet() { quiet_ = true; }      ///< --quiet
  void be_verbose() { verbose_ = true; }  ///< --verbose
  /// Makes this process one of several: it prefixes messages with `name` and prints no results.
  void speak_for(const std::string& name) {
    name_ = name;
    owes_result = false;
  }
  /// Columns of the terminal on stdout; otherwise $COLUMNS, or 100.
  int width() const;

  void text(const std::string& output);   ///< requested output
  void show(const std::string& message);  ///< output for people: not with --quiet
  void show(report::Blocks blocks);       ///< a piece of a report
  /// Prints the end of a call: verdicts and result lines, on a terminal only OVERLAP_RESULT.
  void verdict(const report::Results& results);
  /// Prints result lines, the last of which is OVERLAP_RESULT.
  void result(const std::string& lines);
  /// Prints OVERLAP_RESULT for an error, unless it was printed before.
  void failed(base::ExitCode code);
  /// Whether to print all result lines: stdout is not a terminal, or --quiet.
  bool wants_all_lines() const;
  void lines(const std::string& text);     ///< on stderr
  void note(const std::string& message);   ///< "miniapp: message" on stderr
  void error(const std::string& message);  ///< "miniapp: error: message" on stderr

  /// Starts part `number` (from 0) of `parts`, called `name`. The first part started may have a
  /// number above 0; earlier parts then took no time.
  void begin_part(std::size_t number, std::size_t parts, const std::string& name);
  /// Shows progress, at most ten times per second and only on a terminal: "  42 %  depth_first
  /// about 3 s left"; with total 0: "measuring the device, 2 s".
  void progress(int done, int total, const std::string& activity);

  /// Flushes stdout; returns whether everything was written.
  bool flush();

 private:
  /// Clears the progress line.
  void end_progress();

  struct Part {
    std::size_t first = 0;  ///< number of the first part started
    std::size_t number = 0;
    std::size_t parts = 1;
    std::string name;
  };

  bool quiet_ = false;
  bool verbose_ = false;
  bool has_shown_ = false;  ///< a piece of a report
  std::string name_;        ///< empty: the only process, or rank 0
  std::optional<Part> part_;
  bool has_line_ = false;  ///< the progress line is visible
  std::optional<std::chrono::steady_clock::time_point> start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace overlap
