#include "files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "fleet.hpp"
#include "results/describe.hpp"
#include "results/read_files.hpp"

namespace overlap {
namespace {

using base::ExitCode;
using Shared = decltype(Study::shared);

/// What the points of a sweep share: what is known before the device is, or the rest.
Shared shared(const results::Result& result, bool with_device) {
  const auto& [build, host, device, job, placement] = result.machine;
  if (with_device) {
    return {{"device", device ? device->name + " " + device->id() : host.cpu},
            {"set of CPUs", host.affinity},
            {"reference or device file", result.inputs}};
  }
  return {{"build of miniapp", describe::write(build)},
          {"host", host.name},
          {"deck or --set option", result.deck.resolved}};
}

[[noreturn]] void refuse(const std::string& path, const std::string& found) {
  throw base::Error(ExitCode::usage,
                    fmt::format("{}: found {}, or another name for the result file",
                                base::one_line(path), found));
}

/// Throws base::Error{usage} where finished points in a file do not share it.
void require_same(const std::string& path, const Shared& before, const Shared& now) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].second == now[i].second) continue;
    refuse(path,
           fmt::format("points of another {}; allowed: --resume with the same", before[i].first));
  }
}

/// The sweep in a result file; empty: there is no file. Throws base::Error for anything else.
std::optional<results::Result> sweep_in(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  results::Content content = results::read_content(path);
  auto* const results = std::get_if<std::vector<results::Result>>(&content);
  if (results == nullptr || results->size() > 1 || !results->front().sweeps()) {
    refuse(path, "no result of a sweep; allowed: the result file of the sweep to resume");
  }
  return std::move(results->front());
}

std::ptrdiff_t count_finished(const results::Result& result) {
  return std::ranges::count_if(result.points, &results::Point::is_finished);
}

/// Looks for an earlier sweep in a result file that is about to be written. With `resume`, its
/// finished points become those of the study. Throws base::Error{usage} if it has some but is to be
/// overwritten, or if they are of another program, host or deck.
void take_over(const std::string& path, bool resume, Study& study) {
  resume = resume && study.result.sweeps();
  if (study.result.sweeps() && study.file.empty()) study.file = path;
  std::optional<results::Result> earlier;
  try {
    earlier = sweep_in(path);
  } catch (const base::Error& error) {
    if (resume) throw base::Error(ExitCode::usage, error.what());
  }
  if (!earlier) return;
  const auto finished = count_finished(*earlier);
  if (!resume) {
    if (finished == 0 || is_over(*earlier) || earlier->predicts()) return;
    refuse(path,
           fmt::format("{} of {} points of an unfinished sweep; allowed: --resume to continue",
                       finished, earlier->points.size()));
  }
  if (finished == 0) return;
  if (earlier->predicts()) {
    refuse(path, "a predicted sweep; allowed: the result file of the sweep to resume");
  }
  require_same(path, shared(*earlier, false), shared(study.result, false));
  study.shared = shared(*earlier, true);
  study.result.machine = earlier->machine;  // of these points, until it is known that it is ours
  study.result.inputs = earlier->inputs;
  for (std::size_t i = 0; i < std::min(study.points.size(), earlier->points.size()); ++i) {
    results::Point& point = earlier->points[i];
    if (point.is_finished()) results::put(study.result, i, std::move(point));
  }
}

}  // namespace

Options with_files_of_rank(const Options& options, const Inputs& inputs, const FileNames& names) {
  Options rank_options = options;
  rank_options.outputs.clear();
  for (const Output& output : options.outputs) {
    if (options.fleet && is_common_file(output)) continue;
    const std::string path = names.resolve(output.path);
    if (!has_deck_placeholder(path)) {
      rank_options.outputs.push_back({output.writer, path});
      continue;
    }
    for (std::size_t i = 0; i < inputs.decks.size(); ++i) {
      rank_options.outputs.push_back(
          {output.writer, with_deck(path, inputs.decks[i].front().deck.name()), i});
    }
  }
  return rank_options;
}

