#include "results/checks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/units.hpp"
#include "results/metrics.hpp"

namespace overlap::results {
namespace {

/// A criterion as `deck.resolved` has it.
deck::Criterion criterion_of(const Json& map) {
  const auto value = [&]<class C>(const char* key, const C& codec) {
    return map.contains(key) ? codec.parse(map.at(key)) : std::optional<typename C::Type>();
  };
  deck::Criterion criterion{
      .metric = value("metric", describe::OneOf<deck::Metric>()).value_or(deck::Metric::time),
      .order = value("order", describe::OneOf<deck::Order>()),
      .phase = value("phase", describe::OneOf<deck::Phase>()),
      .min = value("min", describe::Real()),
      .max = value("max", describe::Real()),
      .reference = value("reference", describe::Text()),
      .below = value("below", describe::Real())};
  for (const Json& place : map.value("where", Json::array())) {
    criterion.where.push_back(describe::spell(place));
  }
  return criterion;
}

}  // namespace

std::vector<deck::Criterion> criteria(const Result& result) {
  std::vector<deck::Criterion> found;
  for (const Json& value : result.deck.resolved.value("acceptance", Json::array())) {
    const deck::Criterion criterion = criterion_of(value);
    if (criterion.holds_here(result.machine.device.has_value())) found.push_back(criterion);
  }
  return found;
}

Verdict judge(const base::Summary& value, bool at_least, double limit) {
  const bool lo_keeps = at_least ? value.lo >= limit : value.lo <= limit;
  const bool hi_keeps = at_least ? value.hi >= limit : value.hi <= limit;
  if (lo_keeps && hi_keeps) return Verdict::pass;
  return lo_keeps || hi_keeps ? Verdict::inconclusive : Verdict::fail;
}

Verdict verdict_of(base::ExitCode code) {
  using enum base::ExitCode;
  if (code == wrong_data || code == performance) return Verdict::fail;
  return code == pass           ? Verdict::pass
         : code == inconclusive ? Verdict::inconclusive
         : code == skipped      ? Verdict::skipped
         : code == interrupted  ? Verdict::interrupted
                                : Verdict::error;
}

base::ExitCode code_of(deck::Metric metric, Verdict verdict) {
  if (verdict == Verdict::pass || verdict == Verdict::skipped) return base::ExitCode::pass;
  if (verdict != Verdict::fail) return base::ExitCode::inconclusive;
  return metric == deck::Metric::max_error ? base::ExitCode::wrong_data
                                           : base::ExitCode::performance;
}

bool decides(const Check& check) {
  return code_of(check.metric, check.verdict) != base::ExitCode::pass;
}

std::string_view order_name(const Check& check) {
  return check.order ? deck::to_string(*check.order) : "-";
}

std::string limit_text(const Check& check) {
  if (std::isnan(check.limit)) return "unknown";
  const std::string limit =
      fmt::format("{} {}", check.at_least ? ">=" : "<=", base::format_number(check.limit));
  if (!check.source) return limit;
  return fmt::format("{} ({} {} {} of {})", limit, base::format_number(check.source->value),
                     check.at_least ? "-" : "+", base::spell_part(check.source->below),
                     check.source->file);
}

std::string unjudgeable(deck::Metric metric, const Run& run, const Runs& runs) {
  const auto potential = overlap_potential(run, runs);
  const bool compared = deck::row_of(metric).needs == deck::Needs::baseline;
  if (!compared || !potential || *potential >= least_potential) return "";
  return fmt::format(
      "overlap could save at most {:.2f} % of the sequential time, less than {:.0f} %",
      100 * std::max(0.0, *potential), 100 * least_potential);
}

std::string check_text(const Check& check) {
  const auto number = [](double value) { return base::format_number(value); };
  const base::Summary& value = check.value;
  const std::string verdict = check.verdict == Verdict::skipped ? "skipped" : "inconclusive";
  return fmt::format(
      "{}{}{}: {}, limit {}{}{}", deck::to_string(check.metric),
      check.order ? fmt::format(" of {}", order_name(check)) : "",
      check.device.empty() ? "" : " on " + check.device,
      std::isnan(value.median) ? "unknown"
      : !check.device.empty()
          ? number(value.median)
          : fmt::format("{} ({} .. {})", number(value.median), number(value.lo), number(value.hi)),
      limit_text(check), check.reason.empty() ? "" : "; " + verdict + ": ", check.reason);
}

std::string_view run_verdict(const Run& run, const std::vector<Check>& checks) {
  if (run.wrong) return "WRONG DATA";
  auto worst = Verdict::pass;
  for (const Check& check : checks) {
    if (check.order != run.order || check.phase != run.phase || check.device != run.device ||
        !applies_to(check.metric, run) || check.point != run.point) {
      continue;
    }
    if (decides(check) && worst != Verdict::fail) worst = check.verdict;
  }
  return deck::to_string(worst);
}

std::string stop_text(const Stop& stop) {
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
                     deck::to_string(stop.reason));
}

}  // namespace overlap::results
