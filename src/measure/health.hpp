#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <optional>
#include <thread>
#include <vector>

#include "experiment/require.hpp"
#include "experiment/run.hpp"
#include "measure/platform.hpp"

/// What state the device is in: before, in and after the scored runs.
namespace overlap::measure {

/// Puts load on a GPU, whose link and clocks sleep without it, and reads what decks may require.
/// Throws base::Error{precondition} when there is no memory for it.
experiment::Readings readings(const base::DeviceInfo& device, const Monitor& monitor);

/// Reads the device's health before and after scored runs and, in a thread of its own while they
/// run, what holds its clocks down.
class HealthWatch {
 public:
  /// The first reading: the device is awake. Of a soak of `duration_s` clocks, temperature and
  /// power are read as well, at up to 512 moments. The monitor must outlive the watch.
  explicit HealthWatch(const Monitor& monitor, std::optional<double> duration_s = {});

  /// Surround a scored run, outside its time.
  void begin() { running_ = true; }
  void end(double seconds) {
    running_ = false;
    scored_s_ += seconds;
  }

  /// The last reading, right after the runs; then the watch is over. Empty where the device's
  /// health cannot be read.
  std::optional<experiment::HealthRecord> finish();

  /// The readings of a soak, once the watch is over.
  std::vector<experiment::HealthPoint>& series() { return series_; }

 private:
  /// Readings that gave each reason.
  struct Counts {
    int readings = 0;
    int slowed = 0;
    std::array<int, base::throttles.size()> by_reason{};

    void add(const std::optional<base::Throttles>& reasons);
  };

  void sample(const std::stop_token& stop);
  std::optional<experiment::ThrottledTime> throttled() const;

  const Monitor& monitor_;
  std::optional<double> duration_s_;
  std::optional<base::Health> before_;
  double scored_s_ = 0;
  std::atomic<bool> running_ = false;
  Counts counts_;  ///< this and the next are the thread's, while there is one
  std::vector<experiment::HealthPoint> series_;
  std::condition_variable_any pause_;  ///< between its readings
  std::jthread sampler_;               ///< last: it ends before what it uses
};

}  // namespace overlap::measure
