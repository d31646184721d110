#include "experiment/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace overlap::experiment {
namespace {

/// Gives every run with rates its bounds, but for those that nothing limits: queries alone.
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
    // What the host computes for it the device need not do.
    const bool shared = !least || host_tiles(run.schedule) > 0;
    run.bounds = model::bounds(run.schedule, *run.rates, shared ? *run.rates : *least, engines);
    if (run.bounds->bound_s <= 0) run.bounds.reset();  // nothing in it takes time
  }
}

/// Whether the metric is judged of such a run. The cost of a disturbance is shown, not judged; of a
/// run with host work only how much of that work was hidden.
bool is_judged(deck::Metric metric, const Run& run) {
  const deck::Needs needs = deck::row_of(metric).needs;
  if (needs == deck::Needs::baseline && run.order == deck::Order::sequential) return false;
  return !run.disturbance && run.host_work == (needs == deck::Needs::host_work);
}

/// Why nothing can be said about the metric; empty when something can.
std::string unjudgeable(deck::Metric metric, const Run& run, const std::vector<Run>& runs) {
  const auto potential = overlap_potential(run, runs);
  const bool compared = deck::row_of(metric).needs == deck::Needs::baseline;
  if (!compared || !potential || *potential >= least_potential) return "";
  return fmt::format(
      "overlap could save {:.1f} % of the sequential time at most, less than {:.0f} %",
      100 * std::max(0.0, *potential), 100 * least_potential);
}

bool has(const std::vector<Check>& checks, Verdict verdict) {
  return std::any_of(checks.begin(), checks.end(),
                     [verdict](const Check& check) { return check.verdict == verdict; });
}

/// A limit on max_error that is broken is the user's word on the data.
bool is_wrong_data(const Check& check) {
  return check.metric == deck::Metric::max_error && check.verdict == Verdict::fail;
}

}  // namespace

bool Outcome::ran() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const Run& run) { return !run.samples_s.empty(); });
}

bool Outcome::data_right() const {
  return std::none_of(runs.begin(), runs.end(), [](const Run& run) { return run.wrong; }) &&
         std::none_of(checks.begin(), checks.end(), is_wrong_data);
}

Verdict Outcome::verdict() const {
  if (!data_right()) return Verdict::fail;
  if (interrupted) return Verdict::interrupted;
  if (failure) {
    return failure->code == base::ExitCode::skipped ? Verdict::skipped : Verdict::error;
  }
  if (has(checks, Verdict::fail)) return Verdict::fail;
  return has(checks, Verdict::inconclusive) ? Verdict::inconclusive : Verdict::pass;
}

base::ExitCode Outcome::exit_code() const {
  using Code = base::ExitCode;
  if (!data_right()) return Code::wrong_data;
  if (interrupted) return Code::interrupted;
  if (failure) return failure->code;
  if (has(checks, Verdict::fail)) return Code::performance;
  return has(checks, Verdict::inconclusive) ? Code::inconclusive : Code::pass;
}

Verdict judge(const base::Summary& value, bool at_least, double limit) {
  const bool lo_keeps = at_least ? value.lo >= limit : value.lo <= limit;
  const bool hi_keeps = at_least ? value.hi >= limit : value.hi <= limit;
  if (lo_keeps && hi_keeps) return Verdict::pass;
  return lo_keeps || hi_keeps ? Verdict::inconclusive : Verdict::fail;
}

std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<Run>& runs) {
  std::vector<Check> checks;
  for (const auto& [metric, order, min, max] : criteria) {
    for (const Run& run : runs) {
      if (order.value_or(run.order) != run.order || !is_judged(metric, run)) continue;
      const auto value = experiment::value(metric, run, runs);
      if (!value) continue;
      const std::string reason = unjudgeable(metric, run, runs);
      for (const bool at_least : {true, false}) {
        const std::optional<double>& limit = at_least ? min : max;
        if (!limit) continue;
        const auto verdict =
            reason.empty() ? judge(*value, at_least, *limit) : Verdict::inconclusive;
        checks.push_back({metric, run.order, *value, at_least, *limit, verdict, reason});
      }
    }
  }
  return checks;
}

Outcome judge(Plan plan, Samples samples) {
  Outcome outcome{Setup(std::move(plan))};
  outcome.runs = std::move(samples.runs);
  outcome.verified_runs = samples.verified_runs;
  outcome.reference_s = samples.reference_s;
  outcome.interrupted = samples.interrupted;
  if (outcome.runs.empty()) {
    for (Case& predicted : plan.cases) outcome.runs.push_back({std::move(predicted)});
  }
  add_bounds(outcome.runs, samples.conditions.engines);
  for (Run& run : outcome.runs) {
    run.findings = diagnose(run, outcome.runs, samples.conditions);
  }
  outcome.checks = judge_all(outcome.deck.acceptance, outcome.runs);
  return outcome;
}

Outcome failed(const deck::Point& point, const base::Error& error) {
  Outcome outcome{Setup{point}};
  outcome.interrupted = error.code() == base::ExitCode::interrupted;
  if (!outcome.interrupted) outcome.failure = Failure{error.code(), error.what()};
  return outcome;
}

std::string_view verdict_of(const Run& run, const std::vector<Check>& checks) {
  if (run.wrong) return "WRONG DATA";
  auto worst = Verdict::pass;
  for (const Check& check : checks) {
    if (check.order != run.order || !is_judged(check.metric, run)) continue;
    if (check.verdict != Verdict::pass && worst != Verdict::fail) worst = check.verdict;
  }
  return yaml::to_string(worst);
}

std::vector<std::string> reasons(const Outcome& outcome) {
  std::vector<std::string> lines;
  for (const Run& run : outcome.runs) {
    if (run.wrong) lines.push_back(fmt::format("{} left wrong data", name(run)));
  }
  if (outcome.failure) lines.push_back(outcome.failure->text);
  for (const Check& check : outcome.checks) {
    if (check.verdict == Verdict::pass) continue;
    const auto number = [](double value) { return base::format_number(value); };
    lines.push_back(fmt::format(
        "{} of {}: {} ({} .. {}), limit {} {}{}{}", deck::to_string(check.metric),
        deck::to_string(check.order), number(check.value.median), number(check.value.lo),
        number(check.value.hi), check.at_least ? ">=" : "<=", number(check.limit),
        check.reason.empty() ? "" : "; inconclusive: ", check.reason));
  }
  return lines;
}

}  // namespace overlap::experiment
