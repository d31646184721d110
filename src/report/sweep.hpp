#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/study.hpp"

/// Where a sweep was best.
namespace overlap::report {

/// How many combinations the values of all keys but the first have: point / combinations is the
/// place of a point's value among those of the first key, the rest its combination.
std::size_t combinations(const Study& study);

/// The series that tables and pictures show beside each other: "by_engine", "by_engine + malloc"
/// or, of several devices, "by_engine on h200".
std::string series_of(const Study& study, const Row& row);
std::vector<std::string> series(const Study& study);

/// What the points of a sweep are compared by: time or, where they move different bytes, the bytes
/// moved in a second.
class Yardstick {
 public:
  explicit Yardstick(const Study& study);

  bool by_time() const { return by_time_; }
  bool better(double a, double b) const { return by_time_ ? a < b : a > b; }

  /// Seconds of a row as seconds or decimal GB/s; empty where they are none.
  std::optional<double> of(const Row& row, std::optional<double> seconds) const;
  std::optional<double> of(const Row& row) const { return of(row, row.seconds()); }

  std::string words(double value) const;  ///< "5.670 ms", "12.34"
  const char* unit() const { return by_time_ ? "" : " GB/s"; }
  const char* what() const { return by_time_ ? "time" : "throughput"; }

 private:
  bool by_time_ = true;
};

/// An order at a point.
struct Entry {
  const PointResult* point = nullptr;
  const Row* row = nullptr;
};

/// The fastest of all orders at all points; empty when nothing has a time.
std::optional<Entry> best(const Study& study);

/// From where on more does not help: of the first swept key the smallest value at which some order,
/// whatever the other keys' values, comes within `knee_margin` of the best.
struct Knee {
  Entry at;            ///< the fastest there
  std::size_t value;   ///< place among the axis' values
  std::size_t last;    ///< and of the largest value up to which all others come as near
  bool least = false;  ///< no smaller value was tried
};
inline constexpr double knee_margin = 0.05;

/// Empty when the first key's values are no numbers, or too few.
std::optional<Knee> knee(const Study& study);

/// One row per point: its values, the time of each series (or, narrow, of the fastest alone), the
/// bound, and which was the fastest.
Rows sweep_rows(const Study& study, bool narrow = false);

/// The best point and the knee, one line each.
std::vector<std::string> sweep_words(const Study& study);

/// Rows, narrow ones where they would not fit `width` otherwise; best point and knee.
std::string sweep_table(const Study& study, int width);

/// The picture of a sweep.
std::string sweep_svg(const Study& study);

}  // namespace overlap::report
