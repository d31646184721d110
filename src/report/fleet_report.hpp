#pragma once

#include <string>
#include <vector>

#include "report/block.hpp"
#include "report/junit.hpp"
#include "results/fleet.hpp"

/// Reports of fleets, for people and programs.
namespace overlap::report {

/// Groups of up to 16 devices: one row per device; larger groups: spread of each figure, slowest
/// devices and outliers. Then everything that did not pass; equal reasons are shown once. A page
/// also has all devices and a chart of each figure.
Report fleet_report(const results::Fleet& fleet);

/// Result lines: OVERLAP_DEVICE per phase of each device, OVERLAP_SLOWEST per compared figure,
/// OVERLAP_RESULT. With more than 16 devices, unless `all`, OVERLAP_DEVICE only for devices that
/// did not pass.
std::string fleet_lines(const results::Fleet& fleet, bool all);

/// Missing hosts and devices, and files that could not be read, each with a line that names it.
std::vector<JunitCase> faults(const results::Fleet& fleet);

/// JUnit XML: one suite with one test per device, missing host, host with missing devices
/// and broken file.
std::string fleet_junit(const results::Fleet& fleet);

}  // namespace overlap::report
