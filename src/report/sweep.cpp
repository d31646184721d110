#include "report/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/units.hpp"
#include "report/json.hpp"

namespace overlap::report {
namespace {

using base::format_number;
using base::format_seconds;

/// What the fastest has least of: seconds or, where the bytes differ, seconds a byte.
class Cost {
 public:
  explicit Cost(const Sweep& sweep) : same_(same_bytes(sweep)) {}

  std::optional<double> operator()(const Row& row) const { return of(row, row.seconds()); }
  std::string words(const Row& row) const { return words(row, row.seconds()); }
  std::string words(const Row& row, std::optional<double> seconds) const {
    const auto cost = of(row, seconds);
    if (!cost) return "-";
    return same_ ? format_seconds(*cost) : format_number(1e-9 / *cost);
  }

  const char* what() const { return same_ ? "time" : "throughput"; }
  const char* unit() const { return same_ ? "" : " GB/s"; }

 private:
  std::optional<double> of(const Row& row, std::optional<double> seconds) const {
    if (!seconds || same_) return seconds;
    if (row.bytes == 0) return std::nullopt;
    return *seconds / static_cast<double>(row.bytes);
  }

  bool same_;
};

/// The fastest of the points that `wanted` takes.
template <class Wanted>
std::optional<Place> fastest(const Sweep& sweep, const Cost& cost, const Wanted& wanted) {
  std::optional<Place> found;
  double least = std::numeric_limits<double>::infinity();
  for (const PointResult& point : sweep.done) {
    if (!wanted(point)) continue;
    for (const Row& row : point.rows) {
      const auto here = cost(row);
      if (!here || *here >= least) continue;
      least = *here;
      found = Place{&point, &row};
    }
  }
  return found;
}

std::string values_words(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Axis::Value& value : axis.values) texts.push_back(value.text);
  constexpr std::size_t most = 16;
  if (texts.size() <= most) return fmt::format("{}", fmt::join(texts, ", "));
  return fmt::format("{}, ..., {} ({} values)",
                     fmt::join(texts.begin(), texts.begin() + most - 2, ", "), texts.back(),
                     texts.size());
}

}  // namespace

bool Axis::numeric() const {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return !!v.number; });
}

std::optional<double> Row::seconds() const {
  return time ? std::optional<double>(time->median) : predicted_s;
}

Sweep new_sweep(Result common, std::vector<deck::Point> points, std::vector<std::string> devices) {
  Sweep sweep{.common = std::move(common),
              .points = std::move(points),
              .axes = {},
              .devices = std::move(devices),
              .done = {}};
  sweep.common.deck = sweep.points.front().deck;
  sweep.common.point = sweep.points.front().values;
  const std::vector<deck::Point::Value>& first = sweep.points.front().values;
  for (std::size_t i = 0; i < first.size(); ++i) {
    Axis& axis = sweep.axes.emplace_back(Axis{.key = first[i].key, .values = {}});
    for (const deck::Point& point : sweep.points) {
      const std::string& text = point.values[i].text;
      if (std::any_of(axis.values.begin(), axis.values.end(),
                      [&](const Axis::Value& value) { return value.text == text; })) {
        continue;
      }
      axis.values.push_back({text, number_at(point.deck, axis.key)});
    }
  }
  return sweep;
}

std::vector<std::size_t> places(const Sweep& sweep, std::size_t point) {
  std::vector<std::size_t> at(sweep.axes.size());
  for (std::size_t i = at.size(); i-- > 0;) {
    at[i] = point % sweep.axes[i].values.size();
    point /= sweep.axes[i].values.size();
  }
  return at;
}

std::string point_words(const std::vector<deck::Point::Value>& values) {
  std::string text;
  for (const auto& [key, value] : values) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

std::string series_of(const Sweep& sweep, const Row& row) {
  std::string name = row.order;
  if (!row.disturb.empty()) name += " + " + row.disturb;
  if (row.host_work) name += " + host work";
  return sweep.devices.size() < 2 ? name : name + " on " + row.device;
}

std::vector<std::string> series(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const PointResult& point : sweep.done) {
    for (const Row& row : point.rows) {
      if (std::find(names.begin(), names.end(), series_of(sweep, row)) == names.end()) {
        names.push_back(series_of(sweep, row));
      }
    }
  }
  return names;
}

bool same_bytes(const Sweep& sweep) {
  std::optional<std::int64_t> bytes;
  for (const PointResult& point : sweep.done) {
    for (const Row& row : point.rows) {
      if (bytes && *bytes != row.bytes) return false;
      bytes = row.bytes;
    }
  }
  return true;
}

std::optional<Place> best(const Sweep& sweep) {
  return fastest(sweep, Cost(sweep), [](const PointResult&) { return true; });
}

