#include "fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "measure/platform.hpp"
#include "report/fleet_report.hpp"
#include "report/output_file.hpp"
#include "results/read_files.hpp"

namespace overlap {
namespace {

using base::ExitCode;

/// Options whose file about all ranks is written by rank 0.
constexpr auto fleet_options = std::to_array<std::string_view>({"--json", "--junit", "--report"});

bool is_fleets(const Output& output) { return !has_rank_placeholder(output.path); }

/// A file about all ranks is about all decks, too.
void require_no_deck(const std::string& path) {
  if (!has_deck_placeholder(path)) return;
  throw base::Error(ExitCode::usage,
                    fmt::format("{}: found {{deck}} in the name of a file about all ranks and "
                                "decks; allowed: {{host}}, or {{rank}} for one file per rank",
                                path));
}

/// Adds a device per deck for a lost rank.
void add_lost(const fleet::Lost& lost, const std::vector<Study>& studies,
              std::vector<results::Device>& devices) {
  for (const Study& study : studies) {
    results::Device& device = devices.emplace_back();
    device.host = lost.host;
    device.unit = fmt::format("rank{}", lost.rank);
    device.slot = fmt::format("{}", lost.rank);
    device.machine.deck = study.result.deck.identity;
    device.deck_name = study.points.front().deck.name();
    device.reasons.push_back({ExitCode::runtime_error, words(lost), {}});
  }
}

/// The name of a deck in the names of its files: marked if several decks have it.
std::string name_in_files(const results::Device& device, const std::vector<Study>& studies) {
  const std::string marked = device.deck_name + deck::mark_of(device.machine.deck);
  const bool is_marked = std::ranges::any_of(
      studies, [&](const Study& study) { return study.points.front().deck.name() == marked; });
  return is_marked ? marked : device.deck_name;
}

/// All ranks as one fleet. A text begins with a line that names its file, for every deck its own.
results::Fleet fleet_from(const fleet::Gathered& gathered, const std::vector<Study>& studies,
                          fleet::Member& member) {
  results::Fleet input;
  for (const std::string& text : gathered.texts) {
    member.tell();
    const std::size_t end = text.find('\n');
    const std::string file = text.substr(0, end);
    try {
      for (results::Device& device : results::devices_of(file, text.substr(end + 1))) {
        device.file = with_deck(device.file, name_in_files(device, studies));
        device.job.reset();  // all are here or lost
        input.devices.push_back(std::move(device));
      }
    } catch (const base::Error& error) {
      input.broken.push_back({file, error.what()});
    }
    ++input.files;
  }
  for (const fleet::Lost& lost : gathered.lost) add_lost(lost, studies, input.devices);
  return results::fleet_of(std::move(input));
}

/// Writes the fleet's files; those that cannot be written are broken files of it.
void write_files(const Options& options, const FileNames& names, results::Fleet& fleet,
                 fleet::Member& member) {
  using File = std::pair<std::string, std::string>;
  report::write_each(common_files(options, names), &File::second, [&](const File& file) {
    const auto& [option, path] = file;
    member.tell();
    try {
      report::write_file(path, option == "--json"    ? results::to_json(fleet)
                               : option == "--junit" ? report::fleet_junit(fleet)
                                                     : report::page(report::fleet_report(fleet)));
    } catch (const std::exception& error) {
      fleet.broken.push_back({path, base::error_of(error).what()});
      return false;
    }
    return true;
  });
  member.tell();
}

}  // namespace

double deadline_s(const Inputs& inputs) {
  double longest = 0;
  for (const auto& points : inputs.decks) {
    longest = std::max(longest, points.front().deck.fleet.deadline_s);
  }
  return longest;
}

std::optional<Inputs> read_together(const Options& options, Machinery& machinery,
                                    Terminal& terminal) {
  measure::require_free_choice(options.kokkos);
  try {
    machinery.world.emplace();
  } catch (const base::Error& error) {
    if (error.code() == ExitCode::usage) throw;
    machinery.unusable = error;
    return read_inputs(options);
  }
  fleet::World& world = *machinery.world;
  if (world.size() == 1) return read_inputs(options);
  if (world.rank() > 0) terminal.speak_for(fmt::format("rank {}", world.rank()));
  std::optional<Inputs> inputs;
  std::string error;
  try {
    inputs = read_inputs(options);
  } catch (const base::Error& found) {
    error = fmt::format("rank {} on {}: {}", world.rank(), measure::host_info().name, found.what());
  }
  std::vector<std::string> errors;  // by rank; empty: none
  try {
    errors = world.exchange(error, inputs ? deadline_s(*inputs) : deck::FleetRun{}.deadline_s);
  } catch (const base::Error& found) {
    if (!inputs) throw base::Error(ExitCode::usage, error);
    machinery.unusable = found;
    return inputs;
  }
  std::erase(errors, "");
  if (errors.empty()) return inputs;
  std::string words = errors.front();
  if (errors.size() > 1) words += " (and " + base::counted(errors.size() - 1, "more rank") + ")";
  if (world.rank() == 0) terminal.error(words);
  world.end_in_order();
  return std::nullopt;
}

std::vector<Output> rank_outputs(const Options& options) {
  std::vector<Output> own;
  for (const Output& output : options.outputs) {
    if (!is_fleets(output)) {
      own.push_back(output);
      continue;
    }
    if (std::ranges::find(fleet_options, output.writer->option) == fleet_options.end()) {
      throw base::Error(ExitCode::usage,
                        fmt::format("{}: found {} with --fleet; allowed: a name with {{rank}} or "
                                    "{{uuid}}, for one file per rank",
                                    output.writer->option, output.path));
    }
    require_no_deck(output.path);
  }
  return own;
}

std::vector<std::pair<std::string, std::string>> common_files(const Options& options,
                                                              const FileNames& names) {
  std::vector<std::pair<std::string, std::string>> files;
  if (!options.fleet || names.rank > 0) return files;
  for (const Output& output : options.outputs) {
    if (is_fleets(output)) files.emplace_back(output.writer->option, names.of(output.path));
  }
  return files;
}

ExitCode finish_fleet(const Options& options, const FileNames& names,
                      const std::vector<Study>& studies, Machinery& machinery, Terminal& terminal) {
  fleet::Member& member = *machinery.member;
  const bool can_end = !machinery.session || !machinery.session->lost;
  std::string file = fmt::format("rank {}", names.rank);
  for (const Output& output : options.outputs) {
    if (is_fleets(output) || output.writer->option != "--json") continue;
    file = names.of(output.path);
  }
  member.leave();
  terminal.progress(0, 0, "waiting for the other ranks");
  report::Results all = results_of(studies);
  for (results::Result& result : all) {
    for (results::Run& run : result.runs) run.timeline = run.predicted_timeline = std::nullopt;
  }
  const fleet::Gathered gathered = member.gather(file + "\n" + results::to_json(all, -1), can_end);
  if (names.rank > 0) return member.conclude(ExitCode::pass);
  for (const fleet::Lost& lost : gathered.lost) terminal.error(words(lost));
  results::Fleet fleet = fleet_from(gathered, studies, member);
  write_files(options, names, fleet, member);
  terminal.shown(report::fleet_report(fleet).blocks);
  terminal.result(report::fleet_lines(fleet, terminal.wants_all_lines()));
  return member.conclude(fleet.exit_code());
}

}  // namespace overlap
