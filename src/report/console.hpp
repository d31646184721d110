#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/study.hpp"

/// Text for people.
namespace overlap::report {

/// Title and device; facts follow.
std::string title(const Study& study);

/// What is about to run: machine, workload, chunks, memory, and everything the program chose.
std::string heading(const Study& study, const experiment::Plan& plan);

/// The same of a sweep, before anything is known of its points.
std::string sweep_heading(const Study& study);

/// What came out: tables, small timelines, findings and criteria; of predictions their table and
/// every timeline, `width` columns wide; of a sweep one row per point, the best and the knee.
std::string table(const Study& study, int width);

/// A line for each order that left wrong data: order, chunk, array, index, expected, found.
std::string wrong_data(const experiment::Outcome& outcome);

/// The verdict and why.
std::string verdict_words(const Study& study);

/// Every task of a schedule: --dry-run.
std::string schedule_table(const experiment::Case& one);

/// A row per point, with the tasks and lanes of each order: --dry-run of a sweep.
std::string point_table(const std::vector<deck::Point>& points,
                        const std::vector<experiment::Plan>& plans);

/// Workloads, with why some cannot run in this program, issue orders, devices of the model, back
/// end and devices: --list.
std::string list(const base::BuildInfo& build, const std::vector<base::DeviceInfo>& devices,
                 bool gpu, const std::map<deck::WorkloadKind, std::string>& unavailable);

/// --version.
std::string version(const base::BuildInfo& build);

}  // namespace overlap::report
