#include "report/csv.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Run;

CsvCells cells_of(const results::Result& result, const Run& run) {
  const base::Machine& machine = result.machine;
  CsvCells cells = {{"deck", result.deck.name()},
                    {"host", result.predicts() ? "" : machine.host.name},
                    {"device", result.predicts() ? run.device
                               : machine.device  ? machine.device->name
                                                 : machine.host.cpu},
                    {"started", result.started}};
  for (const results::Axis& axis : result.axes()) {
    const describe::Json value = run.point.value(axis.key, describe::Json(""));
    cells.push_back(value.is_number() ? CsvCell(axis.key, value.get<double>())
                                      : CsvCell(axis.key, describe::spell(value)));
  }
  cells.insert(cells.end(),
               {{"phase", std::string(deck::to_string(run.phase))},
                {"order", std::string(deck::to_string(run.order))},
                {"disturb", std::string(run.disturbance ? deck::to_string(*run.disturbance) : "")},
                {"host_work", std::string(run.host_work ? "true" : "false")},
                {"lanes", run.lanes},
                {"chunks", run.chunks},
                {"tasks", run.tasks},
                {"bytes", run.bytes()}});
  add_times(cells, base::summarize(run.samples_s));
  for (const deck::MetricRow& metric : deck::run_metrics) {
    if (metric.whole) continue;
    const auto& value = run.value(metric.value);
    cells.emplace_back(std::string(metric.column()),
                       value ? std::optional(value->median) : std::nullopt);
  }
  const auto bound = [&](double model::Bounds::* part) {
    return run.bounds ? std::optional((*run.bounds).*part) : std::nullopt;
  };
  const char* const verified = !run.ran() ? "" : run.verified ? "true" : "false";
  cells.insert(
      cells.end(),
      {{"bound_s", bound(&model::Bounds::bound_s)},
       {"schedule_bound_s", bound(&model::Bounds::schedule_bound_s)},
       {"predicted_s", run.predicted_s},
       {"verified", std::string(verified)},
       {"verdict", run.ran() ? std::string(results::run_verdict(run, result.checks)) : ""}});
  return cells;
}

std::string line_of(const CsvCells& cells, std::string CsvCell::* part) {
  std::string line;
  for (const CsvCell& cell : cells) {
    const std::string text = base::one_line(cell.*part);
    const bool plain = text.find_first_of(",\"") == std::string::npos;
    line += (plain ? text : '"' + base::replaced(text, "\"", "\"\"") + '"') + ',';
  }
  line.back() = '\n';
  return line;
}

}  // namespace

CsvCell::CsvCell(std::string column, const std::optional<double>& value)
    : name(std::move(column)), text(value ? fmt::format("{}", *value) : "") {}

void add_times(CsvCells& cells, const base::Summary& time_s) {
  cells.emplace_back("n", time_s.n);
  const auto time = [&](double base::Summary::* part) {
    return time_s.n > 0 ? std::optional(time_s.*part) : std::nullopt;
  };
  cells.insert(cells.end(), {{"median_s", time(&base::Summary::median)},
                             {"min_s", time(&base::Summary::min)},
                             {"max_s", time(&base::Summary::max)},
                             {"lo_s", time(&base::Summary::lo)},
                             {"hi_s", time(&base::Summary::hi)}});
}

std::string csv_text(const CsvCells& columns, const std::vector<CsvCells>& rows) {
  std::string text = line_of(columns, &CsvCell::name);
  for (const CsvCells& row : rows) text += line_of(row, &CsvCell::text);
  return text;
}

std::string csv(const Results& results) {
  std::vector<CsvCells> rows;
  for (const results::Result& result : results) {
    for (const Run& run : result.runs) rows.push_back(cells_of(result, run));
  }
  return csv_text(cells_of(results.front(), {}), rows);
}

}  // namespace overlap::report
