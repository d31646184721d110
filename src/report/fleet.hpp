#pragma once

#include <string>
#include <vector>

#include "base/table.hpp"
#include "experiment/fleet.hpp"

/// Reports of fleets, for people and programs.
namespace overlap::report {

/// Tables for the terminal. Groups of up to 16 devices: one row per device; larger groups: spread
/// of each figure, slowest devices and a histogram. Then everything that did not pass.
std::string fleet_text(const experiment::Fleet& fleet);

/// Result lines: OVERLAP_DEVICE per phase of each device, OVERLAP_SLOWEST per compared figure,
/// OVERLAP_RESULT. With more than 16 devices, unless `all`, OVERLAP_DEVICE only for devices that
/// did not pass.
std::string fleet_lines(const experiment::Fleet& fleet, bool all);

/// The fleet file, schema overlap-fleet/1, with one line per device, and its JSON Schema.
std::string fleet_json(const experiment::Fleet& fleet);
std::string fleet_schema();

/// The first missing hosts and devices and broken files, one line each.
std::vector<std::string> faults(const experiment::Fleet& fleet);

/// JUnit XML: one suite with one test per device, missing host, host with missing devices
/// and broken file.
std::string fleet_junit(const experiment::Fleet& fleet);

/// The same as an HTML page: map of devices by host and slot, distributions, tables. `page`: its
/// path, from which devices link to their own pages or result files if these exist.
std::string fleet_html(const experiment::Fleet& fleet, const std::string& page);

}  // namespace overlap::report
