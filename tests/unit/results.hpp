#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "experiment/judge.hpp"
#include "report/reports.hpp"
#include "results/metrics.hpp"

/// Results by hand, made as the program makes them.
namespace overlap {

/// Sets the largest error in any verified run.
inline void set_error(results::Run& run, double error) {
  run.metrics[static_cast<std::size_t>(deck::Metric::max_error)] = base::summarize({error});
}

/// A run that copied 1 GB to the device in each of these times.
inline results::Run run_of(deck::Order order, std::vector<double> samples_s) {
  results::Run run;
  run.order = order;
  run.tasks = run.chunks = 1;
  run.h2d_bytes = 1'000'000'000;
  run.repetitions = std::ssize(samples_s);
  run.verified = !samples_s.empty();
  if (run.verified) set_error(run, 0);
  run.samples_s = std::move(samples_s);
  return run;
}

/// A result of which nothing ran yet.
inline results::Result result_of(const std::vector<deck::Point>& points) {
  results::Result result = experiment::new_result(
      points, {.build = {.version = "1.2", .git_sha = "", .dirty = false, .backend = "Serial"},
               .host = {.name = "n1", .cpu = "CPU", .cores = 1, .total_bytes = 1}});
  result.started = "2026-01-31T12:00:00Z";
  return result;
}

/// Adds what a point gave: it gets its place, metrics, texts and end.
inline void add_point(results::Result& result, std::size_t number, results::Point point) {
  const results::Point& planned = result.points.at(number);
  std::tie(point.values, point.text, point.phase) =
      std::tie(planned.values, planned.text, planned.phase);
  results::evaluate(point.runs);
  for (results::Check& check : point.checks) check.text = results::check_text(check);
  if (!point.outcome) point.outcome.emplace();
  experiment::conclude(point, point.outcome->exit_code);
  results::put(result, number, std::move(point));
}

/// The result of a deck of one point.
inline results::Result result_of(results::Point found) {
  deck::Point point;
  point.deck.path = "hand.yaml";
  point.deck.title = "By hand";
  point.deck.issue.orders.clear();
  for (const results::Run& run : found.runs) point.deck.issue.orders.push_back(run.order);
  results::Result result = result_of(std::vector{point});
  add_point(result, 0, std::move(found));
  return result;
}

inline results::Point point_of(std::vector<results::Run> runs,
                               std::vector<results::Check> checks = {}) {
  return {.runs = std::move(runs), .checks = std::move(checks)};
}

/// All of its report on a terminal.
inline std::string shown(const results::Result& result, report::Screen screen = {.width = 400}) {
  return report::terminal(report::report({result}), screen);
}

}  // namespace overlap
