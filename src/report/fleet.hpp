#pragma once

#include <string>
#include <vector>

#include "base/table.hpp"
#include "experiment/fleet.hpp"

/// A fleet for people and programs.
namespace overlap::report {

/// Tables for the terminal: up to 16 devices of a group one row each, of more the spread of each
/// figure, the slowest devices and a histogram; then what did not pass.
std::string fleet_text(const experiment::Fleet& fleet);

/// Result lines: OVERLAP_DEVICE for each phase of each device, OVERLAP_SLOWEST for each compared
/// figure, OVERLAP_RESULT. With more than 16 devices and not `all`, OVERLAP_DEVICE names those
/// alone that did not pass.
std::string fleet_lines(const experiment::Fleet& fleet, bool all);

/// The file, schema overlap-fleet/1, and its JSON Schema. Devices are one line each.
std::string fleet_json(const experiment::Fleet& fleet);
std::string fleet_schema();

/// JUnit XML: one suite with a test for each device, each missing host and each broken file.
std::string fleet_junit(const experiment::Fleet& fleet);

/// The same as one page: devices as a map by host and slot, distributions, tables. `page` is where
/// it will lie: a device leads to its own page or result file, if that is at hand.
std::string fleet_html(const experiment::Fleet& fleet, const std::string& page);

/// One line per node for the test harness of OLCF (its documentation, Extensions): "node PASS",
/// "node PERF-FAIL reason", HW-FAIL for wrong data, FAIL for anything else.
std::string node_check(const experiment::Fleet& fleet);

}  // namespace overlap::report
