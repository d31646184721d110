#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/study.hpp"

/// Where a sweep was best.
namespace overlap::report {

/// Which value each axis has at a point: its place among the axis' values.
std::vector<std::size_t> places(const Study& study, std::size_t point);

/// The series that tables and pictures show beside each other: "by_engine", "by_engine + malloc"
/// or, of several devices, "by_engine on h200".
std::string series_of(const Study& study, const Row& row);
std::vector<std::string> series(const Study& study);

/// Whether all points move the same bytes, so that their times compare; where they do not, the
/// bytes moved in a second do.
bool same_bytes(const Study& study);

/// An order at a point.
struct Entry {
  const PointResult* point = nullptr;
  const Row* row = nullptr;
};

/// The fastest of all orders at all points: the least time or, where the bytes differ, the most
/// bytes in a second. Empty when nothing has a time.
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
std::string sweep_words(const Study& study);

/// Rows, narrow ones where they would not fit `width` otherwise; best point and knee.
std::string sweep_table(const Study& study, int width);

}  // namespace overlap::report
