#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "model/search.hpp"
#include "report/result.hpp"
#include "schedule/schedule.hpp"

/// Text for people and for harnesses.
namespace overlap::report {

/// Rows of cells, the first row the headings where there are any.
using Rows = std::vector<std::vector<std::string>>;

/// Rows as aligned columns: the first one to the left, the others to the right (`numbers`), or all
/// to the left.
std::string align(const Rows& rows, bool numbers);

/// Where it runs and what was built, name and value.
Rows provenance(const Result& result);

/// What is about to run and on what, name and value: of a run, or of predictions alone.
Rows facts(const Result& result, bool predictions);

/// The table of orders that ran.
Rows order_rows(const Result& result);

/// What issuing cost the host; empty where nothing ran.
Rows issue_rows(const Result& result);

/// The rates of copies and kernels, by the number of chunks; empty where they were not measured.
Rows rate_rows(const Result& result);

/// How near each order comes to what the rates allow; empty where they were not measured.
Rows bound_rows(const Result& result);

/// The bounds without overlap and with it; empty where rates were not measured.
std::string bound_words(const Result& result);

/// The table of predictions: two columns a device.
Rows prediction_rows(const Result& result);

/// The model's speed-up of a run of --predict over the baseline on its device; empty without one.
std::optional<double> predicted_speedup(const Result& result, std::size_t run);

/// Whether the model alone spoke: --predict.
bool only_predicted(const Result& result);

/// A device and what it can do, one property a line.
std::string device_table(const base::DeviceInfo& device, bool gpu);

/// Title and device; facts follow.
std::string title(const Result& result);

/// What a deck's workload is, in one line, but for the keys that a sweep changes.
std::string workload_line(const deck::Workload& workload,
                          const std::vector<deck::Point::Value>& swept = {});

/// What is about to run: machine, workload, chunks, memory, and everything the program chose.
std::string heading(const Result& result);

/// The tables of orders, rates, bounds and criteria, small timelines, and the diagnosis.
std::string table(const Result& result, int width);

/// The table of --predict, a column a device, and every timeline, `width` columns wide.
std::string predictions(const Result& result, int width);

/// Why `auto` chose the first of the candidates.
std::string why(const std::vector<model::Candidate>& candidates);

/// A candidate that was tried out, and its median time.
using Tried = std::pair<model::Candidate, double>;

/// Why `auto` chose the first of those that were tried out, which are sorted by time.
std::string why(const std::vector<Tried>& tried);

/// A line for each order that left wrong data: order, chunk, array, index, expected, found.
std::string wrong_data(const Result& result);

/// The lines that harnesses parse: OVERLAP_FOM and OVERLAP_CHECK.
std::string point_lines(const Result& result);

/// The last one: OVERLAP_RESULT. `ran`: anything was measured.
std::string verdict_line(verdict::Verdict verdict, base::ExitCode code, bool ran);

/// All of them.
std::string result_lines(const Result& result);

/// Every task of a schedule: --dry-run.
std::string schedule_table(const timeline::Run& run);

/// Workloads, with why some cannot run in this program, issue orders, devices of the model, back
/// end and devices: --list.
std::string list(const base::BuildInfo& build, const std::vector<base::DeviceInfo>& devices,
                 bool gpu, const std::map<deck::WorkloadKind, std::string>& unavailable);

/// --version.
std::string version(const base::BuildInfo& build);

}  // namespace overlap::report
