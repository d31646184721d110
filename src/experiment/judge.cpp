#include "experiment/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.hpp"
#include "deck/fields.hpp"

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
void predict_again(Outcome& outcome, const model::Device& device) {
  using base::format_seconds;
  std::vector<double> measured;
  for (Run& run : outcome.runs) {
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
  outcome.choices.emplace_back(
      "issuing", fmt::format("{}{} of host time per chunk between the runs; {} {}",
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
    check.reason = missing_words(file->second, subject);
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

}  // namespace

base::ExitCode code_of(deck::Metric metric, Verdict verdict) {
  if (verdict == Verdict::pass || verdict == Verdict::skipped) return base::ExitCode::pass;
  if (verdict != Verdict::fail) return base::ExitCode::inconclusive;
  return metric == deck::Metric::max_error ? base::ExitCode::wrong_data
                                           : base::ExitCode::performance;
}

Verdict verdict_of(base::ExitCode code) {
  switch (code) {
    using enum base::ExitCode;
    case pass:
      return Verdict::pass;
    case wrong_data:
    case performance:
      return Verdict::fail;
    case inconclusive:
      return Verdict::inconclusive;
    case skipped:
      return Verdict::skipped;
    case interrupted:
      return Verdict::interrupted;
    case runtime_error:
    case usage:
    case precondition:
      break;
  }
  return Verdict::error;
}

bool Outcome::ran() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const Run& run) { return !run.samples_s.empty(); });
}

base::ExitCode Outcome::exit_code() const {
  const bool wrong = std::ranges::any_of(runs, [](const Run& run) { return !!run.wrong; });
  auto code = wrong ? base::ExitCode::wrong_data : base::ExitCode::pass;
  if (interrupted) code = base::worst(code, base::ExitCode::interrupted);
  if (failure) code = base::worst(code, failure->code);
  for (const Check& check : checks) code = base::worst(code, code_of(check.metric, check.verdict));
  return code;
}

bool applies_to(deck::Metric metric, const Run& run) {
  const deck::Needs needs = deck::row_of(metric).needs;
  if (deck::of_device(needs)) return false;
  if (needs == deck::Needs::baseline && run.order == deck::Order::sequential) return false;
  return !run.disturbance && run.host_work == (needs == deck::Needs::host_work);
}

void limit_by(const Reference& reference, const Entry& entry, std::optional<double> below,
              Check& check) {
  const double part = below.value_or(entry.tolerance);
  check.at_least = deck::row_of(check.metric).better == deck::Better::more;
  check.limit = entry.value * (check.at_least ? 1 - part : 1 + part);
  check.source = LimitSource{reference.path, entry.value, part};
}

Verdict judge(const base::Summary& value, bool at_least, double limit) {
  const bool lo_keeps = at_least ? value.lo >= limit : value.lo <= limit;
  const bool hi_keeps = at_least ? value.hi >= limit : value.hi <= limit;
  if (lo_keeps && hi_keeps) return Verdict::pass;
  return lo_keeps || hi_keeps ? Verdict::inconclusive : Verdict::fail;
}

std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<Run>& runs, const DeviceSamples& device,
                             const References& references, bool on_gpu) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr base::Summary unknown = {.median = nan, .min = nan, .max = nan, .lo = nan, .hi = nan};
  std::vector<Check> checks;
  const auto add = [&](const deck::Criterion& criterion, const Run* run, const base::Summary& value,
                       const std::string& reason) {
    const std::string predicted_for = run != nullptr ? run->device : "";
    const bool holds =
        predicted_for.empty() ? criterion.holds_here(on_gpu) : criterion.holds_for(predicted_for);
    const auto order = run != nullptr ? std::optional(run->order) : std::nullopt;
    for (Check& check : limits(criterion, order, references)) {
      check.device = predicted_for;
      check.value = value;
      if (check.reason.empty()) check.reason = reason;
      check.verdict =
          check.reason.empty() ? judge(value, check.at_least, check.limit) : Verdict::inconclusive;
      if (!holds) {
        check.verdict = Verdict::skipped;
        check.reason = "judged only for " + places(criterion);
      }
      checks.push_back(std::move(check));
    }
  };
  const auto ran = [](const Run& run) { return !run.samples_s.empty(); };
  const deck::Phase phase = references.machine.phase;
  for (const deck::Criterion& criterion : criteria) {
    const deck::Metric metric = criterion.metric;
    const deck::MetricRow& row = deck::row_of(metric);
    if (criterion.phase.value_or(phase) != phase) continue;
    if (row.needs == deck::Needs::alone && phase == deck::Phase::alone) continue;
    const char* const missing =
        row.of_all != nullptr ? "there are too few repetitions" : "it was not measured";
    const auto found = experiment::value(metric, device);
    if (found || (deck::of_device(row.needs) && std::ranges::any_of(runs, ran))) {
      add(criterion, nullptr, found.value_or(unknown), found ? "" : missing);
    }
    for (const Run& run : runs) {
      if (criterion.order.value_or(run.order) != run.order || !applies_to(metric, run)) continue;
      if (!run.device.empty()) {
        if (criterion.where.empty()) continue;
        const auto value = predicted(metric, run, runs);
        add(criterion, &run, value.value_or(unknown), value ? "" : "it is not predicted");
      } else if (const auto value = experiment::value(metric, run, runs)) {
        add(criterion, &run, *value, unjudgeable(metric, run, runs));
      } else if (ran(run)) {
        add(criterion, &run, unknown, missing);
      }
    }
  }
  return checks;
}

