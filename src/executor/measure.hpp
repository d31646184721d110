#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "executor/executor.hpp"
#include "executor/platform.hpp"
#include "executor/wake.hpp"
#include "timeline/run.hpp"

namespace overlap::executor {

/// Where a measurement is, for a progress display.
struct Progress {
  int done = 0;  ///< runs
  int total = 0;
  deck::Order order = deck::Order::sequential;
};

/// What verifying cost, outside the timed region.
struct Checking {
  double reference_s = 0;  ///< computing the reference and comparing, all runs together
  int runs = 0;
};

/// New input data on the host; no right result anywhere: device arrays (but for what a run finds
/// there) and host outputs are poisoned. Pages that the processor has just written lie in its
/// caches, and the first transfer over them is slower (on an H200's host up to 4 times at 16 MiB):
/// one untimed transfer of every byte, in the direction in which the run will move it, brings back
/// the state of data at rest.
template <class Space>
void reset(const Space& instance, const workload::Workload<Space>& workload,
           std::uint32_t repetition) {
  workload.generate(repetition);
  const auto transfer = [&](std::size_t array, bool to_device, bool back) {
    const std::size_t most_bytes = workload.device[array].size();
    for (const schedule::Region& part : schedule::parts_of(workload.arrays[array], most_bytes)) {
      if (to_device) copy(instance, workload, array, true, part, 0);
      if (back) copy(instance, workload, array, false, part, 0);
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

/// Page-locks the workload's host arrays for as long as it lives. Throws what page_lock() of memory
/// throws.
template <class Space>
void page_lock(workload::Workload<Space>& workload) {
  for (workload::HostArray<Space>& host : workload.host) {
    host.lock = page_lock(host.data(), host.size());
  }
}

/// Throws base::Error{runtime_error} when host memory is not of the kind that the schedule's times
/// are to be about, as far as the back end can tell: data and order would be right all the same.
template <class Space>
void require_host_kind(const schedule::Schedule& schedule,
                       const workload::Workload<Space>& workload) {
  if (workload::is_host<Space>) return;  // page locking means nothing there
  const bool pinned = deck::page_locked(schedule.host_memory);
  for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
    if (page_locked(workload.host[i].data()).value_or(pinned) == pinned) continue;
    throw base::Error(base::ExitCode::runtime_error,
                      "host memory of array " + workload.arrays[i].name + " is " +
                          (pinned ? "pageable, but pinned" : "pinned, but pageable") +
                          " was asked for");
  }
}

/// The one measurement loop: the schedules take turns, so that drift of the machine meets all of
/// them; each run is warm-up or a sample, and verified on data of its own as the deck asks. A
/// schedule whose data were wrong keeps the first wrong element. Throws base::Error{interrupted}
/// after Ctrl-C, and what require_host_kind() throws.
template <class Space>
void measure(Executor<Space>& executor, std::vector<timeline::Run>& runs,
             const workload::Workload<Space>& workload, const deck::Measure& plan,
             const std::function<void(const Progress&)>& progress, Checking& checking) {
  for (const timeline::Run& run : runs) require_host_kind(run.schedule, workload);
  workload.generate(0);
  wake(executor, runs.front().schedule, workload);
  const int rounds = plan.warmup + plan.repetitions;
  Progress at{.done = 0, .total = rounds * static_cast<int>(runs.size())};
  std::uint32_t repetition = 0;
  for (int round = 0; round < rounds; ++round) {
    const bool measured = round >= plan.warmup;
    const bool verify = measured && (plan.verify == deck::Verify::every || round == plan.warmup ||
                                     round == rounds - 1);
    for (timeline::Run& run : runs) {
      at.order = run.order;
      progress(at);
      base::check_interrupt();
      ++repetition;
      if (verify) {
        reset(executor.instance(), workload, repetition);
        if (run.host_work) executor.host_work()->begin(repetition);
      }
      Elapsed elapsed;
      {
        const detail::Range range(deck::to_string(run.order).data(), round);
        elapsed = executor.run(run.schedule, workload);
      }
      if (measured) {
        run.samples_s.push_back(elapsed.complete_s);
        run.issue_s.push_back(elapsed.issued_s);
        run.polls += elapsed.polls;
        if (run.host_work) {
          run.host_work->threads = executor.host_work()->threads();
          run.host_work->samples_s.push_back(elapsed.host_work_s);
        }
        if (const auto costs = executor.staging_costs()) {
          if (!run.staging) run.staging.emplace();
          run.staging->fill_s += costs->fill_s;
          run.staging->drain_s += costs->drain_s;
          run.staging->threads = costs->threads;
        }
      }
      run.graph = executor.graph_costs();
      if (verify) {
        const auto start = std::chrono::steady_clock::now();
        const workload::Verification result = workload.verify(repetition, workload.repeats);
        std::optional<timeline::WrongData> wrong_work;
        if (run.host_work) wrong_work = executor.host_work()->verify();
        checking.reference_s +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        ++checking.runs;
        run.verified = true;
        run.max_error = std::max(run.max_error, result.max_error);
        if (result.mismatch && !run.wrong) {
          const workload::Mismatch& mismatch = *result.mismatch;
          const std::int64_t unit = mismatch.index / workload.unit_elements;
          run.wrong = {mismatch.chunk.value_or(schedule::chunk_of(run.schedule, unit)),
                       mismatch.array, mismatch.index, mismatch.expected, mismatch.found};
        }
        if (!run.wrong) run.wrong = wrong_work;
      }
      ++at.done;
    }
  }
  progress(at);
}

}  // namespace overlap::executor
