#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/series.hpp"
#include "model/spread.hpp"
#include "results/metrics.hpp"
#include "schedule/schedule.hpp"
#include "timeline/timeline.hpp"

/// A run while it is planned, measured and judged: what its result will hold, and what it is made
/// from.
namespace overlap::experiment {

using results::Balance;
using results::DeviceSamples;
using results::Finding;
using results::GraphCosts;
using results::HealthPoint;
using results::HealthRecord;
using results::name;
using results::StagingCosts;
using results::ThrottledTime;
using results::Verdict;
using results::WrongData;

/// One order of a deck, with or without disturbance or host work, to be measured or predicted.
struct Case : results::Run {
  int target = 0;  ///< device index of a prediction, from 0
  schedule::Schedule schedule = {};
  std::optional<timeline::Timeline> prediction = {};
};

/// A case with what was measured of it, beside the samples that results hold.
struct Run : Case {
  std::vector<double> issue_s;  ///< until everything is issued, including waits for blocking tasks
  std::vector<Stretch> series;  ///< of a soak
  std::optional<timeline::Timeline> traced;
  std::vector<Finding> findings;
};

/// Sets what a result says of a schedule.
void set_schedule(Case& planned, schedule::Schedule schedule);

/// The runs as results: with timelines, series and predictions as files hold them.
results::Run finished(const Run& run);

/// Runs to compare with each other.
template <class T>
results::Runs pointers(const std::vector<T>& runs) {
  results::Runs all;
  for (const T& run : runs) all.push_back(&run);
  return all;
}

/// Floating-point operations of a matrix product, including tiles of the host; 0 for other
/// workloads.
double product_flops(const schedule::Schedule& schedule);

/// Number of tiles that the host computes.
int host_tiles(const schedule::Schedule& schedule);

}  // namespace overlap::experiment
