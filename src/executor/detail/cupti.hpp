#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace overlap::executor::detail {

/// The device's own times of what a thread launches, by CUPTI's activity records. Its library is
/// loaded when the first object is made.
class Cupti {
 public:
  /// Nanoseconds of CUPTI's clock.
  struct Activity {
    std::uint64_t tag;
    std::uint64_t start_ns;
    std::uint64_t stop_ns;
  };

  /// Null where there is no CUPTI, or another tool uses it.
  static std::unique_ptr<Cupti> load();
  virtual ~Cupti() = default;

  /// Begins to record; what was recorded before is forgotten.
  virtual void start() = 0;
  virtual std::uint64_t now_ns() = 0;
  /// What this thread launches from now on has the tag, or none.
  virtual void tag(std::optional<std::uint64_t> tag) = 0;
  /// Whether copies issued from now on are recorded.
  virtual void record_copies(bool on) = 0;
  /// Ends recording: copies and kernels with their tags, when all of them are complete.
  virtual std::vector<Activity> stop() = 0;
};

}  // namespace overlap::executor::detail
