#include "study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>

#include "base/interrupt.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "measure/platform.hpp"
#include "model/load.hpp"
#include "results/metrics.hpp"

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
      {"model",
       inputs.device ? with_hash(inputs.device->path, model::to_yaml(*inputs.device, "")) : "none"},
      {"references", fmt::format("{}", fmt::join(references, ", "))}};
}

/// Whether a point came to its end.
bool is_finished(const results::Point& point) { return point.exit_code && point.ended_by.empty(); }

/// Whether this machine lacks what the point needs, which says nothing about other points.
bool is_skipped(const results::Point& point) {
  return point.exit_code == ExitCode::precondition || point.exit_code == ExitCode::skipped;
}

/// Where finished points wait for --resume; empty if there are none.
std::string resume_hint(const Study& study) {
  const auto finished = std::ranges::count_if(study.result.points, is_finished);
  if (study.journal == nullptr || finished == 0) return "";
  return fmt::format("{} of {} points are kept in {}; continue with --resume", finished,
                     study.points.size(), study.journal->path());
}

/// Puts the journal's points into the study, by their numbers in the deck. Returns how many.
std::size_t restore(Study& study) {
  const report::Journal& journal = *study.journal;
  std::map<std::string, results::Part> saved;  // by fingerprint
  for (const std::string& line : journal.records()) {
    try {
      results::Part part;
      describe::read(describe::Reader(describe::parse_json(journal.path(), line)), part);
      saved.emplace(part.fingerprint, std::move(part));
    } catch (const base::Error&) {
      throw base::Error(ExitCode::usage, journal.path() +
                                             ": found no finished point of a sweep; allowed: "
                                             "remove the file");
    }
  }
  std::size_t restored = 0;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const auto found = saved.find(experiment::fingerprint(study.points[i]));
    if (found == saved.end()) continue;
    results::append(study.result, i, found->second);
    ++restored;
  }
  results::evaluate(study.result.runs);
  if (restored > 0 || saved.empty()) return restored;
  throw base::Error(ExitCode::usage,
                    journal.path() +
                        ": found no point of this deck; allowed: --resume with the deck and "
                        "--set options that the points come from, or remove the file");
}

/// Opens the journal of a sweep next to its first result file and restores the points of an
/// interrupted run. One that cannot be opened makes the machinery unusable.
void open_journal(const Options& options, const Inputs& inputs, Study& study, Machinery& machinery,
                  Terminal& terminal) {
  const std::string path = study.result.sweeps() ? journal_path(options) : "";
  if (path.empty() || machinery.unusable) return;
  try {
    study.journal = std::make_unique<report::Journal>(path, identity(inputs, study.result.machine),
                                                      options.resume);
  } catch (const base::Error& error) {
    if (error.code() == ExitCode::usage) throw;
    machinery.unusable = error;
    return;
  }
  const std::size_t restored = restore(study);
  if (options.resume && restored == 0) {
    terminal.note(path + ": no saved points; starting from scratch");
  } else if (options.resume) {
    terminal.show(
        fmt::format("{} of {} points are taken from {}\n\n", restored, study.points.size(), path));
  }
}

/// If an interrupt ended the study before this one, marks this one as interrupted before its first
/// point. Returns whether it did.
bool mark_interrupted(std::vector<Study>& studies, std::size_t deck) {
  if (deck == 0 || studies[deck - 1].result.code != ExitCode::interrupted) return false;
  Study& study = studies[deck];
  const base::Error error(ExitCode::interrupted, "interrupted");
  results::append(study.result, 0, experiment::failed_part(study.points.front(), error));
  return true;
}

/// Writes the files with this deck, as far as it is known: of one that goes on, the JSON files.
/// What cannot be written is left to the last time, which reports it.
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

/// Measures or predicts the points of one deck: probe, plan, predict, measure, judge.
struct Runner {
  const Inputs& inputs;
  Machinery& machinery;
  Terminal& terminal;
  results::References references;
  std::function<void()> save;                 ///< what is known so far
  std::optional<experiment::Plan> plan = {};  ///< of the last phase

  results::Part predict_point(const Study& study, const deck::Point& point);
  results::Part measure_point(const Study& study, const deck::Point& point,
                              const measure::Hooks& hooks);
  results::Part run(const Study& study, const deck::Point& point);
};

