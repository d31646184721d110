#include "report/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/units.hpp"

namespace overlap::report {
namespace {

using base::format_number;
using base::format_seconds;

/// What the fastest has least of: seconds or, where the bytes differ, seconds a byte.
class Cost {
 public:
  explicit Cost(const Study& study) : same_(same_bytes(study)) {}

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
std::optional<Entry> fastest(const Study& study, const Cost& cost, const Wanted& wanted) {
  std::optional<Entry> found;
  double least = std::numeric_limits<double>::infinity();
  for (const PointResult& point : study.done) {
    if (!wanted(point)) continue;
    for (const Row& row : point.rows) {
      const auto here = cost(row);
      if (!here || *here >= least) continue;
      least = *here;
      found = Entry{&point, &row};
    }
  }
  return found;
}

}  // namespace

std::vector<std::size_t> places(const Study& study, std::size_t point) {
  std::vector<std::size_t> at(study.axes.size());
  for (std::size_t i = at.size(); i-- > 0;) {
    at[i] = point % study.axes[i].values.size();
    point /= study.axes[i].values.size();
  }
  return at;
}

std::string series_of(const Study& study, const Row& row) {
  std::string name = row.order;
  if (!row.disturb.empty()) name += " + " + row.disturb;
  if (row.host_work) name += " + host work";
  return study.devices.size() < 2 ? name : name + " on " + row.device;
}

std::vector<std::string> series(const Study& study) {
  std::vector<std::string> names;
  for (const PointResult& point : study.done) {
    for (const Row& row : point.rows) {
      if (std::find(names.begin(), names.end(), series_of(study, row)) == names.end()) {
        names.push_back(series_of(study, row));
      }
    }
  }
  return names;
}

bool same_bytes(const Study& study) {
  std::optional<std::int64_t> bytes;
  for (const PointResult& point : study.done) {
    for (const Row& row : point.rows) {
      if (bytes && *bytes != row.bytes) return false;
      bytes = row.bytes;
    }
  }
  return true;
}

std::optional<Entry> best(const Study& study) {
  return fastest(study, Cost(study), [](const PointResult&) { return true; });
}

std::optional<Knee> knee(const Study& study) {
  const Axis& axis = study.axes.front();
  const auto best_of_all = best(study);
  if (!axis.numeric() || axis.values.size() < 2 || !best_of_all) return std::nullopt;
  std::vector<std::size_t> rising(axis.values.size());
  std::iota(rising.begin(), rising.end(), std::size_t{0});
  std::sort(rising.begin(), rising.end(), [&](std::size_t a, std::size_t b) {
    return *axis.values[a].number < *axis.values[b].number;
  });
  const Cost cost(study);
  const double limit = *cost(*best_of_all->row) * (1 + knee_margin);
  std::optional<Knee> found;
  bool least = true;
  for (const std::size_t value : rising) {
    const auto here = fastest(study, cost, [&](const PointResult& point) {
      return places(study, point.number).front() == value;
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

Rows sweep_rows(const Study& study, bool narrow) {
  const Cost cost(study);
  const auto names = narrow ? std::vector<std::string>{cost.what()} : series(study);
  const auto found = best(study);
  Rows rows(1);
  for (const Axis& axis : study.axes) rows[0].push_back(axis.key);
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  // Predictions have no bound.
  const bool bounds =
      std::any_of(study.done.begin(), study.done.end(), [](const PointResult& point) {
        return std::any_of(point.rows.begin(), point.rows.end(),
                           [](const Row& row) { return row.bound_s.has_value(); });
      });
  if (bounds) rows[0].emplace_back("bound");
  rows[0].insert(rows[0].end(), {"fastest", ""});
  for (const PointResult& point : study.done) {
    auto& cells = rows.emplace_back();
    for (const auto& value : study.points[point.number].values) cells.push_back(value.text);
    const auto here = fastest(study, cost, [&](const PointResult& p) { return &p == &point; });
    for (const std::string& name : names) {
      const auto row = std::find_if(point.rows.begin(), point.rows.end(), [&](const Row& r) {
        return narrow ? here && &r == here->row : series_of(study, r) == name;
      });
      cells.push_back(row == point.rows.end() ? "-" : cost.words(*row));
    }
    if (bounds) cells.push_back(here ? cost.words(*here->row, here->row->bound_s) : "-");
    cells.push_back(here ? series_of(study, *here->row) : "-");
    cells.emplace_back(found && found->point == &point ? "best" : "");
  }
  return rows;
}

std::string sweep_words(const Study& study) {
  const auto found = best(study);
  if (!found) return "";
  const Cost cost(study);
  const auto figure = [&](const Entry& place) {
    return fmt::format("{}{}, {}", cost.words(*place.row), cost.unit(),
                       series_of(study, *place.row));
  };
  const auto values = [&](const Entry& place) { return study.points[place.point->number].values; };
  std::string text = fmt::format("best: {} at {}\n", figure(*found), point_words(values(*found)));
  const auto turn = knee(study);
  if (!turn) return text;
  const Axis& axis = study.axes.front();
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

std::string sweep_table(const Study& study, int width) {
  std::string table = base::align(sweep_rows(study), true);
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  if (longest > static_cast<std::size_t>(width)) table = base::align(sweep_rows(study, true), true);
  return fmt::format("\n{} {}\n{}\n{}\n", !study.predicts() ? "median" : "predicted",
                     same_bytes(study) ? "times" : "GB/s, both directions", table,
                     sweep_words(study));
}

}  // namespace overlap::report
