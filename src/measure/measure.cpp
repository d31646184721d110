#include "measure/measure.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/units.hpp"
#include "deck/words.hpp"
#include "lanes/perform.hpp"
#include "lanes/range.hpp"
#include "measure/sampling.hpp"
#include "measure/session.hpp"

namespace overlap::measure {
namespace {

/// Adds a run's times to what is known of it.
void add_sample(experiment::Run& run, const Executor& executor, const Elapsed& elapsed) {
  run.samples_s.push_back(elapsed.complete_s);
  run.issue_s.push_back(elapsed.issued_s);
  run.polls += elapsed.polls;
  if (run.host_work) {
    run.host_work_samples.threads = executor.host_worker()->threads();
    run.host_work_samples.samples_s.push_back(elapsed.host_work_s);
  }
  if (const auto costs = executor.lanes().staging_costs()) {
    if (!run.staging) run.staging.emplace();
    run.staging->fill_s += costs->fill_s;
    run.staging->drain_s += costs->drain_s;
    run.staging->threads = costs->threads;
  }
}

void verify(experiment::Run& run, const Executor& executor, const workload::Workload& workload,
            std::uint32_t repetition, experiment::Samples& samples) {
  const auto start = lanes::Clock::now();
  const workload::Verification result = workload.verify(repetition, workload.repeats);
  std::optional<experiment::WrongData> wrong_work;
  if (run.host_work) wrong_work = executor.host_worker()->verify();
  samples.reference_s += lanes::seconds_since(start);
  ++samples.verified_runs;
  run.verified = true;
  run.max_error = std::max(run.max_error, result.max_error);
  if (result.mismatch && !run.wrong) {
    run.wrong = result.mismatch;
    const std::int64_t unit = run.wrong->index / workload.unit_elements;
    if (run.wrong->chunk < 0) run.wrong->chunk = schedule::chunk_of(run.schedule, unit);
  }
  if (!run.wrong) run.wrong = wrong_work;
}

/// What surrounds the runs; to be asked right after them, while the device is awake.
experiment::Conditions conditions(const Session& session, const timeline::Engines& engines) {
  const auto variable = [](const char* name) {
    const char* const text = std::getenv(name);
    return base::parse_count(text == nullptr ? "" : text);
  };
  experiment::Conditions found;
  if (on_gpu()) found.device = refreshed(session.device);
  found.engines = engines;
  found.launch_blocking = variable("CUDA_LAUNCH_BLOCKING") == 1;
  found.max_connections = variable("CUDA_DEVICE_MAX_CONNECTIONS");
  found.tool_loaded = Kokkos::Tools::profileLibraryLoaded();
  return found;
}

/// The plan's cases, scored; unless that was interrupted, their rates and traces, too.
experiment::Samples measured(const experiment::Plan& plan, Session& session, const Hooks& hooks) {
  const deck::Deck& deck = plan.deck;
  const workload::Workload& workload = session.workload;
  Executor& executor = session.executor.emplace(plan.lanes, deck.issue, deck.memory);
  if (deck.host_work) {
    executor.set_host_worker(
        &session.host_worker.emplace(plan.host_work_pieces, deck.host_work->per_chunk_s));
  }
  std::vector<experiment::Run> runs;
  for (const experiment::Case& one : plan.cases) runs.push_back({one});
  experiment::Samples samples = measure(executor, runs, workload, deck.measure, hooks);
  const timeline::Engines engines = engines_of(session.device, plan.lanes);
  if (!samples.interrupted) {
    hooks.show("measuring rates");
    // On a GPU stages need lanes of their own; on a host the runs' lanes share its cores out.
    if (on_gpu()) session.meter.emplace(2, deck::Issue(), deck.memory);
    measure_rates(on_gpu() ? *session.meter : executor, workload, runs);
    for (experiment::Run& run : runs) {
      if (!plan.values.empty()) break;  // those of all points of a sweep would be far too much
      hooks.show("tracing " + experiment::name(run));
      trace_run(
          executor, run, workload, deck.measure.verify,
          {.workers = on_gpu() ? 0 : run.schedule.lanes, .copy_engines = engines.copy_engines});
    }
  }
  samples.conditions = conditions(session, engines);
  samples.runs = std::move(runs);
  return samples;
}

}  // namespace

void reset(const workload::InstanceRef& instance, const workload::Workload& workload,
           std::uint32_t repetition) {
  workload.generate(repetition);
  const auto transfer = [&](std::size_t array, bool to_device, bool back) {
    for (const schedule::Region& part :
         schedule::parts_of(workload.arrays[array], workload.device[array].size())) {
      if (to_device) lanes::copy(instance, workload, array, true, part, 0);
      if (back) lanes::copy(instance, workload, array, false, part, 0);
    }
  };
  for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
    if (workload.arrays[i].to_device) transfer(i, true, workload.arrays[i].to_host);
  }
  workload::poison(workload, instance);
  for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
    if (!workload.arrays[i].to_device) transfer(i, false, true);
  }
  if (workload.place) workload.place(instance, repetition);
  instance.fence("overlap::reset");
}

