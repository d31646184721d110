#include "report/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/writers.hpp"

namespace overlap::report {
namespace {

std::string quoted(const std::string& words) {
  const std::string cell = base::one_line(words);
  const bool plain = cell.find_first_of(",\"") == std::string::npos;
  return plain ? cell : '"' + base::replaced(cell, "\"", "\"\"") + '"';
}

std::vector<CsvCell> cells_of(const Study& study, const PointResult& point, const Row& row) {
  const base::Machine& machine = study.machine;
  std::vector<CsvCell> cells = {
      {"deck", study.deck().name()},
      {"host", study.predicts() ? "" : machine.host.name},
      {"device", study.predicts() ? row.device : experiment::subject_of(machine).device},
      {"started", study.started}};
  const deck::Point& of = study.points[point.number];
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    const Axis& axis = study.axes[i];
    const auto value = std::ranges::find(axis.values, of.values[i].text, &Axis::Value::text);
    cells.push_back({axis.key, value->number ? csv_cell(value->number) : value->text});
  }
  const auto time = [&](double base::Summary::* part) {
    return row.time ? csv_cell((*row.time).*part) : "";
  };
  cells.insert(cells.end(), {{"phase", std::string(deck::to_string(of.phase))},
                             {"order", row.order},
                             {"disturb", row.disturb},
                             {"host_work", row.host_work ? "true" : "false"},
                             {"lanes", std::to_string(row.lanes)},
                             {"chunks", std::to_string(row.chunks)},
                             {"tasks", std::to_string(row.tasks)},
                             {"bytes", std::to_string(row.bytes)},
                             {"n", std::to_string(row.time ? row.time->n : 0)},
                             {"median_s", time(&base::Summary::median)},
                             {"min_s", time(&base::Summary::min)},
                             {"max_s", time(&base::Summary::max)},
                             {"lo_s", time(&base::Summary::lo)},
                             {"hi_s", time(&base::Summary::hi)}});
  for (const deck::MetricRow& metric : deck::run_metrics) {
    if (metric.whole) continue;
    cells.push_back({std::string(metric.column()), csv_cell(row.median(metric.value))});
  }
  cells.insert(cells.end(), {{"bound_s", csv_cell(row.bound_s)},
                             {"schedule_bound_s", csv_cell(row.schedule_bound_s)},
                             {"predicted_s", csv_cell(row.predicted_s)},
                             {"verified", row.time ? (row.verified ? "true" : "false") : ""},
                             {"verdict", row.verdict}});
  return cells;
}

}  // namespace

std::string csv_line(const std::vector<CsvCell>& cells, std::string CsvCell::* part) {
  std::string line;
  for (const CsvCell& cell : cells) line += quoted(cell.*part) + ',';
  line.back() = '\n';
  return line;
}

std::string csv_cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string csv(const Studies& studies) {
  std::string text = csv_line(cells_of(studies.front(), {}, {}), &CsvCell::name);
  for (const Study& study : studies) {
    for (const PointResult& point : study.done) {
      for (const Row& row : point.rows) text += csv_line(cells_of(study, point, row));
    }
  }
  return text;
}

}  // namespace overlap::report
