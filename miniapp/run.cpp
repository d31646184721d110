#include "run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <map>

#include "base/interrupt.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "fleet.hpp"
#include "measure/platform.hpp"
#include "measured.hpp"
#include "model/load.hpp"
#include "report/list.hpp"
#include "report/output_file.hpp"
#include "results/metrics.hpp"
#include "workload/workload.hpp"

namespace overlap {
namespace {

using base::ExitCode;

/// Properties that a resumed run must share with the saved points.
report::Identity identity(const Inputs& inputs, const base::Machine& machine) {
  const auto& [build, host, device, job, placement] = machine;
  const auto with_hash = [](const std::string& path, const std::string& text) {
    return path + " " + base::sha256(text).substr(0, 16);
  };
  std::vector<std::string> references;
  for (const auto& [name, reference] : inputs.references.front()) {
    references.push_back(with_hash(reference.path, results::to_yaml(reference, "")));
  }
  return {
      {"program",
       fmt::format("{} {}{}", build.version, build.git_sha, build.dirty ? ", modified" : "")},
      {"build",
       fmt::format("Kokkos {} {}, {}", build.kokkos_version, build.backend, build.compiler)},
      {"host", fmt::format("{}, CPUs {}", host.name, host.affinity)},
      {"device", device ? device->name + " " + device->id() : host.cpu},
      {"model", inputs.device ? with_hash(inputs.device->path, model::to_yaml(*inputs.device, ""))
                              : "measured"},
      {"references", fmt::format("{}", fmt::join(references, ", "))}};
}

/// Whether a point came to its end.
bool is_whole(const results::Point& point) { return point.exit_code && point.ended_by.empty(); }

/// Whether this machine lacks what the point needs, which says nothing about other points.
bool is_skipped(const results::Point& point) {
  return point.exit_code == ExitCode::precondition || point.exit_code == ExitCode::skipped;
}

/// Whether no point is left to measure here.
bool is_over(const results::Result& result) {
  return std::ranges::all_of(result.points, [](const results::Point& point) {
    return is_whole(point) || is_skipped(point);
  });
}

/// Where finished points wait for --resume; empty if there are none.
std::string kept(const results::Result& result, const report::Journal* journal) {
  const auto whole = std::ranges::count_if(result.points, is_whole);
  if (journal == nullptr || whole == 0) return "";
  return fmt::format("{} of {} points are kept in {}; continue with --resume", whole,
                     result.points.size(), journal->path());
}

/// Where a sweep keeps its finished points: next to the first of its result files that has some, or
/// else to the first; empty: nowhere.
std::string journal_path(const Options& options) {
  std::vector<std::string> paths;
  for (const Output& output : options.outputs) {
    if (!report::is_stream(output.path)) paths.push_back(output.path + ".points");
  }
  if (paths.empty() || !options.predict.empty()) return "";
  const auto there = std::ranges::find_if(paths, [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
  });
  return there == paths.end() ? paths.front() : *there;
}

/// Runs a point. Returns a failed part for every error but base::Error{usage}, which is thrown.
results::Part part_of(const Study& study, const deck::Point& point, const RunPoint& run_point) {
  try {
    base::check_interrupt();
    return run_point(study, point);
  } catch (const std::exception& exception) {
    const base::Error error = named(point.deck, base::error_of(exception));
    if (error.code() == ExitCode::usage) throw error;
    return experiment::failed(point, error);
  }
}

/// Puts the journal's points into the study, by their numbers in the deck. Returns how many.
std::size_t restore(Study& study, const report::Journal& journal) {
  std::map<std::string, results::Part> kept;  // by fingerprint
  for (const std::string& line : journal.records()) {
    try {
      results::Part part;
      describe::read(describe::Reader(describe::parse_json(journal.path(), line)), part);
      kept.emplace(part.fingerprint, std::move(part));
    } catch (const base::Error&) {
      throw base::Error(ExitCode::usage, journal.path() +
                                             ": found no finished point of a sweep; allowed: "
                                             "remove the file");
    }
  }
  std::size_t restored = 0;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const auto found = kept.find(experiment::fingerprint(study.points[i]));
    if (found == kept.end()) continue;
    results::append(study.result, i, found->second);
    ++restored;
  }
  results::evaluate(study.result.runs);
  if (restored > 0 || kept.empty()) return restored;
  throw base::Error(ExitCode::usage,
                    journal.path() +
                        ": found no point of this deck; allowed: --resume with the deck and "
                        "--set options that the points come from, or remove the file");
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text.data();
}

}  // namespace

