#pragma once

#include <string>
#include <vector>

#include "base/machine.hpp"
#include "model/search.hpp"
#include "report/result.hpp"
#include "schedule/schedule.hpp"

/// Text for people and for harnesses.
namespace overlap::report {

/// A device and what it can do, one property a line.
std::string device_table(const base::DeviceInfo& device, bool gpu);

/// What is about to run: machine, workload, chunks, memory, and everything the program chose.
std::string heading(const Result& result);

/// The table of orders and the criteria.
std::string table(const Result& result, int width);

/// The table of --predict, a column a device, and every timeline, `width` columns wide.
std::string predictions(const Result& result, int width);

/// Why `auto` chose the first of the candidates.
std::string why(const std::vector<model::Candidate>& candidates);

/// A line for each order that left wrong data: order, chunk, array, index, expected, found.
std::string wrong_data(const Result& result);

/// The lines that harnesses parse: OVERLAP_FOM, OVERLAP_CHECK, OVERLAP_RESULT.
std::string result_lines(const Result& result);

/// Every task of a schedule: --dry-run.
std::string schedule_table(const schedule::Schedule& schedule);

/// Workloads, issue orders, devices of the model, back end and devices: --list.
std::string list(const base::BuildInfo& build, const std::vector<base::DeviceInfo>& devices,
                 bool gpu);

/// --version.
std::string version(const base::BuildInfo& build);

}  // namespace overlap::report
