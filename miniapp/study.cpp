#include "study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <functional>
#include <map>

#include "base/interrupt.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "files.hpp"
#include "model/load.hpp"

namespace overlap {
namespace {

using base::ExitCode;

/// Hashes of what the files besides the deck say, by path.
std::map<std::string, std::string> hashes_of(const Inputs& inputs, std::size_t deck) {
  std::map<std::string, std::string> hashes;
  for (const auto& [name, reference] : inputs.references[deck]) {
    hashes[reference.path] = base::sha256(results::to_yaml(reference, ""));
  }
  std::vector<model::Device> devices = inputs.predicted;
  if (inputs.device) devices.push_back(*inputs.device);
  for (const model::Device& device : devices) {
    hashes[device.path] = base::sha256(model::to_yaml(device, ""));
  }
  return hashes;
}

/// Whether this machine lacks what the point needs, which says nothing about other points.
bool is_skipped(const results::Point& point) {
  return point.outcome && (point.outcome->exit_code == ExitCode::precondition ||
                           point.outcome->exit_code == ExitCode::skipped);
}

/// If an interrupt ended the study before this one, marks this one as interrupted before its first
/// point. Returns whether it did.
bool mark_interrupted(std::vector<Study>& studies, std::size_t deck) {
  if (deck == 0 || studies[deck - 1].result.code != ExitCode::interrupted) return false;
  Study& study = studies[deck];
  const base::Error error(ExitCode::interrupted, "interrupted");
  results::put(study.result, 0, experiment::failed_point(study.points.front(), error));
  return true;
}

/// Measures or predicts the points of one deck: probe, plan, predict, measure, judge.
struct Runner {
  const Inputs& inputs;
  Machinery& machinery;
  Terminal& terminal;
  results::References references;
  const std::optional<base::Error>& hindered;  ///< why nothing can run here
  std::function<void()> save;                  ///< what is known so far
  std::optional<experiment::Plan> plan = {};   ///< of the last phase

