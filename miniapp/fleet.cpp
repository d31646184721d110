#include "fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "measure/platform.hpp"
#include "report/reports.hpp"
#include "results.hpp"
#include "results/read_files.hpp"

namespace overlap {
namespace {

using base::ExitCode;

/// Adds a device per deck for a lost rank.
void add_lost(int rank, const fleet::Member& member, const std::vector<Study>& studies,
              std::vector<results::FleetDevice>& devices) {
  for (const Study& study : studies) {
    results::FleetDevice& device = devices.emplace_back();
    std::tie(device.host, device.boot_id) = member.host_of(rank);
    device.job.launch = member.launch();
    device.unit = fmt::format("rank{}", rank);
    device.slot = fmt::format("{}", rank);
    device.subject.deck = study.result.deck.identity;
    device.deck_name = study.points.front().deck.name();
    device.reasons.push_back({ExitCode::runtime_error, member.loss(rank)});
  }
}

/// The name of a deck in the names of its files: marked if several decks have it.
std::string name_in_files(const results::FleetDevice& device, const std::vector<Study>& studies) {
  const std::string marked = device.deck_name + deck::mark_of(device.subject.deck);
  const bool is_marked = std::ranges::any_of(
      studies, [&](const Study& study) { return study.points.front().deck.name() == marked; });
  return is_marked ? marked : device.deck_name;
}

/// All ranks as one fleet. The text of a rank begins with a line that names its file, for every
/// deck its own; empty: it is lost.
results::Fleet fleet_from(const std::vector<std::string>& texts, const std::vector<Study>& studies,
                          Machinery& machinery) {
  results::Fleet input;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    machinery.meetings->keep_in_touch();
    const std::string& text = texts[rank];
    if (text.empty()) {
      add_lost(static_cast<int>(rank), *machinery.member, studies, input.devices);
      continue;
    }
    const std::size_t end = text.find('\n');
    const std::string file = text.substr(0, end);
    try {
      for (results::FleetDevice& device : results::devices_of(file, text.substr(end + 1))) {
        device.file = with_deck(device.file, name_in_files(device, studies));
        device.job.rank.reset();  // all are here or lost
        input.devices.push_back(std::move(device));
      }
    } catch (const base::Error& error) {
      input.broken.push_back({file, error.what()});
    }
    ++input.files;
  }
  return results::fleet_of(std::move(input));
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
                                    std::optional<base::Error>& error, Terminal& terminal) {
  measure::require_free_choice(options.kokkos);
  try {
    machinery.meetings.emplace();
  } catch (const base::Error& no_meetings) {
    if (no_meetings.code() == ExitCode::usage) throw;
    error = no_meetings;
    return read_inputs(options);
  }
  fleet::Meetings& meetings = *machinery.meetings;
  const int rank = meetings.rank();
  if (meetings.size() == 1) return read_inputs(options);
  if (rank > 0) terminal.speak_for(fmt::format("rank {}", rank));
  std::optional<Inputs> inputs;
  std::string fault;
  try {
    inputs = read_inputs(options);
  } catch (const base::Error& wrong) {
    fault = fmt::format("rank {} on {}: {}", rank, base::host_info().name, wrong.what());
  }
  std::vector<std::string> errors;  // by rank; empty: none
  try {
    errors = meetings.exchange(fleet::inputs, fault,
                               inputs ? deadline_s(*inputs) : deck::FleetRun{}.deadline_s);
  } catch (const base::Error& no_meeting) {
    if (!inputs) throw base::Error(ExitCode::usage, fault);
    error = no_meeting;
    return inputs;
  }
  std::erase(errors, "");
  if (errors.empty()) return inputs;
  std::string text = errors.front();
  if (errors.size() > 1) text += " (and " + base::counted(errors.size() - 1, "more rank") + ")";
  if (rank == 0) terminal.error(text);
  meetings.end_all();
  return std::nullopt;
}

bool is_common_file(const Output& output) { return !has_rank_placeholder(output.path); }

std::vector<Output> common_files(const Options& options, const FileNames& names) {
  std::vector<Output> files;
  for (const Output& output : options.outputs) {
    if (!options.fleet || !is_common_file(output)) continue;
    if (output.writer->fleet == nullptr) {
      throw base::Error(ExitCode::usage,
                        fmt::format("{}: found {} with --fleet; allowed: a name with {{rank}} or "
                                    "{{uuid}}, for one file per rank",
                                    output.writer->option, output.path));
    }
    if (has_deck_placeholder(output.path)) {
      throw base::Error(ExitCode::usage,
                        fmt::format("{}: found {{deck}} in the name of a file about all ranks and "
                                    "decks; allowed: {{host}}, or {{rank}} for one file per rank",
                                    output.path));
    }
    if (names.rank == 0) files.push_back({output.writer, names.resolve(output.path)});
  }
  return files;
}

ExitCode finish_fleet(const Options& options, const FileNames& names,
                      const std::vector<Study>& studies, Machinery& machinery, Terminal& terminal) {
  fleet::Member& member = *machinery.member;
  const bool can_end = !machinery.session || !machinery.session->lost;
  std::string file = fmt::format("rank {}", names.rank);
  for (const Output& output : options.outputs) {
    if (is_common_file(output) || !is_json(output)) continue;
    file = names.resolve(output.path);
  }
  terminal.progress(0, 0, "waiting for the other ranks");
  report::Results rank_results = results_of(studies);
  for (results::Result& result : rank_results) {
    for (results::Point& point : result.points) {
      for (results::Run& run : point.runs) run.timeline = run.predicted_timeline = std::nullopt;
    }
  }
  const auto texts = member.gather(file + "\n" + results::to_json(rank_results, -1));
  ExitCode code = ExitCode::pass;
  if (names.rank == 0) {
    results::Fleet fleet = fleet_from(texts, studies, machinery);
    machinery.meetings->keep_in_touch();
    code = finish(common_files(options, names), fleet, options, terminal);
  }
  return member.conclude(code, can_end);
}

}  // namespace overlap
