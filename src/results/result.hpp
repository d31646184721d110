#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/machine.hpp"
#include "base/statistics.hpp"
#include "deck/words.hpp"
#include "describe/describe.hpp"
#include "model/bounds.hpp"

/// What a run found, as plain data: what result files hold, and all that reports and commands take.
/// Times are seconds. Every struct is described once: Run and what it consists of in describe.cpp,
/// all others in result.cpp. Reader, writer and schema follow; but for Result::file, a file holds
/// all of it.
namespace overlap::results {

using describe::Json;

enum class Verdict { pass, fail, inconclusive, error, skipped, interrupted };
constexpr auto words_of(Verdict) {
  return describe::in_order<Verdict>("PASS", "FAIL", "INCONCLUSIVE", "ERROR", "SKIPPED",
                                     "INTERRUPTED");
}

/// The verdict of an exit code.
Verdict verdict_of(base::ExitCode code);

/// Result of balancing: the number of repeats with which a kernel takes about `balance` times as
/// long as the copies of its chunk to the device.
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

/// One task of a run: what it did and when.
struct TaskRecord {
  std::int64_t task = 0;            ///< place in the issue order, from 0
  std::optional<std::string> name;  ///< in the deck's list; empty: chunks
  deck::Stage stage = deck::Stage::kernel;
  std::int64_t chunk = 0;
  std::int64_t lane = 0;
  std::string engine;  ///< what executed it
  double start_s = 0;  ///< since the start of the first issue
  double stop_s = 0;
  std::int64_t bytes = 0;            ///< copied
  std::optional<std::string> array;  ///< that is copied
  std::vector<std::int64_t> after;   ///< tasks that it waits for, beside those of its lane
  bool blocking = false;             ///< whether the host waits for it
};

/// All tasks of one repetition in the order of issue.
using Timeline = std::vector<TaskRecord>;

/// When the last task stopped, seconds.
double end_s(const Timeline& timeline);

/// For each task the place in `tasks` of the one that it waited for: the last to finish among those
/// that had to be complete before it could start (the one before it on its lane, `after`, blocking
/// tasks).
std::vector<std::optional<std::size_t>> waited_for(const Timeline& tasks);

/// How task times were measured: in separate runs, so that scored runs are not perturbed.
struct Trace {
  std::string source;       ///< of the times, and its limitations
  double perturbation = 0;  ///< time of traced runs / median of scored runs - 1
  bool doubtful = false;    ///< perturbed by more than 2 % and the spread of the scored runs
};

/// One-time cost of the graph of a schedule.
struct GraphCosts {
  double capture_s = 0;
  double instantiate_s = 0;
};

/// Host work during the runs of an order.
struct HostWorkSamples {
  std::vector<double> samples_s;
};

/// Reasons for the end of the repetitions.
enum class StopReason { repetitions, precision, at_most, budget, duration };
constexpr auto words_of(StopReason) {
  return describe::in_order<StopReason>("repetitions", "precision", "at_most", "budget",
                                        "duration");
}

/// The end of the repetitions of a point.
struct Stop {
  StopReason reason = StopReason::repetitions;
  int repetitions = 0;   ///< of each order
  double elapsed_s = 0;  ///< since the start of the first one, including verification
  /// With `precision`: the widest ratio of 95 % interval to median among the judged metrics; empty:
  /// too few repetitions.
  std::optional<double> width;
};

/// The matrix product that a run computed.
struct Product {
  double flops = 0;  ///< floating-point operations, with tiles of the host
  int host_tiles = 0;
  std::optional<base::Summary> flops_per_s;  ///< empty: not run
};

/// One order of a deck at one point, with or without disturbance or host work: measured or
/// predicted.
struct Run {
  deck::Order order = deck::Order::sequential;
  std::optional<deck::Disturbance> disturbance = {};  ///< empty: undisturbed
  std::optional<HostWorkSamples> host_work = {};      ///< of the host while the device works
  std::string device = {};                            ///< of a prediction; empty: the present one

  std::int64_t tasks = 0, chunks = 0, lanes = 1, slots = 1;
  std::int64_t h2d_bytes = 0, d2h_bytes = 0;
  deck::Transfer transfer = deck::Transfer::staged;
  deck::Mechanism mechanism = deck::Mechanism::streams;

