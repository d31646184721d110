#include "results/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "results/figures.hpp"

namespace overlap::results {
namespace {

/// Values collected for one subject.
struct Collected {
  Subject subject;
  std::map<std::string, std::vector<double>> medians;  ///< one per result, by device
  std::vector<double> open;  ///< relative distances of medians to the worse ends of their intervals
  std::set<std::string> drivers;
  const Result* newest = nullptr;
};

void add(std::vector<Collected>& all, const Result& result) {
  const Origin from = origin(result);
  const Figures figures(result);
  std::vector<const Figures::Row*> rows;
  for (const Figures::Row& row : figures.rows) {
    if (row.judged && row.value && deck::has_reference(row.key.metric)) rows.push_back(&row);
  }
  std::ranges::stable_sort(
      rows, {}, [](const Figures::Row* row) { return std::pair(row->key.phase, row->key.metric); });
  for (const Figures::Row* const row : rows) {
    const base::Summary& value = *row->value;
    Subject subject = from.machine;
    subject.phase = row->key.phase;
    subject.order = row->key.order;
    subject.metric = row->key.metric;
    auto found = std::ranges::find(all, subject, &Collected::subject);
    if (found == all.end()) found = all.insert(all.end(), {.subject = subject});
    found->medians[from.device()].push_back(value.median);
    const bool more = deck::row_of(subject.metric).better == deck::Better::more;
    if (value.median > 0) {
      found->open.push_back((more ? value.median - value.lo : value.hi - value.median) /
                            value.median);
    }
    if (!from.driver.empty()) found->drivers.insert(from.driver);
    if (found->newest == nullptr || found->newest->started < result.started) {
      found->newest = &result;
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
  entry.deck_name = describe::name_of(collected.newest->deck.path);
  entry.date = collected.newest->started.substr(0, 10);
  entry.version = collected.newest->machine.build.version;
  return entry;
}

}  // namespace

double tolerance_of(double median, double mad, std::size_t n) {
  constexpr std::size_t enough = 8;
  constexpr double sigma = 1.4826;  // standard deviation / MAD of a normal distribution
  return std::clamp(3 * sigma * mad / median, n < enough ? 0.05 : 0.01, 1.0);
}

Baseline baseline(const std::vector<Result>& results, std::optional<double> below) {
  std::vector<Collected> all;  // by subject, in the order of the results
  const auto refuse = [](const Result& result, const char* found) {
    throw base::Error(base::ExitCode::runtime_error, result.file + ": found " + found);
  };
  for (const Result& result : results) {
    if (result.code == base::ExitCode::wrong_data) {
      refuse(result, "wrong data; allowed: results with correct data");
    }
    if (result.sweeps()) refuse(result, "a sweep; allowed: a deck without a sweep");
    add(all, result);
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

}  // namespace overlap::results