results::Part Runner::predict_point(const Study& study, const deck::Point& point) {
  experiment::Plan predictions = experiment::predictions(point, inputs.predicted);
  if (!study.result.sweeps()) {
    terminal.show(report::heading(study.result, experiment::part_of_plan(predictions)));
  }
  return experiment::judge(std::move(predictions), {});
}

/// Adds the predictions of a device to a plan, or the reason why it has none.
void add_predictions(experiment::Plan& plan, const model::Device& device) {
  const std::string reason = experiment::unpredictable(plan.deck, device);
  if (reason.empty()) {
    experiment::predict(plan, device);
    plan.notes.emplace_back("predicted by", device.name);
  } else {
    plan.notes.emplace_back("not predicted", reason);
  }
}

/// In a fleet a point is a phase: together reuses the plan of alone and is compared with its
/// outcome.
results::Part Runner::measure_point(const Study& study, const deck::Point& point,
                                    const measure::Hooks& hooks) {
  measure::Session& session = *machinery.session;
  const std::vector<results::Run>& alone = study.result.runs;
  const bool reuses_plan = point.phase == deck::Phase::together && !alone.empty() && plan;
  if (!reuses_plan) {
    plan = experiment::plan(point, measure::probe(point.deck, session, machinery.bench, hooks));
    if (inputs.device) add_predictions(*plan, *inputs.device);
  }
  plan->phase = point.phase;
  if (!study.result.sweeps() && !reuses_plan) {
    terminal.show(report::heading(study.result, experiment::part_of_plan(*plan)));
  }
  experiment::Samples samples = measure::measure(*plan, session, machinery.bench, hooks);
  return experiment::judge(*plan, std::move(samples), references, reuses_plan ? &alone : nullptr);
}

/// Returns a failed part for every error but base::Error{usage}, which is thrown.
results::Part Runner::run(const Study& study, const deck::Point& point) {
  try {
    base::check_interrupt();
    if (!machinery.session) return predict_point(study, point);
    const measure::Hooks progress = progress_hooks(terminal);
    if (!machinery.member) return measure_point(study, point, progress);
    fleet::Member& member = *machinery.member;
    if (const auto devices = point.deck.fleet.devices) member.require_devices(*devices);
    return machinery.session->use([&] {
      return member.run(point.phase, progress, [&](const measure::Hooks& hooks) {
        return measure_point(study, point, hooks);
      });
    });
  } catch (const std::exception& exception) {
    const base::Error error = named(point.deck, base::error_of(exception));
    if (error.code() == ExitCode::usage) throw error;
    return experiment::failed_part(point, error);
  }
}

/// Runs the remaining points of a study. Those that this machine cannot run are skipped in a sweep.
void run_points(Study& study, Runner& runner) {
  using Clock = std::chrono::steady_clock;
  Terminal& terminal = runner.terminal;
  results::Result& result = study.result;
  Clock::time_point next_save;  // so that at most half of the time goes into files
  for (std::size_t number = 0; number < study.points.size(); ++number) {
    if (is_finished(result.points[number])) continue;
    const deck::Point& point = study.points[number];
    const std::string name = result.points[number].name();
    if (result.sweeps()) terminal.begin_part(number, study.points.size(), name);
    results::Part part = runner.run(study, point);
    terminal.lines(report::wrong_data(part));
    if (study.journal != nullptr && is_finished(part.point)) {
      try {
        part.fingerprint = experiment::fingerprint(point);
        study.journal->add(describe::write(part).dump());
      } catch (const base::Error& error) {
        terminal.error(error.what());
        results::fail(result, error.code(), error.what());
        study.unwritten = true;
        study.journal = nullptr;
      }
    }
    const results::Point outcome = part.point;
    results::append(result, number, std::move(part));
    if (const auto begin = Clock::now(); result.sweeps() && begin >= next_save) {
      runner.save();
      next_save = Clock::now() + (Clock::now() - begin);
    }
    if (is_finished(outcome)) continue;
    if (result.sweeps() && is_skipped(outcome)) {
      terminal.note("skipped " + name + ": " + outcome.ended_by);
      continue;
    }
    const std::string hint = resume_hint(study);
    const bool with_name = result.sweeps() && outcome.exit_code != ExitCode::interrupted;
    terminal.error((with_name ? name + ": " : "") + outcome.ended_by +
                   (hint.empty() ? "" : "; " + hint));
    return;
  }
  const std::string hint = study.is_over() ? "" : resume_hint(study);
  if (!hint.empty()) terminal.note(hint);
}

}  // namespace

