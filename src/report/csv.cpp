#include <fmt/format.h>

#include <concepts>

#include "base/text.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Run;
using results::SideBySide;

/// A cell with the name of its column; empty without a value, numbers with all digits.
struct CsvCell {
  std::string name, text;

  CsvCell(std::string column, std::string content)
      : name(std::move(column)), text(std::move(content)) {}
  CsvCell(std::string column, const std::optional<double>& value)
      : name(std::move(column)), text(value ? fmt::format("{}", *value) : "") {}
  CsvCell(std::string column, std::integral auto number)
      : name(std::move(column)), text(std::to_string(number)) {}
};
using CsvCells = std::vector<CsvCell>;

/// Number of samples, median, extremes and interval; empty without samples.
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

CsvCells cells_of(const results::Result& result, const results::Point& point, const Run& run) {
  const base::Machine& machine = result.machine;
  CsvCells cells = {{"deck", result.deck.name()},
                    {"host", result.predicts() ? "" : machine.host.name},
                    {"device", result.predicts() ? run.device
                               : machine.device  ? machine.device->name
                                                 : machine.host.cpu},
                    {"started", result.started}};
  for (const results::Axis& axis : result.axes()) {
    const describe::Json value = point.values.value(axis.key, describe::Json(""));
    cells.push_back(value.is_number() ? CsvCell(axis.key, value.get<double>())
                                      : CsvCell(axis.key, describe::spell(value)));
  }
  cells.insert(cells.end(),
               {{"phase", std::string(deck::to_string(point.phase))},
                {"order", std::string(deck::to_string(run.order))},
                {"disturb", std::string(run.disturbance ? deck::to_string(*run.disturbance) : "")},
                {"host_work", std::string(run.host_work ? "true" : "false")},
                {"lanes", run.lanes},
                {"chunks", run.chunks},
                {"tasks", run.tasks},
                {"bytes", run.bytes()}});
  add_times(cells, base::summarize(run.samples_s));
  for (const deck::MetricRow& metric : deck::run_metrics) {
    if (metric.value == deck::Metric::time) continue;
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
       {"verdict", run.ran() ? std::string(results::run_verdict(run, point.checks)) : ""}});
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

/// The file of some rows, under the names of the columns.
std::string csv_text(const CsvCells& columns, const std::vector<CsvCells>& rows) {
  std::string text = line_of(columns, &CsvCell::name);
  for (const CsvCells& row : rows) text += line_of(row, &CsvCell::text);
  return text;
}

CsvCells cells_of(const SideBySide& side_by_side, const results::SharedDeck& deck,
                  const results::Match& match, std::size_t number) {
  const results::Matched& matched = *match.columns[number];
  CsvCells cells = {{"deck", deck.title},
                    {"workload", workload_text(deck)},
                    {"point", match.point},
                    {"order", match.order},
                    {"column", number + 1}};
  for (const auto& field : results::column_fields) {
    cells.emplace_back(field.key, side_by_side.columns[number].*field.text);
  }
  add_times(cells, matched.time_s);
  const auto ratio = [&](double base::Estimate::* part) {
    return matched.ratio ? std::optional((*matched.ratio).*part) : std::nullopt;
  };
  cells.insert(cells.end(), {{"speedup", matched.speedup},
                             {"overlap_efficiency", matched.overlap_efficiency},
                             {"bound_s", matched.bound_s},
                             {"bound_fraction", matched.bound_fraction},
                             {"to", side_by_side.to},
                             {"ratio", ratio(&base::Estimate::value)},
                             {"ratio_lo", ratio(&base::Estimate::lo)},
                             {"ratio_hi", ratio(&base::Estimate::hi)}});
  return cells;
}

}  // namespace

std::string csv(const Results& results) {
  std::vector<CsvCells> rows;
  for (const results::Result& result : results) {
    for (const results::Point& point : result.points) {
      for (const Run& run : point.runs) rows.push_back(cells_of(result, point, run));
    }
  }
  return csv_text(cells_of(results.front(), {}, {}), rows);
}

std::string csv(const results::Comparisons& comparisons) {
  const SideBySide& side_by_side = comparisons.side_by_side.value();
  std::vector<CsvCells> rows;
  for (const results::SharedDeck& deck : side_by_side.decks) {
    for (const results::Match& match : deck.matches) {
      for (std::size_t i = 0; i < side_by_side.columns.size(); ++i) {
        if (match.columns[i]) rows.push_back(cells_of(side_by_side, deck, match, i));
      }
    }
  }
  const SideBySide blank{.columns = std::vector<results::Column>(1)};
  return csv_text(cells_of(blank, {}, {.columns = {results::Matched()}}, 0), rows);
}

}  // namespace overlap::report