std::string answer(const Options& options) {
  if (options.version) return report::version(measure::build_info());
  if (!options.list) return options.help;
  std::map<deck::WorkloadKind, std::string> unavailable;
  for (const auto& word : deck::words<deck::WorkloadKind>) {
    if (const auto why = workload::unavailable(word.value)) unavailable[word.value] = *why;
  }
  return report::list(measure::build_info(), measure::devices(), measure::on_gpu(), unavailable);
}

base::Machine machine_of(const Machinery& machinery) {
  base::Machine machine =
      machinery.session
          ? machinery.session->machine()
          : base::Machine{measure::build_info(), measure::host_info(), {}, measure::job_info(), {}};
  if (machinery.member) {
    machine.placement = machinery.member->placement();
    if (!machine.job) machine.job.emplace();  // not every launcher says it in the environment
    machine.job->rank = machinery.member->rank();
    machine.job->ranks = machinery.member->size();
  }
  return machine;
}

namespace {

/// Origin of a device file, for its comment.
std::string calibration_note(const base::Machine& machine) {
  const base::BuildInfo& build = machine.build;
  return fmt::format("Measured by `miniapp --calibrate` on {}:\n{}{}; Kokkos {} {}, {}.",
                     now_utc().substr(0, 10), machine.device ? machine.device->name + ", " : "",
                     base::device_of(machine.host).name, build.kokkos_version, build.backend,
                     build.compiler);
}

/// Makes this process one without a fleet, because its ranks cannot meet. Files about all ranks are
/// then those of rank 0.
void go_on_alone(Options& options, Machinery& machinery, Terminal& terminal) {
  const auto job = measure::job_info();
  const int rank = job ? job->rank.value_or(0) : 0;
  std::vector<Output> own = rank_outputs(options);
  if (rank > 0) {
    options.outputs = std::move(own);
    terminal.speak_for(fmt::format("rank {}", rank));
  }
  options.fleet = false;
  machinery.world.reset();
}

}  // namespace

void start(Options& options, const Inputs& inputs, Machinery& machinery, Terminal& terminal) {
  if (!inputs.predicted.empty()) return;
  std::vector<std::string> kokkos = options.kokkos;
  if (options.fleet) {
    try {
      if (!machinery.unusable) machinery.member.emplace(*machinery.world, deadline_s(inputs));
    } catch (const base::Error& error) {
      if (error.code() == ExitCode::usage) throw;
      machinery.unusable = error;
    }
    if (machinery.unusable) return go_on_alone(options, machinery, terminal);
    const auto& member = *machinery.member;
    if (member.rank() > 0) terminal.speak_for(member.name());
    kokkos = member.kokkos_arguments(std::move(kokkos));
    machinery.unusable = member.unplaced();
    if (machinery.unusable) return;
  }
  try {
    machinery.session.emplace(std::move(kokkos));
  } catch (const base::Error& error) {
    if (error.code() == base::ExitCode::usage || inputs.decks.empty()) throw;
    machinery.unusable = error;
  }
}

void calibrate(const Options& options, Inputs& inputs, Machinery& machinery, Terminal& terminal) {
  const std::string& path = options.calibrate;
  try {
    model::Device device = measure::calibrate(*machinery.session, hooks_of(terminal));
    device.path = path;
    report::write_file(path, model::to_yaml(device, calibration_note(machine_of(machinery))));
    const std::string doubts =
        device.doubtful.empty()
            ? ""
            : fmt::format("; {} in it {} doubtful: calibrate again on a quiet machine",
                          base::counted(device.doubtful.size(), "figure"),
                          device.doubtful.size() == 1 ? "is" : "are");
    if (!report::is_stream(path)) {
      terminal.shown("wrote " + base::one_line(path) + doubts + "\n");
    }
    inputs.device = std::move(device);
  } catch (const std::exception& exception) {
    const base::Error error = base::error_of(exception);
    if (inputs.decks.empty()) throw;
    machinery.unusable = error;
  }
}

