#include "results/checks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/units.hpp"
#include "results/metrics.hpp"

namespace overlap::results {

Verdict judge(const base::Summary& value, bool at_least, double limit) {
  const bool lo_keeps = at_least ? value.lo >= limit : value.lo <= limit;
  const bool hi_keeps = at_least ? value.hi >= limit : value.hi <= limit;
  if (lo_keeps && hi_keeps) return Verdict::pass;
  return lo_keeps || hi_keeps ? Verdict::inconclusive : Verdict::fail;
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
