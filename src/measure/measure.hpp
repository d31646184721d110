#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/machine.hpp"
#include "experiment/judge.hpp"
#include "measure/executor.hpp"
#include "measure/platform.hpp"

/// What is measured of schedules and workloads, before, in and after the scored runs.
namespace overlap::measure {

/// Who takes part in a measurement from outside; any may be empty.
struct Hooks {
  /// Where it is, for a progress display: `done` of `total` runs; total 0: nobody knows.
  std::function<void(int done, int total, const std::string& what)> progress;
  /// Called before every run, warm-up included, when all is ready and before time counts.
  std::function<void()> before_sample;
  /// Called when it has its time.
  std::function<void()> after_sample;
  /// Calls what measures in runs of its own number; empty: it is called directly.
  std::function<void(const std::function<void()>& body)> together;

  void show(const std::string& what, int done = 0, int total = 0) const {
    if (progress) progress(done, total, what);
  }
  void after() const {
    if (after_sample) after_sample();
  }
  void call(const std::function<void()>& body) const { together ? together(body) : body(); }
};

/// New input data on the host; no right result anywhere: device arrays (but for what a run finds
/// there) and host outputs are poisoned. Pages that the processor has just written lie in its
/// caches, and the first transfer over them is slower (on an H200's host up to 4 times at 16 MiB):
/// one untimed transfer of every byte, in the direction in which the run will move it, brings back
/// the state of data at rest.
void reset(const workload::InstanceRef& instance, const workload::Workload& workload,
           std::uint32_t repetition);

/// Page-locks the workload's host arrays for as long as it lives. Throws what page_lock() of memory
/// throws.
void page_lock(workload::Workload& workload);

/// Throws base::Error{runtime_error} when host memory is not of the kind that the schedule's times
/// are to be about, as far as the back end knows: data and order would still be right.
void require_host_kind(const schedule::Schedule& schedule, const workload::Workload& workload);

/// The one measurement loop: the schedules take turns, so that drift of the machine meets all of
/// them; each run is warm-up or a sample, and verified on data of its own as the deck asks. The
/// rounds go on until experiment::Stopping ends them. A schedule whose data were wrong keeps the
/// first wrong element. After Ctrl-C the complete rounds alone are left; without one it throws
/// base::Error{interrupted}. Throws what require_host_kind() throws. Returns what is not of a
/// single run, with the device's health as the monitor knows it.
experiment::Samples measure(Executor& executor, std::vector<experiment::Run>& runs,
                            const workload::Workload& workload, const deck::Measure& plan,
                            const Hooks& hooks = {},
                            const std::vector<deck::Criterion>& criteria = {},
                            const Monitor& monitor = {});

/// Such tasks of a schedule alone, each row in a lane of its own, whatever they waited for.
schedule::Schedule rows_of(const schedule::Schedule& schedule,
                           std::vector<std::vector<schedule::Task>> rows);

/// Measures the schedule's stages alone and together, with its own tasks: on host back ends on the
/// lanes that runs have, elsewhere on two.
model::Rates rates_of(Executor& executor, const workload::Workload& workload,
                      const schedule::Schedule& schedule, const Hooks& hooks = {});

/// Gives every run the rates of its stages; runs whose chunks are alike share them. One whose
/// kernels move the data themselves has those of the first that copies, if there is one. What the
/// runs left in the arrays is lost.
void measure_rates(Executor& executor, const workload::Workload& workload,
                   std::vector<experiment::Run>& runs, const Hooks& hooks = {});

/// Bytes of the largest copy in any of the runs.
std::int64_t largest_copy(const std::vector<experiment::Run>& runs);

/// Measures copies of `bytes`, and at least 64 MiB, of pinned memory: to the device, back, and both
/// at the same time, in turn. Throws base::Error{precondition} when memory does not suffice.
experiment::DeviceSamples measure_link(std::int64_t bytes, int repetitions, const Hooks& hooks);

/// What copies 32 MiB each way, both at the same time, whenever it is called: a load beside the
/// samples of others.
std::function<void()> copy_load();

/// What executes tasks on this many lanes of the space.
timeline::Engines engines_of(const base::DeviceInfo& device, int lanes,
                             workload::SpaceId space = workload::default_space);

/// For every copy to the host, when the last kernel or copy to the device that it waits for
/// stopped.
std::vector<double> inputs_s(const schedule::Schedule& schedule,
                             const timeline::Timeline& timeline);

/// Copies to the host start no earlier than the one before them on their engine stops. Returns
/// whether that took little: the runs they are from may have had their chunks in different orders.
bool fit_copies(const schedule::Schedule& schedule, timeline::Timeline& timeline);

/// A timeline of a run in which some tasks were timed.
using TraceOnce = std::function<timeline::Timeline(const std::vector<bool>& timed)>;

/// The timeline of a scored run. On a GPU a time stamp holds up the copies to the host alone (on an
/// H200 by 6 us each; kernels and copies to the device by nothing): where that slows the run down
/// and turns help, copies take turns at it, if the source is `selective`.
experiment::Trace trace_in_turns(const experiment::Run& run, bool selective,
                                 const TraceOnce& trace_once);

/// Traces a run, in turns where that helps. A trace that fails leaves the run without one.
void trace_run(Executor& executor, experiment::Run& run, const workload::Workload& workload,
               deck::Verify verify, const timeline::Engines& engines);

/// Measures the copies and the kernel of the schedule's first chunk, alone on the device, and
/// finds and sets the workload's repeats with which the kernel takes `balance` times as long as the
/// copies to the device.
experiment::Balance find_balance(Executor& executor, const schedule::Schedule& schedule,
                                 workload::Workload& workload, double balance);

/// The time of one more step, from `time(steps)`.
double seconds_per_step(const std::function<double(std::int64_t steps)>& time);

/// Sets the workload's steps per second, of kernels that fill the device and of the issuing thread.
void calibrate_steps(Executor& executor, workload::Workload& workload);

}  // namespace overlap::measure
