#pragma once

#include <string>
#include <utility>
#include <vector>

namespace overlap::report {

/// What a run's points must have in common with those that it goes on from: name, words.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// Finished points on disk, a line of JSON each, with a sum over it, behind one that identifies the
/// run. However the
/// process ends, at most the point in flight is lost: a line is written at once, and one without
/// its end is ignored.
class Journal {
 public:
  /// Opens or makes the file and keeps others from using it. Throws base::Error{usage} when it has
  /// points already but `resume` is not asked for, when they are of a run with another identity,
  /// when it is no journal, in use or not as it was written, and base::Error{runtime_error} when it
  /// cannot be written.
  Journal(const std::string& path, const Identity& identity, bool resume);
  /// Keeps the file if it has points.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const std::string& path() const { return path_; }
  /// Of the points that the file had when it was opened.
  const std::vector<std::string>& records() const { return records_; }

  /// Adds an object of JSON; it is on the disk when this returns. Throws
  /// base::Error{runtime_error}.
  void add(const std::string& record);

  /// Removes the file when all that it has is in result files.
  void remove();

 private:
  /// Whether what it has opened and locked is the file of that name.
  bool open_and_lock();
  void read(const Identity& identity, bool resume);

  std::string path_;
  int descriptor_ = -1;
  std::vector<std::string> records_;
  bool keep_ = false;
};

}  // namespace overlap::report
