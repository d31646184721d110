#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "deck/deck.hpp"
#include "timeline/run.hpp"

namespace overlap::verdict {

enum class Verdict { pass, fail, inconclusive };
const char* to_string(Verdict verdict);

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

/// Whether criteria of the metric are about such a run. What a disturbance costs is to be seen, not
/// judged; of a run with work of the host beside it only how much of that was hidden.
bool is_judged(deck::Metric metric, const timeline::Run& run);

/// Applies every criterion to the orders that it names. A speed-up criterion without an order is
/// about every order but the baseline itself. Speed-up and overlap efficiency are INCONCLUSIVE
/// where overlap could save less than `least_potential`.
std::vector<Check> judge_all(const std::vector<deck::Criterion>& criteria,
                             const std::vector<timeline::Run>& runs);

/// The verdict on the deck: wrong data fail; then the checks, worst first.
Verdict overall(const std::vector<timeline::Run>& runs, const std::vector<Check>& checks);

/// The exit code that belongs to it: 2 for wrong data or a broken limit on max_error, 5 for another
/// failed check, 6 for an inconclusive one.
base::ExitCode exit_code(const std::vector<timeline::Run>& runs, const std::vector<Check>& checks);

}  // namespace overlap::verdict
