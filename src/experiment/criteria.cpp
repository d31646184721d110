#include "experiment/criteria.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/metrics.hpp"

namespace overlap::experiment {
namespace {

/// Why nothing can be said about the metric; empty when something can.
std::string unjudgeable(const Metric& metric, const Run& run, const std::vector<Run>& runs) {
  if (!metric.needs_overlap) return "";
  const auto potential = overlap_potential(run, runs);
  if (!potential || *potential >= least_potential) return "";
  return fmt::format(
      "overlap could save {:.1f} % of the sequential time at most, less than {:.0f} %",
      100 * std::max(0.0, *potential), 100 * least_potential);
}

}  // namespace

Verdict judge(const base::Summary& value, bool at_least, double limit) {
  const bool lo_keeps = at_least ? value.lo >= limit : value.lo <= limit;
  const bool hi_keeps = at_least ? value.hi >= limit : value.hi <= limit;
  if (lo_keeps && hi_keeps) return Verdict::pass;
  return lo_keeps || hi_keeps ? Verdict::inconclusive : Verdict::fail;
}

bool is_judged(deck::Metric metric, const Run& run) {
  return !run.disturbance && run.host_work == (metric == deck::Metric::host_work_hidden);
}

std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<Run>& runs) {
  std::vector<Check> checks;
  for (const deck::Criterion& criterion : criteria) {
    const Metric& row = metric(criterion.metric);
    for (const Run& run : runs) {
      if (criterion.order && *criterion.order != run.order) continue;
      if (!is_judged(criterion.metric, run)) continue;
      if (criterion.metric == deck::Metric::speedup && run.order == deck::Order::sequential) {
        continue;
      }
      const auto value = row.value(run, runs);
      if (!value) continue;
      const std::string reason = unjudgeable(row, run, runs);
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

std::string_view verdict_of(const Run& run, const std::vector<Check>& checks) {
  if (run.wrong) return "WRONG DATA";
  auto worst = Verdict::pass;
  for (const Check& check : checks) {
    if (check.order != run.order || !is_judged(check.metric, run)) continue;
    if (check.verdict != Verdict::pass && worst != Verdict::fail) worst = check.verdict;
  }
  return deck::to_string(worst);
}

}  // namespace overlap::experiment
