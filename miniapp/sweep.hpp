#pragma once

#include <functional>
#include <vector>

#include "deck/deck.hpp"
#include "model/device.hpp"
#include "options.hpp"
#include "report/journal.hpp"
#include "report/progress.hpp"
#include "report/sweep.hpp"

namespace overlap {

/// Runs or predicts one point.
using RunPoint = std::function<report::Result(const deck::Deck&, report::ProgressLine&)>;

/// The file that keeps the finished points: beside the first result file that is one, none where
/// there is none.
std::string journal_file(const Options& options);

/// What the points of a run must have in common with those that it goes on from.
report::Identity identity(const Options& options, const report::Result& common);

/// Runs what is left of a sweep, point by point; every point that is done is in the journal, if
/// there is one. A point that this machine cannot run is left out. Prints tables and result lines,
/// writes the result files and then removes the journal. Throws base::Error{interrupted} after
/// Ctrl-C and what run_point throws, with the number of points that the journal keeps.
base::ExitCode run_sweep(const Options& options, report::Sweep sweep, report::Journal* journal,
                         const RunPoint& run_point);

/// --dry-run: a row a point, with the tasks and lanes of each order.
std::string point_table(const std::vector<deck::Point>& points, const model::Device* device);

}  // namespace overlap
