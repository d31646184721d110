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

/// All points of a deck with their outcomes: what every report is written from. A deck without a
/// sweep is one point.
namespace overlap::report {

using base::Rows;

/// A swept key with its values in the deck's order.
struct Axis {
  struct Value {
    std::string text;              ///< as the deck spells it
    std::optional<double> number;  ///< what the program took it for; empty: a word
  };
  std::string key;
  std::vector<Value> values;
  bool numeric() const;  ///< whether every value is a number
};

/// One order at one point, measured or predicted: what tables, CSV files and pictures of sweeps
/// show. Times are seconds.
struct Row {
  std::string order;
  std::string disturb;     ///< the call that disturbed it; empty: none
  bool host_work = false;  ///< whether the host worked while it ran
  std::string device;      ///< that a prediction is for; empty: this one
  std::int64_t lanes = 0;
  std::int64_t chunks = 0;
  std::int64_t tasks = 0;
  std::int64_t bytes = 0;                                               ///< copied, both directions
  std::optional<base::Summary> time;                                    ///< empty: not measured
  std::array<std::optional<double>, deck::run_metrics.size()> medians;  ///< of each metric
  std::optional<double> bound_s;
  std::optional<double> schedule_bound_s;
  std::optional<double> predicted_s;
  bool verified = false;  ///< and the data were right
  std::string verdict;    ///< "PASS", ..., "WRONG DATA"; empty: nothing ran

  std::optional<double> median(deck::Metric metric) const;
  std::optional<double> seconds() const;  ///< the median or, where nothing ran, the prediction
};

/// A limit of a criterion, applied.
struct CheckRow {
  std::string metric;
  std::string order;  ///< "-": a metric of the device
  experiment::Verdict verdict = experiment::Verdict::pass;
  std::string text;  ///< value, interval and limit in words
};

/// A point that is done. Result files and tables of sweeps come from records and rows, whether this
/// process measured the point or an earlier one did.
struct PointResult {
  std::size_t number = 0;   ///< among the deck's points, from 0
  std::string fingerprint;  ///< of its deck
  std::string record;       ///< one line of JSON: its part of the result file
  std::vector<Row> rows;
  std::vector<CheckRow> checks;
  std::string lines;  ///< for harnesses, without OVERLAP_RESULT
  experiment::Verdict verdict = experiment::Verdict::pass;
  base::ExitCode code = base::ExitCode::pass;
  std::vector<std::string> reasons;  ///< for the verdict
  std::string wrong_data;            ///< one line per order that left wrong data
  std::string ended_by;  ///< what ended it early: an error, or "interrupted"; empty: nothing
  std::optional<experiment::Outcome> outcome;  ///< in full; empty for points of a sweep
};

struct Study {
  base::Machine machine;
  std::string started;  ///< UTC, "2026-01-31T12:00:00Z"
  std::vector<deck::Point> points;
  std::vector<Axis> axes;            ///< empty: no sweep
  std::vector<std::string> devices;  ///< that predictions are for; empty: points run here
  std::vector<PointResult> done;     ///< by their numbers
  bool unwritten = false;            ///< a result file could not be written

  const deck::Deck& deck() const { return points.front().deck; }
  bool sweeps() const { return !axes.empty(); }
  bool predicts() const { return !devices.empty(); }
  bool phases() const { return axes.empty() && points.size() > 1; }  ///< of a fleet
  bool any(bool (*has)(const Row&)) const;  ///< whether any order at any point has it
  bool ran() const;                         ///< whether anything was measured
  /// The one outcome of a deck without a sweep; null: it is not done.
  const experiment::Outcome* outcome() const;
  experiment::Verdict verdict() const;  ///< the worst of its points
  base::ExitCode exit_code() const;
};

/// A study of which nothing is done.
Study new_study(base::Machine machine, std::vector<deck::Point> points,
                std::vector<std::string> devices = {});

/// Adds the outcome of a point.
PointResult& add(Study& study, std::size_t point, experiment::Outcome outcome);

/// "chunks.count 4, memory.host pinned".
std::string point_words(const std::vector<deck::Point::Value>& values);

}  // namespace overlap::report
