#include "report/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

/// Makes `found` the fastest of itself and the orders at a point.
void improve(std::optional<SweepEntry>& found, const PointResult& point,
             const Yardstick& yardstick) {
  for (const Row& row : point.rows) {
    const auto here = yardstick.of(row);
    if (!here || (found && !yardstick.better(*here, *yardstick.of(*found->row)))) continue;
    found = SweepEntry{&point, &row};
  }
}

}  // namespace

std::size_t combinations(const Study& study) {
  return study.points.size() / study.axes.front().values.size();
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
      std::string name = series_of(study, row);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

Yardstick::Yardstick(const Study& study) {
  std::set<std::int64_t> bytes;
  for (const PointResult& point : study.done) {
    for (const Row& row : point.rows) bytes.insert(row.bytes);
  }
  // How many bytes a product copies depends on how it is cut, not only on what it is.
  const auto is_first_product = [first = &study.deck().workload](const deck::Point& point) {
    const deck::Workload& of = point.deck.workload;
    return of.kind == deck::WorkloadKind::dgemm &&
           std::tie(of.m, of.n, of.k, of.type) ==
               std::tie(first->m, first->n, first->k, first->type);
  };
  by_time_ = bytes.size() < 2 || std::ranges::all_of(study.points, is_first_product);
}

std::optional<double> Yardstick::of(const Row& row, std::optional<double> seconds) const {
  if (!seconds || !(*seconds > 0)) return std::nullopt;
  if (by_time_) return seconds;
  if (row.bytes == 0) return std::nullopt;
  return static_cast<double>(row.bytes) / *seconds * 1e-9;
}

std::optional<double> Yardstick::bound(const PointResult& point) const {
  std::optional<double> best;
  for (const Row& row : point.rows) {
    const auto value = of(row, row.bound_s);
    if (value && (!best || better(*value, *best))) best = value;
  }
  return best;
}

std::string Yardstick::words(double value) const {
  return by_time_ ? base::format_seconds(value) : base::format_number(value);
}

std::optional<SweepEntry> best(const Study& study) {
  std::optional<SweepEntry> found;
  const Yardstick yardstick(study);
  for (const PointResult& point : study.done) improve(found, point, yardstick);
  return found;
}

std::optional<Knee> knee(const Study& study) {
  const Axis& axis = study.axes.front();
  const Yardstick yardstick(study);
  std::optional<SweepEntry> best_of_all;
  std::vector<std::optional<SweepEntry>> at(axis.values.size());
  for (const PointResult& point : study.done) {
    improve(best_of_all, point, yardstick);
    improve(at[point.number / combinations(study)], point, yardstick);
  }
  const auto tried = std::ranges::count_if(at, [](const auto& entry) { return entry.has_value(); });
  if (!axis.numeric() || tried < 2) return std::nullopt;
  std::vector<std::size_t> rising(axis.values.size());
  std::iota(rising.begin(), rising.end(), std::size_t{0});
  std::ranges::sort(rising, {}, [&](std::size_t value) { return *axis.values[value].number; });
  const double most = *yardstick.of(*best_of_all->row);
  const double limit = yardstick.by_time() ? most * (1 + knee_margin) : most / (1 + knee_margin);
  std::optional<Knee> found;
  bool least = true;
  for (const std::size_t value : rising) {
    if (!at[value]) continue;
    const bool near = !yardstick.better(limit, *yardstick.of(*at[value]->row));
    if (found && !near) break;
    if (found) found->last = value;
    if (!found && near) found = Knee{*at[value], value, value, least};
    least = false;
  }
  return found;
}

Rows sweep_rows(const Study& study, bool narrow) {
  const Yardstick yardstick(study);
  const auto cell = [&](const Row& row, std::optional<double> seconds) {
    const auto value = yardstick.of(row, seconds);
    return value ? yardstick.words(*value) : "-";
  };
  const auto names = narrow ? std::vector<std::string>{yardstick.what()} : series(study);
  const auto found = best(study);
  Rows rows(1);
  for (const Axis& axis : study.axes) rows[0].push_back(axis.key);
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  // Predictions have no bound.
  const bool bounds = study.any([](const Row& row) { return row.bound_s.has_value(); });
  if (bounds) rows[0].emplace_back("bound");
  rows[0].insert(rows[0].end(), {"fastest", ""});
  for (const PointResult& point : study.done) {
    auto& cells = rows.emplace_back();
    for (const auto& value : study.points[point.number].values) cells.push_back(value.text);
    std::optional<SweepEntry> here;
    improve(here, point, yardstick);
    const auto bound = yardstick.bound(point);
    for (const std::string& name : names) {
      const auto row = std::find_if(point.rows.begin(), point.rows.end(), [&](const Row& r) {
        return narrow ? here && &r == here->row : series_of(study, r) == name;
      });
      cells.push_back(row == point.rows.end() ? "-" : cell(*row, row->seconds()));
    }
    if (bounds) cells.push_back(bound ? yardstick.words(*bound) : "-");
    cells.push_back(here ? series_of(study, *here->row) : "-");
    cells.emplace_back(found && found->point == &point ? "best" : "");
  }
  return rows;
}

std::vector<std::string> sweep_words(const Study& study) {
  const auto found = best(study);
  if (!found) return {};
  const Yardstick yardstick(study);
  const auto figure = [&](const SweepEntry& place) {
    return fmt::format("{}{}, {}", yardstick.words(*yardstick.of(*place.row)), yardstick.unit(),
                       series_of(study, *place.row));
  };
  const auto values = [&](const SweepEntry& place) {
    return study.points[place.point->number].values;
  };
  std::vector<std::string> lines = {
      fmt::format("best: {} at {}", figure(*found), point_words(values(*found)))};
  const auto turn = knee(study);
  if (!turn) return lines;
  const Axis& axis = study.axes.front();
  auto others = values(turn->at);
  others.erase(others.begin());
  std::string& line = lines.emplace_back(fmt::format(
      "knee: {} {}{} comes within {:.0f} % of the best {}, with {}{}", axis.key,
      axis.values[turn->value].text,
      turn->least ? ", the smallest tried," : " is the smallest value that", 100 * knee_margin,
      yardstick.what(), figure(turn->at), others.empty() ? "" : " at " + point_words(others)));
  if (turn->last != turn->value) {
    line += fmt::format("; so do all up to {}", axis.values[turn->last].text);
  }
  return lines;
}

std::string sweep_table_heading(const Study& study) {
  return fmt::format("{} {}", study.predicts() ? "predicted" : "median",
                     Yardstick(study).by_time() ? "times" : "GB/s, both directions");
}

std::string sweep_table(const Study& study, int width) {
  std::string table = base::align(sweep_rows(study), true);
  const auto too_wide = [&](const auto& line) {
    return base::columns({line.begin(), line.end()}) > static_cast<std::size_t>(width);
  };
  if (std::ranges::any_of(std::views::split(table, '\n'), too_wide)) {
    table = base::align(sweep_rows(study, true), true);
  }
  return fmt::format("\n{}\n{}\n{}\n\n", sweep_table_heading(study), table,
                     fmt::join(sweep_words(study), "\n"));
}

std::string sweep_options() {
  std::set<std::string_view> options;
  for (const Writer& writer : writers) {
    if (writer.takes_sweeps) options.insert(writer.option);
  }
  return fmt::format("{}", fmt::join(options, ", "));
}

}  // namespace overlap::report
