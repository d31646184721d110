#include "sweep.hpp"

#include <algorithm>
#include <iostream>
#include <map>

#include "base/version.hpp"
#include "deck/words.hpp"
#include "predict.hpp"
#include "report/ascii_timeline.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/output_file.hpp"
#include "report/sweep_svg.hpp"
#include "schedule/build.hpp"

namespace overlap {
namespace {

using base::ExitCode;

/// Whether result files belong to an exit code.
bool has_result(ExitCode code) {
  return code == ExitCode::pass || code == ExitCode::wrong_data || code == ExitCode::performance ||
         code == ExitCode::inconclusive;
}

/// The points of an earlier run that the deck still has, by their numbers in the deck.
std::vector<report::PointResult> kept_points(const report::Sweep& sweep,
                                             const report::Journal& journal) {
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    numbers.emplace(report::fingerprint(sweep.points[i]), i);
  }
  std::vector<report::PointResult> kept;
  for (const std::string& line : journal.records()) {
    report::PointResult point = report::read_record(line);
    const auto found = numbers.find(point.fingerprint);
    if (found == numbers.end()) continue;
    point.number = found->second;
    numbers.erase(found);
    kept.push_back(std::move(point));
  }
  if (kept.empty() && !journal.records().empty()) {
    throw base::Error(ExitCode::usage, journal.path() +
                                           ": found no point of this deck; allowed: --resume with "
                                           "the deck and --set options that the points come from, "
                                           "or remove the file");
  }
  return kept;
}

void write(const Options& options, const report::Sweep& sweep) {
  if (!options.json.empty()) report::write_file(options.json, report::sweep_json(sweep));
  if (!options.csv.empty()) report::write_file(options.csv, report::sweep_csv(sweep));
  for (const std::string& file : options.timelines) {
    report::write_file(
        file, file.ends_with(".svg") ? report::sweep_svg(sweep) : report::sweep_html(sweep));
  }
}

/// Prints and writes what came out.
void finish(const Options& options, report::Sweep& sweep, ExitCode code) {
  if (sweep.done.empty()) return;
  auto of_points = ExitCode::pass;
  for (const report::PointResult& point : sweep.done) {
    of_points = base::worst(of_points, point.code);
  }
  sweep.common.exit_code = of_points;
  sweep.common.verdict = of_points == ExitCode::pass           ? verdict::Verdict::pass
                         : of_points == ExitCode::inconclusive ? verdict::Verdict::inconclusive
                                                               : verdict::Verdict::fail;
  for (const report::PointResult& point : sweep.done) std::cout << point.lines;
  // Below the many lines for harnesses people find the table.
  if (!options.quiet) std::cout << report::sweep_table(sweep, report::terminal_width());
  const bool ran = options.predict.empty();
  std::cout << report::verdict_line(sweep.common.verdict, code, ran) << std::flush;
  if (has_result(code)) write(options, sweep);
}

}  // namespace

std::string journal_file(const Options& options) {
  std::vector<std::string> files = {options.json, options.csv};
  files.insert(files.end(), options.timelines.begin(), options.timelines.end());
  const auto first = std::find_if(files.begin(), files.end(), [](const std::string& file) {
    return !file.empty() && !report::is_stream(file);
  });
  return first == files.end() ? "" : *first + ".points";
}

report::Identity identity(const Options& options, const report::Result& common) {
  const base::Version version = base::version();
  const base::BuildInfo& build = common.build;
  std::string device = common.host.cpu;
  if (common.device) device = common.device->name + " " + common.device->uuid;
  return {{"program", std::string(version.version) + " " + version.git_sha +
                          (version.dirty ? ", modified" : "")},
          {"build", "Kokkos " + build.kokkos_version + " " + build.backend + ", " + build.compiler},
          {"host", common.host.name},
          {"device", device},
          {"model", options.device.empty() ? "measured" : options.device}};
}

ExitCode run_sweep(const Options& options, report::Sweep sweep, report::Journal* journal,
                   const RunPoint& run_point) {
  if (journal != nullptr) sweep.done = kept_points(sweep, *journal);
  std::vector<bool> done(sweep.points.size());
  for (const report::PointResult& point : sweep.done) done[point.number] = true;
  const auto kept = [&] {
    return std::to_string(sweep.done.size()) + " of " + std::to_string(sweep.points.size()) +
           " points are kept in " + journal->path();
  };

  auto code = ExitCode::pass;
  try {
    report::ProgressLine line;
    for (std::size_t number = 0; number < sweep.points.size(); ++number) {
      if (done[number]) continue;
      const deck::Point& point = sweep.points[number];
      const std::string words = report::point_words(point.values);
      line.begin_part(number, sweep.points.size(), words);
      try {
        report::Result result = run_point(point.deck, line);
        result.point = point.values;
        std::cerr << report::wrong_data(result);
        const std::string record = report::record(result, number);
        if (journal != nullptr) journal->add(record);
        sweep.done.push_back(report::read_record(record));
      } catch (const base::Error& error) {
        // What one point needs and this machine lacks says nothing about the others.
        if (error.code() != ExitCode::precondition && error.code() != ExitCode::skipped) throw;
        std::cerr << "miniapp: left out " << words << ": " << error.what() << '\n';
        code = base::worst(code, error.code());
      }
    }
  } catch (const base::Error& error) {
    if (journal == nullptr || sweep.done.empty()) throw;
    if (error.code() == ExitCode::interrupted) {
      throw base::Error(error.code(), "interrupted; " + kept() + "; --resume goes on");
    }
    std::cerr << "miniapp: " << kept() << "; --resume goes on\n";
    throw;
  }
  std::sort(sweep.done.begin(), sweep.done.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  for (const report::PointResult& point : sweep.done) code = base::worst(code, point.code);
  finish(options, sweep, code);
  if (journal != nullptr && has_result(code)) {
    journal->remove();
  } else if (journal != nullptr && !sweep.done.empty()) {
    std::cerr << "miniapp: no result file, as points were left out; " << kept() << '\n';
  }
  return code;
}

std::string point_table(const std::vector<deck::Point>& points, const model::Device* device) {
  report::Rows rows(1);
  for (const auto& value : points.front().values) rows[0].push_back(value.key);
  for (const deck::Order order : points.front().deck.issue.orders) {
    rows[0].emplace_back(deck::to_string(order));
  }
  for (const deck::Point& point : points) {
    auto& row = rows.emplace_back();
    for (const auto& value : point.values) row.push_back(value.text);
    const auto costs = schedule::costs(point.deck.workload, repeats_on(point.deck, device));
    const auto layout = schedule::layout(point.deck, costs, std::nullopt);
    report::Choices choices;
    for (const timeline::Run& run :
         build_runs(point.deck, costs, layout, std::nullopt, device, choices)) {
      row.push_back(std::to_string(run.schedule.tasks.size()) + " on " +
                    std::to_string(run.schedule.lanes));
    }
  }
  return std::to_string(points.size()) + " points; tasks on lanes of each order (with --set " +
         points.front().values.front().key + "=" + points.front().values.front().text +
         " and so on: the schedules of a point)\n" + report::align(rows, true);
}

}  // namespace overlap
