#pragma once

#include "report/run_report.hpp"
#include "results/metrics.hpp"

/// The tables of a phase.
namespace overlap::report {

using Phase = results::PointRuns;

/// One row per measured order.
void add_orders(Blocks& blocks, const Phase& phase);
/// One row per predicted order, two columns per device.
void add_predictions(Blocks& blocks, const Phase& phase);
/// Host work, disturbances, issuing, products, rates, bounds, link, health, findings; nothing where
/// nothing ran.
void add_details(Blocks& blocks, const Phase& phase);
/// The criteria; checks that differ in order alone and pass are one row.
void add_checks(Blocks& blocks, const Phase& phase);

}  // namespace overlap::report
