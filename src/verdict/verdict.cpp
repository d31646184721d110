#include "verdict/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace overlap::verdict {
namespace {

std::optional<base::Summary> value_of(deck::Metric metric, const timeline::Run& run,
                                      const std::vector<timeline::Run>& runs) {
  switch (metric) {
    case deck::Metric::time:
      return timeline::time_s(run);
    case deck::Metric::throughput:
      return timeline::throughput(run);
    case deck::Metric::speedup:
      if (run.order == deck::Order::sequential) return std::nullopt;
      return timeline::speedup(run, runs);
    case deck::Metric::max_error:
      return base::summarize({run.max_error});
    case deck::Metric::overlap_efficiency:
      return timeline::overlap_efficiency(run, runs);
    case deck::Metric::bound_fraction:
      return timeline::bound_fraction(run);
    case deck::Metric::schedule_bound_fraction:
      return timeline::schedule_bound_fraction(run);
    case deck::Metric::host_work_hidden:
      return timeline::host_work_hidden(run, runs);
  }
  return std::nullopt;
}

/// Why nothing can be said about the metric; empty when something can.
std::string unjudgeable(deck::Metric metric, const timeline::Run& run,
                        const std::vector<timeline::Run>& runs) {
  if (metric != deck::Metric::speedup && metric != deck::Metric::overlap_efficiency) return "";
  const auto potential = timeline::overlap_potential(run, runs);
  if (!potential || *potential >= timeline::least_potential) return "";
  return fmt::format(
      "overlap could save {:.1f} % of the sequential time at most, less than {:.0f} %",
      100 * std::max(0.0, *potential), 100 * timeline::least_potential);
}

bool data_right(const std::vector<timeline::Run>& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const timeline::Run& run) { return !run.wrong; });
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "PASS";
    case Verdict::fail:
      return "FAIL";
    case Verdict::inconclusive:
      return "INCONCLUSIVE";
  }
  return "?";
}

Verdict judge(const base::Summary& value, bool at_least, double limit) {
  const bool lo_keeps = at_least ? value.lo >= limit : value.lo <= limit;
  const bool hi_keeps = at_least ? value.hi >= limit : value.hi <= limit;
  if (lo_keeps && hi_keeps) return Verdict::pass;
  return lo_keeps || hi_keeps ? Verdict::inconclusive : Verdict::fail;
}

bool is_judged(deck::Metric metric, const timeline::Run& run) {
  const bool of_host_work = metric == deck::Metric::host_work_hidden;
  return !run.disturbance && run.host_work.has_value() == of_host_work;
}

std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<timeline::Run>& runs) {
  std::vector<Check> checks;
  for (const deck::Criterion& criterion : criteria) {
    for (const timeline::Run& run : runs) {
      if (criterion.order && *criterion.order != run.order) continue;
      if (!is_judged(criterion.metric, run)) continue;
      const auto value = value_of(criterion.metric, run, runs);
      if (!value) continue;
      const std::string reason = unjudgeable(criterion.metric, run, runs);
      const auto add = [&](const std::optional<double>& limit, bool at_least) {
        if (!limit) return;
        const Verdict verdict =
            reason.empty() ? judge(*value, at_least, *limit) : Verdict::inconclusive;
        checks.push_back({criterion.metric, run.order, *value, at_least, *limit, verdict, reason});
      };
      add(criterion.min, true);
      add(criterion.max, false);
    }
  }
  return checks;
}

Verdict overall(const std::vector<timeline::Run>& runs, const std::vector<Check>& checks) {
  switch (exit_code(runs, checks)) {
    case base::ExitCode::pass:
      return Verdict::pass;
    case base::ExitCode::inconclusive:
      return Verdict::inconclusive;
    default:
      return Verdict::fail;
  }
}

base::ExitCode exit_code(const std::vector<timeline::Run>& runs, const std::vector<Check>& checks) {
  base::ExitCode code = data_right(runs) ? base::ExitCode::pass : base::ExitCode::wrong_data;
  for (const Check& check : checks) {
    if (check.verdict == Verdict::fail) {
      const bool data = check.metric == deck::Metric::max_error;
      code = base::worst(code, data ? base::ExitCode::wrong_data : base::ExitCode::performance);
    }
    if (check.verdict == Verdict::inconclusive) {
      code = base::worst(code, base::ExitCode::inconclusive);
    }
  }
  return code;
}

}  // namespace overlap::verdict
