#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiment/plan.hpp"

/// What the program says without running anything.
namespace overlap::report {

/// All tasks of a schedule: --dry-run.
std::string schedule_table(const experiment::Case& planned);

/// Column and cell: values of swept keys, then tasks and lanes of each order.
using PointRow = std::vector<std::pair<std::string, std::string>>;

/// --dry-run of a sweep: the row of a point and the table of all points, of which some may lack
/// orders.
PointRow point_row(const experiment::Plan& plan);
std::string point_table(const std::vector<PointRow>& points);

/// Workloads (with reasons for unavailable ones), issue orders, devices of the model, back end and
/// devices: --list.
std::string list(const base::BuildInfo& build, const std::vector<base::DeviceInfo>& devices,
                 bool gpu, const std::map<deck::WorkloadKind, std::string>& unavailable);

/// --version.
std::string version(const base::BuildInfo& build);

}  // namespace overlap::report
