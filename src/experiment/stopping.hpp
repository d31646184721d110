#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiment/judge.hpp"

/// Stopping rule of the measurements: pure, without clock and device. Testing an interval
/// repeatedly until it is narrow would reduce its coverage of the median. Therefore tests are few,
/// two in a row must find it narrow (the last permitted one suffices), and no test uses a limit:
/// the verdict never ends the repetitions. The coverage is tested with simulated samples.
namespace overlap::experiment {

/// Minimum number of repetitions per order, unless the budget ends them earlier.
int least_repetitions(const deck::Measure& plan);
/// Maximum number of repetitions per order. Meaningless for a soak, which ends by time.
int most_repetitions(const deck::Measure& plan);

/// Adds round `number`, from 0, to those before it. Returns the time by which it exceeds their
/// median if the process was paused in it (SIGSTOP, a suspended job), which is assumed if it takes
/// longer than ten medians and 1 s; else 0.
double excess_s(std::vector<double>& rounds_s, double round_s, std::int64_t number);

class Stopping {
 public:
  /// Uses only metric and order of the criteria, never their limits.
  Stopping(const deck::Measure& plan, const std::vector<deck::Criterion>& criteria);

  /// Whether the repetition about to start (counted from 1) may be the last.
  bool may_end(int repetition, double elapsed_s) const;

  /// Call after a repetition that may be the last: the reason to stop; empty: continue. May be
  /// ignored while other ranks wish to continue.
  std::optional<Stop> stop(const std::vector<Case>& cases, int repetitions, double elapsed_s,
                           const DeviceSamples& device = {});

 private:
  struct Judged {
    deck::Metric metric;
    std::optional<deck::Order> order;  ///< empty: every order
  };

  double widest(const std::vector<Case>& cases, const DeviceSamples& device) const;

  deck::Measure plan_;
  std::vector<Judged> judged_;
  int next_look_;
  bool narrow_ = false;  ///< at the last test
};

}  // namespace overlap::experiment
