#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "experiment/plan.hpp"
#include "report/block.hpp"
#include "results/compare.hpp"
#include "results/fleet.hpp"
#include "results/metrics.hpp"

/// The builders of reports, one per subject: the terminal shows their blocks piece by piece, a page
/// at once.
namespace overlap::report {

// Runs and sweeps.

using Results = std::vector<results::Result>;

/// Machine, workload, chunks, memory, and all choices of the program; `planned`: the first point,
/// as far as known before anything runs. A sweep: its points.
Blocks heading(const results::Result& result, const results::Point& planned);

/// Tables, timelines, findings, and criteria of all phases; of a sweep one row per point, the best
/// point and the knee. Ends with the conclusion.
Blocks body(const results::Result& result);

/// The verdict with its reasons; `named`: with the name of the deck. Empty for predictions that
/// pass. `with_errors`: also those that a terminal has shown.
Blocks verdict(const results::Result& result, bool named, bool with_errors);

/// Everything about some results.
Report report(const Results& results);

/// All timelines, measured above predicted, as an SVG file.
std::string svg(const Results& results);

/// One line per order with wrong data: order, chunk, array, index, expected, found.
std::string wrong_data(const results::Point& point);

/// "depth_first", "depth_first on h200".
std::string order_label(const results::Run& run);

/// Names and values.
using Facts = std::vector<std::pair<std::string, std::string>>;
/// A device and what it can do.
Facts device_facts(const base::DeviceInfo& device, bool gpu);
void add_facts(Blocks& blocks, const Facts& facts);
/// Blocks of a sweep's points.
void add_sweep(Blocks& blocks, const results::Result& result);

// The tables of a phase.

/// One row per measured order.
void add_orders(Blocks& blocks, const results::Point& point);
/// One row per predicted order, two columns per device.
void add_predictions(Blocks& blocks, const results::Point& point,
                     const std::vector<std::string>& devices);
/// What the timeline of a run, measured or else predicted, shows about why its order takes its
/// time; empty: nothing, or no chunks on a GPU.
std::string explain(const results::Run& run);
/// One line per explanation, with the orders that it explains.
void add_explanations(Blocks& blocks, const results::Point& point);
/// Host work, disturbances, issuing, products, rates, bounds, link, health, findings; nothing where
/// nothing ran.
void add_details(Blocks& blocks, const results::Point& point);
/// The criteria; checks that differ in order alone and pass are one row.
void add_checks(Blocks& blocks, const results::Point& point);

// Comparisons.

/// Differences, changes and a chart of the ratios for each comparison.
Report comparison_report(const results::Comparisons& comparisons);

/// The files, then per deck the keys that differ, a table of all figures and the timelines.
Report comparison_report(const results::Columns& columns);

// Fleets.

/// Groups of up to 16 devices: one row per device; larger groups: spread of each figure, slowest
/// devices and outliers. Then everything that did not pass; equal reasons are shown once. A page
/// also has all devices and a chart of each figure.
Report fleet_report(const results::Fleet& fleet);

/// Result lines: OVERLAP_DEVICE per phase of each device, OVERLAP_SLOWEST per compared figure,
/// OVERLAP_RESULT. With more than 16 devices, unless `all_devices`, OVERLAP_DEVICE only for
/// devices that did not pass.
std::string fleet_lines(const results::Fleet& fleet, bool all_devices);

/// One test case of JUnit XML.
struct JunitCase {
  std::string where;  ///< class name
  std::string name;
  results::Verdict verdict = results::Verdict::pass;
  std::string text;  ///< reason for the verdict; empty for PASS
  double time_s = 0;
};

/// Missing hosts and devices, and files that could not be read, each with a line that names it.
std::vector<JunitCase> faults(const results::Fleet& fleet);

/// A reason with all figures, decks and devices that it is about.
struct SharedReason {
  base::ExitCode code = base::ExitCode::pass;
  std::string text;
  std::set<std::string> figures, decks;
  std::vector<const results::FleetDevice*> devices;
};

/// Why devices did not pass.
std::vector<SharedReason> reasons(std::span<const results::FleetDevice> devices);

/// "throughput of by_engine, alone: 40.00 GB/s, ...", "8 metrics: no --reference was given".
std::string text_of(const SharedReason& reason);

// What the program says without running anything.

/// All tasks of a schedule: --dry-run.
std::string schedule_table(const experiment::Case& planned);

/// Workloads (with reasons for unavailable ones), issue orders, devices of the model (`verbose`:
/// also those for teaching), back end and devices: --list.
std::string list(const base::BuildInfo& build, const std::vector<base::DeviceInfo>& devices,
                 bool gpu, const std::map<deck::WorkloadKind, std::string>& unavailable,
                 bool verbose);

/// --version.
std::string version(const base::BuildInfo& build);

}  // namespace overlap::report
