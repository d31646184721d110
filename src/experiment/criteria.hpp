#pragma once

#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "deck/words.hpp"
#include "experiment/run.hpp"

/// Criteria of a deck, applied to its runs.
namespace overlap::experiment {

using deck::to_string;

enum class Verdict { pass, fail, inconclusive, error, skipped, interrupted };
constexpr auto words_of(Verdict) {
  return yaml::in_order<Verdict>("PASS", "FAIL", "INCONCLUSIVE", "ERROR", "SKIPPED", "INTERRUPTED");
}

/// One limit of a criterion applied to one order.
struct Check {
  deck::Metric metric = deck::Metric::time;
  deck::Order order = deck::Order::sequential;
  base::Summary value;
  bool at_least = false;  ///< the limit is a minimum, else a maximum
  double limit = 0;
  Verdict verdict = Verdict::pass;
  std::string reason;  ///< why the verdict is not what the value says; else empty
};

/// PASS when the value's whole interval keeps the limit, FAIL when none of it does, INCONCLUSIVE
/// when the interval straddles it.
Verdict judge(const base::Summary& value, bool at_least, double limit);

/// Whether criteria of the metric apply to such a run. The cost of a disturbance is shown, not
/// judged; of a run with host work only how much of that work was hidden.
bool is_judged(deck::Metric metric, const Run& run);

/// Applies every criterion to the orders that it names. A speed-up criterion without an order
/// applies to every order but the baseline itself. Speed-up and overlap efficiency are INCONCLUSIVE
/// where overlap could save less than `least_potential`.
std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<Run>& runs);

/// The worst verdict on one run: its checks, or "WRONG DATA".
std::string_view verdict_of(const Run& run, const std::vector<Check>& checks);

}  // namespace overlap::experiment