void page_lock(workload::Workload& workload) {
  for (workload::HostArray& host : workload.host) {
    host.lock = page_lock(host.data(), host.size());
  }
}

void require_host_kind(const schedule::Schedule& schedule, const workload::Workload& workload) {
  if (workload::on_host(workload.space)) return;  // page locking means nothing there
  const bool pinned = deck::page_locked(schedule.host_memory);
  for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
    if (page_locked(workload.host[i].data()).value_or(pinned) == pinned) continue;
    throw base::Error(base::ExitCode::runtime_error,
                      "host memory of array " + workload.arrays[i].name + " is " +
                          (pinned ? "pageable, but pinned" : "pinned, but pageable") +
                          " was asked for");
  }
}

experiment::Samples measure(Executor& executor, std::vector<experiment::Run>& runs,
                            const workload::Workload& workload, const deck::Measure& plan,
                            const Hooks& hooks) {
  for (const experiment::Run& run : runs) require_host_kind(run.schedule, workload);
  workload.generate(0);
  wake(executor, runs.front().schedule, workload);
  const int rounds = plan.warmup + plan.repetitions;
  experiment::Samples samples;
  const int total = rounds * static_cast<int>(runs.size());
  int done = 0;
  const auto run_once = [&](experiment::Run& run, int round) {
    const bool measured = round >= plan.warmup;
    const bool verified = measured && (plan.verify == deck::Verify::every || round == plan.warmup ||
                                       round == rounds - 1);
    hooks.show(experiment::name(run), done, total);
    base::check_interrupt();
    const auto repetition = static_cast<std::uint32_t>(++done);
    if (verified) {
      reset(executor.lanes().instance(0), workload, repetition);
      if (run.host_work) executor.host_worker()->begin(repetition);
    }
    Elapsed elapsed;
    {
      const lanes::Range range(deck::to_string(run.order).data(), round);
      elapsed = executor.run(run.schedule, workload, hooks.before_sample);
    }
    if (measured) add_sample(run, executor, elapsed);
    run.graph = executor.lanes().graph_costs();
    if (verified) verify(run, executor, workload, repetition, samples);
  };
  try {
    for (int round = 0; round < rounds; ++round) {
      for (experiment::Run& run : runs) run_once(run, round);
    }
  } catch (const base::Error& error) {
    const std::size_t complete = runs.back().samples_s.size();
    if (error.code() != base::ExitCode::interrupted || complete == 0) throw;
    samples.interrupted = true;
    for (experiment::Run& run : runs) {
      for (auto* const list : {&run.samples_s, &run.issue_s, &run.host_work_samples.samples_s}) {
        list->resize(std::min(list->size(), complete));
      }
    }
  }
  hooks.show("", done, total);
  return samples;
}

experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks) {
  return session.use([&] { return measured(plan, session, hooks); });
}

}  // namespace overlap::measure
