#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/study.hpp"

/// Text for people.
namespace overlap::report {

/// Title and device; facts follow.
std::string title(const Study& study);

/// Heading of a run: machine, workload, chunks, memory, and all choices of the program.
std::string heading(const Study& study, const experiment::Plan& plan);

/// Heading of a sweep, before its points are planned.
std::string sweep_heading(const Study& study);

/// Results: tables, small timelines, findings and criteria. Predictions: a table and all timelines,
/// `width` columns wide. Sweeps: one row per point, the best point and the knee.
std::string table(const Study& study, int width);

/// One line per order with wrong data: order, chunk, array, index, expected, found.
std::string wrong_data(const experiment::Outcome& outcome);

/// Reasons for the verdict, one line each; of many the first and the number of the others.
/// `with_errors`: also errors that ended points.
std::vector<std::string> reasons(const Study& study, bool with_errors = true);
/// The verdict with its reasons but for errors, which a terminal has shown; `named`: with the name
/// of the deck.
std::string verdict_words(const Study& study, bool named = false);

/// All tasks of a schedule: --dry-run.
std::string schedule_table(const experiment::Case& one);

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
