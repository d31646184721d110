#include "measure/measure.hpp"

#include <algorithm>

#include "deck/words.hpp"
#include "lanes/perform.hpp"
#include "lanes/range.hpp"
#include "measure/host_worker.hpp"
#include "measure/platform.hpp"
#include "measure/sampling.hpp"

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
            std::uint32_t repetition, Checking& checking) {
  const auto start = lanes::Clock::now();
  const workload::Verification result = workload.verify(repetition, workload.repeats);
  std::optional<experiment::WrongData> wrong_work;
  if (run.host_work) wrong_work = executor.host_worker()->verify();
  checking.reference_s += lanes::seconds_since(start);
  ++checking.runs;
  run.verified = true;
  run.max_error = std::max(run.max_error, result.max_error);
  if (result.mismatch && !run.wrong) {
    run.wrong = result.mismatch;
    const std::int64_t unit = run.wrong->index / workload.unit_elements;
    if (run.wrong->chunk < 0) run.wrong->chunk = schedule::chunk_of(run.schedule, unit);
  }
  if (!run.wrong) run.wrong = wrong_work;
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

Checking measure(Executor& executor, std::vector<experiment::Run>& runs,
                 const workload::Workload& workload, const deck::Measure& plan,
                 const Hooks& hooks) {
  for (const experiment::Run& run : runs) require_host_kind(run.schedule, workload);
  workload.generate(0);
  wake(executor, runs.front().schedule, workload);
  const int rounds = plan.warmup + plan.repetitions;
  Checking checking;
  int done = 0;
  const auto progress = [&](const std::string& what) {
    if (hooks.progress) hooks.progress(done, rounds * static_cast<int>(runs.size()), what);
  };
  for (int round = 0; round < rounds; ++round) {
    const bool measured = round >= plan.warmup;
    const bool verified = measured && (plan.verify == deck::Verify::every || round == plan.warmup ||
                                       round == rounds - 1);
    for (experiment::Run& run : runs) {
      progress(experiment::name(run));
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
      if (verified) verify(run, executor, workload, repetition, checking);
    }
  }
  progress("");
  return checking;
}

}  // namespace overlap::measure
