#pragma once

#include <utility>
#include <vector>

#include "report/study.hpp"

namespace overlap {

/// A deck whose runs are these.
inline experiment::Outcome outcome_of(std::vector<experiment::Run> runs) {
  experiment::Outcome outcome;
  outcome.deck.path = "hand.yaml";
  outcome.deck.title = "By hand";
  outcome.deck.issue.orders.clear();
  for (const experiment::Run& run : runs) outcome.deck.issue.orders.push_back(run.order);
  outcome.runs = std::move(runs);
  return outcome;
}

/// The study of one point.
inline report::Study study_of(experiment::Outcome outcome) {
  report::Study study =
      report::new_study({.build = {.backend = "Serial"}, .host = {.name = "n1", .cpu = "CPU"}},
                        {deck::Point{.values = outcome.values, .deck = outcome.deck}});
  study.axes.clear();
  study.started = "2026-01-31T12:00:00Z";
  report::add(study, 0, std::move(outcome));
  return study;
}

}  // namespace overlap
