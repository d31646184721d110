#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "deck/deck.hpp"
#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

/// What came out of running schedules, whoever ran them.
namespace overlap::timeline {

/// What a balanced intensity came to: repeats of the arithmetic that make a kernel last about as
/// long as wanted, against the copies of its chunk to the device.
struct Balance {
  std::int64_t repeats = 1;
  double copy_s = 0;    ///< one chunk's copies to the device
  double kernel_s = 0;  ///< its kernel with `repeats`
  double ratio() const { return kernel_s / copy_s; }
};

/// The first wrong element that an order left behind.
struct WrongData {
  int chunk = 0;
  std::string array;
  std::int64_t index = 0;
  double expected = 0;
  double found = 0;
};

/// When each task ran, measured in a pass of its own so that the scored runs stay undisturbed.
struct Trace {
  Timeline timeline;
  std::string source;       ///< what took the times: "worker clocks", "CUPTI", "CUDA events"
  double perturbation = 0;  ///< median time of traced runs / that of scored ones - 1
  bool doubtful = false;    ///< the perturbation is more than the scored runs' spread explains
};

/// One order, measured or predicted.
struct Run {
  deck::Order order = deck::Order::sequential;  ///< as the deck has it: `automatic` stays so here
  std::string device;                           ///< that a prediction is for; empty: this one
  schedule::Schedule schedule;
  std::int64_t bytes = 0;         ///< both directions
  std::vector<double> samples_s;  ///< one wall-clock time a repetition; empty: not run
  double max_error = 0;
  bool verified = false;
  std::optional<WrongData> wrong;  ///< empty when the data are right
  std::optional<Timeline> predicted;
  std::optional<Trace> trace;
};

/// A run that is still to be measured or predicted.
Run new_run(deck::Order order, schedule::Schedule schedule);

/// The model's time; empty when there is none.
std::optional<double> predicted_s(const Run& run);

base::Summary time_s(const Run& run);

/// Throughput in decimal GB/s of all bytes copied. Its interval is that of the time, turned over.
base::Summary throughput(const Run& run);

/// Speed-up over the baseline, repetition by repetition: orders take turns, so both samples of a
/// pair saw the same state of the machine. Empty without a baseline.
std::optional<base::Summary> speedup(const Run& run, const std::vector<Run>& runs);

}  // namespace overlap::timeline
