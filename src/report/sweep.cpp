#include "report/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/diagnosis.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

/// The order of a row with what runs beside it.
std::string order_of(const Row& row) {
  std::string name = row.order;
  if (!row.disturb.empty()) name += " + " + row.disturb;
  if (row.host_work) name += " + host work";
  return name;
}

/// The devices that have a best point each; empty name: all that there are, or this one.
std::vector<std::string> devices_of(const Study& study) {
  return study.devices.size() < 2 ? std::vector<std::string>{""} : study.devices;
}

/// Makes `found` the fastest of itself and the orders of a device at a point.
void improve(std::optional<SweepEntry>& found, const PointResult& point, const Yardstick& yardstick,
             const std::string& device) {
  for (const Row& row : point.rows) {
    if (!device.empty() && row.device != device) continue;
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
  return study.devices.size() < 2 ? order_of(row) : order_of(row) + " on " + row.device;
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

bool Yardstick::tie(const Row& a, const Row& b) const {
  const auto interval = [&](const Row& row) {
    if (!row.time) return std::pair(*of(row), *of(row));
    return std::pair(std::minmax({*of(row, row.time->lo), *of(row, row.time->hi)}));
  };
  const auto [a_lo, a_hi] = interval(a);
  const auto [b_lo, b_hi] = interval(b);
  return a_lo <= b_hi && b_lo <= a_hi;
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

std::optional<SweepEntry> best(const Study& study, const std::string& device) {
  std::optional<SweepEntry> found;
  const Yardstick yardstick(study);
  for (const PointResult& point : study.done) improve(found, point, yardstick, device);
  return found;
}

std::vector<SweepEntry> ties(const Study& study, const std::string& device) {
  std::vector<SweepEntry> entries;
  const auto fastest = best(study, device);
  const Yardstick yardstick(study);
  for (const PointResult& point : study.done) {
    std::optional<SweepEntry> here;
    improve(here, point, yardstick, device);
    if (!here || here->point == fastest->point) continue;
    if (yardstick.tie(*here->row, *fastest->row)) entries.push_back(*here);
  }
  return entries;
}

std::optional<Knee> knee(const Study& study, const std::string& device) {
  const Axis& axis = study.axes.front();
  const Yardstick yardstick(study);
  std::optional<SweepEntry> best_of_all;
  std::vector<std::optional<SweepEntry>> at(axis.values.size());
  for (const PointResult& point : study.done) {
    improve(best_of_all, point, yardstick, device);
    improve(at[point.number / combinations(study)], point, yardstick, device);
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
  const std::vector<std::string> devices = devices_of(study);
  const bool several = devices.size() > 1;
  const auto names = narrow ? std::vector<std::string>{yardstick.what()} : series(study);
  std::map<std::pair<std::string, const PointResult*>, std::string> marks;  // by device and point
  for (const std::string& device : devices) {
    if (const auto found = best(study, device)) marks[{device, found->point}] = "best";
    for (const SweepEntry& entry : ties(study, device)) marks[{device, entry.point}] = "tie";
  }
  Rows rows(1);
  for (const Axis& axis : study.axes) rows[0].push_back(axis.key);
  if (narrow && several) rows[0].emplace_back("device");
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  // Predictions have no bound.
  const bool bounds = study.any([](const Row& row) { return row.bound_s.has_value(); });
  if (bounds) rows[0].emplace_back("bound");
  rows[0].insert(rows[0].end(), {"fastest", ""});
  // A row of the devices: each of its own, or all in one.
  const auto add = [&](const PointResult& point, const std::vector<std::string>& of) {
    auto& cells = rows.emplace_back();
    for (const auto& value : study.points[point.number].values) cells.push_back(value.text);
    if (narrow && several) cells.push_back(of.front());
    std::optional<SweepEntry> here;
    for (const std::string& device : of) improve(here, point, yardstick, device);
    const auto bound = yardstick.bound(point);
    for (const std::string& name : names) {
      const auto row = std::find_if(point.rows.begin(), point.rows.end(), [&](const Row& r) {
        return narrow ? here && &r == here->row : series_of(study, r) == name;
      });
      cells.push_back(row == point.rows.end() ? "-" : cell(*row, row->seconds()));
    }
    if (bounds) cells.push_back(bound ? yardstick.words(*bound) : "-");
    cells.push_back(!here ? "-" : narrow ? order_of(*here->row) : series_of(study, *here->row));
    std::vector<std::string> marked;
    for (const std::string& device : of) {
      const auto mark = marks.find({device, &point});
      if (mark == marks.end()) continue;
      marked.push_back(of.size() > 1 ? mark->second + " on " + device : mark->second);
    }
    cells.push_back(fmt::format("{}", fmt::join(marked, ", ")));
  };
  for (const PointResult& point : study.done) {
    if (!narrow) add(point, devices);
    for (std::size_t i = 0; narrow && i < devices.size(); ++i) add(point, {devices[i]});
  }
  return rows;
}

namespace {

constexpr std::size_t most_listed = 8;

/// The best point of a device, those that tie with it, and the knee.
void add_best(const Study& study, const std::string& device, std::vector<std::string>& lines) {
  const auto found = best(study, device);
  if (!found) return;
  const Yardstick yardstick(study);
  const std::string on = device.empty() ? "" : " on " + device;
  const auto figure = [&](const SweepEntry& place) {
    return fmt::format("{}{}, {}", yardstick.words(*yardstick.of(*place.row)), yardstick.unit(),
                       order_of(*place.row));
  };
  const auto values = [&](const SweepEntry& place) {
    return study.points[place.point->number].values;
  };
  lines.push_back(fmt::format("best{}: {} at {}", on, figure(*found), point_words(values(*found))));
  if (const std::vector<SweepEntry> all = ties(study, device); !all.empty()) {
    std::vector<std::string> listed;
    for (const SweepEntry& entry : all) {
      if (listed.size() < most_listed) listed.push_back(point_words(values(entry)));
    }
    if (all.size() > most_listed)
      listed.push_back(fmt::format("{} more", all.size() - most_listed));
    lines.push_back(fmt::format(
        "ties{}, {}: {}", on,
        study.predicts() ? "as fast as the best" : "whose intervals overlap the best one's",
        fmt::join(listed, "; ")));
  }
  const auto turn = knee(study, device);
  if (!turn) return;
  const Axis& axis = study.axes.front();
  auto others = values(turn->at);
  others.erase(others.begin());
  const std::string& value = axis.values[turn->value].text;
  std::string& line = lines.emplace_back(fmt::format(
      "knee{}: {} {}{} comes within {:.0f} % of the best {}, with {}{}", on, axis.key, value,
      turn->least ? ", the smallest tried," : " is the smallest value that", 100 * knee_margin,
      yardstick.what(), figure(turn->at), others.empty() ? "" : " at " + point_words(others)));
  if (turn->last != turn->value) {
    line += fmt::format("; {} to {} are within {:.0f} % of the best", value,
                        axis.values[turn->last].text, 100 * knee_margin);
  }
}

/// The findings about noise, one line per cause.
void add_noise(const Study& study, std::vector<std::string>& lines) {
  std::map<std::string, int> runs_with;
  std::vector<std::string> first;  // of each cause
  int runs = 0;
  for (const PointResult& point : study.done) {
    runs += static_cast<int>(point.rows.size());
    for (const FindingRow& finding : point.findings) {
      if (!experiment::is_noise(finding.cause) || ++runs_with[finding.cause] > 1) continue;
      first.push_back(finding.cause);
      lines.push_back(fmt::format("{}, {}: {}", point_words(study.points[point.number].values),
                                  finding.order, finding.text));
    }
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::string& line = lines[lines.size() - first.size() + i];
    line =
        fmt::format("{} ({} of {} runs), first at {}", first[i], runs_with[first[i]], runs, line);
  }
}

}  // namespace

std::vector<std::string> sweep_words(const Study& study) {
  std::vector<std::string> lines;
  for (const std::string& device : devices_of(study)) add_best(study, device, lines);
  add_noise(study, lines);
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
