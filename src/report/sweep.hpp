#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/study.hpp"

/// Best points of a sweep.
namespace overlap::report {

/// Number of combinations of all swept keys but the first: point / combinations is the value index
/// of the first key, point % combinations the combination.
std::size_t combinations(const Study& study);

/// Series name in tables and pictures: "by_engine", "by_engine + malloc" or, with several devices,
/// "by_engine on h200".
std::string series_of(const Study& study, const Row& row);
std::vector<std::string> series(const Study& study);

/// Quantity by which sweep points are compared: time or, if they move different numbers of bytes,
/// throughput.
class Yardstick {
 public:
  explicit Yardstick(const Study& study);

  bool by_time() const { return by_time_; }
  bool better(double a, double b) const { return by_time_ ? a < b : a > b; }

  /// Converts a time of a row to seconds or decimal GB/s; empty without a time.
  std::optional<double> of(const Row& row, std::optional<double> seconds) const;
  std::optional<double> of(const Row& row) const { return of(row, row.seconds()); }

  /// Whether the intervals of two rows with times overlap. Predictions have none: equal ones tie.
  bool tie(const Row& a, const Row& b) const;

  /// The best bound of the orders at a point: on hosts an order's bound depends on its lanes.
  std::optional<double> bound(const PointResult& point) const;

  std::string words(double value) const;  ///< "5.670 ms", "12.34"
  const char* unit() const { return by_time_ ? "" : " GB/s"; }
  const char* what() const { return by_time_ ? "time" : "throughput"; }

 private:
  bool by_time_ = true;
};

/// An order at a point.
struct SweepEntry {
  const PointResult* point = nullptr;
  const Row* row = nullptr;
};

/// The fastest order over all points, of one of several devices; empty without times.
std::optional<SweepEntry> best(const Study& study, const std::string& device = "");

/// The fastest order of each other point whose interval overlaps that of the best.
std::vector<SweepEntry> ties(const Study& study, const std::string& device = "");

/// The knee: smallest value of the first swept key at which some order, for any values of the other
/// keys, comes within `knee_margin` of the best.
struct Knee {
  SweepEntry at;       ///< the fastest entry there
  std::size_t value;   ///< index of the value
  std::size_t last;    ///< index of the last value up to which all stay within the margin
  bool least = false;  ///< no smaller value was tried
};
inline constexpr double knee_margin = 0.05;

/// Empty if the values of the first key are not numbers, or too few.
std::optional<Knee> knee(const Study& study, const std::string& device = "");

/// One row per point: its values, the time of each series, the bound, the fastest series, and for
/// each device whether the point is the best or ties with it. `narrow`: only the time of the
/// fastest, and one row per point and device.
Rows sweep_rows(const Study& study, bool narrow = false);
/// "median times"
std::string sweep_table_heading(const Study& study);

/// The best point, its ties and the knee of each device, and what disturbed the measurements, one
/// line each.
std::vector<std::string> sweep_words(const Study& study);

/// The rows (narrow if necessary to fit `width` columns) and the lines of sweep_words().
std::string sweep_table(const Study& study, int width);

/// The picture of a sweep.
std::string sweep_svg(const Study& study);

}  // namespace overlap::report
