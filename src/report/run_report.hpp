#pragma once

#include <string>
#include <vector>

#include "experiment/plan.hpp"
#include "report/block.hpp"
#include "results/result.hpp"

/// Reports of runs and sweeps, as blocks: the terminal shows them piece by piece, a page at once.
namespace overlap::report {

using Results = std::vector<results::Result>;

/// Machine, workload, chunks, memory, and all choices of the program; `planned`: as far as known
/// before anything runs. A sweep: its points.
Blocks heading(const results::Result& result, const results::Part& planned);

/// Tables, timelines, findings, and criteria of all phases; of a sweep one row per point, the best
/// point and the knee. Ends with the conclusion.
Blocks findings(const results::Result& result);

/// The verdict with its reasons; `named`: with the name of the deck. Empty for predictions that
/// pass. `with_errors`: also those that a terminal has shown.
Blocks verdict(const results::Result& result, bool named, bool with_errors);

/// Everything about some results.
Report report(const Results& results);

/// All timelines, measured above predicted, as an SVG file.
std::string svg(const Results& results);

/// One line per order with wrong data: order, chunk, array, index, expected, found.
std::string wrong_data(const results::Part& part);

/// "depth_first", "auto (breadth_first)", "depth_first on h200".
std::string order_label(const results::Run& run);

/// Names and values.
using Facts = std::vector<std::pair<std::string, std::string>>;
/// A device and what it can do.
Facts device_facts(const base::DeviceInfo& device, bool gpu);
void add_facts(Blocks& blocks, const Facts& facts);
/// Blocks of a sweep's points.
void add_sweep(Blocks& blocks, const results::Result& result);

}  // namespace overlap::report
