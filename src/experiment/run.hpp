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
#include "model/predict.hpp"
#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

/// Results of runs, measured or predicted.
namespace overlap::experiment {

/// Result of balancing, seconds: the number of repeats with which a kernel takes about `balance`
/// times as long as the copies of its chunk to the device.
struct Balance {
  std::int64_t repeats = 1;
  double copy_s = 0;    ///< copies of one chunk to the device
  double kernel_s = 0;  ///< its kernel with `repeats`
  double ratio() const { return kernel_s / copy_s; }
};

/// The first wrong element after an order.
struct WrongData {
  int chunk = 0;
  std::string array;
  std::int64_t index = 0;
  double expected = 0;
  double found = 0;
};

/// Task times, measured in separate runs so that scored runs are not perturbed.
struct Trace {
  timeline::Timeline timeline;
  std::string source;       ///< source of the times and its limitations
  double perturbation = 0;  ///< time of traced runs / median of scored runs - 1
  bool doubtful = false;    ///< perturbed by more than 2 % and the spread of the scored runs
};

/// One-time cost of the graph of a schedule, seconds.
struct GraphCosts {
  double capture_s = 0;
  double instantiate_s = 0;
};

/// Work of the threads of a staging ring over all repetitions, seconds.
struct StagingCosts {
  double fill_s = 0;   ///< copying into slots
  double drain_s = 0;  ///< copying out of slots
  int threads = 0;
};

/// Host work during the runs of a case.
struct HostWorkSamples {
  std::int64_t threads = 0;  ///< number of threads
  std::vector<double> samples_s;
};

/// One order of a deck, with or without disturbance or host work, to be measured or predicted.
struct Case {
  deck::Order order = deck::Order::sequential;        ///< as in the deck, possibly `automatic`
  std::optional<deck::Disturbance> disturbance = {};  ///< empty: undisturbed
  bool host_work = false;                             ///< the host computes while the device works
  int target = 0;                                     ///< device index of a prediction, from 0
  std::string device = {};                            ///< its name; empty: the current device
  schedule::Schedule schedule = {};
  std::optional<timeline::Timeline> predicted = {};
  std::optional<model::Interval> expected = {};  ///< around the predicted time; empty: unknown
};

/// A reason why an order hides less than it could.
struct Finding {
  std::string_view cause;                                     ///< one of causes()
  std::string text;                                           ///< one line: cause, evidence, remedy
  std::vector<std::pair<std::string_view, double>> evidence;  ///< values; times in seconds
};

/// A case with its results.
struct Run : Case {
  std::int64_t repetitions = 0;  ///< scored repetitions
  /// Wall-clock time of each repetition, thinned in a soak; empty: not run. `issue_s` and host work
  /// have the same repetitions.
  std::vector<double> samples_s;
  std::vector<double> issue_s;  ///< until everything is issued, including waits for blocking tasks
  std::vector<Stretch> series;  ///< of a soak
  std::vector<double> alone_s;  ///< in phase together: samples of phase alone
  /// Host time to issue a chunk of two copies and a kernel, derived from the calls of the case
  /// between its runs; empty: not measured.
  std::optional<base::Summary> chunk_issue_s;
  std::int64_t polls = 0;               ///< total number of queries of lanes by the waiting host
  HostWorkSamples host_work_samples;    ///< of a case with host work
  std::optional<GraphCosts> graph;      ///< empty: tasks issued one by one
  std::optional<StagingCosts> staging;  ///< empty: no staging ring
  double max_error = 0;
  bool verified = false;
  std::optional<WrongData> wrong;  ///< empty: correct data
  std::optional<Trace> trace;
  std::string untraced;  ///< why there is no trace, if one was possible
  std::optional<model::Rates> rates;
  std::optional<model::Bounds> bounds;
  std::vector<Finding> findings;
};

/// Part of the scored time with reduced clocks, by reason.
struct ThrottledTime {
  std::array<double, base::throttles.size()> by_reason_s{};
  double slowed_s = 0;  ///< for any reason with Throttle row `slows`
};

/// Device health before, during and after the scored runs.
struct HealthRecord {
  base::Health before;
  base::Health after;
  std::optional<ThrottledTime> throttled;
};

/// Device state at one moment of a soak.
struct HealthPoint {
  double at_s = 0;  ///< since the first scored repetition began
  std::optional<double> sm_clock_mhz, temperature_c, power_w;
};

/// Measurements of the device and its link.
struct DeviceSamples {
  std::int64_t link_bytes = 0;  ///< per copy and direction
  /// Seconds per repetition and copy: to the device, back, both at the same time (harmonic mean of
  /// the directions), and each direction of these; older files lack the last two.
  std::vector<double> h2d_s, d2h_s, duplex_s, duplex_h2d_s, duplex_d2h_s;
  std::optional<HealthRecord> health;  ///< empty: not supported by the back end
  std::vector<HealthPoint> series;     ///< during a soak; empty: not read
};

/// Display name: the order with its disturbance or host work.
std::string name(const Case& run);

/// Of one repetition; empty: no staging ring, or not measured.
std::optional<StagingCosts> staging_costs(const Run& run);

/// Bytes copied in both directions.
std::int64_t copied_bytes(const Case& run);

/// Predicted time in seconds; empty: no prediction, or zero.
std::optional<double> predicted_s(const Case& run);

/// Half the interval around the predicted time, relative to it; empty: unknown.
std::optional<double> uncertainty(const Case& run);

/// Whether the median time lies where the model expects it, as far as is known.
bool as_expected(const Run& run);

/// Predicted speed-up over the baseline on the same device; empty without one.
std::optional<double> predicted_speedup(const Run& run, const std::vector<Run>& runs);

/// Summary of the times of all repetitions, seconds.
base::Summary time_s(const Run& run);

/// Gives the runs of phase together the samples of the runs of the same name in phase alone.
void set_alone(std::vector<Run>& together, const std::vector<Run>& alone);

/// Values of a metric of a run, or of the device, for all repetitions with the necessary inputs.
/// Empty for metrics over all repetitions (drift, contention).
std::vector<double> values(deck::Metric metric, const Run& run, const std::vector<Run>& runs);
std::vector<double> values(deck::Metric metric, const DeviceSamples& device);

/// A metric of a run; empty if it does not apply.
std::optional<base::Summary> value(deck::Metric metric, const Run& run,
                                   const std::vector<Run>& runs);

/// A metric of a predicted run; empty if it cannot be predicted.
std::optional<base::Summary> predicted(deck::Metric metric, const Run& run,
                                       const std::vector<Run>& runs);

/// A metric of the device; empty if not measured.
std::optional<base::Summary> value(deck::Metric metric, const DeviceSamples& device);

/// A value of a metric with its unit: "5.670 ms", "93.1 GB/s", "0.98".
std::string value_words(deck::Metric metric, double value);

/// Relative cost of a disturbance per repetition: time / undisturbed time - 1. Empty for
/// undisturbed runs.
std::optional<base::Summary> disturbance_loss(const Run& run, const std::vector<Run>& runs);

/// Floating-point operations per second of a matrix product; empty: not run.
std::optional<base::Summary> flops_per_s(const Run& run);

/// Floating-point operations of a matrix product, including tiles of the host; 0 for other
/// workloads.
double product_flops(const schedule::Schedule& schedule);

/// Number of tiles that the host computes.
int host_tiles(const schedule::Schedule& schedule);

/// Minimum overlap_potential() for statements about overlap.
inline constexpr double least_potential = 0.1;

/// Maximum fraction of the baseline time that overlap can save: (T_sequential - bound_s) /
/// T_sequential. Empty without a baseline or a bound.
std::optional<double> overlap_potential(const Run& run, const std::vector<Run>& runs);

/// The overlap efficiency for display: also empty if the potential is below `least_potential`,
/// where it would be noise. (Result lines and files always contain it, because harnesses rely on
/// it.)
std::optional<base::Summary> shown_efficiency(const Run& run, const std::vector<Run>& runs);

}  // namespace overlap::experiment
