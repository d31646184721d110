#pragma once

#include <string>
#include <vector>

#include "report/study.hpp"

/// Tables for the terminal and for pages.
namespace overlap::report {

using experiment::Outcome;

/// Where it runs and what was built, name and value.
Rows provenance(const base::Machine& machine);

/// What is about to run and on what, name and value; of predictions without the machine.
Rows facts(const Study& study, const experiment::Setup& known);

/// What a deck's workload is, in one line, but for the keys that a sweep changes.
std::string workload_line(const deck::Workload& workload,
                          const std::vector<deck::Point::Value>& swept = {});

// Of one outcome, headings first; empty where there is nothing to show.
Rows order_rows(const Outcome& outcome);        ///< the orders that ran
Rows issue_rows(const Outcome& outcome);        ///< what issuing cost the host
Rows host_work_rows(const Outcome& outcome);    ///< how much of the host's work was hidden
Rows disturbance_rows(const Outcome& outcome);  ///< loss of disturbed orders
Rows product_rows(const Outcome& outcome);      ///< matrix products by their operations a second
Rows rate_rows(const Outcome& outcome);         ///< copies and kernels, by the number of chunks
Rows link_rows(const Outcome& outcome);    ///< what copies of one size reach, alone and together
Rows health_rows(const Outcome& outcome);  ///< of the device before and after the runs
Rows bound_rows(const Outcome& outcome);   ///< how near orders come to what the rates allow
Rows check_rows(const Outcome& outcome);   ///< each limit of the criteria, with its verdict
Rows prediction_rows(const Outcome& outcome);  ///< two columns per device
Rows finding_rows(const Outcome& outcome);     ///< of all orders, without headings

/// Why there are no more repetitions, where the deck does not count them; else empty.
std::string stop_words(const Outcome& outcome);

/// What limits a matrix product, and the bounds without overlap and with it; empty where rates were
/// not measured.
std::string product_words(const Outcome& outcome);
std::string bound_words(const Outcome& outcome);

/// What held the device's clocks down in the runs.
std::string throttle_words(const Outcome& outcome);

}  // namespace overlap::report
