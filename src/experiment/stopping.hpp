#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/judge.hpp"

/// When enough has been measured: pure, no clock and no device. Repeated looks at an interval until
/// it is narrow would make it miss the median more often than a single one does. So looks are few,
/// two in a row must find it narrow, and no look sees a limit: what ends the repetitions is never
/// the verdict. Coverage is tested with simulated samples.
namespace overlap::experiment {

/// Repetitions of each order that a plan asks for, at least.
int least_repetitions(const deck::Measure& plan);
/// And at most; of a soak none are known.
int most_repetitions(const deck::Measure& plan);

class Stopping {
 public:
  /// Of the criteria only what they are about, never their limits.
  Stopping(const deck::Measure& plan, const std::vector<deck::Criterion>& criteria);

  /// Whether the repetition that begins now, counted from 1, may be the last one.
  bool may_end(int repetition, double elapsed_s) const;

  /// After a repetition that may be the last one: why it is; empty: it is not.
  std::optional<Stop> stop(const std::vector<Run>& runs, int repetitions, double elapsed_s);

 private:
  struct Judged {
    deck::Metric metric;
    std::optional<deck::Order> order;  ///< empty: every order
  };

  double widest(const std::vector<Run>& runs) const;

  deck::Measure plan_;
  std::vector<Judged> judged_;
  int next_look_;
  bool narrow_ = false;  ///< at the last look
};

}  // namespace overlap::experiment
