#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace overlap::lanes {

/// The device's own times of what a thread launches, by the vendor's activity records: on CUDA
/// those of CUPTI, whose library is loaded when the first object is made.
class ActivityTrace {
 public:
  /// Nanoseconds of now_ns().
  struct Activity {
    std::uint64_t tag;
    std::uint64_t start_ns;
    std::uint64_t stop_ns;
  };

  /// Null where there are no such records, or another tool uses them.
  static std::unique_ptr<ActivityTrace> load();
  ~ActivityTrace();

  /// Begins to record; what was recorded before is forgotten.
  void start();
  std::uint64_t now_ns();
  /// What this thread launches from now on has the tag, or none.
  void tag(std::optional<std::uint64_t> tag);
  /// Whether copies issued from now on are recorded.
  void record_copies(bool on);
  /// Ends recording: copies and kernels with their tags, when all of them are complete.
  std::vector<Activity> stop();

 private:
  struct State;
  explicit ActivityTrace(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace overlap::lanes
