#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "experiment/judge.hpp"
#include "report/reports.hpp"
#include "results/metrics.hpp"

/// Results by hand, made as the program makes them: runs, their metrics, checks, points.
namespace overlap {

/// A run that copied 1 GB to the device in each of these times.
inline results::Run run_of(deck::Order order, std::vector<double> samples_s) {
  results::Run run;
  run.order = order;
  run.tasks = run.chunks = 1;
  run.h2d_bytes = 1'000'000'000;
  run.repetitions = std::ssize(samples_s);
  run.verified = !samples_s.empty();
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

/// Adds what a point gave: its runs, findings and checks get their place, metrics and texts.
inline void add_point(results::Result& result, std::size_t number, results::Part part) {
  const base::ExitCode code = part.exit_code();
  part.point = result.points.at(number);
  const auto place = [&](auto& list) {
    for (auto& entry : list) {
      entry.point = part.point.values;
      entry.phase = part.point.phase;
    }
  };
  place(part.runs);
  place(part.findings);
  place(part.checks);
  results::evaluate(part.runs);
  for (results::Check& check : part.checks) check.text = results::check_text(check);
  experiment::conclude(part, code);
  results::append(result, number, std::move(part));
}

/// The result of a deck of one point.
inline results::Result result_of(results::Part part) {
  deck::Point point;
  point.deck.path = "hand.yaml";
  point.deck.title = "By hand";
  point.deck.issue.orders.clear();
  for (const results::Run& run : part.runs) point.deck.issue.orders.push_back(run.order);
  results::Result result = result_of(std::vector{point});
  add_point(result, 0, std::move(part));
  return result;
}

inline results::Part part_of(std::vector<results::Run> runs,
                             std::vector<results::Check> checks = {}) {
  results::Part part;
  part.runs = std::move(runs);
  part.checks = std::move(checks);
  return part;
}

/// All of its report on a terminal.
inline std::string shown(const results::Result& result, report::Screen screen = {.width = 400}) {
  return report::terminal(report::report({result}), screen);
}

}  // namespace overlap
