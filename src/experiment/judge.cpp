#include "experiment/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "results/metrics.hpp"

namespace overlap::experiment {
namespace {

/// A check with the limit from a reference; without one its reason says why.
Check referenced(Check check, const deck::Criterion& criterion, const References& references) {
  const auto file = references.files.find(*criterion.reference);
  limit_by(file == references.files.end() ? Reference() : file->second, references.subject,
           references.deck_name, criterion.below, check);
  if (file == references.files.end()) check.reason = "no --reference was given";
  return check;
}

/// An order that lacked cores is not to blame if it overlaps too little.
void excuse(const std::vector<Finding>& findings, Check& check) {
  const deck::MetricRow& row = deck::row_of(check.key.metric);
  const bool overlap = row.needs == deck::Needs::baseline || row.options.is_fraction;
  if (!overlap || !results::decides(check)) return;
  for (const auto& [order, disturbance, host_work, cause, text, evidence] : findings) {
    if (order != check.key.order || disturbance ||
        (cause != "busy_cores" && cause != "few_cores") ||
        host_work != (row.needs == deck::Needs::host_work)) {
      continue;
    }
    check.verdict = Verdict::inconclusive;
    check.reason = text;
    check.text = results::check_text(check);
    return;
  }
}

/// "--predict c2070 and runs on a GPU".
std::string places(const deck::Criterion& criterion) {
  std::vector<std::string> places;
  for (const std::string& place : criterion.where) {
    places.push_back(place == deck::any_gpu ? "runs on a GPU" : "--predict " + place);
  }
  return fmt::format("{}", fmt::join(places, " and "));
}

/// Checks of a criterion for an order or the device, before they are applied.
std::vector<Check> checks_for(const deck::Criterion& criterion, std::optional<deck::Order> order,
                              const References& references) {
  Check check{.key = {references.subject.key.phase, order, criterion.metric}};
  if (criterion.reference) return {referenced(check, criterion, references)};
  std::vector<Check> checks;
  for (const bool at_least : {true, false}) {
    const std::optional<double>& limit = at_least ? criterion.min : criterion.max;
    if (!limit) continue;
    check.at_least = at_least;
    check.limit = *limit;
    checks.push_back(check);
  }
  return checks;
}

}  // namespace

std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<results::Run>& runs, const DeviceSamples& device,
                             const References& references, bool on_gpu) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr base::Summary unknown = {.median = nan, .min = nan, .max = nan, .lo = nan, .hi = nan};
  std::vector<Check> checks;
  const auto add = [&](const deck::Criterion& criterion, const results::Run* run,
                       const base::Summary& value, const std::string& reason) {
    const std::string predicted_for = run != nullptr ? run->device : "";
    const bool holds =
        predicted_for.empty() ? criterion.holds_here(on_gpu) : criterion.holds_for(predicted_for);
    const auto order = run != nullptr ? std::optional(run->order) : std::nullopt;
    for (Check& check : checks_for(criterion, order, references)) {
      check.device = predicted_for;
      check.value = value;
      if (check.reason.empty()) check.reason = reason;
      check.verdict = check.reason.empty() ? results::judge(value, check.at_least, check.limit)
                                           : Verdict::inconclusive;
      if (!holds) {
        check.verdict = Verdict::skipped;
        check.reason = "judged only for " + places(criterion);
      }
      check.text = results::check_text(check);
      checks.push_back(std::move(check));
    }
  };
  const deck::Phase phase = references.subject.key.phase;
  for (const deck::Criterion& criterion : criteria) {
    const deck::Metric metric = criterion.metric;
    const deck::MetricRow& row = deck::row_of(metric);
    if (criterion.phase.value_or(phase) != phase) continue;
    if (row.needs == deck::Needs::alone && phase == deck::Phase::alone) continue;
    const char* const missing =
        row.formula == nullptr ? "there are too few repetitions" : "it was not measured";
    const auto found = results::value(metric, device);
    if (found || (deck::of_device(row.needs) && std::ranges::any_of(runs, &results::Run::ran))) {
      add(criterion, nullptr, found.value_or(unknown), found ? "" : missing);
    }
    for (const results::Run& run : runs) {
      if (criterion.order.value_or(run.order) != run.order || !results::applies_to(metric, run))
        continue;
      if (!run.device.empty()) {
        if (criterion.where.empty()) continue;
        const auto value = results::predicted(metric, run, runs);
        add(criterion, &run, value.value_or(unknown), value ? "" : "it is not predicted");
      } else if (const auto& value = run.value(metric)) {
        add(criterion, &run, *value, results::unjudgeable(metric, run, runs));
      } else if (run.ran()) {
        add(criterion, &run, unknown, missing);
      }
    }
  }
  return checks;
}

results::Point judge(Plan plan, Samples samples, References references,
                     const std::vector<results::Run>& alone) {
  std::vector<Case>& cases = samples.cases.empty() ? plan.cases : samples.cases;
  results::Point point = planned_point(plan);
  for (Case& one : cases) {
    if (one.run.ran()) one.run.stopped = samples.stopped;
  }
  add_bounds(cases, samples.conditions.engines);
  for (const Case& one : cases) {
    for (Finding& finding : diagnose(one, cases, samples.conditions)) {
      finding.order = one.run.order;
      finding.disturbance = one.run.disturbance;
      finding.host_work = one.run.host_work.has_value();
      point.findings.push_back(std::move(finding));
    }
    point.runs.push_back(finished(one, point.is_swept()));
  }
  results::evaluate(point.runs, alone);
  point.verified_runs = samples.verified_runs;
  point.verification_s = samples.verification_s;
  if (samples.rates_s > 0) {
    point.notes.emplace_back("bounds", "measured after every round, which took " +
                                           base::format_seconds(samples.rates_s));
  }
  point.device = std::move(samples.device);
  // The link of an idle device may have been in power saving.
  if (const auto& awake = samples.conditions.device) {
    references.subject.link = base::spell_link(awake->pcie_gen, awake->pcie_width);
  }
  references.subject.key.phase = plan.point.phase;
  references.subject.deck = deck::identity(plan.point.deck);
  references.deck_name = describe::name_of(plan.point.deck.path);
  point.checks = judge_all(plan.point.deck.acceptance, point.runs, point.device, references,
                           samples.conditions.engines.workers == 0);
  for (Check& check : point.checks) excuse(point.findings, check);
  point.outcome = Outcome{.interrupted = samples.interrupted};
  conclude(point);
  return point;
}

}  // namespace overlap::experiment