std::string unjudgeable(deck::Metric metric, const Run& run, const std::vector<Run>& runs) {
  const auto potential = overlap_potential(run, runs);
  const bool compared = deck::row_of(metric).needs == deck::Needs::baseline;
  if (!compared || !potential || *potential >= least_potential) return "";
  return fmt::format(
      "overlap could save at most {:.2f} % of the sequential time, less than {:.0f} %",
      100 * std::max(0.0, *potential), 100 * least_potential);
}

std::string words(const Stop& stop) {
  const std::string after = fmt::format("after {} repetitions", stop.repetitions);
  if (stop.reason == StopReason::duration) {
    return fmt::format("{}, which took {}", after, base::format_seconds(stop.elapsed_s));
  }
  const double percent = 100 * stop.width.value_or(0);
  const std::string width = !stop.width      ? "unknown"
                            : percent < 99.5 ? fmt::format("{:.2g} %", percent)
                                             : fmt::format("{:.0f} %", percent);
  if (stop.reason == StopReason::precision) {
    return fmt::format("precision {} reached {}", width, after);
  }
  return fmt::format("precision not reached: {} {} ({})", width, after,
                     yaml::to_string(stop.reason));
}

std::string_view order_word(const Check& check) {
  return check.order ? deck::to_string(*check.order) : "-";
}

std::string words(const Check& check) {
  const auto number = [](double value) { return base::format_number(value); };
  const auto& [n, median, min, max, lo, hi] = check.value;
  const std::string verdict = check.verdict == Verdict::skipped ? "skipped" : "inconclusive";
  return fmt::format("{}{}{}: {}, limit {}{}{}", deck::to_string(check.metric),
                     check.order ? fmt::format(" of {}", order_word(check)) : "",
                     check.device.empty() ? "" : " on " + check.device,
                     std::isnan(median) ? "unknown"
                     : !check.device.empty()
                         ? number(median)
                         : fmt::format("{} ({} .. {})", number(median), number(lo), number(hi)),
                     limit_words(check), check.reason.empty() ? "" : "; " + verdict + ": ",
                     check.reason);
}

std::string limit_words(const Check& check) {
  if (std::isnan(check.limit)) return "unknown";
  const std::string words =
      fmt::format("{} {}", check.at_least ? ">=" : "<=", base::format_number(check.limit));
  if (!check.source) return words;
  return fmt::format("{} ({} {} {} of {})", words, base::format_number(check.source->value),
                     check.at_least ? "-" : "+", base::spell_part(check.source->below),
                     check.source->file);
}

Outcome judge(Plan plan, Samples samples, References references, const Outcome* alone) {
  Outcome outcome{Setup(std::move(plan)), std::move(samples)};
  if (outcome.runs.empty()) {
    for (Case& predicted : plan.cases) outcome.runs.push_back({std::move(predicted)});
  }
  if (alone != nullptr) set_alone(outcome.runs, alone->runs);
  if (plan.present) predict_again(outcome, *plan.present);
  add_bounds(outcome.runs, outcome.conditions.engines);
  for (Run& run : outcome.runs) {
    run.findings = diagnose(run, outcome.runs, outcome.conditions);
  }
  // The link of an idle device may have been in power saving.
  if (const auto& awake = outcome.conditions.device) {
    references.machine.link = base::spell_link(awake->pcie_gen, awake->pcie_width);
  }
  references.machine.phase = outcome.phase;
  references.machine.deck = deck::identity(outcome.deck);
  outcome.checks = judge_all(outcome.deck.acceptance, outcome.runs, outcome.device, references,
                             outcome.conditions.engines.workers == 0);
  return outcome;
}

Outcome failed(const deck::Point& point, const base::Error& error) {
  Outcome outcome{Setup{point}};
  outcome.interrupted = error.code() == base::ExitCode::interrupted;
  if (!outcome.interrupted) outcome.failure = Failure{error.code(), error.what()};
  return outcome;
}

/// Whether a check makes the verdict other than PASS.
static bool decides(const Check& check) {
  return code_of(check.metric, check.verdict) != base::ExitCode::pass;
}

std::string_view verdict_of(const Run& run, const std::vector<Check>& checks) {
  if (run.wrong) return "WRONG DATA";
  auto worst = Verdict::pass;
  for (const Check& check : checks) {
    if (check.order != run.order || !applies_to(check.metric, run)) continue;
    if (decides(check) && worst != Verdict::fail) worst = check.verdict;
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
    if (decides(check)) lines.push_back(words(check));
  }
  return lines;
}

}  // namespace overlap::experiment