  results::Point predict_point(const Study& study, const deck::DeckPoint& point);
  results::Point measure_point(const Study& study, const deck::DeckPoint& point,
                               const measure::Hooks& hooks);
  results::Point run(const Study& study, const deck::DeckPoint& point);
};

results::Point Runner::predict_point(const Study& study, const deck::DeckPoint& point) {
  experiment::Plan predictions = experiment::predictions(point, inputs.predicted);
  if (!study.result.sweeps()) {
    terminal.show(report::heading(study.result, experiment::planned_point(predictions)));
  }
  return experiment::judge(std::move(predictions), {});
}

/// Adds the predictions of a device to a plan, or the reason why it has none.
void add_predictions(experiment::Plan& plan, const model::Device& device) {
  const std::string reason = experiment::unpredictable(plan.point.deck, device);
  if (reason.empty()) {
    experiment::predict(plan, device);
    plan.notes.emplace_back("predicted by", device.name);
  } else {
    plan.notes.emplace_back("not predicted", reason);
  }
}

/// In a fleet a point is a phase: together reuses the plan of alone and is compared with its
/// outcome.
results::Point Runner::measure_point(const Study& study, const deck::DeckPoint& point,
                                     const measure::Hooks& hooks) {
  measure::Session& session = *machinery.session;
  const std::vector<results::Run>& alone = study.result.points.front().runs;
  const bool reuses_plan = point.phase == deck::Phase::together && !alone.empty() && plan;
  if (!reuses_plan) {
    plan = experiment::plan(point, measure::probe(point.deck, session, hooks));
    if (inputs.device) add_predictions(*plan, *inputs.device);
  }
  plan->point.phase = point.phase;
  if (!study.result.sweeps() && !reuses_plan) {
    terminal.show(report::heading(study.result, experiment::planned_point(*plan)));
  }
  experiment::Samples samples = measure::measure(*plan, session, hooks);
  return experiment::judge(*plan, std::move(samples), references,
                           reuses_plan ? alone : std::vector<results::Run>());
}

/// Returns a failed point for every error but base::Error{usage}, which is thrown.
results::Point Runner::run(const Study& study, const deck::DeckPoint& point) {
  try {
    base::check_interrupt();
    if (hindered) throw *hindered;
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
    return experiment::failed_point(point, error);
  }
}

/// Runs the remaining points of a study. Those that this machine cannot run are skipped in a sweep.
void run_points(Study& study, Runner& runner) {
  using Clock = std::chrono::steady_clock;
  Terminal& terminal = runner.terminal;
  results::Result& result = study.result;
  const auto start = Clock::now();
  Clock::duration saving{};  // at most half of the time
  if (runner.hindered && std::ranges::all_of(result.points, &results::Point::is_finished)) {
    results::fail(result, runner.hindered->code(), runner.hindered->what());
    return terminal.error(runner.hindered->what());
  }
  for (std::size_t number = 0; number < study.points.size(); ++number) {
    if (result.points[number].is_finished()) continue;
    const deck::DeckPoint& point = study.points[number];
    const std::string name = result.points[number].name();
    if (result.sweeps()) terminal.begin_part(number, study.points.size(), name);
    results::put(result, number, runner.run(study, point));
    const results::Point& done = result.points[number];
    terminal.lines(report::wrong_data(done));
    if (const auto begin = Clock::now(); result.sweeps() && 2 * saving <= begin - start) {
      runner.save();
      saving += Clock::now() - begin;
    }
    if (done.is_finished()) continue;
    if (result.sweeps() && is_skipped(done) && !runner.hindered) {
      terminal.note("skipped " + name + ": " + done.ended_by());
      continue;
    }
    const std::string hint = resume_hint(study);
    const bool with_name =
        result.sweeps() && !runner.hindered && done.outcome->exit_code != ExitCode::interrupted;
    terminal.error((with_name ? name + ": " : "") + done.ended_by() +
                   (hint.empty() ? "" : "; " + hint));
    return;
  }
  const std::string hint = is_over(result) ? "" : resume_hint(study);
  if (!hint.empty()) terminal.note(hint);
}

}  // namespace

bool is_over(const results::Result& result) {
  return std::ranges::all_of(result.points, [](const results::Point& point) {
    return point.is_finished() || is_skipped(point);
  });
}

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
          : base::Machine{measure::build_info(), base::host_info(), {}, base::job_info(), {}};
  if (machinery.member) {
    machine.placement = machinery.member->placement();
    if (!machine.job) machine.job.emplace();  // not every launcher says it in the environment
    machine.job->launch = machinery.member->launch();
    machine.job->rank = machinery.member->rank();
    machine.job->ranks = machinery.member->size();
  }
  return machine;
}

std::vector<Study> new_studies(const Inputs& inputs, const base::Machine& machine) {
  std::vector<Study> studies;
  for (std::size_t i = 0; i < inputs.decks.size(); ++i) {
    Study& study = studies.emplace_back(Study{.points = inputs.decks[i]});
    study.result = experiment::new_result(study.points, machine);
    study.result.inputs = hashes_of(inputs, i);
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

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text.data();
}

void run_decks(const Options& options, const Inputs& inputs, std::vector<Study>& studies,
               Machinery& machinery, const std::optional<base::Error>& error, Terminal& terminal) {
  std::int64_t phases = 0;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const base::Machine machine = machine_of(machinery);
    Study& study = studies[i];
    if (!error || study.shared.empty()) {
      study.result.machine = machine;
      study.result.inputs = hashes_of(inputs, i);
    }
    study.result.started = now_utc();
    study.ended = mark_interrupted(studies, i);
    if (study.ended) continue;
    if (options.resume) begin_resumed(study, !error, terminal);
    if (study.result.sweeps()) terminal.show(report::heading(study.result, {}));
    Runner runner{inputs,   machinery,
                  terminal, {results::subject_of(machine), inputs.references[i]},
                  error,    [&, i] { save(options, studies, i, machinery.files); }};
    run_points(study, runner);
    study.ended = true;
    if (i + 1 < studies.size()) save(options, studies, i, machinery.files);
    if (!machinery.member) terminal.show(report::body(study.result));
    phases += std::ssize(inputs.decks[i]);
    if (machinery.member) machinery.member->skip_to(phases);  // skipped after an error
  }
}

}  // namespace overlap
