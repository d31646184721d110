#pragma once

#include <atomic>
#include <condition_variable>
#include <optional>
#include <thread>
#include <vector>

#include "experiment/require.hpp"
#include "experiment/run.hpp"
#include "measure/platform.hpp"

/// State of the device before, during and after the scored runs.
namespace overlap::measure {

struct Session;

/// Reads everything that decks can require; on a GPU right after a load, because an idle GPU
/// reduces its link and clocks. Throws base::Error{precondition} if memory for the load is short.
experiment::Readings readings(Session& session);

/// Reads the device health before and after the scored runs and, in a separate thread during them,
/// the reasons for reduced clocks.
class HealthWatch {
 public:
  /// Takes the first reading; the device must be awake. In a soak of `duration_s` seconds also
  /// reads clocks, temperature and power, at about 512 times. The monitor must outlive the watch.
  explicit HealthWatch(const Monitor& monitor, std::optional<double> duration_s = {});

  /// Surround each scored run, outside its timed region. `seconds`: its time.
  void begin() { running_ = true; }
  void end(double seconds) {
    running_ = false;
    scored_s_ += seconds;
  }

  /// Takes the last reading, right after the runs, and ends the watch. Empty if health cannot be
  /// read.
  std::optional<experiment::HealthRecord> finish();

  /// Readings of a soak, after finish().
  std::vector<experiment::HealthPoint>& series() { return series_; }

 private:
  void add(const std::optional<base::Throttles>& reasons);
  void sample(const std::stop_token& stop);
  std::optional<experiment::ThrottledTime> throttled() const;

  const Monitor& monitor_;
  std::optional<double> duration_s_;
  std::optional<base::Health> before_;
  double scored_s_ = 0;
  std::atomic<bool> running_ = false;
  int readings_ = 0;  ///< this and the next two belong to the thread while it runs
  experiment::ThrottledTime counts_ = {};  ///< readings instead of seconds
  std::vector<experiment::HealthPoint> series_;
  std::condition_variable_any pause_;  ///< between readings
  std::jthread sampler_;               ///< last member, so that it ends before what it uses
};

}  // namespace overlap::measure
