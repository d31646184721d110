#include <fmt/format.h>

#include <concepts>
#include <set>

#include "base/text.hpp"
#include "report/writers.hpp"
#include "results/figures.hpp"
#include "results/metrics.hpp"

namespace overlap::report {
namespace {

using results::Run;

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

  /// Number of samples, median, extremes and interval; empty without samples. `unit`: of the names.
  void add(const base::Summary& summary, const char* unit) {
    const auto& [n, median, min, max, lo, hi] = summary;
    add("n", n);
    for (const auto& [name, value] :
         {std::pair("median", median), {"min", min}, {"max", max}, {"lo", lo}, {"hi", hi}}) {
      add(std::string(name) + unit, n > 0 ? std::optional(value) : std::nullopt);
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
  row.add(base::summarize(run.samples_s), "_s");
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

/// What may differ between columns; nothing in one without the deck.
results::Keys keys_of(const results::Result* result) {
  if (result == nullptr) return {};
  results::Keys keys = machine_keys(*result);
  keys.merge(deck_keys(*result));
  return keys;
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

std::string csv(const results::Columns& columns) {
  const auto decks = by_deck(columns);
  std::set<std::string> differing;
  for (const auto& [deck, results] : decks) {
    std::vector<results::Keys> keys;
    for (const results::Result* const result : results) keys.push_back(keys_of(result));
    for (const results::Setting& setting : results::differences(keys))
      differing.insert(setting.key);
  }
  std::string text;
  for (const auto& [deck, results] : decks) {
    const results::Pivot pivot(results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const results::Keys keys = keys_of(results[i]);
      for (const results::Pivot::Line& line : pivot.lines) {
        if (line[i] == nullptr || !line[i]->value) continue;
        Row row;
        row.add("deck", deck.title);
        row.add("workload", deck.workload);
        row.add("column", i + 1);
        row.add("file", results[i]->file);
        for (const std::string& key : differing) row.add(key, results::text_at(keys, key));
        row.add("point", point_name(line));
        row.add("order", line[i]->run_name());
        row.add("metric", deck::row_of(line[i]->key.metric).name);
        row.add("unit", deck::row_of(line[i]->key.metric).unit);
        row.add(*line[i]->value, "");
        row.add("to", columns.to);
        const auto ratio = results::ratio(line, i, columns.to - 1);
        row.add("ratio", ratio ? std::optional(ratio->value) : std::nullopt);
        row.add("ratio_lo", ratio ? std::optional(ratio->lo) : std::nullopt);
        row.add("ratio_hi", ratio ? std::optional(ratio->hi) : std::nullopt);
        if (text.empty()) text = line_of(row.names);
        text += line_of(row.cells);
      }
    }
  }
  return text;
}

}  // namespace overlap::report
