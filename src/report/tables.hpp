#pragma once

#include <string>
#include <vector>

#include "report/study.hpp"

/// Tables of one outcome, for the terminal and for pages.
namespace overlap::report {

using experiment::Outcome;

/// Where it runs and what was built, name and value.
Rows provenance(const base::Machine& machine);

/// What is about to run and on what, name and value; of predictions without the machine.
Rows facts(const Study& study, const experiment::Setup& known);

/// What a deck's workload is, in one line, but for the keys that a sweep changes.
std::string workload_line(const deck::Workload& workload,
                          const std::vector<deck::Point::Value>& swept = {});

/// The orders that ran.
Rows order_rows(const Outcome& outcome);

/// What issuing cost the host; empty where nothing ran.
Rows issue_rows(const Outcome& outcome);

/// How much of the host's work was hidden; empty without such work.
Rows host_work_rows(const Outcome& outcome);

/// Loss of disturbed orders; empty without disturbances.
Rows disturbance_rows(const Outcome& outcome);

/// Orders of a matrix product by the operations that they do a second, and what limits them; empty
/// for other workloads.
Rows product_rows(const Outcome& outcome);
std::string product_words(const Outcome& outcome);

/// The rates of copies and kernels, by the number of chunks; empty where they were not measured.
Rows rate_rows(const Outcome& outcome);

/// How near each order comes to what the rates allow; empty where they were not measured.
Rows bound_rows(const Outcome& outcome);

/// The bounds without overlap and with it; empty where rates were not measured.
std::string bound_words(const Outcome& outcome);

/// Each limit of the deck's criteria, with its verdict; empty without criteria.
Rows check_rows(const Outcome& outcome);

/// The findings of all orders; empty: none.
Rows finding_rows(const Outcome& outcome);

/// Predictions: two columns per device.
Rows prediction_rows(const Outcome& outcome);

}  // namespace overlap::report
