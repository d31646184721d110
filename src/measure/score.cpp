#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/interrupt.hpp"
#include "deck/words.hpp"
#include "measure/measure.hpp"
#include "measure/rates.hpp"
#include "measure/session_parts.hpp"
#include "measure/trace.hpp"

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
experiment::Conditions conditions(const Runtime& runtime, int lanes) {
  experiment::Conditions found;
  if (on_gpu()) found.device = runtime.device_now();
  found.hardware = hardware(found.device, lanes);
  found.launch_blocking = environment_number("CUDA_LAUNCH_BLOCKING") == 1;
  found.max_connections = environment_number("CUDA_DEVICE_MAX_CONNECTIONS");
  found.tool_loaded = runtime.tool_loaded();
  return found;
}

}  // namespace

experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks) {
  return use(session.parts(), [&](Session::Parts& parts) { return measured(plan, parts, hooks); });
}

experiment::Samples measured(const experiment::Plan& plan, Session::Parts& parts,
                             const Hooks& hooks) {
  const deck::Deck& deck = plan.deck;
  const auto progress = [&](int done, int total, const std::string& what) {
    if (hooks.progress) hooks.progress(done, total, what);
  };
  Executor& executor = parts.executor.emplace(plan.lanes, deck.issue, deck.memory);
  if (deck.host_work) {
    executor.set_host_worker(
        &parts.host_worker.emplace(plan.host_work_pieces, deck.host_work->per_chunk_s));
  }
  experiment::Samples samples;
  samples.cases.resize(plan.cases.size());
  score(executor, plan, parts.workload, hooks, samples);
  samples.conditions = conditions(parts.runtime, plan.lanes);
  if (samples.interrupted) return samples;

  progress(0, 0, "measuring rates");
  // On a GPU stages need lanes of their own; on a host the runs' lanes share its cores out.
  if (on_gpu()) parts.meter.emplace(2, deck::Issue(), deck.memory);
  measure_rates(on_gpu() ? *parts.meter : executor, parts.workload, plan.cases, samples.cases);
  for (std::size_t i = 0; i < plan.cases.size() && plan.point.empty(); ++i) {
    const experiment::Case& one = plan.cases[i];
    progress(0, 0, "tracing " + experiment::name(one));
    const timeline::Engines engines = {.workers = on_gpu() ? 0 : one.schedule.lanes,
                                       .copy_engines = samples.conditions.hardware.copy_engines};
    trace_run(executor, one, samples.cases[i], parts.workload, deck.measure.verify, engines);
  }
  return samples;
}

}  // namespace overlap::measure
