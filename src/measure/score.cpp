#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/interrupt.hpp"
#include "deck/words.hpp"
#include "measure/measure.hpp"
#include "measure/session_parts.hpp"

namespace overlap::measure {
namespace {

/// The number in an environment variable; empty without one.
std::optional<int> environment_number(const char* name) {
  const char* const text = std::getenv(name);
  int number = 0;
  if (text == nullptr ||
      std::from_chars(text, text + std::strlen(text), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

/// What surrounds the runs; to be asked right after them, while the device is awake.
experiment::Conditions conditions(const Runtime& runtime, const timeline::Engines& engines) {
  experiment::Conditions found;
  if (on_gpu()) found.device = runtime.device_now();
  found.engines = engines;
  found.launch_blocking = environment_number("CUDA_LAUNCH_BLOCKING") == 1;
  found.max_connections = environment_number("CUDA_DEVICE_MAX_CONNECTIONS");
  found.tool_loaded = runtime.tool_loaded();
  return found;
}

/// Scores the cases in turn; after an interruption their complete rounds alone are left.
void score(Executor& executor, const experiment::Plan& plan, const workload::Workload& workload,
           const Hooks& hooks, experiment::Samples& samples) {
  std::vector<experiment::Run>& runs = samples.runs;
  try {
    const Checking checking = measure(executor, runs, workload, plan.deck.measure, hooks);
    samples.verified_runs = checking.runs;
    samples.reference_s = checking.reference_s;
  } catch (const base::Error& error) {
    const std::size_t rounds = runs.back().samples_s.size();
    if (error.code() != base::ExitCode::interrupted || rounds == 0) throw;
    samples.interrupted = true;
    for (experiment::Run& run : runs) {
      for (auto* const list : {&run.samples_s, &run.issue_s, &run.host_work_samples.samples_s}) {
        list->resize(std::min(list->size(), rounds));
      }
      samples.verified_runs += run.verified ? static_cast<int>(rounds) : 0;
    }
  }
}

experiment::Samples measured(const experiment::Plan& plan, Session::Parts& parts,
                             const Hooks& hooks) {
  const deck::Deck& deck = plan.deck;
  const auto progress = [&](const std::string& what) {
    if (hooks.progress) hooks.progress(0, 0, what);
  };
  Executor& executor = parts.executor.emplace(plan.lanes, deck.issue, deck.memory);
  if (deck.host_work) {
    executor.set_host_worker(
        &parts.host_worker.emplace(plan.host_work_pieces, deck.host_work->per_chunk_s));
  }
  experiment::Samples samples;
  std::vector<experiment::Run>& runs = samples.runs;
  for (const experiment::Case& one : plan.cases) runs.push_back({one});
  score(executor, plan, parts.workload, hooks, samples);
  const timeline::Engines engines = engines_of(parts.runtime.device(), plan.lanes);
  if (!samples.interrupted) {
    progress("measuring rates");
    // On a GPU stages need lanes of their own; on a host the runs' lanes share its cores out.
    if (on_gpu()) parts.meter.emplace(2, deck::Issue(), deck.memory);
    measure_rates(on_gpu() ? *parts.meter : executor, parts.workload, runs);
    for (experiment::Run& run : runs) {
      if (!plan.values.empty()) break;  // those of all points of a sweep would be far too much
      progress("tracing " + experiment::name(run));
      trace_run(
          executor, run, parts.workload, deck.measure.verify,
          {.workers = on_gpu() ? 0 : run.schedule.lanes, .copy_engines = engines.copy_engines});
    }
  }
  samples.conditions = conditions(parts.runtime, engines);
  return samples;
}

}  // namespace

experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks) {
  return use(session.parts(), [&](Session::Parts& parts) { return measured(plan, parts, hooks); });
}

}  // namespace overlap::measure