std::optional<Knee> knee(const Sweep& sweep) {
  const Axis& axis = sweep.axes.front();
  const auto best_of_all = best(sweep);
  if (!axis.numeric() || axis.values.size() < 2 || !best_of_all) return std::nullopt;
  std::vector<std::size_t> rising(axis.values.size());
  std::iota(rising.begin(), rising.end(), std::size_t{0});
  std::sort(rising.begin(), rising.end(), [&](std::size_t a, std::size_t b) {
    return *axis.values[a].number < *axis.values[b].number;
  });
  const Cost cost(sweep);
  const double limit = *cost(*best_of_all->row) * (1 + knee_margin);
  std::optional<Knee> found;
  bool least = true;
  for (const std::size_t value : rising) {
    const auto here = fastest(sweep, cost, [&](const PointResult& point) {
      return places(sweep, point.number).front() == value;
    });
    if (!here) continue;
    const bool near = *cost(*here->row) <= limit;
    if (found && !near) break;
    if (found) found->last = value;
    if (!found && near) found = Knee{.at = *here, .value = value, .last = value, .least = least};
    least = false;
  }
  return found;
}

std::string sweep_heading(const Sweep& sweep) {
  const Result& common = sweep.common;
  const bool predictions = !sweep.devices.empty();
  Rows rows;
  if (!predictions) rows = provenance(common);
  rows.push_back({"deck", common.deck.path});
  rows.push_back({"workload", workload_line(common.deck.workload, common.point)});
  if (predictions) rows.push_back({"devices", fmt::format("{}", fmt::join(sweep.devices, ", "))});
  for (const auto& [name, value] : common.choices) rows.push_back({name, value});
  rows.push_back({"sweep", fmt::format("{} points", sweep.points.size())});
  for (const Axis& axis : sweep.axes) rows.push_back({"  " + axis.key, values_words(axis)});
  return (predictions ? common.deck.title + "\n\n" : title(common)) + align(rows, false);
}

Rows sweep_rows(const Sweep& sweep, bool narrow) {
  const Cost cost(sweep);
  const auto names = narrow ? std::vector<std::string>{cost.what()} : series(sweep);
  const auto found = best(sweep);
  Rows rows(1);
  for (const Axis& axis : sweep.axes) rows[0].push_back(axis.key);
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  // Predictions have no bound.
  const bool bounds =
      std::any_of(sweep.done.begin(), sweep.done.end(), [](const PointResult& point) {
        return std::any_of(point.rows.begin(), point.rows.end(),
                           [](const Row& row) { return row.bound_s.has_value(); });
      });
  if (bounds) rows[0].emplace_back("bound");
  rows[0].insert(rows[0].end(), {"fastest", ""});
  for (const PointResult& point : sweep.done) {
    auto& cells = rows.emplace_back();
    for (const auto& value : sweep.points[point.number].values) cells.push_back(value.text);
    const auto here = fastest(sweep, cost, [&](const PointResult& p) { return &p == &point; });
    for (const std::string& name : names) {
      const auto row = std::find_if(point.rows.begin(), point.rows.end(), [&](const Row& r) {
        return narrow ? here && &r == here->row : series_of(sweep, r) == name;
      });
      cells.push_back(row == point.rows.end() ? "-" : cost.words(*row));
    }
    if (bounds) cells.push_back(here ? cost.words(*here->row, here->row->bound_s) : "-");
    cells.push_back(here ? series_of(sweep, *here->row) : "-");
    cells.emplace_back(found && found->point == &point ? "best" : "");
  }
  return rows;
}

std::string sweep_words(const Sweep& sweep) {
  const auto found = best(sweep);
  if (!found) return "";
  const Cost cost(sweep);
  const auto figure = [&](const Place& place) {
    return fmt::format("{}{}, {}", cost.words(*place.row), cost.unit(),
                       series_of(sweep, *place.row));
  };
  const auto values = [&](const Place& place) { return sweep.points[place.point->number].values; };
  std::string text = fmt::format("best: {} at {}\n", figure(*found), point_words(values(*found)));
  const auto turn = knee(sweep);
  if (!turn) return text;
  const Axis& axis = sweep.axes.front();
  auto others = values(turn->at);
  others.erase(others.begin());
  text += fmt::format("knee: {} {}, {} with a {} within {:.0f} % of the best: {}{}", axis.key,
                      axis.values[turn->value].text,
                      turn->least ? "the smallest tried, is one" : "the smallest value",
                      cost.what(), 100 * knee_margin, figure(turn->at),
                      others.empty() ? "" : " at " + point_words(others));
  if (turn->last != turn->value) {
    text += fmt::format("; so are all up to {}", axis.values[turn->last].text);
  }
  return text + "\n";
}

std::string sweep_table(const Sweep& sweep, int width) {
  std::string table = align(sweep_rows(sweep), true);
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  if (longest > static_cast<std::size_t>(width)) table = align(sweep_rows(sweep, true), true);
  return fmt::format("\n{} {}\n{}\n{}\n", sweep.devices.empty() ? "median" : "predicted",
                     same_bytes(sweep) ? "times" : "GB/s, both directions", table,
                     sweep_words(sweep));
}

}  // namespace overlap::report
