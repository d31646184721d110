#include "experiment/stopping.hpp"

#include <algorithm>
#include <cmath>

namespace overlap::experiment {
namespace {

constexpr int least_looked_at = 20;
constexpr double look_growth = 1.5;

/// Whether a metric has one value per repetition, and thus a precision.
bool repeats(const deck::MetricRow& row) {
  return row.formula != nullptr && row.needs != deck::Needs::health &&
         row.value != deck::Metric::max_error;
}

}  // namespace

int least_repetitions(const deck::Measure& plan) {
  return plan.precision ? std::max(plan.repetitions, least_looked_at) : plan.repetitions;
}

int most_repetitions(const deck::Measure& plan) {
  return plan.precision ? plan.at_most : plan.repetitions;
}

double excess_s(std::vector<double>& rounds_s, double round_s, std::int64_t number) {
  const double median_s = round_s > 1 && !rounds_s.empty() ? base::median(rounds_s) : round_s;
  add_thinned(rounds_s, round_s, number, most_kept);
  return round_s > 10 * median_s ? round_s - median_s : 0;
}

Stopping::Stopping(const deck::Measure& plan, const std::vector<deck::Criterion>& criteria)
    : plan_(plan), next_look_(least_repetitions(plan)) {
  for (const deck::Criterion& criterion : criteria) {
    if (repeats(deck::row_of(criterion.metric))) {
      judged_.push_back({criterion.metric, criterion.order});
    }
  }
  if (judged_.empty()) judged_.push_back({deck::Metric::time, {}});
}

bool Stopping::may_end(int repetition, double elapsed_s) const {
  if (plan_.duration_s) return elapsed_s >= *plan_.duration_s;
  return repetition >= std::min(next_look_, most_repetitions(plan_)) ||
         (plan_.budget_s && elapsed_s >= *plan_.budget_s);
}

std::optional<Stop> Stopping::stop(const std::vector<Case>& cases, int repetitions,
                                   double elapsed_s, const DeviceSamples& device) {
  Stop stop{.repetitions = repetitions, .elapsed_s = elapsed_s};
  if (!plan_.precision) {
    stop.reason = plan_.duration_s ? StopReason::duration : StopReason::repetitions;
    return stop;
  }
  if (repetitions >= least_looked_at) stop.width = widest(cases, device);
  const bool narrow = stop.width && *stop.width <= *plan_.precision;
  const bool late = plan_.budget_s && elapsed_s >= *plan_.budget_s;
  const bool twice = narrow && narrow_;
  narrow_ = narrow;
  next_look_ = static_cast<int>(std::ceil(look_growth * repetitions));
  if (!late && repetitions < plan_.at_most && !twice) return std::nullopt;
  stop.reason = narrow ? StopReason::precision : late ? StopReason::budget : StopReason::at_most;
  return stop;
}

/// The widest interval relative to its median. Metrics that are not known yet use the precision of
/// the time of their order.
double Stopping::widest(const std::vector<Case>& cases, const DeviceSamples& device) const {
  const results::Runs runs = runs_of(cases);
  double widest = 0;
  const auto widen = [&](const base::Summary& value) {
    const double width = value.hi - value.lo;
    if (width > 0) widest = std::max(widest, width / std::abs(value.median));
  };
  for (const Judged& judged : judged_) {
    if (deck::of_device(deck::row_of(judged.metric).needs)) {
      if (const auto rate = results::value(judged.metric, device)) widen(*rate);
      continue;
    }
    for (const results::Run* const run : runs) {
      if (judged.order.value_or(run->order) != run->order) continue;
      if (!results::applies_to(judged.metric, *run)) continue;
      widen(results::value(judged.metric, *run, runs).value_or(results::time_s(*run)));
    }
  }
  return widest;
}

}  // namespace overlap::experiment
