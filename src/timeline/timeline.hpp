#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

/// Timelines: when and where tasks ran, or are predicted to run.
namespace overlap::timeline {

/// Interval and engine of one task. Times are seconds from the start of the first issue.
struct Span {
  int engine = 0;  ///< index into Timeline::engines
  double start_s = 0;
  double stop_s = 0;
};

/// A measured or predicted run: one span per task of the schedule, in its order.
struct Timeline {
  /// "H2D", "SM", "D2H"; "copy", "SM" with one copy engine; or "worker 0", ...; "host", for tasks
  /// of the issuing thread, is always last.
  std::vector<std::string> engines;
  std::vector<Span> spans;
  double issued_s = 0;    ///< the host has issued the last task
  double complete_s = 0;  ///< the host has seen all lanes complete: the time of the run
};

/// What executes tasks: the engines of a device, or worker threads of a host.
struct Engines {
  int workers = 0;       ///< above 0: number of workers
  int copy_engines = 2;  ///< without workers: 1 or 2; 1: shared by both directions

  /// As in Timeline::engines.
  std::vector<std::string> names() const;
  /// Index of the engine that executes the task; the last one for tasks of the issuing thread.
  int index_of(const schedule::Task& task) const;
};

/// Busy time of each engine in seconds; concurrent tasks count once.
std::vector<double> busy_s(const Timeline& timeline);

/// Core time that threads of a host want for these tasks, one core each and at most `cores` at
/// once, seconds. Tasks that only wait or query want none.
double wanted_s(const schedule::Schedule& schedule, const std::vector<Span>& spans, double cores);

}  // namespace overlap::timeline
