#pragma once

#include <chrono>
#include <string>

namespace overlap::report {

/// One live line on stderr while something long runs; silent unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// At most ten times a second: "  42 %  depth_first  about 3 s left".
  void update(int done, int total, const std::string& what);

  /// The same where nobody knows how much is left: "measuring the device, 2 s".
  void update(const std::string& what);

 private:
  bool due();  ///< whether the line may be written anew
  double elapsed_s() const;
  void show(const std::string& line);

  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace overlap::report
