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

/// What the hardware needs for the tasks of a schedule, measured in the same run: all of a stage
/// back to back in a lane, seconds, without what a run costs beside its tasks.
struct Rates {
  double h2d_s = 0;     ///< all copies to the device, alone
  double d2h_s = 0;     ///< all copies back, alone
  double both_s = 0;    ///< both at once, as far as the device has two copy engines; 0: no engines
  double kernel_s = 0;  ///< all kernels, alone
  std::optional<double> kernel_beside_copies;  ///< time factor of kernels while copies run
};

/// The least time that the hardware allows, from such rates. Fill and drain, the time of the first
/// and the last chunk when not all engines have work, count in schedule_bound_s alone.
struct Bounds {
  double serial_s = 0;      ///< nothing overlaps
  double one_engine_s = 0;  ///< both directions share a copy engine; 0 where workers are engines
  double two_engines_s = 0;
  double bound_s = 0;  ///< of the three the one that holds here, or that of the workers
  double schedule_bound_s = 0;
  std::string limit;  ///< what limits: "H2D", "D2H", "H2D and D2H", "copy", "SM", "host", "workers"
};

/// When each task ran, measured in a pass of its own so that the scored runs stay undisturbed.
struct Trace {
  Timeline timeline;
  std::string source;       ///< what took the times, and what that cannot tell
  int parts = 1;            ///< of the copies to the host, each timed in runs of its own
  double perturbation = 0;  ///< median time of traced runs / that of scored ones - 1
  bool doubtful = false;    ///< the perturbation is more than the scored runs' spread explains
};

/// What it took to make a graph of a schedule, once.
struct GraphCosts {
  double capture_s = 0;
  double instantiate_s = 0;
};

/// What the threads of a staging ring did, all repetitions together.
struct StagingCosts {
  double fill_s = 0;   ///< copying into slots
  double drain_s = 0;  ///< copying out of them
  int threads = 0;
};

/// Computation by the host beside a run.
struct HostWork {
  std::int64_t threads = 0;       ///< that took part; 0: it did not run
  std::vector<double> samples_s;  ///< its time, a repetition
};

/// One order, measured or predicted.
struct Run {
  deck::Order order = deck::Order::sequential;   ///< as the deck has it: `automatic` stays so here
  std::optional<deck::Disturbance> disturbance;  ///< empty: undisturbed
  std::optional<HostWork> host_work;             ///< empty: the host only issued and waited
  std::string device;                            ///< that a prediction is for; empty: this one
  schedule::Schedule schedule;
  std::int64_t bytes = 0;           ///< both directions
  std::vector<double> samples_s;    ///< one wall-clock time a repetition; empty: not run
  std::vector<double> issue_s;      ///< for how long the host was issuing, a repetition
  std::int64_t polls = 0;           ///< how often it asked lanes for their state, waiting, in all
  std::optional<GraphCosts> graph;  ///< empty: the tasks were issued one by one
  std::optional<StagingCosts> staging;  ///< empty: without a ring
  double max_error = 0;
  bool verified = false;
  std::optional<WrongData> wrong;  ///< empty when the data are right
  std::optional<Timeline> predicted;
  std::optional<Trace> trace;
  std::string untraced;  ///< why there is no trace where there could be one
  std::optional<Rates> rates;
  std::optional<Bounds> bounds;
};

/// A run that is still to be measured or predicted.
Run new_run(deck::Order order, schedule::Schedule schedule);

/// The model's time; empty when there is none, or when nothing takes time.
std::optional<double> predicted_s(const Run& run);

/// What people call it: the order, and what disturbs it or runs beside it.
std::string name(const Run& run);

base::Summary time_s(const Run& run);

/// By how much longer a disturbed run took than the undisturbed one of its order, repetition by
/// repetition: time / undisturbed time - 1. Empty for others.
std::optional<base::Summary> disturbance_loss(const Run& run, const std::vector<Run>& runs);

/// The part of the host's work that cost no time, repetition by repetition: 1 - (time - time of the
/// same order without it) / time of the work. Empty for runs without.
std::optional<base::Summary> host_work_hidden(const Run& run, const std::vector<Run>& runs);

/// Host time of issuing; of a graph, of its launch.
base::Summary issue_s(const Run& run);

/// Throughput in decimal GB/s of all bytes copied. Its interval is that of the time, turned over.
base::Summary throughput(const Run& run);

/// Floating-point operations of a matrix product, the host's included; 0: it is none.
double product_flops(const schedule::Schedule& schedule);

/// Tiles of a matrix product that the host computes.
int host_tiles(const schedule::Schedule& schedule);

/// Operations a second. Its interval is that of the time, turned over.
base::Summary flops_per_s(const Run& run);

/// The part of what the hardware can hide that is hidden, repetition by repetition:
/// (T_sequential - T) / (T_sequential - bound_s). Empty without a baseline or a bound, and for the
/// baseline itself.
std::optional<base::Summary> overlap_efficiency(const Run& run, const std::vector<Run>& runs);

/// Where overlap can save less than this part of the sequential time, nothing can be said about it.
inline constexpr double least_potential = 0.1;

/// The part of the baseline's time that overlap can save at most: (T_sequential - bound_s) /
/// T_sequential. Empty without a baseline or a bound.
std::optional<double> overlap_potential(const Run& run, const std::vector<Run>& runs);

/// overlap_efficiency() for people: empty, too, where it would be noise because there is less than
/// `least_potential` to hide. (Result lines and files have it always: harnesses count on them.)
std::optional<base::Summary> shown_efficiency(const Run& run, const std::vector<Run>& runs);

/// bound_s / time, and schedule_bound_s / time; empty without a bound.
std::optional<base::Summary> bound_fraction(const Run& run);
std::optional<base::Summary> schedule_bound_fraction(const Run& run);

/// Speed-up over the baseline, repetition by repetition: orders take turns, so both samples of a
/// pair saw the same state of the machine. Empty without a baseline.
std::optional<base::Summary> speedup(const Run& run, const std::vector<Run>& runs);

}  // namespace overlap::timeline
