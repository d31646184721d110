#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "base/statistics.hpp"
#include "base/table.hpp"
#include "experiment/judge.hpp"

/// All points of a deck with their outcomes: the input of every report. A deck without a sweep is
/// one point.
namespace overlap::report {

using base::Rows;

/// A swept key with its values in the order of the deck.
struct Axis {
  struct Value {
    std::string text;              ///< as spelled in the deck
    std::optional<double> number;  ///< its numeric value; empty: a word
  };
  std::string key;
  std::vector<Value> values;
  bool numeric() const;  ///< whether all values are numbers
};

/// One order at one point, measured or predicted, for tables, CSV files and sweep pictures. Times
/// in seconds.
struct Row {
  std::string order;
  std::string disturb;     ///< disturbance; empty: none
  bool host_work = false;  ///< with host work
  std::string device;      ///< device of a prediction; empty: this one
  std::int64_t lanes = 0;
  std::int64_t chunks = 0;
  std::int64_t tasks = 0;
  std::int64_t bytes = 0;                                               ///< copied, both directions
  std::int64_t repetitions = 0;                                         ///< scored
  std::optional<base::Summary> time;                                    ///< empty: not measured
  std::array<std::optional<double>, deck::run_metrics.size()> medians;  ///< by metric
  std::optional<double> bound_s;
  std::optional<double> schedule_bound_s;
  std::optional<double> predicted_s;
  bool verified = false;  ///< verified, with correct data
  std::string verdict;    ///< "PASS", ..., "WRONG DATA"; empty: nothing ran

  std::optional<double> median(deck::Metric metric) const;
  std::optional<double> seconds() const;  ///< median, or the prediction if nothing ran
};

/// A limit of a criterion, applied.
struct CheckRow {
  std::string metric;
  std::string order;  ///< "-": a metric of the device
  experiment::Verdict verdict = experiment::Verdict::pass;
  std::string text;  ///< value, interval and limit in words
};

/// A finding about a run.
struct FindingRow {
  std::string order;
  std::string cause;
  std::string text;
};

/// A finished point. Result files and sweep tables use records and rows, so that points of earlier
/// processes are equivalent.
struct PointResult {
  std::size_t number = 0;   ///< index of the point in the deck
  std::string fingerprint;  ///< of the deck of a saved point
  std::string record;       ///< its part of the result file, one line of JSON
  std::vector<Row> rows;
  std::vector<CheckRow> checks;
  std::vector<FindingRow> findings;
  std::string lines;  ///< result lines without OVERLAP_RESULT
  base::ExitCode code = base::ExitCode::pass;
  std::vector<std::string> reasons;  ///< for the verdict
  std::string ended_by;              ///< error that ended it early, or "interrupted"; else empty
  std::optional<experiment::Outcome> outcome;  ///< complete outcome; empty for points of a sweep
};

struct Study {
  base::Machine machine;
  std::string started;  ///< UTC, "2026-01-31T12:00:00Z"
  std::vector<deck::Point> points;
  std::vector<Axis> axes;                     ///< empty: no sweep
  std::vector<std::string> devices;           ///< devices of predictions; empty: points run here
  std::vector<PointResult> done;              ///< finished points, by number
  std::optional<base::Error> unwritten = {};  ///< why a file could not be written; empty: all were

  const deck::Deck& deck() const { return points.front().deck; }
  bool sweeps() const { return !axes.empty(); }
  bool predicts() const { return !devices.empty(); }
  bool any(bool (*has)(const Row&)) const;  ///< whether any row satisfies a predicate
  bool ran() const;                         ///< whether anything was measured
  /// The outcome of a deck without a sweep, in its first phase; null: not finished.
  const experiment::Outcome* outcome() const;
  /// The outcomes of all its phases that are finished.
  std::vector<const experiment::Outcome*> outcomes() const;
  base::ExitCode exit_code() const;  ///< worst of all points
  experiment::Verdict verdict() const { return experiment::verdict_of(exit_code()); }
};

/// A study without finished points.
Study new_study(base::Machine machine, std::vector<deck::Point> points,
                std::vector<std::string> devices = {});

/// Adds the outcome of a point.
PointResult& add(Study& study, std::size_t point, experiment::Outcome outcome);

/// "chunks.count 4, memory.host pinned".
std::string point_words(const std::vector<deck::Point::Value>& values);

}  // namespace overlap::report
