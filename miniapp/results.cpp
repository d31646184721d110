#include "results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "deck/deck.hpp"
#include "report/output_file.hpp"
#include "report/reports.hpp"
#include "report/writers.hpp"
#include "results/metrics.hpp"
#include "results/read_files.hpp"

namespace overlap {
namespace {

/// Writes all files about a subject; `fail` takes the name of each that cannot be written, and why.
void write(const std::vector<Output>& outputs, const auto& subject, const auto& fail) {
  report::write_each(outputs, &Output::path, [&](const Output& output) {
    try {
      report::write_file(output.path, output.writer->function(subject)(subject));
      return true;
    } catch (const std::exception& error) {
      fail(output.path, base::error_of(error).what());
      return false;
    }
  });
}

/// The files of a command, which keep its outputs locked. Throws base::Error where an output cannot
/// be written, is written twice or is an input.
[[nodiscard]] report::Files require_outputs(const std::vector<Output>& outputs,
                                            const std::vector<std::string>& inputs) {
  report::Files files;
  for (const std::string& input : inputs) files.reads(input, "an input");
  for (const Output& output : outputs)
    files.writes(output.path, std::string(output.writer->option));
  return files;
}

/// The input files of a command; says which of its folders it skips.
std::vector<std::string> inputs_of(const Options& options, Terminal& terminal) {
  results::Sources sources = results::source_files(options.results);
  if (!sources.others.empty()) terminal.note(results::text_of_left_out(sources.others));
  return std::move(sources.files);
}

/// `baseline`: writes a reference file.
base::ExitCode make_baseline(const Options& options, Terminal& terminal) {
  constexpr report::Writer writer{"-o", "", "", "", false, nullptr};
  const auto files = require_outputs({{&writer, options.output}}, inputs_of(options, terminal));
  const std::vector<results::Result> results = results::read_measured(options.results);
  const auto [entries, left_out, widened] = results::baseline(results, options.below);
  const std::string comment =
      fmt::format("Written by `miniapp baseline` {} from {}.", base::version().version,
                  base::counted(results.size(), "result"));
  report::write_file(options.output, results::to_yaml({options.output, entries}, comment));
  if (report::is_stream(options.output)) return base::ExitCode::pass;
  std::set<std::string> names;
  for (const results::Entry& entry : left_out) names.insert(name_with_phase(entry.subject.key));
  std::string text = fmt::format("wrote {}: {} {} from {}", base::one_line(options.output),
                                 entries.size(), entries.size() == 1 ? "entry" : "entries",
                                 base::counted(results.size(), "result"));
  if (!names.empty()) {
    text += fmt::format("; no entry for medians that are not above 0, or ratios too far apart: {}",
                        fmt::join(names, "; "));
  }
  if (!widened.empty()) {
    const auto& widest = *std::ranges::max_element(widened, {}, &results::Entry::tolerance);
    text += fmt::format("; {} raised to the interval of the results, at most to {} ({})",
                        base::counted(widened.size(), "tolerance"),
                        base::spell_part(widest.tolerance), name_with_phase(widest.subject.key));
  }
  terminal.show(text + "\n");
  return base::ExitCode::pass;
}

/// How the results of later files differ from those of the first.
results::Comparisons comparisons_of(const Options& options) {
  const auto read = [&](std::size_t i) { return results::read_measured({options.results[i]}); };
  results::Comparisons comparisons;
  comparisons.below = options.below.value_or(results::same_within);
  comparisons.common = options.common;
  const std::vector<results::Result> first = read(0);
  for (std::size_t i = 1; i < options.results.size(); ++i) {
    std::ranges::move(results::compare(first, read(i), comparisons.below, comparisons.common),
                      std::back_inserter(comparisons.pairs));
  }
  comparisons.code = results::exit_code_of(comparisons.pairs, comparisons.common);
  return comparisons;
}

using overlap::finish;  // of fleets

/// Throws base::Error{usage} for the option of a file that is not about such a subject.
void require_writers(const Options& options, const auto& subject) {
  std::set<std::string_view> allowed;
  for (const report::Writer& writer : report::writers) {
    if (writer.function(subject) != nullptr) allowed.insert(writer.option);
  }
  for (const Output& output : options.outputs) {
    if (output.writer->function(subject) != nullptr) continue;
    throw base::Error(
        base::ExitCode::usage,
        fmt::format("{}: found {}, which is no result file; allowed: {}", output.writer->option,
                    options.results.front(), fmt::join(allowed, ", ")));
  }
}

base::ExitCode finish(const std::vector<Output>& outputs, results::Comparisons& comparisons,
                      const Options& options, Terminal& terminal) {
  write(outputs, comparisons, [&](const std::string&, const std::string& reason) {
    terminal.error(reason);
    comparisons.code = base::worst(comparisons.code, base::ExitCode::runtime_error);
  });
  if (!options.quiet) terminal.show(report::comparison_report(comparisons).blocks);
  terminal.result(report::verdict_line(comparisons.verdict(), comparisons.code, true));
  return comparisons.code;
}

/// `compare --side-by-side`: prints files next to each other.
base::ExitCode show_columns(const Options& options, Terminal& terminal) {
  results::Columns columns;
  while (columns.to <= options.results.size() && options.to != std::to_string(columns.to)) {
    ++columns.to;
  }
  if (columns.to > options.results.size()) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("--to: found '{}'; allowed: 1 to {}, the number of a column",
                                  options.to, options.results.size()));
  }
  for (const std::string& file : options.results) {
    columns.files.push_back(results::read_measured({file}, results::Extent::all));
  }
  const report::Report report = report::comparison_report(columns);
  auto code = base::ExitCode::pass;
  write(options.outputs, columns, [&](const std::string&, const std::string& reason) {
    terminal.error(reason);
    code = base::ExitCode::runtime_error;
  });
  if (!options.quiet) terminal.show(report.blocks);
  terminal.result(report::verdict_line(results::verdict_of(code), code, true));
  return code;
}

