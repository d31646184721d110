#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace overlap::report {

/// One live line on stderr while something long runs; silent unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// From here on what is shown is about part `number` of `parts`, counted from 0, called `what`.
  /// The first one that is begun may not be number 0: earlier ones took no time.
  void begin_part(std::size_t number, std::size_t parts, const std::string& what);

  /// At most ten times a second: "  42 %  depth_first  about 3 s left".
  void update(int done, int total, const std::string& what);

  /// The same where nobody knows how much is left: "measuring the device, 2 s".
  void update(const std::string& what);

 private:
  bool due();  ///< whether the line may be written anew
  double elapsed_s() const;
  void show_part(double done);  ///< of the part, from 0 to 1
  void show(const std::string& line);

  struct Part {
    std::size_t first;  ///< number of the first one
    std::size_t number;
    std::size_t parts;
    std::string what;
  };

  bool terminal_;
  std::optional<Part> part_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace overlap::report
