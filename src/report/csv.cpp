#include <fmt/format.h>

#include <concepts>

#include "base/text.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Run;
using results::SideBySide;

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    const std::string text = base::one_line(cell);
    const bool plain = text.find_first_of(",\"") == std::string::npos;
    line += (plain ? text : '"' + base::replaced(text, "\"", "\"\"") + '"') + ',';
  }
  line.back() = '\n';
  return line;
}

/// A row and the names of its columns. Cells without a value are empty, numbers have all digits.
struct Row {
  std::vector<std::string> names, cells;

  void add(std::string_view name, std::string_view text) {
    names.emplace_back(name);
    cells.emplace_back(text);
  }
  void add(std::string_view name, const std::optional<double>& value) {
    add(name, value ? fmt::format("{}", *value) : std::string());
  }
  void add(std::string_view name, std::integral auto number) { add(name, std::to_string(number)); }

  /// Number of samples, median, extremes and interval; empty without samples.
  void add(const base::Summary& time_s) {
    add("n", time_s.n);
    const auto& [n, median, min, max, lo, hi] = time_s;
    for (const auto& [name, value] : {std::pair("median_s", median),
                                      {"min_s", min},
                                      {"max_s", max},
                                      {"lo_s", lo},
                                      {"hi_s", hi}}) {
      add(name, n > 0 ? std::optional(value) : std::nullopt);
    }
  }
};

Row row_of(const results::Result& result, const results::Point& point, const Run& run) {
  const base::Machine& machine = result.machine;
  Row row;
  row.add("deck", result.deck.name());
  row.add("host", result.predicts() ? "" : machine.host.name);
  row.add("device", result.predicts() ? run.device
                    : machine.device  ? machine.device->name
                                      : machine.host.cpu);
  row.add("started", result.started);
  for (const results::Axis& axis : result.axes()) {
    const describe::Json value = point.values.value(axis.key, describe::Json(""));
    row.add(axis.key,
            value.is_number() ? fmt::format("{}", value.get<double>()) : describe::spell(value));
  }
  row.add("phase", deck::to_string(point.phase));
  row.add("order", deck::to_string(run.order));
  row.add("disturb", run.disturbance ? deck::to_string(*run.disturbance) : "");
  row.add("host_work", run.host_work ? "true" : "false");
  row.add("lanes", run.lanes);
  row.add("chunks", run.chunks);
  row.add("tasks", run.tasks);
  row.add("bytes", run.bytes());
  row.add(base::summarize(run.samples_s));
  for (const deck::MetricRow& metric : deck::run_metrics) {
    if (metric.value == deck::Metric::time) continue;
    const auto& value = run.value(metric.value);
    row.add(metric.column(), value ? std::optional(value->median) : std::nullopt);
  }
  const auto bounds = run.bounds.value_or(model::Bounds());
  row.add("bound_s", run.bounds ? std::optional(bounds.bound_s) : std::nullopt);
  row.add("schedule_bound_s", run.bounds ? std::optional(bounds.schedule_bound_s) : std::nullopt);
  row.add("predicted_s", run.predicted_s);
  row.add("verified", !run.ran() ? "" : run.verified ? "true" : "false");
  row.add("verdict", run.ran() ? results::run_verdict(run, point.checks) : "");
  return row;
}

Row row_of(const SideBySide& side_by_side, const results::SharedDeck& deck,
           const results::Match& match, std::size_t number) {
  const results::Matched& matched = *match.columns[number];
  Row row;
  row.add("deck", deck.title);
  row.add("workload", workload_text(deck));
  row.add("point", match.point);
  row.add("order", match.order);
  row.add("column", number + 1);
  for (const auto& field : results::column_fields) {
    row.add(field.key, side_by_side.columns[number].*field.text);
  }
  row.add(matched.time_s);
  row.add("speedup", matched.speedup);
  row.add("overlap_efficiency", matched.overlap_efficiency);
  row.add("bound_s", matched.bound_s);
  row.add("bound_fraction", matched.bound_fraction);
  row.add("to", side_by_side.to);
  const auto ratio = matched.ratio.value_or(base::Estimate());
  row.add("ratio", matched.ratio ? std::optional(ratio.value) : std::nullopt);
  row.add("ratio_lo", matched.ratio ? std::optional(ratio.lo) : std::nullopt);
  row.add("ratio_hi", matched.ratio ? std::optional(ratio.hi) : std::nullopt);
  return row;
}

}  // namespace

std::string csv(const Results& results) {
  std::string text = line_of(row_of(results.front(), {}, {}).names);
  for (const results::Result& result : results) {
    for (const results::Point& point : result.points) {
      for (const Run& run : point.runs) text += line_of(row_of(result, point, run).cells);
    }
  }
  return text;
}

std::string csv(const results::Comparisons& comparisons) {
  const SideBySide& side_by_side = comparisons.side_by_side.value();
  const SideBySide blank{.columns = std::vector<results::Column>(1)};
  std::string text = line_of(row_of(blank, {}, {.columns = {results::Matched()}}, 0).names);
  for (const results::SharedDeck& deck : side_by_side.decks) {
    for (const results::Match& match : deck.matches) {
      for (std::size_t i = 0; i < side_by_side.columns.size(); ++i) {
        if (match.columns[i]) text += line_of(row_of(side_by_side, deck, match, i).cells);
      }
    }
  }
  return text;
}

}  // namespace overlap::report
