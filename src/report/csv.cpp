#include "report/csv.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/writers.hpp"
#include "results/checks.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Run;

std::string quoted(const std::string& text) {
  const std::string cell = base::one_line(text);
  const bool plain = cell.find_first_of(",\"") == std::string::npos;
  return plain ? cell : '"' + base::replaced(cell, "\"", "\"\"") + '"';
}

std::vector<CsvCell> cells_of(const results::Result& result, const Run& run) {
  const base::Machine& machine = result.machine;
  std::vector<CsvCell> cells = {{"deck", result.deck.name()},
                                {"host", result.predicts() ? "" : machine.host.name},
                                {"device", result.predicts() ? run.device
                                           : machine.device  ? machine.device->name
                                                             : machine.host.cpu},
                                {"started", result.started}};
  for (const results::Axis& axis : result.axes()) {
    const auto value = run.point.find(axis.key);
    cells.push_back({axis.key, value == run.point.end() ? ""
                               : value->is_number()     ? csv_cell(value->get<double>())
                                                        : describe::spell(*value)});
  }
  const auto time = [&, summary = results::time_s(run)](double base::Summary::* part) {
    return run.ran() ? csv_cell(summary.*part) : "";
  };
  cells.insert(cells.end(),
               {{"phase", std::string(deck::to_string(run.phase))},
                {"order", std::string(deck::to_string(run.order))},
                {"disturb", std::string(run.disturbance ? deck::to_string(*run.disturbance) : "")},
                {"host_work", run.host_work ? "true" : "false"},
                {"lanes", std::to_string(run.lanes)},
                {"chunks", std::to_string(run.chunks)},
                {"tasks", std::to_string(run.tasks)},
                {"bytes", std::to_string(run.bytes())},
                {"n", std::to_string(run.samples_s.size())},
                {"median_s", time(&base::Summary::median)},
                {"min_s", time(&base::Summary::min)},
                {"max_s", time(&base::Summary::max)},
                {"lo_s", time(&base::Summary::lo)},
                {"hi_s", time(&base::Summary::hi)}});
  for (const deck::MetricRow& metric : deck::run_metrics) {
    if (metric.whole) continue;
    const auto& value = run.value(metric.value);
    cells.push_back({std::string(metric.column()),
                     csv_cell(value ? std::optional(value->median) : std::nullopt)});
  }
  const auto bound = [&](double model::Bounds::* part) {
    return run.bounds ? csv_cell((*run.bounds).*part) : "";
  };
  cells.insert(
      cells.end(),
      {{"bound_s", bound(&model::Bounds::bound_s)},
       {"schedule_bound_s", bound(&model::Bounds::schedule_bound_s)},
       {"predicted_s", csv_cell(run.predicted_s)},
       {"verified", !run.ran()     ? ""
                    : run.verified ? "true"
                                   : "false"},
       {"verdict", run.ran() ? std::string(results::run_verdict(run, result.checks)) : ""}});
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

std::string csv(const Results& results) {
  std::string text = csv_line(cells_of(results.front(), {}), &CsvCell::name);
  for (const results::Result& result : results) {
    for (const Run& run : result.runs) text += csv_line(cells_of(result, run));
  }
  return text;
}

}  // namespace overlap::report
