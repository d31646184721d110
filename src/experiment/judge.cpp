#include "experiment/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "deck/words.hpp"

namespace overlap::experiment {
namespace {

/// Gives every run with rates its bounds, but for those that nothing limits: queries alone.
void add_bounds(std::vector<Run>& runs, const timeline::Engines& engines) {
  std::optional<model::Rates> least;
  for (const Run& run : runs) {
    if (!run.rates || host_tiles(run.schedule) > 0) continue;
    if (!least) least = run.rates;
    least->h2d_s = std::min(least->h2d_s, run.rates->h2d_s);
    least->d2h_s = std::min(least->d2h_s, run.rates->d2h_s);
    least->both_s = std::min(least->both_s, run.rates->both_s);
    least->kernel_s = std::min(least->kernel_s, run.rates->kernel_s);
  }
  for (Run& run : runs) {
    if (!run.rates) continue;
    // What the host computes for it the device need not do.
    const bool shared = !least || host_tiles(run.schedule) > 0;
    run.bounds = model::bounds(run.schedule, *run.rates, shared ? *run.rates : *least, engines);
    if (run.bounds->bound_s <= 0) run.bounds.reset();  // nothing in it takes time
  }
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
  switch (verdict()) {
    case Verdict::pass:
      return base::ExitCode::pass;
    case Verdict::fail:
      return data_right() ? base::ExitCode::performance : base::ExitCode::wrong_data;
    case Verdict::inconclusive:
      return base::ExitCode::inconclusive;
    case Verdict::interrupted:
      return base::ExitCode::interrupted;
    case Verdict::error:
    case Verdict::skipped:
      break;
  }
  return failure->code;
}

Outcome judge(Plan plan, Samples samples) {
  Outcome outcome{.deck = std::move(plan.deck),
                  .point = std::move(plan.point),
                  .layout = std::move(plan.layout),
                  .balance = plan.balance,
                  .choices = std::move(plan.choices),
                  .runs = {},
                  .verified_runs = samples.verified_runs,
                  .reference_s = samples.reference_s,
                  .checks = {},
                  .failure = {},
                  .interrupted = samples.interrupted};
  samples.cases.resize(plan.cases.size());
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    outcome.runs.push_back({std::move(plan.cases[i]), std::move(samples.cases[i]), {}, {}});
  }
  add_bounds(outcome.runs, samples.conditions.engines);
  for (Run& run : outcome.runs) {
    run.findings = diagnose(run, outcome.runs, samples.conditions);
  }
  outcome.checks = judge_all(outcome.deck.acceptance, outcome.runs);
  return outcome;
}

Outcome failed(const deck::Point& point, const base::Error& error) {
  Outcome outcome;
  outcome.deck = point.deck;
  outcome.point = point.values;
  outcome.interrupted = error.code() == base::ExitCode::interrupted;
  if (!outcome.interrupted) outcome.failure = Failure{error.code(), error.what()};
  return outcome;
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
