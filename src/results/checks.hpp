#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

/// Limits of criteria, applied.
namespace overlap::results {

/// The criteria of a deck that hold for the results of its runs.
std::vector<deck::Criterion> criteria(const Result& result);

/// PASS if the whole interval of the value meets the limit, FAIL if none of it does, otherwise
/// INCONCLUSIVE.
Verdict judge(const base::Summary& value, bool at_least, double limit);

/// The exit code of a check of a metric. A violated limit on max_error means wrong data: the user
/// defines what is correct.
base::ExitCode code_of(deck::Metric metric, Verdict verdict);

/// Whether a check makes the verdict other than PASS.
bool decides(const Check& check);

/// The order of a check; "-" for the device.
std::string_view order_name(const Check& check);

/// ">= 93.12 (96 - 3 % of h200.yaml)", "unknown".
std::string limit_text(const Check& check);

/// Why a metric of a run cannot be judged: overlap could save too little. Empty: it can.
std::string unjudgeable(deck::Metric metric, const Run& run, const std::vector<const Run*>& runs);

/// A check with interval and limit in one line.
std::string check_text(const Check& check);

/// The worst verdict of the checks of one run, or "WRONG DATA".
std::string_view run_verdict(const Run& run, const std::vector<Check>& checks);

/// "precision 0.8 % reached after 37 repetitions", "precision not reached: 1.9 % after 200
/// repetitions (at_most)"; of every reason but `repetitions`.
std::string stop_text(const Stop& stop);

}  // namespace overlap::results
