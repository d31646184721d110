#include "experiment/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiment/judge.hpp"
#include "yaml/document.hpp"

namespace overlap::experiment {
namespace {

/// Values collected for one subject.
struct Collected {
  Subject subject;
  std::map<std::string, std::vector<double>> medians;  ///< one per result, by device
  std::vector<double> open;  ///< relative distances of medians to the worse ends of their intervals
  std::set<std::string> drivers;
  const Recorded* newest = nullptr;
};

void add(std::vector<Collected>& all, const Recorded& result, const Subject& subject,
         const std::optional<base::Summary>& value) {
  if (!value) return;
  auto found = std::ranges::find(all, subject, &Collected::subject);
  if (found == all.end()) found = all.insert(all.end(), {.subject = subject});
  found->medians[result.device()].push_back(value->median);
  const bool more = deck::row_of(subject.metric).better == deck::Better::more;
  if (value->median > 0) {
    found->open.push_back((more ? value->median - value->lo : value->hi - value->median) /
                          value->median);
  }
  if (!result.driver.empty()) found->drivers.insert(result.driver);
  if (found->newest == nullptr || found->newest->started < result.started) found->newest = &result;
}

std::optional<base::Summary> summary(std::vector<double> values) {
  return values.empty() ? std::nullopt : std::optional(base::summarize(std::move(values)));
}

/// Adds all metrics of one phase.
void add(std::vector<Collected>& all, const Recorded& result, const RecordedPoint& point) {
  Subject subject = result.machine;
  subject.phase = point.phase;
  for (const deck::MetricRow& row : deck::metrics) {
    if (!deck::has_reference(row.value)) continue;
    subject.metric = row.value;
    subject.order.reset();
    add(all, result, subject, summary(values(row.value, point.device)));
    for (const Run& run : point.runs) {
      if (!applies_to(row.value, run)) continue;
      subject.order = run.order;
      add(all, result, subject,
          row.of_all ? value(row.value, run, point.runs)
                     : summary(values(row.value, run, point.runs)));
    }
  }
}

Entry entry_of(const Collected& collected, std::optional<double> below) {
  std::vector<double> values;
  for (const auto& [unit, medians] : collected.medians) values.push_back(base::median(medians));
  Entry entry{collected.subject};
  entry.value = base::median(values);
  entry.devices = static_cast<int>(values.size());
  entry.mad = base::median_deviation(values, entry.value);
  entry.tolerance = below.value_or(tolerance_of(entry.value, entry.mad, values.size()));
  entry.driver = fmt::format("{}", fmt::join(collected.drivers, ", "));
  entry.deck_name = yaml::name_of(collected.newest->deck_path);
  entry.date = collected.newest->started.substr(0, 10);
  entry.version = collected.newest->version;
  return entry;
}

}  // namespace

double tolerance_of(double median, double mad, std::size_t n) {
  constexpr std::size_t enough = 8;
  constexpr double sigma = 1.4826;  // standard deviation / MAD of a normal distribution
  return std::clamp(3 * sigma * mad / median, n < enough ? 0.05 : 0.01, 1.0);
}

Baseline baseline(const std::vector<Recorded>& results, std::optional<double> below) {
  std::vector<Collected> all;  // by subject, in the order of the results
  for (const Recorded& result : results) {
    if (result.code == base::ExitCode::wrong_data) {
      throw base::Error(base::ExitCode::runtime_error,
                        result.file + ": found wrong data; allowed: results with correct data");
    }
    const auto swept = [](const RecordedPoint& point) {
      return point.phase == deck::Phase::alone && !point.words.empty();
    };
    if (std::ranges::any_of(result.points, swept)) {
      throw base::Error(base::ExitCode::runtime_error,
                        result.file + ": found a sweep; allowed: a deck without a sweep");
    }
    for (const RecordedPoint& point : result.points) add(all, result, point);
  }
  Baseline made;
  for (const Collected& collected : all) {
    Entry entry = entry_of(collected, below);
    if (!(entry.value > 0 && std::isfinite(entry.value))) {
      made.left_out.push_back(entry);
      continue;
    }
    const double open = std::min(base::median(collected.open), 1.0);
    if (open > entry.tolerance) {
      entry.tolerance = open;
      made.widened.push_back(entry);
    }
    made.entries.push_back(entry);
  }
  if (made.entries.empty()) {
    throw base::Error(base::ExitCode::runtime_error,
                      "found no measured figure above 0; allowed: results with measured runs");
  }
  return made;
}

}  // namespace overlap::experiment
