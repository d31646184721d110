#include "report/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/sweep.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

using Cells = std::vector<std::string>;

std::string quoted(const std::string& words) {
  const std::string cell = base::one_line(words);
  const bool plain = cell.find_first_of(",\"") == std::string::npos;
  if (plain) return cell;
  std::string text = "\"";
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

Cells column_names(const std::vector<Axis>& axes) {
  Cells cells = {"deck", "device"};
  for (const Axis& axis : axes) cells.push_back(axis.key);
  cells.insert(cells.end(), {"phase", "order", "disturb", "host_work", "lanes", "chunks", "tasks",
                             "bytes", "n", "median_s", "min_s", "max_s", "lo_s", "hi_s"});
  for (const deck::MetricRow& metric : deck::run_metrics) {
    if (!metric.whole) cells.emplace_back(metric.column());
  }
  cells.insert(cells.end(), {"bound_s", "schedule_bound_s", "predicted_s", "verified", "verdict"});
  return cells;
}

Cells cells_of(const std::string& name, const Cells& point, deck::Phase phase, const Row& row) {
  Cells cells = {name, row.device};
  cells.insert(cells.end(), point.begin(), point.end());
  cells.insert(cells.end(),
               {std::string(deck::to_string(phase)), row.order, row.disturb,
                row.host_work ? "true" : "false", fmt::format("{}", row.lanes),
                fmt::format("{}", row.chunks), fmt::format("{}", row.tasks),
                fmt::format("{}", row.bytes), fmt::format("{}", row.time ? row.time->n : 0)});
  const base::Summary time = row.time.value_or(base::Summary());
  for (const double part : {time.median, time.min, time.max, time.lo, time.hi}) {
    cells.push_back(row.time ? csv_cell(part) : "");
  }
  for (std::size_t i = 0; i < row.medians.size(); ++i) {
    if (!deck::run_metrics[i].whole) cells.push_back(csv_cell(row.medians[i]));
  }
  cells.insert(cells.end(),
               {csv_cell(row.bound_s), csv_cell(row.schedule_bound_s), csv_cell(row.predicted_s),
                row.time ? (row.verified ? "true" : "false") : "", row.verdict});
  return cells;
}

}  // namespace

std::string csv_line(std::vector<std::string> cells) {
  std::transform(cells.begin(), cells.end(), cells.begin(), quoted);
  return fmt::format("{}\n", fmt::join(cells, ","));
}

std::string csv_cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string csv(const Studies& studies) {
  std::string text =
      csv_line(column_names(studies.empty() ? std::vector<Axis>() : studies[0].axes));
  for (const Study& study : studies) {
    for (const PointResult& point : study.done) {
      Cells values;
      std::size_t place = point.number;
      std::size_t count = study.points.size();
      for (const Axis& axis : study.axes) {
        count /= axis.values.size();
        const Axis::Value& value = axis.values[place / count];
        values.push_back(value.number ? csv_cell(value.number) : value.text);
        place %= count;
      }
      for (const Row& row : point.rows) {
        const deck::Phase phase = study.points[point.number].phase;
        text += csv_line(cells_of(study.deck().name(), values, phase, row));
      }
    }
  }
  return text;
}

}  // namespace overlap::report
