#include "report/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/json.hpp"

namespace overlap::report {
namespace {

using Cells = std::vector<std::string>;

std::string quoted(const std::string& cell) {
  const bool plain = cell.find_first_of(",\"\r\n") == std::string::npos;
  if (plain) return cell;
  std::string text = "\"";
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

std::string line(Cells cells) {
  std::transform(cells.begin(), cells.end(), cells.begin(), quoted);
  return fmt::format("{}\n", fmt::join(cells, ","));
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

Cells column_names(const std::vector<Axis>& axes) {
  Cells cells = {"deck", "device"};
  for (const Axis& axis : axes) cells.push_back(axis.key);
  cells.insert(cells.end(), {"order",
                             "disturb",
                             "host_work",
                             "lanes",
                             "chunks",
                             "tasks",
                             "bytes",
                             "n",
                             "median_s",
                             "min_s",
                             "max_s",
                             "lo_s",
                             "hi_s",
                             "speedup",
                             "throughput_gb_per_s",
                             "bound_s",
                             "schedule_bound_s",
                             "overlap_efficiency",
                             "host_work_hidden",
                             "predicted_s",
                             "verified",
                             "verdict"});
  return cells;
}

Cells cells_of(const std::string& deck, const Cells& point, const Row& row) {
  Cells cells = {deck, row.device};
  cells.insert(cells.end(), point.begin(), point.end());
  cells.insert(cells.end(), {row.order, row.disturb, row.host_work ? "true" : "false",
                             fmt::format("{}", row.lanes), fmt::format("{}", row.chunks),
                             fmt::format("{}", row.tasks), fmt::format("{}", row.bytes)});
  const auto time = [&](double base::Summary::* part) {
    return row.time ? cell((*row.time).*part) : "";
  };
  cells.insert(
      cells.end(),
      {fmt::format("{}", row.time ? row.time->n : 0), time(&base::Summary::median),
       time(&base::Summary::min), time(&base::Summary::max), time(&base::Summary::lo),
       time(&base::Summary::hi), cell(row.speedup), cell(row.throughput), cell(row.bound_s),
       cell(row.schedule_bound_s), cell(row.overlap_efficiency), cell(row.host_work_hidden),
       cell(row.predicted_s), row.time ? (row.verified ? "true" : "false") : "", row.verdict});
  return cells;
}

}  // namespace

std::string csv(const std::vector<Result>& results) {
  std::string text = line(column_names({}));
  for (const Result& result : results) {
    for (const Row& row : read_record(record(result, 0)).rows) {
      text += line(cells_of(result.deck.name(), {}, row));
    }
  }
  return text;
}

std::string sweep_csv(const Sweep& sweep) {
  std::string text = line(column_names(sweep.axes));
  for (const PointResult& point : sweep.done) {
    Cells values;
    const std::vector<std::size_t> at = places(sweep, point.number);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Axis::Value& value = sweep.axes[i].values[at[i]];
      values.push_back(value.number ? cell(value.number) : value.text);
    }
    for (const Row& row : point.rows) {
      text += line(cells_of(sweep.common.deck.name(), values, row));
    }
  }
  return text;
}

}  // namespace overlap::report
