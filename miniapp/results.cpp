#include "results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "experiment/baseline.hpp"
#include "report/comparison.hpp"
#include "report/fleet.hpp"
#include "report/lines.hpp"
#include "report/output_file.hpp"
#include "report/read_files.hpp"
#include "yaml/shipped.hpp"

namespace overlap {
namespace {

/// A file that a command writes; `path` empty: not wanted.
struct OutputFile {
  const char* option;
  std::string path;
  std::function<std::string()> text = {};
};

/// Writes all files; `fail` takes the name of each that cannot be written, and why.
void write(const std::vector<OutputFile>& outputs,
           const std::function<void(const std::string&, const std::string&)>& fail) {
  report::write_each(outputs, &OutputFile::path, [&](const OutputFile& output) {
    try {
      if (!output.path.empty()) report::write_file(output.path, output.text());
      return true;
    } catch (const std::exception& error) {
      fail(output.path, base::error_of(error).what());
      return false;
    }
  });
}

/// The files of a command, which keep its outputs locked. Throws base::Error where an output cannot
/// be written, is written twice or is an input. A file that an earlier call left in a folder of
/// results may be written anew.
[[nodiscard]] report::Files require_outputs(const std::vector<OutputFile>& outputs,
                                            const std::vector<report::SourceFile>& sources,
                                            const std::vector<std::string>& others = {}) {
  report::Files files;
  for (const std::string& input : others) files.reads(input, "an input");
  for (const report::SourceFile& source : sources) {
    const bool written = std::ranges::any_of(outputs, [&](const OutputFile& output) {
      std::error_code error;  // an output that is not there yet is none of the inputs
      return std::filesystem::equivalent(source.path, output.path, error);
    });
    if (!written || !report::is_left_out(source)) files.reads(source.path, "an input");
  }
  for (const OutputFile& output : outputs) {
    if (!output.path.empty()) files.writes(output.path, output.option);
  }
  return files;
}

/// `baseline`: writes a reference file.
base::ExitCode make_baseline(const Options& options, Terminal& terminal) {
  const auto files =
      require_outputs({{"-o", options.output}}, report::source_files(options.results));
  const std::vector<experiment::Recorded> results = report::read_results(options.results);
  const auto [entries, left_out, widened] = experiment::baseline(results, options.below);
  const experiment::Reference reference{options.output, entries};
  const std::string how =
      fmt::format("Written by `miniapp baseline` {} from {}.", base::version().version,
                  base::counted(results.size(), "result"));
  report::write_file(options.output, experiment::to_yaml(reference, how));
  if (report::is_stream(options.output)) return base::ExitCode::pass;
  const auto name = [](const experiment::Entry& entry) {
    const experiment::Subject& of = entry.subject;
    return experiment::words({.phase = of.phase, .order = of.order, .metric = of.metric});
  };
  std::set<std::string> names;
  for (const experiment::Entry& entry : left_out) names.insert(name(entry));
  const auto failed =
      std::ranges::count_if(results, [](const auto& result) { return !result.healthy; });
  std::string text = fmt::format("wrote {}: {} entries from {}", base::one_line(options.output),
                                 entries.size(), base::counted(results.size(), "result"));
  if (failed > 0) text += fmt::format(", {} of which did not pass", failed);
  if (!names.empty()) {
    text += fmt::format("; no entry for medians that are not above 0: {}", fmt::join(names, "; "));
  }
  if (!widened.empty()) {
    const experiment::Entry& most =
        *std::ranges::max_element(widened, {}, &experiment::Entry::tolerance);
    text += fmt::format(
        "; tolerance of {} entries raised to the interval of the results, at most "
        "to {} ({})",
        widened.size(), base::spell_part(most.tolerance), name(most));
  }
  terminal.shown(text + "\n");
  return base::ExitCode::pass;
}

/// How the results of later files differ from those of the first.
report::Comparisons comparisons_of(const Options& options) {
  const auto read = [&](std::size_t i) { return report::read_results({options.results[i]}); };
  report::Comparisons comparisons{.below = options.below.value_or(experiment::same_within),
                                  .common = options.common};
  const std::vector<experiment::Recorded> first = read(0);
  for (std::size_t i = 1; i < options.results.size(); ++i) {
    std::ranges::move(experiment::compare(first, read(i), comparisons.below, comparisons.common),
                      std::back_inserter(comparisons.all));
  }
  return comparisons;
}

experiment::SideBySide side_by_side(const Options& options) {
  std::vector<std::vector<experiment::Recorded>> files;
  for (const std::string& file : options.results) {
    files.push_back(report::read_results({file}, report::Extent::all));
  }
  return experiment::side_by_side(files, options.to);
}

/// `compare`: prints how results differ.
base::ExitCode compare_results(const Options& options, Terminal& terminal) {
  report::Comparisons comparisons;
  const std::vector<OutputFile> outputs = {
      {"--csv", options.csv, [&] { return report::side_by_side_csv(*comparisons.side_by_side); }},
      {"--json", options.json, [&] { return comparison_json(comparisons); }},
      {"--report", options.report, [&] { return comparison_html(comparisons); }}};
  const auto files = require_outputs(outputs, report::source_files(options.results));
  comparisons = options.side_by_side ? report::Comparisons{.side_by_side = side_by_side(options)}
                                     : comparisons_of(options);
  write(outputs, [&](const std::string&, const std::string& why) {
    terminal.error(why);
    comparisons.least = base::ExitCode::runtime_error;
  });
  if (!options.quiet) terminal.text(report::comparison_text(comparisons));
  const base::ExitCode code = comparisons.exit_code();
  terminal.result(report::verdict_line(experiment::verdict_of(code), code, true));
  return code;
}

/// `merge`: prints many devices' results as one outcome.
base::ExitCode merge_results(const Options& options, Terminal& terminal) {
  experiment::Fleet fleet;
  const std::vector<OutputFile> outputs = {
      {"--json", options.json, [&] { return report::fleet_json(fleet); }},
      {"--junit", options.junit, [&] { return report::fleet_junit(fleet); }},
      {"--report", options.report, [&] { return report::fleet_html(fleet, options.report); }}};
  const std::vector<report::SourceFile> sources = report::source_files(options.results);
  const auto files = require_outputs(outputs, sources, {options.expected, options.reference});
  std::vector<experiment::ExpectedHost> expected;
  std::optional<experiment::Reference> reference;
  if (!options.expected.empty()) expected = report::read_hosts(options.expected);
  if (!options.reference.empty()) {
    reference =
        experiment::load_reference(yaml::path_of(options.reference, "references", "reference"));
  }
  fleet = experiment::fleet_of(report::read_devices(sources), expected,
                               reference ? &*reference : nullptr);
  if (options.quiet) {
    for (const std::string& fault : report::faults(fleet)) terminal.error(fault);
  }
  write(outputs, [&](const std::string& path, const std::string& why) {
    terminal.error(why);
    fleet.broken.push_back({path, why});
  });
  terminal.shown(report::fleet_text(fleet));
  terminal.result(report::fleet_lines(fleet, terminal.wants_all_lines()));
  return fleet.exit_code();
}

}  // namespace

base::ExitCode work_on_results(const Options& options, Terminal& terminal) {
  if (options.command == Command::baseline) return make_baseline(options, terminal);
  if (options.command == Command::compare) return compare_results(options, terminal);
  return merge_results(options, terminal);
}

}  // namespace overlap