  std::int64_t repetitions = 0;  ///< scored
  std::optional<Stop> stopped;   ///< empty: not run, or interrupted
  /// Wall-clock time of each repetition, thinned in a soak; empty: not run.
  std::vector<double> samples_s;
  std::optional<base::Summary> issue;  ///< until all was issued, waits for blocking tasks included
  std::int64_t polls = 0;              ///< total number of queries of lanes by the waiting host
  std::optional<GraphCosts> graph;
  std::optional<Product> product;
  /// By metric of runs; empty: it does not apply, or was not measured. See evaluate().
  std::array<std::optional<base::Summary>, deck::run_metrics.size()> metrics;
  std::optional<model::Rates> rates;
  std::optional<model::Bounds> bounds;
  /// bound_s at each sample, where a criterion judges a bound; empty: once for all.
  std::vector<double> bound_samples_s;
  std::optional<double> predicted_s;
  bool verified = false;
  std::optional<WrongData> wrong;  ///< empty: correct data
  std::optional<Trace> trace;
  std::string untraced;  ///< why there is no trace, if one was possible
  std::optional<Timeline> timeline, predicted_timeline;

  std::int64_t bytes() const { return h2d_bytes + d2h_bytes; }
  bool ran() const { return !samples_s.empty(); }
  const std::optional<base::Summary>& value(deck::Metric metric) const {
    return metrics[static_cast<std::size_t>(metric)];
  }
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

/// Copies over the link between the runs.
struct LinkSamples {
  std::int64_t bytes = 0;  ///< per copy and direction
  /// Seconds per repetition and copy: to the device, back, both at the same time (harmonic mean of
  /// the directions), and each direction of these.
  std::vector<double> h2d_s, d2h_s, duplex_s, duplex_h2d_s, duplex_d2h_s;
};

/// Measurements of the device and its link.
struct DeviceSamples {
  std::optional<LinkSamples> link;         ///< empty: not measured
  std::optional<HealthRecord> health;      ///< empty: not supported by the back end
  std::vector<HealthPoint> health_series;  ///< during a soak; empty: not read
  std::optional<int> array_node;           ///< NUMA node of the first page of the host arrays
};

/// Timing of each repetition on the ranks of a node in phase together.
struct Window {
  std::optional<base::Summary> skew_s;    ///< from the first start to the last
  std::optional<base::Summary> shared_s;  ///< from the last start to the last stop
};

/// A reason why an order hides less than it could.
struct Finding {
  deck::Order order = deck::Order::sequential;
  std::optional<deck::Disturbance> disturbance;
  bool host_work = false;
  std::string cause;  ///< name of the diagnosis
  std::string text;   ///< one line: cause, evidence, remedy
  std::map<std::string, double> evidence;
};

/// Origin of a limit that is not in the deck.
struct LimitSource {
  std::string file;  ///< reference file
  double value = 0;  ///< reference value
  double below = 0;  ///< relative tolerance
};

/// Identifies a figure of a deck on a device.
struct FigureKey {
  deck::Phase phase = deck::Phase::alone;
  std::optional<deck::Order> order;  ///< empty: a metric of the device
  deck::Metric metric = deck::Metric::time;

  auto operator<=>(const FigureKey&) const = default;
};

/// One limit of a criterion, applied to one figure.
struct Check {
  FigureKey key;
  std::string device = {};                 ///< of a prediction; empty: the device at hand
  base::Summary value;                     ///< NaN: unknown
  bool at_least = false;                   ///< true: `limit` is a minimum; false: a maximum
  double limit = 0;                        ///< NaN: not in the reference
  std::optional<LimitSource> source = {};  ///< empty: the limit is in the deck
  Verdict verdict = Verdict::pass;
  std::string text = {};    ///< value, interval and limit
  std::string reason = {};  ///< why the verdict does not follow from the value; empty: it does
};

/// How the data are cut.
struct DataLayout {
  std::int64_t chunks = 1;                   ///< per iteration; tiles of a product
  std::int64_t slots = 1;                    ///< chunks that the device holds; tiles of a product
  std::optional<std::int64_t> device_limit;  ///< bytes; empty: all fits
  /// Of a product: panels that the device holds, and what is copied of them in all.
  std::int64_t a_panels = 0, b_panels = 0, loaded_bytes = 0, once_bytes = 0;
};

/// Notes for the report, on choices of the program and warnings: name, text; `choices` in files.
using Notes = std::vector<std::pair<std::string, std::string>>;

/// The end of a point.
struct Outcome {
  base::ExitCode exit_code = base::ExitCode::pass;
  std::vector<std::string> reasons;  ///< for the verdict, one line each
  std::optional<std::string> error;  ///< that ended it; empty: none
  bool interrupted = false;          ///< before all repetitions were done
};

/// A point of a deck: of a sweep, or a phase. A deck without both is one point.
struct Point {
  /// "chunks.count 4, memory.host pinned"; "together"; empty: no sweep, alone.
  std::string name() const;
  /// A swept value, as the deck spells it.
  std::string spelled(const std::string& key) const;
  bool is_swept() const { return !values.empty(); }
  /// Whether any of its runs was measured.
  bool ran() const;
  /// The error that ended it early, or "interrupted"; empty: nothing did.
  std::string ended_by() const;
  /// Whether it came to its end.
  bool is_finished() const { return outcome && ended_by().empty(); }

