#pragma once

#include <string>
#include <vector>

#include "experiment/plan.hpp"
#include "report/block.hpp"
#include "results/result.hpp"

/// Reports of runs and sweeps, as blocks: the terminal shows them piece by piece, a page at once.
namespace overlap::report {

using Blocks = std::vector<Block>;
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

/// Reasons for the verdict, one line each; of many the first and the number of the others.
std::vector<std::string> reasons(const results::Result& result, bool with_errors = true);

/// "depth_first", "auto (breadth_first)", "depth_first on h200".
std::string order_label(const results::Run& run);

// For the builders of reports.
Column text_column(std::string heading, int drop = 0);
Column number_column(std::string heading, int drop = 0);
/// The table as a block, without columns that have nothing but "-"; nothing without rows.
void add_table(Blocks& blocks, Table table, Detail detail = Detail::always);
void add_text(Blocks& blocks, std::string line, Detail detail = Detail::always);
/// A list of names and values.
using Facts = std::vector<std::pair<std::string, std::string>>;
void add_facts(Blocks& blocks, const Facts& facts, Detail detail = Detail::always);
/// A device and what it can do.
Facts device_facts(const base::DeviceInfo& device, bool gpu);
/// Host, software, device.
Facts machine_facts(const base::Machine& machine);
/// Blocks of a sweep's points.
void add_sweep(Blocks& blocks, const results::Result& result);

}  // namespace overlap::report