/// `compare`: prints how results differ.
base::ExitCode compare_results(const Options& options, Terminal& terminal) {
  const auto files = require_outputs(options.outputs, inputs_of(options, terminal));
  if (options.side_by_side) return show_columns(options, terminal);
  results::Comparisons comparisons = comparisons_of(options);
  return finish(options.outputs, comparisons, options, terminal);
}

/// `merge`: prints many devices' results as one outcome.
base::ExitCode merge_results(const Options& options, Terminal& terminal) {
  const results::Sources sources = results::source_files(options.results);
  std::vector<std::string> inputs = sources.files;
  inputs.insert(inputs.end(), {options.expected, options.reference});
  const auto files = require_outputs(options.outputs, inputs);
  std::vector<results::ExpectedHost> expected;
  std::optional<results::Reference> reference;
  if (!options.expected.empty()) expected = results::read_hosts(options.expected);
  if (!options.reference.empty()) {
    reference =
        results::load_reference(deck::shipped_path(options.reference, "references", "reference"));
  }
  results::Fleet fleet = results::fleet_of(
      results::read_devices(sources, reference ? &*reference : nullptr), expected);
  return finish(options.outputs, fleet, options, terminal);
}

/// Reports of results as if just made.
base::ExitCode show(const report::Results& to_show, const Options& options, Terminal& terminal) {
  const bool sweeps = std::ranges::any_of(to_show, &results::Result::sweeps);
  for (const Output& output : options.outputs) {
    if (sweeps && !output.writer->takes_sweeps) {
      throw base::Error(base::ExitCode::usage,
                        fmt::format("{}: found a sweep, whose points are not traced; allowed: {}",
                                    output.writer->option, report::sweep_options()));
    }
  }
  const auto files = require_outputs(options.outputs, options.results);
  for (const results::Result& result : to_show) {
    terminal.show(report::heading(result, result.points.front()));
    for (const results::Point& point : result.points) terminal.lines(report::wrong_data(point));
    if (result.error) terminal.error(*result.error);
    terminal.show(report::body(result));
  }
  auto code = base::ExitCode::pass;
  for (const results::Result& result : to_show) code = base::worst(code, result.code);
  write(options.outputs, to_show, [&](const std::string&, const std::string& reason) {
    terminal.error(reason);
    code = base::worst(code, base::ExitCode::runtime_error);
  });
  terminal.verdict(to_show);
  return code;
}

/// Reports of a fleet or a comparison as if just made.
base::ExitCode show(auto subject, const Options& options, Terminal& terminal) {
  require_writers(options, subject);
  const auto files = require_outputs(options.outputs, options.results);
  return finish(options.outputs, subject, options, terminal);
}

/// `show`: prints the reports of files.
base::ExitCode show_files(const Options& options, Terminal& terminal) {
  report::Results results;
  for (const std::string& file : options.results) {
    results::Content content = results::read_content(file);
    if (auto* const file_results = std::get_if<std::vector<results::Result>>(&content)) {
      std::ranges::move(*file_results, std::back_inserter(results));
      continue;
    }
    if (options.results.size() > 1) {
      throw base::Error(base::ExitCode::usage,
                        fmt::format("{}: found no result file; allowed: result files, or one file "
                                    "of a fleet or a comparison",
                                    file));
    }
    if (auto* const fleet = std::get_if<results::Fleet>(&content)) {
      return show(std::move(*fleet), options, terminal);
    }
    return show(std::get<results::Comparisons>(std::move(content)), options, terminal);
  }
  return show(results, options, terminal);
}

}  // namespace

base::ExitCode finish(const std::vector<Output>& outputs, results::Fleet& fleet,
                      const Options& options, Terminal& terminal) {
  if (options.quiet) {
    constexpr std::size_t limit = 20;
    const auto faults = report::faults(fleet);
    for (const report::JunitCase& fault : faults | std::views::take(limit)) {
      terminal.error(fault.text);
    }
    if (faults.size() > limit) terminal.error(fmt::format("and {} more", faults.size() - limit));
  }
  write(outputs, fleet, [&](const std::string& path, const std::string& reason) {
    terminal.error(reason);
    fleet.broken.push_back({path, reason});
  });
  terminal.show(report::fleet_report(fleet).blocks);
  terminal.result(report::fleet_lines(fleet, terminal.wants_all_lines()));
  return fleet.exit_code();
}

base::ExitCode work_on_results(const Options& options, Terminal& terminal) {
  if (options.command == Command::baseline) return make_baseline(options, terminal);
  if (options.command == Command::compare) return compare_results(options, terminal);
  if (options.command == Command::show) return show_files(options, terminal);
  return merge_results(options, terminal);
}

}  // namespace overlap