  Json values = Json::object();                  ///< swept keys and their values
  std::map<std::string, std::string> text = {};  ///< the same as spelled in the deck
  deck::Phase phase = deck::Phase::alone;
  Notes notes = {};
  std::optional<Balance> balance = {};
  std::optional<DataLayout> layout = {};  ///< empty: a custom list
  DeviceSamples device = {};
  std::optional<Window> window = {};  ///< of phase together
  int verified_runs = 0;
  double verification_s = 0;  ///< total time of reference results and comparisons
  std::vector<Run> runs = {};
  std::vector<Finding> findings = {};
  std::vector<Check> checks = {};
  std::optional<Outcome> outcome = {};  ///< empty: it did not run yet
};

/// A swept key with its values in the order of the deck.
struct Axis {
  struct Value {
    std::string text;              ///< as spelled in the deck
    std::optional<double> number;  ///< empty: a word
  };
  std::string key;
  std::vector<Value> values;

  bool numeric() const;  ///< whether all values are numbers
};

/// The deck of a result.
struct DeckFile {
  std::string path;  ///< as given
  std::string mark;  ///< tells it from others of its name in one call; empty: it is alone
  std::string sha256, identity;
  Json resolved = Json::object();

  std::string name() const { return describe::name_of(path) + mark; }
};

/// What the runs of a deck found: a result file.
struct Result {
  std::string file;  ///< that it was read from; not in files
  base::Machine machine;
  std::string started;  ///< UTC, "2026-01-31T12:00:00Z"
  std::string title;
  DeckFile deck;
  /// References and device files: path, SHA-256.
  std::map<std::string, std::string> inputs;
  std::vector<std::string> predicted_for;  ///< devices; empty: it ran here
  /// Devices of predictions whose figures are from data sheets and publications.
  std::vector<std::string> described = {};
  /// Those whose files have no latencies, so that more chunks never cost time.
  std::vector<std::string> without_latencies = {};
  std::vector<Point> points;         ///< all, in the order of the deck, at least one
  std::optional<std::string> error;  ///< that ended it early, or what could not be written
  Verdict verdict = Verdict::pass;
  base::ExitCode code = base::ExitCode::pass;

  bool sweeps() const { return points.front().is_swept(); }
  std::vector<Axis> axes() const;
  bool predicts() const { return !predicted_for.empty(); }
  bool ran() const;
  bool interrupted() const;
};

void describe(describe::Visitor& v, TaskRecord& task);
void describe(describe::Visitor& v, Trace& trace);
void describe(describe::Visitor& v, Stop& stop);
void describe(describe::Visitor& v, Run& run);
void describe(describe::Visitor& v, Result& result);

inline constexpr const char* result_schema = "overlap-result/3";

/// Puts a point that has an outcome in its place.
void put(Result& result, std::size_t number, Point point);

/// What cannot be done for a result as a whole, such as a file that could not be written.
void fail(Result& result, base::ExitCode code, const std::string& text);

/// JSON as text without unsafe bytes.
std::string json_text(const Json& json, int indent = -1);

/// The text of a result file: one result, or several in `results`.
std::string to_json(const std::vector<Result>& results, int indent = 2);

/// What a command requires of a result; throws base::Error with the place in the file.
using Rule = std::function<void(const describe::Reader&, const Result&)>;

/// The results of a file, from which lists of tasks may be missing. Throws
/// base::Error{runtime_error} with place or path and reason.
std::vector<Result> read_results(const describe::Document& document, const Rule& rule = {});

}  // namespace overlap::results