void register_inputs(const Inputs& inputs, report::Files& files) {
  for (const auto& points : inputs.decks) files.reads(points.front().deck.path, "the deck");
  if (inputs.device) files.reads(inputs.device->path, "the device file");
  for (const model::Device& device : inputs.predicted) files.reads(device.path, "a device file");
  for (const auto& references : inputs.references) {
    for (const auto& [name, reference] : references) files.reads(reference.path, "a reference");
  }
}

bool Attempt::operator()(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const std::exception& exception) {
    const base::Error failure = base::error_of(exception);
    if (failure.code() == ExitCode::usage || !with_decks) throw;
    error = error ? base::Error(base::worst(error->code(), failure.code()),
                                fmt::format("{}; {}", error->what(), failure.what()))
                  : failure;
    return false;
  }
}

void take_files(Options& options, const FileNames& names, const std::vector<Output>& common,
                std::vector<Study>& studies, report::Files& files, Attempt& attempt) {
  const auto take = [&](const Output& output, bool of_fleet) {
    return attempt([&] {
      files.writes(output.path, std::string(output.writer->option));
      if (!is_json(output) || report::is_stream(output.path)) return;
      results::Fleet fleet;
      fleet.broken = {{output.path, "did not finish"}};
      if (!of_fleet && !studies.empty()) take_over(output.path, options.resume, studies.front());
      files.draft(output.path, of_fleet ? output.writer->fleet(fleet)
                                        : output.writer->write(results_of(studies, output.deck)));
    });
  };
  options.calibrate = names.resolve(options.calibrate);
  if (!options.calibrate.empty() && !has_device_placeholder(names.uuid)) {
    attempt([&] { files.writes(options.calibrate, "--calibrate"); });
  }
  for (const Output& output : common) take(output, true);
  std::vector<Output> taken;
  for (Output& output : options.outputs) {
    output.path = names.resolve(output.path);
    const bool waits = has_device_placeholder(output.path);
    if (!output.taken && !waits) output.taken = take(output, false);
    if (output.taken || waits) taken.push_back(output);
  }
  options.outputs = std::move(taken);
}

void begin_resumed(const Study& study, bool knows_device, Terminal& terminal) {
  if (knows_device) require_same(study.file, study.shared, shared(study.result, true));
  const auto finished = count_finished(study.result);
  if (finished == 0) {
    terminal.note(study.file + ": no finished points; starting from scratch");
  } else {
    terminal.show(fmt::format("{} of {} points are taken from {}\n\n", finished,
                              study.points.size(), study.file));
  }
}

std::string resume_hint(const Study& study) {
  const auto finished = count_finished(study.result);
  if (study.file.empty() || finished == 0) return "";
  return fmt::format("{} of {} points are kept in {}; continue with --resume", finished,
                     study.points.size(), study.file);
}

void save(const Options& options, const std::vector<Study>& studies, std::size_t deck,
          report::Files& files) {
  const bool ended = studies[deck].ended;
  for (const Output& output : options.outputs) {
    const bool concerned = output.deck.value_or(deck) == deck && (ended || is_json(output));
    if (!concerned || report::is_stream(output.path)) continue;
    try {
      files.draft(output.path, output.writer->write(results_of(studies, output.deck)));
    } catch (const std::exception&) {
    }
  }
}

bool write_output(const Output& output, std::vector<Study>& studies, Terminal& terminal) {
  Study& study = studies[output.deck.value_or(studies.size() - 1)];
  try {
    report::write_file(output.path, output.writer->write(results_of(studies, output.deck)));
    return true;
  } catch (const std::exception& exception) {
    const base::Error error = base::error_of(exception);
    std::string message = error.what();
    if (!message.starts_with(output.path)) message = output.path + ": cannot write: " + message;
    terminal.error(message);
    const auto code =
        error.code() == ExitCode::interrupted ? error.code() : ExitCode::runtime_error;
    results::fail(study.result, code, message);
    return false;
  }
}

}  // namespace overlap
