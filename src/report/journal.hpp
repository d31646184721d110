#pragma once

#include <string>
#include <utility>
#include <vector>

namespace overlap::report {

/// Properties that a resumed run must share with the saved points: name, value.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// Finished points on disk: one line of JSON with a checksum per point after one line that
/// identifies the run. Each line is synced at once and an incomplete last line is ignored, so that
/// a crash loses at most the current point.
class Journal {
 public:
  /// Opens or creates the file, for a run whose result file is locked (Files). Throws
  /// base::Error{usage} if it contains points without `resume`, or points of a run with another
  /// identity, if it is not a journal or not as it was written, and base::Error{runtime_error} if
  /// it cannot be written.
  Journal(const std::string& path, const Identity& identity, bool resume);
  /// Deletes the file if it has no points or remove() was called.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const std::string& path() const { return path_; }
  /// Points in the file when it was opened.
  const std::vector<std::string>& records() const { return records_; }

  /// Appends a point, a JSON object, and syncs it to disk. Throws base::Error{runtime_error}.
  void add(const std::string& record);

  /// Lets the destructor delete the file; call when result files contain all points.
  void remove();

 private:
  void read(const Identity& identity, bool resume);

  std::string path_;
  int descriptor_ = -1;
  std::vector<std::string> records_;
  bool keep_ = false;
};

}  // namespace overlap::report