Study new_study(const Inputs& inputs, std::size_t deck, const base::Machine& machine) {
  Study study{.points = inputs.decks[deck]};
  study.result = experiment::new_result(study.points, machine);
  study.result.started = now_utc();
  for (const model::Device& device : inputs.predicted) {
    study.result.predicted_for.push_back(device.name);
  }
  return study;
}

void fail_first(Study& study, const base::Error& error, Terminal& terminal) {
  const deck::Point& first = study.points.front();
  results::append(study.result, 0, experiment::failed(first, named(first.deck, error)));
  terminal.error(study.result.points.front().ended_by);
}

bool mark_interrupted(std::vector<Study>& studies) {
  const auto before = studies.size() - 1;
  if (before == 0 || studies[before - 1].result.code != ExitCode::interrupted) return false;
  Study& study = studies.back();
  const base::Error error(ExitCode::interrupted, "interrupted");
  results::append(study.result, 0, experiment::failed(study.points.front(), error));
  return true;
}

Options own_files(const Options& options, const Inputs& inputs, const FileNames& names) {
  Options own = options;
  own.calibrate = names.of(options.calibrate);
  own.outputs.clear();
  const auto own_outputs = options.fleet ? rank_outputs(options) : options.outputs;
  for (const Output& output : own_outputs) {
    const std::string path = names.of(output.path);
    if (!has_deck_placeholder(path)) {
      own.outputs.push_back({output.writer, path});
      continue;
    }
    for (std::size_t i = 0; i < inputs.decks.size(); ++i) {
      own.outputs.push_back(
          {output.writer, with_deck(path, inputs.decks[i].front().deck.name()), i});
    }
  }
  return own;
}

void require_writable(Options& options, const Inputs& inputs,
                      const std::vector<std::pair<std::string, std::string>>& common,
                      Machinery& machinery) {
  report::Files& files = machinery.files;
  bool sweeps = false;
  for (const auto& points : inputs.decks) {
    files.reads(points.front().deck.path, "the deck");
    sweeps = sweeps || !points.front().values.empty();
  }
  if (inputs.device) files.reads(inputs.device->path, "the device file");
  for (const model::Device& device : inputs.predicted) files.reads(device.path, "a device file");
  for (const auto& references : inputs.references) {
    for (const auto& [name, reference] : references) files.reads(reference.path, "a reference");
  }
  if (sweeps) {
    const std::string journal = journal_path(options);
    if (!journal.empty()) files.reads(journal, "the file of finished points");
    if (journal.empty() && options.resume) {
      throw base::Error(
          ExitCode::usage,
          "--resume: found only pipes or devices as result files; allowed: a regular file, "
          "next to which finished points are saved");
    }
    std::error_code none;
    if (!options.calibrate.empty() && std::filesystem::exists(journal, none)) {
      throw base::Error(
          ExitCode::usage,
          fmt::format(
              "{}: found points of an unfinished sweep; allowed: --resume with --device {}, "
              "or remove the file",
              base::one_line(journal), base::one_line(options.calibrate)));
    }
  }
  const auto can_write = [&](const std::string& path, const std::string& option) {
    try {
      files.writes(path, option);
      return true;
    } catch (const base::Error& error) {
      if (error.code() == ExitCode::usage || inputs.decks.empty()) throw;
      std::optional<base::Error>& all = machinery.unusable;
      all = all ? base::Error(base::worst(all->code(), error.code()),
                              fmt::format("{}; {}", all->what(), error.what()))
                : error;
      return false;
    }
  };
  if (!options.calibrate.empty()) can_write(options.calibrate, "--calibrate");
  for (const auto& [option, path] : common) can_write(path, option);
  std::erase_if(options.outputs, [&](const Output& output) {
    return !can_write(output.path, std::string(output.writer->option));
  });
}

