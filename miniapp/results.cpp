#include "results.hpp"

#include <fmt/format.h>

#include "base/version.hpp"
#include "experiment/baseline.hpp"
#include "report/comparison.hpp"
#include "report/output_file.hpp"
#include "report/read_result.hpp"

namespace overlap {
namespace {

/// `baseline`: writes a reference file.
base::ExitCode make_baseline(const Options& options, Terminal& terminal) {
  report::require_writable(options.output);
  const std::vector<experiment::Recorded> results = report::read_results(options.results);
  const experiment::Reference reference{options.output,
                                        experiment::baseline(results, options.below)};
  const std::string how =
      fmt::format("Written by `miniapp baseline` {} from {} {}.", base::version().version,
                  results.size(), results.size() == 1 ? "result" : "results");
  report::write_file(options.output, experiment::to_yaml(reference, how));
  terminal.shown(fmt::format("wrote {}: {} entries\n", options.output, reference.entries.size()));
  return base::ExitCode::pass;
}

/// `compare`: prints how the results of later files differ from those of the first.
base::ExitCode compare_results(const Options& options, Terminal& terminal) {
  for (const std::string& output : {options.json, options.report}) {
    if (output.empty()) continue;
    report::require_writable(output);
    for (const std::string& input : options.results) {
      if (report::written_to(input) != report::written_to(output)) continue;
      throw base::Error(base::ExitCode::usage,
                        output + ": found an input; allowed: another file for what is written");
    }
  }
  const auto read = [&](std::size_t i) { return report::read_results({options.results[i]}); };
  report::Comparisons comparisons{.below = options.below.value_or(experiment::same_within)};
  const std::vector<experiment::Recorded> first = read(0);
  for (std::size_t i = 1; i < options.results.size(); ++i) {
    for (auto& one : experiment::compare(first, read(i), comparisons.below)) {
      comparisons.all.push_back(std::move(one));
    }
  }
  if (!options.json.empty()) report::write_file(options.json, comparison_json(comparisons));
  if (!options.report.empty()) report::write_file(options.report, comparison_html(comparisons));
  terminal.text(report::comparison_text(comparisons));
  return comparisons.exit_code();
}

}  // namespace

base::ExitCode work_on_results(const Options& options, Terminal& terminal) {
  return options.command == Command::baseline ? make_baseline(options, terminal)
                                              : compare_results(options, terminal);
}

}  // namespace overlap