measure::Hooks progress_hooks(Terminal& terminal) {
  measure::Hooks hooks;
  hooks.progress = [&](int done, int total, const std::string& activity) {
    terminal.progress(done, total, activity);
  };
  return hooks;
}

base::Machine machine_of(const Machinery& machinery) {
  base::Machine machine =
      machinery.session
          ? machinery.session->machine()
          : base::Machine{measure::build_info(), measure::host_info(), {}, measure::job_info(), {}};
  if (machinery.member) {
    machine.placement = machinery.member->placement();
    if (!machine.job) machine.job.emplace();  // not every launcher says it in the environment
    machine.job->launch = machinery.member->launch();
    machine.job->rank = machinery.member->rank();
    machine.job->ranks = machinery.member->size();
  }
  return machine;
}

bool Study::is_over() const {
  return std::ranges::all_of(result.points, [](const results::Point& point) {
    return is_finished(point) || is_skipped(point);
  });
}

std::vector<Study> new_studies(const Inputs& inputs, const base::Machine& machine) {
  std::vector<Study> studies;
  for (const auto& points : inputs.decks) {
    Study& study = studies.emplace_back(Study{.points = points});
    study.result = experiment::new_result(points, machine);
    study.result.started = now_utc();
    for (const model::Device& device : inputs.predicted) {
      study.result.predicted_for.push_back(device.name);
      if (!device.match) study.result.described.push_back(device.name);
      if (device.lacks_latencies()) study.result.without_latencies.push_back(device.name);
    }
    if (inputs.device && !inputs.device->match) {
      study.result.described.push_back(inputs.device->name);
    }
  }
  return studies;
}

report::Results results_of(const std::vector<Study>& studies, std::optional<std::size_t> deck) {
  report::Results results;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    if (i != deck.value_or(i)) continue;
    results.push_back(studies[i].result);
    if (!studies[i].ended) results::fail(results.back(), ExitCode::runtime_error, "did not finish");
  }
  return results;
}

std::string journal_path(const Options& options) {
  std::vector<std::string> paths;
  for (const Output& output : options.outputs) {
    if (!report::is_stream(output.path)) paths.push_back(output.path + ".points");
  }
  if (paths.empty() || !options.predict.empty()) return "";
  const auto existing = std::ranges::find_if(paths, [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
  });
  return existing == paths.end() ? paths.front() : *existing;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text.data();
}

void run_decks(const Options& options, const Inputs& inputs, std::vector<Study>& studies,
               Machinery& machinery, Terminal& terminal) {
  std::int64_t phases = 0;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const base::Machine machine = machine_of(machinery);
    Study& study = studies[i];
    study.result.machine = machine;
    study.result.started = now_utc();
    study.ended = mark_interrupted(studies, i);
    if (study.ended) continue;
    open_journal(options, inputs, study, machinery, terminal);
    if (study.result.sweeps()) terminal.show(report::heading(study.result, {}));
    if (machinery.unusable) {
      const deck::Point& first = study.points.front();
      const base::Error error = named(first.deck, *machinery.unusable);
      results::append(study.result, 0, experiment::failed_part(first, error));
      terminal.error(study.result.points.front().ended_by);
    } else {
      Runner runner{inputs,
                    machinery,
                    terminal,
                    {results::subject_of(machine), inputs.references[i]},
                    [&, i] { save(options, studies, i, machinery.files); }};
      run_points(study, runner);
    }
    study.ended = true;
    if (i + 1 < studies.size()) save(options, studies, i, machinery.files);
    if (!machinery.member) terminal.show(report::findings(study.result));
    phases += std::ssize(inputs.decks[i]);
    if (machinery.member) machinery.member->skip_to(phases);  // skipped after an error
  }
}

}  // namespace overlap
