#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/machine.hpp"
#include "base/statistics.hpp"
#include "deck/deck.hpp"
#include "experiment/series.hpp"
#include "model/bounds.hpp"
#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

/// What came out of running schedules, whoever ran them.
namespace overlap::experiment {

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
  timeline::Timeline timeline;
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

/// Computation by the host beside the runs of a case.
struct HostWorkSamples {
  std::int64_t threads = 0;  ///< that took part
  std::vector<double> samples_s;
};

/// One order of a deck with what runs beside it: to be measured or predicted.
struct Case {
  deck::Order order = deck::Order::sequential;  ///< as the deck has it: `automatic` stays so here
  std::optional<deck::Disturbance> disturbance = {};  ///< empty: undisturbed
  bool host_work = false;   ///< the host computes while the device works; else it issues and waits
  int target = 0;           ///< which of several devices a prediction is for, from 0
  std::string device = {};  ///< and its name; empty: the present device
  schedule::Schedule schedule = {};
  std::optional<timeline::Timeline> predicted = {};
};

/// Why an order hides less than it could.
struct Finding {
  std::string_view cause;  ///< a row of `diagnoses`
  std::string text;        ///< one line: what, the number that shows it, what to change
  std::vector<std::pair<std::string_view, double>> evidence;  ///< numbers behind it; times in s
};

/// A case and all that is known of it.
struct Run : Case {
  std::int64_t repetitions = 0;  ///< that were scored
  /// One wall-clock time per repetition, of a soak thinned; empty: not run. Lists beside it have
  /// the same repetitions.
  std::vector<double> samples_s;
  std::vector<double>
      issue_s;  ///< until the host had issued all, waits for blocking tasks included
  std::vector<Stretch> series;          ///< of a soak
  std::vector<double> alone_s;          ///< in phase together: the samples of phase alone
  std::int64_t polls = 0;               ///< queries of lanes by the waiting host, in all
  HostWorkSamples host_work_samples;    ///< of a case with host work
  std::optional<GraphCosts> graph;      ///< empty: the tasks were issued one by one
  std::optional<StagingCosts> staging;  ///< empty: no staging ring
  double max_error = 0;
  bool verified = false;
  std::optional<WrongData> wrong;  ///< empty: the data are right
  std::optional<Trace> trace;
  std::string untraced;  ///< why there is no trace where there could be one
  std::optional<model::Rates> rates;
  std::optional<model::Bounds> bounds;
  std::vector<Finding> findings;
};

/// The part of the scored time in which something held the device's clocks down.
struct ThrottledTime {
  std::array<double, base::throttles.size()> by_reason_s{};
  double slowed_s = 0;  ///< by any reason that takes clocks from work
};

/// The device's health around the scored runs and in them.
struct HealthRecord {
  base::Health before;
  base::Health after;
  std::optional<ThrottledTime> throttled;
};

/// The state of the device at a moment of the scored runs.
struct HealthPoint {
  double at_s = 0;  ///< since the first scored repetition began
  std::optional<double> sm_clock_mhz, temperature_c, power_w;
};

/// What was measured of the device and its link besides the runs.
struct DeviceSamples {
  std::int64_t link_bytes = 0;  ///< of each copy below
  /// Seconds, one of each per repetition: copies to the device, back, and both at the same time.
  std::vector<double> h2d_s, d2h_s, duplex_s;
  std::optional<HealthRecord> health;  ///< empty: the back end cannot read it
  std::vector<HealthPoint> series;     ///< while a soak ran; empty: not read
};

/// What people call it: the order, and what disturbs it or runs beside it.
std::string name(const Case& run);

/// Bytes copied, both directions.
std::int64_t copied_bytes(const Case& run);

/// The model's time; empty when there is none, or when nothing takes time.
std::optional<double> predicted_s(const Case& run);

/// The model's speed-up over the baseline on the same device; empty without one.
std::optional<double> predicted_speedup(const Run& run, const std::vector<Run>& runs);

base::Summary time_s(const Run& run);

/// A metric of one of the runs, and of the device, in each repetition that has all that it needs.
std::vector<double> values(deck::Metric metric, const Run& run, const std::vector<Run>& runs);
std::vector<double> values(deck::Metric metric, const DeviceSamples& device);

/// A metric of one of the runs; empty where it says nothing.
std::optional<base::Summary> value(deck::Metric metric, const Run& run,
                                   const std::vector<Run>& runs);

/// A metric of the device; empty where it was not measured.
std::optional<base::Summary> value(deck::Metric metric, const DeviceSamples& device);

/// By how much longer a disturbed run took than the undisturbed one of its order, repetition by
/// repetition: time / undisturbed time - 1. Empty for others.
std::optional<base::Summary> disturbance_loss(const Run& run, const std::vector<Run>& runs);

/// Operations per second of a matrix product; empty: not run.
std::optional<base::Summary> flops_per_s(const Run& run);

/// Floating-point operations of a matrix product, the host's included; 0: it is none.
double product_flops(const schedule::Schedule& schedule);

/// Tiles of a matrix product that the host computes.
int host_tiles(const schedule::Schedule& schedule);

/// Where overlap can save less than this part of the sequential time, nothing can be said about it.
inline constexpr double least_potential = 0.1;

/// The part of the baseline's time that overlap can save at most: (T_sequential - bound_s) /
/// T_sequential. Empty without a baseline or a bound.
std::optional<double> overlap_potential(const Run& run, const std::vector<Run>& runs);

/// The overlap efficiency for people: empty, too, where it would be noise because there is less
/// than `least_potential` to hide. (Result lines and files have it always: harnesses count on
/// them.)
std::optional<base::Summary> shown_efficiency(const Run& run, const std::vector<Run>& runs);

}  // namespace overlap::experiment
