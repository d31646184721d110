#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

/// What happened, or is predicted to happen, and when.
namespace overlap::timeline {

/// When one task ran, and where. Times are seconds from the start of the first issue.
struct Span {
  int engine = 0;  ///< index into Timeline::engines
  double start_s = 0;
  double stop_s = 0;
};

/// Measured and predicted alike: a span for each task of the schedule, in its order.
struct Timeline {
  /// "H2D", "SM", "D2H" (one "copy" where the directions share an engine), "worker 0", ...; "host"
  /// last, for what the issuing thread does itself.
  std::vector<std::string> engines;
  std::vector<Span> spans;
  double issued_s = 0;    ///< the host has issued the last task
  double complete_s = 0;  ///< the host has seen the last lane complete: the run's time
};

/// What executes tasks: the engines of a device, or workers.
struct Engines {
  int workers = 0;       ///< above 0: each is an engine; in a timeline each lane is one
  int copy_engines = 2;  ///< without workers; 1: both directions share it

  /// As in Timeline::engines.
  std::vector<std::string> names() const;
  /// The index of the one that executes the task; what the issuing thread does itself: the last.
  int of(const schedule::Task& task) const;
};

/// For how long each engine runs something. Concurrent tasks count once.
std::vector<double> busy_s(const Timeline& timeline);

}  // namespace overlap::timeline
