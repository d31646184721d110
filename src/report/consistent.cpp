#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "experiment/judge.hpp"
#include "report/read_value.hpp"

namespace overlap::report {
namespace {

using base::ExitCode;
using experiment::Verdict;

/// What a check is about: the point of a sweep, the phase, the order (empty: the device), the
/// metric.
using About = std::tuple<std::string, deck::Phase, std::string, deck::Metric>;

/// The median of a figure; null: not measured.
Value median_of(const Value& figure) { return figure.is_object() ? figure.at("median") : figure; }

/// What the measured runs of a file and its device reached, and which checks follow from that.
struct Evidence {
  std::map<About, Value> figures;
  std::set<About> due;
  ExitCode code = ExitCode::pass;  ///< without checks
};

void take_run(const Value& run, const std::vector<deck::Criterion>& criteria, bool passed,
              Evidence& into) {
  const experiment::Run read = read_run(run);
  if (!run.at("wrong").is_null()) into.code = base::worst(into.code, ExitCode::wrong_data);
  if (read.samples_s.empty()) return;
  if (!read.verified && passed) {
    run.at("verified").fail("false", "true, where the verdict is PASS");
  }
  const std::string point = run.at("point").dumped(), order = run.at("order").text();
  const deck::Phase phase = phase_of(run);
  for (const deck::MetricRow& row : deck::run_metrics) {
    if (!experiment::applies_to(row.value, read)) continue;
    const Value figure = median_of(run.at_or_null(std::string(row.key())));
    into.figures.emplace(About(point, phase, order, row.value), figure);
  }
  for (const deck::Criterion& criterion : criteria) {
    const deck::Needs needs = deck::row_of(criterion.metric).needs;
    const bool of_device = deck::of_device(needs);
    if (criterion.phase.value_or(phase) != phase) continue;
    if (needs == deck::Needs::alone && phase == deck::Phase::alone) continue;
    if (!of_device && criterion.order.value_or(read.order) != read.order) continue;
    if (!of_device && !experiment::applies_to(criterion.metric, read)) continue;
    into.due.emplace(point, phase, of_device ? "" : order, criterion.metric);
  }
}

void take_device(const Value& of, deck::Phase phase, Evidence& into) {
  for (const deck::MetricRow& row : deck::device_metrics) {
    const auto part = of.find(row.needs == deck::Needs::link ? "rates" : "health");
    if (!part) continue;
    into.figures.emplace(About("{}", phase, "", row.value),
                         median_of(part->at_or_null(std::string(row.key()))));
  }
}

Evidence evidence_of(const Value& result, const std::vector<deck::Criterion>& criteria) {
  Evidence evidence;
  const bool passed = result.at("verdict").is("PASS");
  for (const Value& run : result.at("runs").items()) take_run(run, criteria, passed, evidence);
  take_device(result, deck::Phase::alone, evidence);
  if (const auto together = result.find("together")) {
    take_device(*together, deck::Phase::together, evidence);
  }
  if (result.at("interrupted").flag()) {
    evidence.code = base::worst(evidence.code, ExitCode::interrupted);
  }
  return evidence;
}

/// The value is that of the run, and the verdict that of the value.
void require_right(const Value& check, const About& about, Verdict verdict,
                   const Evidence& evidence) {
  const Value value = check.at("value"), limit = check.at("limit");
  const auto figure = evidence.figures.find(about);
  if (figure != evidence.figures.end()) {
    constexpr double rounding = 1e-6;
    const Value& found = figure->second;
    const bool same =
        value.is_null() || found.is_null()
            ? value.is_null() == found.is_null()
            : std::abs(value.number() - found.number()) <= rounding * std::abs(found.number());
    if (!same) value.fail(value.spelled(), found.spelled() + ", as the run has it");
  } else if (!std::get<2>(about).empty()) {
    check.at("order").fail(yaml::quoted(std::get<2>(about)), "an order that was measured");
  }
  if (verdict == Verdict::inconclusive || verdict == Verdict::skipped) return;
  if (value.is_null() || limit.is_null()) {
    check.at("verdict").fail(check.at("verdict").spelled(), "INCONCLUSIVE, without value or limit");
  }
  const bool at_least = check.at("bound").text() == "min";
  const bool keeps = at_least ? value.number() >= limit.number() : value.number() <= limit.number();
  if (keeps == (verdict == Verdict::pass)) return;
  check.at("verdict").fail(
      check.at("verdict").spelled(),
      fmt::format("that of {} with limit {}", value.spelled(), limit.spelled()));
}

}  // namespace

void require_consistent(const Value& result) {
  const ExitCode code = exit_code_in(result.at("exit_code"));
  const Value verdict = result.at("verdict"), error = result.at("error");
  if (verdict.word<Verdict>() != experiment::verdict_of(code)) {
    verdict.fail(verdict.spelled(), fmt::format("that of exit code {}", static_cast<int>(code)));
  }
  if (!error.is_null() && code == ExitCode::pass) {
    error.fail(yaml::quoted(error.text()), "null, where the verdict is PASS");
  }
  std::vector<deck::Criterion> criteria;
  for (const Value& value : result.at("deck").at("resolved").at("acceptance").items()) {
    deck::Criterion criterion = read_criterion(value);
    const bool on_gpu = !result.at("device").is_null();
    if (criterion.holds_here(on_gpu)) criteria.push_back(std::move(criterion));
  }
  Evidence evidence = evidence_of(result, criteria);
  for (const Value& check : result.at("checks").items()) {
    const auto found = check.at("verdict").word<Verdict>();
    const auto metric = check.at("metric").word<deck::Metric>();
    const About about(check.at_or_null("point").is_null() ? "{}" : check.at("point").dumped(),
                      phase_of(check), check.at("order").text_or_nothing(), metric);
    const bool predicted = !check.at_or_null("device").is_null();
    if (!predicted) require_right(check, about, found, evidence);
    evidence.code = base::worst(evidence.code, experiment::code_of(metric, found));
    if (found != Verdict::skipped) evidence.due.erase(about);
  }
  const bool ended_early = !error.is_null() || result.at("interrupted").flag();
  if (!evidence.due.empty() && !ended_early) {
    const auto& [point, phase, order, metric] = *evidence.due.begin();
    result.at("checks").fail(
        fmt::format("none of {}{}", deck::to_string(metric), order.empty() ? "" : " of " + order),
        "one for each criterion of the deck");
  }
  const bool follows =
      error.is_null() ? code == evidence.code : base::worst(code, evidence.code) == code;
  if (follows) return;
  result.at("exit_code")
      .fail(fmt::format("{}", static_cast<int>(code)),
            fmt::format("{}, which follows from runs and checks", static_cast<int>(evidence.code)));
}

}  // namespace overlap::report