std::unique_ptr<report::Journal> open_journal(const Options& options, const Inputs& inputs,
                                              Study& study, Machinery& machinery,
                                              Terminal& terminal) {
  const std::string path = study.result.sweeps() ? journal_path(options) : "";
  if (path.empty() || machinery.unusable) return nullptr;
  std::unique_ptr<report::Journal> journal;
  try {
    journal = std::make_unique<report::Journal>(path, identity(inputs, study.result.machine),
                                                options.resume);
  } catch (const base::Error& error) {
    if (error.code() == ExitCode::usage) throw;
    machinery.unusable = error;
    return nullptr;
  }
  const std::size_t restored = restore(study, *journal);
  if (options.resume && restored == 0) {
    terminal.note(journal->path() + ": no saved points; starting from scratch");
  } else if (options.resume) {
    terminal.shown(fmt::format("{} of {} points are taken from {}\n\n", restored,
                               study.points.size(), journal->path()));
  }
  return journal;
}

void run_points(Study& study, const RunPoint& run_point, report::Journal* journal,
                Terminal& terminal) {
  results::Result& result = study.result;
  for (std::size_t number = 0; number < study.points.size(); ++number) {
    if (is_whole(result.points[number])) continue;
    const deck::Point& point = study.points[number];
    const std::string name = result.points[number].name();
    if (result.sweeps()) terminal.begin_part(number, study.points.size(), name);
    results::Part part = part_of(study, point, run_point);
    terminal.lines(report::wrong_data(part));
    if (journal != nullptr && is_whole(part.point)) {
      try {
        part.fingerprint = experiment::fingerprint(point);
        journal->add(describe::write(part).dump());
      } catch (const base::Error& error) {
        terminal.error(error.what());
        results::fail(result, error.code(), error.what());
        study.unwritten = true;
        journal = nullptr;
      }
    }
    const results::Point end = part.point;
    results::append(result, number, std::move(part));
    if (is_whole(end)) continue;
    if (result.sweeps() && is_skipped(end)) {
      terminal.note("skipped " + name + ": " + end.ended_by);
      continue;
    }
    const std::string points = kept(result, journal);
    const bool named = result.sweeps() && end.exit_code != ExitCode::interrupted;
    terminal.error((named ? name + ": " : "") + end.ended_by +
                   (points.empty() ? "" : "; " + points));
    return;
  }
  const std::string points = is_over(result) ? "" : kept(result, journal);
  if (!points.empty()) terminal.note(points);
}

namespace {

/// Writes a file; returns whether it could.
bool write_output(const Output& output, std::vector<Study>& studies, Terminal& terminal) {
  Study& study = studies[output.deck.value_or(studies.size() - 1)];
  try {
    const report::Results all = output.deck ? report::Results{study.result} : results_of(studies);
    report::write_file(output.path, output.writer->write(all));
    return true;
  } catch (const std::exception& exception) {
    const base::Error error = base::error_of(exception);
    std::string why = error.what();
    if (!why.starts_with(output.path)) why = output.path + ": cannot write: " + why;
    terminal.error(why);
    const bool interrupted = error.code() == ExitCode::interrupted;
    results::fail(study.result, interrupted ? ExitCode::interrupted : ExitCode::runtime_error, why);
    study.unwritten = true;
    return false;
  }
}

}  // namespace

report::Results results_of(const std::vector<Study>& studies) {
  report::Results all;
  for (const Study& study : studies) all.push_back(study.result);
  return all;
}

ExitCode finish(const Options& options, std::vector<Study>& studies, report::Journal* journal,
                Terminal& terminal) {
  report::write_each(options.outputs, &Output::path,
                     [&](const Output& output) { return write_output(output, studies, terminal); });
  auto code = ExitCode::pass;
  for (const Study& study : studies) code = base::worst(code, study.result.code);
  if (!options.fleet) terminal.verdict(results_of(studies));
  if (journal != nullptr && is_over(studies.back().result) && !studies.back().unwritten) {
    journal->remove();
  }
  return code;
}

}  // namespace overlap
