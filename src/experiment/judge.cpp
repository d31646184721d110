#include "experiment/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "results/checks.hpp"

namespace overlap::experiment {
namespace {

/// Adds bounds to all runs with rates, except those without any work (queries only).
void add_bounds(std::vector<Run>& runs, const timeline::Engines& engines) {
  using model::Rates;
  std::optional<Rates> least;
  for (const Run& run : runs) {
    if (!run.rates || host_tiles(run.schedule) > 0) continue;
    if (!least) least = run.rates;
    for (const auto part : {&Rates::h2d_s, &Rates::d2h_s, &Rates::both_s, &Rates::kernel_s}) {
      (*least).*part = std::min((*least).*part, (*run.rates).*part);
    }
  }
  for (Run& run : runs) {
    if (!run.rates) continue;
    // Tiles of the host reduce the work of the device: do not share rates.
    const Rates& used = least && host_tiles(run.schedule) == 0 ? *least : *run.rates;
    run.bounds = model::bounds(run.schedule, *run.rates, used, engines);
    if (run.bounds->bound_s <= 0) run.bounds.reset();  // no work
  }
}

/// Predicts the runs with the host costs that were measured between them.
void predict_again(std::vector<Run>& runs, const model::Device& device, Choices& choices) {
  using base::format_seconds;
  std::vector<double> measured;
  for (Run& run : runs) {
    if (!run.chunk_issue_s) continue;
    const base::Summary& chunk_s = *run.chunk_issue_s;
    model::Device now = device;
    now.host = model::with_chunk_s(device.host, chunk_s.median);
    constexpr int enough = 6;  // for an interval
    if (now.spread && chunk_s.n >= enough) {
      now.spread->calls = (chunk_s.hi - chunk_s.lo) / 2 / chunk_s.median;
    }
    predict(run, now, [] {});  // not to be interrupted: what was measured would be lost
    measured.push_back(chunk_s.median);
  }
  if (measured.empty()) return;
  const auto [least, most] = std::ranges::minmax(measured);
  choices.emplace_back("issuing",
                       fmt::format("{}{} of host time per chunk between the runs; {} {}",
                                   least < most ? format_seconds(least) + " to " : "",
                                   format_seconds(most), format_seconds(device.host.chunk_s()),
                                   device.path.empty() ? "before them" : "in " + device.path));
}

/// A check with the limit from a reference; without an entry its reason says why.
Check referenced(Check check, const deck::Criterion& criterion, const References& references) {
  check.at_least = deck::row_of(check.metric).better == deck::Better::more;
  check.limit = std::numeric_limits<double>::quiet_NaN();
  const auto file = references.files.find(*criterion.reference);
  if (file == references.files.end()) {
    check.reason = "no --reference was given";
    return check;
  }
  Subject subject = references.machine;
  subject.order = check.order;
  subject.metric = check.metric;
  const Entry* const entry = find(file->second, subject);
  if (entry == nullptr) {
    check.reason = missing_entry(file->second, subject);
    return check;
  }
  limit_by(file->second, *entry, criterion.below, check);
  return check;
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
std::vector<Check> limits(const deck::Criterion& criterion, std::optional<deck::Order> order,
                          const References& references) {
  Check check{.metric = criterion.metric, .order = order};
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

/// Gives runs of phase together the samples of the same run alone.
void set_alone(std::vector<Run>& runs, const std::vector<results::Run>& alone) {
  for (Run& run : runs) {
    const auto same = std::ranges::find(alone, name(run), name);
    if (same != alone.end()) run.alone_s = same->samples_s;
  }
}

}  // namespace

std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<results::Run>& runs, const DeviceSamples& device,
                             const References& references, bool on_gpu) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr base::Summary unknown = {.median = nan, .min = nan, .max = nan, .lo = nan, .hi = nan};
  const results::Runs all = results::pointers(runs);
  std::vector<Check> checks;
  const auto add = [&](const deck::Criterion& criterion, const results::Run* run,
                       const base::Summary& value, const std::string& reason) {
    const std::string predicted_for = run != nullptr ? run->device : "";
    const bool holds =
        predicted_for.empty() ? criterion.holds_here(on_gpu) : criterion.holds_for(predicted_for);
    const auto order = run != nullptr ? std::optional(run->order) : std::nullopt;
    for (Check& check : limits(criterion, order, references)) {
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
  const deck::Phase phase = references.machine.phase;
  for (const deck::Criterion& criterion : criteria) {
    const deck::Metric metric = criterion.metric;
    const deck::MetricRow& row = deck::row_of(metric);
    if (criterion.phase.value_or(phase) != phase) continue;
    if (row.needs == deck::Needs::alone && phase == deck::Phase::alone) continue;
    const char* const missing =
        row.of_all != nullptr ? "there are too few repetitions" : "it was not measured";
    const auto found = results::value(metric, device);
    if (found || (deck::of_device(row.needs) && std::ranges::any_of(runs, &results::Run::ran))) {
      add(criterion, nullptr, found.value_or(unknown), found ? "" : missing);
    }
    for (const results::Run& run : runs) {
      if (criterion.order.value_or(run.order) != run.order || !results::applies_to(metric, run))
        continue;
      if (!run.device.empty()) {
        if (criterion.where.empty()) continue;
        const auto value = results::predicted(metric, run, all);
        add(criterion, &run, value.value_or(unknown), value ? "" : "it is not predicted");
      } else if (const auto& value = run.value(metric)) {
        add(criterion, &run, *value, results::unjudgeable(metric, run, all));
      } else if (run.ran()) {
        add(criterion, &run, unknown, missing);
      }
    }
  }
  return checks;
}

Part judge(Plan plan, Samples samples, References references,
           const std::vector<results::Run>* alone) {
  std::vector<Run> runs = std::move(samples.runs);
  if (runs.empty()) {
    for (Case& predicted : plan.cases) runs.push_back({std::move(predicted)});
  }
  Part part = planned(plan);
  for (Run& run : runs) {
    run.point = part.point.values;
    run.phase = plan.phase;
    if (run.ran()) run.stopped = samples.stopped;
  }
  if (alone != nullptr) set_alone(runs, *alone);
  if (plan.present) predict_again(runs, *plan.present, part.choices);
  add_bounds(runs, samples.conditions.engines);
  for (const Run& run : runs) {
    for (Finding& finding : diagnose(run, runs, samples.conditions)) {
      finding.order = run.order;
      finding.disturbance = run.disturbance;
      finding.host_work = run.host_work;
      finding.point = run.point;
      finding.phase = run.phase;
      part.findings.push_back(std::move(finding));
    }
    part.runs.push_back(finished(run));
  }
  results::evaluate(part.runs);
  part.verified_runs = samples.verified_runs;
  part.reference_s = samples.reference_s;
  part.device = std::move(samples.device);
  part.interrupted = samples.interrupted;
  // The link of an idle device may have been in power saving.
  if (const auto& awake = samples.conditions.device) {
    references.machine.link = base::spell_link(awake->pcie_gen, awake->pcie_width);
  }
  references.machine.phase = plan.phase;
  references.machine.deck = deck::identity(plan.deck);
  part.checks = judge_all(plan.deck.acceptance, part.runs, part.device, references,
                          samples.conditions.engines.workers == 0);
  for (Check& check : part.checks) {
    check.point = part.point.values;
    check.phase = plan.phase;
  }
  conclude(part);
  return part;
}

}  // namespace overlap::experiment
