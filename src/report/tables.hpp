#pragma once

#include <string>
#include <vector>

#include "report/study.hpp"

/// Tables for terminal and pages.
namespace overlap::report {

using experiment::Outcome;

/// Machine and build: name and value.
Rows provenance(const base::Machine& machine);

/// Workload and conditions of a run: name and value; for predictions without the machine.
Rows facts(const Study& study, const experiment::Setup& known);

/// The workload in one line, without swept keys.
std::string workload_line(const deck::Workload& workload,
                          const std::vector<deck::Point::Value>& swept = {});

// Tables of one outcome with headings first; empty without data.
Rows order_rows(const Outcome& outcome);  ///< orders that ran
/// Explains the mark of order_rows(); empty without one.
std::string unexpected_words(const Outcome& outcome);
Rows issue_rows(const Outcome& outcome);        ///< cost of issuing for the host
Rows host_work_rows(const Outcome& outcome);    ///< hidden part of the host work
Rows disturbance_rows(const Outcome& outcome);  ///< cost of disturbances
Rows product_rows(const Outcome& outcome);      ///< matrix products in flop/s
Rows rate_rows(const Outcome& outcome);         ///< copies and kernels, by number of chunks
Rows link_rows(const Outcome& outcome);         ///< link rates alone and in both directions
Rows health_rows(const Outcome& outcome);       ///< device health before and after the runs
Rows bound_rows(const Outcome& outcome);        ///< times relative to bounds
Rows check_rows(const Outcome& outcome);        ///< limits of the criteria with verdicts
Rows prediction_rows(const Outcome& outcome);   ///< two columns per device
Rows finding_rows(const Outcome& outcome);      ///< of all orders, without headings

/// Why repetitions ended, if the deck does not fix their number; else empty.
std::string stop_words(const Outcome& outcome);

/// Limiting resource of a matrix product; bounds with and without overlap; empty if rates were not
/// measured.
std::string product_words(const Outcome& outcome);
std::string bound_words(const Outcome& outcome);

/// Reasons for reduced clocks during the runs.
std::string throttle_words(const Outcome& outcome);

}  // namespace overlap::report
