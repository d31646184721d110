#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "report/console.hpp"
#include "report/result.hpp"

/// Many runs of one deck: what came out at each point, and where it was best.
namespace overlap::report {

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

/// One order at one point, measured or predicted: all that tables, CSV files and pictures show.
/// Times are seconds, throughput decimal GB/s.
struct Row {
  std::string order;
  std::string disturb;     ///< the call that disturbed it; empty: none
  bool host_work = false;  ///< whether the host worked beside it
  std::string device;      ///< that a prediction is for; empty: this one
  std::int64_t lanes = 0;
  std::int64_t chunks = 0;
  std::int64_t tasks = 0;
  std::int64_t bytes = 0;             ///< copied, both directions
  std::optional<base::Summary> time;  ///< empty: not measured
  std::optional<double> speedup;
  std::optional<double> throughput;
  std::optional<double> bound_s;
  std::optional<double> schedule_bound_s;
  std::optional<double> overlap_efficiency;
  std::optional<double> host_work_hidden;
  std::optional<double> predicted_s;
  bool verified = false;  ///< and the data were right
  std::string verdict;    ///< "PASS", ..., "WRONG DATA"; empty: nothing ran

  std::optional<double> seconds() const;  ///< the median or, where nothing ran, the prediction
};

/// A point that is done. Its record, one line of JSON, is all that is kept of it: result files and
/// what the terminal shows come from records, whether this process measured the point or an
/// earlier one.
struct PointResult {
  std::size_t number = 0;   ///< among the deck's points, from 0
  std::string fingerprint;  ///< of its deck
  std::string record;
  std::vector<Row> rows;
  std::string lines;  ///< for harnesses, without OVERLAP_RESULT
  base::ExitCode code = base::ExitCode::pass;
};

struct Sweep {
  Result common;  ///< what all points share; it has no runs
  std::vector<deck::Point> points;
  std::vector<Axis> axes;
  std::vector<std::string> devices;  ///< that predictions are for; empty: points run here
  std::vector<PointResult> done;     ///< by their numbers
};

/// A sweep of which nothing is done. `common` has the build, the host and the device.
Sweep new_sweep(Result common, std::vector<deck::Point> points,
                std::vector<std::string> devices = {});

/// Which value each axis has at a point: its place among the axis' values.
std::vector<std::size_t> places(const Sweep& sweep, std::size_t point);

/// "chunks.count 4, memory.host pinned".
std::string point_words(const std::vector<deck::Point::Value>& values);

/// The series that tables and pictures show beside each other: "by_engine", "by_engine + malloc"
/// or, of several devices, "by_engine on h200".
std::string series_of(const Sweep& sweep, const Row& row);
std::vector<std::string> series(const Sweep& sweep);

/// Whether all points move the same bytes, so that their times compare; where they do not, the
/// bytes moved in a second do.
bool same_bytes(const Sweep& sweep);

/// An order at a point.
struct Place {
  const PointResult* point = nullptr;
  const Row* row = nullptr;
};

/// The fastest of all orders at all points: the least time or, where the bytes differ, the most
/// bytes in a second. Empty when nothing has a time.
std::optional<Place> best(const Sweep& sweep);

/// From where on more does not help: of the first swept key the smallest value at which some order,
/// whatever the other keys' values, comes within `knee_margin` of the best.
struct Knee {
  Place at;            ///< the fastest there
  std::size_t value;   ///< place among the axis' values
  std::size_t last;    ///< and of the largest value up to which all others come as near
  bool least = false;  ///< no smaller value was tried
};
inline constexpr double knee_margin = 0.05;

/// Empty when the first key's values are no numbers, or too few.
std::optional<Knee> knee(const Sweep& sweep);

/// Machine, deck and what is swept: before anything runs.
std::string sweep_heading(const Sweep& sweep);

/// A row a point: its values, the time of each series (or, narrow, of the fastest alone), the
/// bound, and which was the fastest.
Rows sweep_rows(const Sweep& sweep, bool narrow = false);

/// The best point and the knee, a line each.
std::string sweep_words(const Sweep& sweep);

/// Rows, narrow ones where they would not fit `width` otherwise; best point and knee.
std::string sweep_table(const Sweep& sweep, int width);

}  // namespace overlap::report
