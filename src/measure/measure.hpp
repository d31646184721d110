#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/machine.hpp"
#include "experiment/judge.hpp"
#include "measure/hooks.hpp"
#include "measure/meter.hpp"
#include "measure/platform.hpp"

/// Measurements of schedules and workloads before, during and after the scored runs.
namespace overlap::measure {

/// Prepares a verified run: new input data on the host, device arrays (except resident data) and
/// host outputs poisoned. Every byte is transferred once, untimed, in the direction of the run,
/// because the first transfer of new data is slower: up to 4 times for 16 MiB on an H200 if the
/// data are in the caches of the processor, from which generate() flushes them. Managed arrays only
/// get new data, whose pages are then on the host.
void reset(const workload::Space& instance, const workload::Workload& workload,
           std::uint32_t repetition);

/// Page-locks the host arrays for the lifetime of the workload; `mapped`: kernels will work on
/// them. Throws as page_lock() of memory.
void page_lock(workload::Workload& workload, bool mapped);

/// Throws base::Error{runtime_error} if host memory is not of the kind that the schedule states, as
/// far as the back end can tell: wrong memory would not show in the data.
void require_host_kind(const schedule::Schedule& schedule, const workload::Workload& workload);

/// Called after each complete round of scored runs: measures what must see the same moments as
/// they.
using AfterRound = std::function<void(experiment::DeviceSamples&, bool may_be_last)>;

/// The only loop that scores. Orders take turns, so that drift of the machine affects all alike;
/// runs are warm-up or samples, verified with their own data as the deck requires. Rounds continue
/// until experiment::Stopping ends them, on all ranks of a phase together. A run with wrong data
/// keeps its first wrong element. After Ctrl-C only complete rounds are kept; without any, throws
/// base::Error{interrupted}. Throws as require_host_kind(). Returns everything that does not belong
/// to a single run, including the device health from the monitor.
experiment::Samples run_rounds(Executor& executor, std::vector<experiment::Case>& cases,
                               const workload::Workload& workload, const deck::Measure& options,
                               const Hooks& hooks = {},
                               const std::vector<deck::Criterion>& criteria = {},
                               const Monitor& monitor = {}, const AfterRound& after_round = {});

/// Measures the stages of a schedule with its own tasks: on a host alone, on the lanes of the runs;
/// on a GPU alone and concurrently, on two lanes. Overwrites the arrays.
class RateMeter {
 public:
  /// Executor and workload must outlive the meter.
  RateMeter(Executor& executor, const workload::Workload& workload, schedule::Schedule schedule);
  RateMeter(const RateMeter&) = delete;  // rows refer to its schedule
  RateMeter& operator=(const RateMeter&) = delete;

  /// Measures these rates; all others of the result are NaN.
  model::Rates sample(std::span<const model::Rate> which = model::all_rates);
  /// The medians of samples, made consistent.
  model::Rates rates(const std::vector<model::Rates>& samples) const;

 private:
  /// Tasks whose time is a rate, the least of all its rows.
  struct Row {
    model::Rate rate;
    int times;  ///< that all tasks of the rate run in it
    Marginal tasks;
  };

  Executor& executor_;
  const workload::Workload& workload_;
  schedule::Schedule schedule_, copies_;
  std::vector<Row> rows_;
  Marginal kernel_alone_, kernel_during_copies_;  ///< of the same kernels, longer than the copies
  int copy_count_ = 0;                            ///< of the latter; 0: not measured
};

/// The rates of all runs: runs with the same chunks share them, zero-copy runs use those of the
/// first other run, if any.
class RatesOfRuns {
 public:
  /// `workload`: that of the runs, or with page-locked memory, which managed memory is compared
  /// with. The arguments must outlive the meters.
  RatesOfRuns(Executor& executor, const workload::Workload& workload,
              const std::vector<experiment::Case>& cases);

  /// Call between rounds: the rates are of the same minutes as the runs. `which`: if not all, those
  /// of the chunks that took the least time so far. Keeps at most `most` samples, as add_thinned().
  void add_sample(std::span<const model::Rate> which = model::all_rates,
                  std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// `by_round`: also the samples.
  void store(std::vector<experiment::Case>& cases, bool by_round = false) const;

 private:
  /// Chooses the meter of each rate: with the least median, as add_bounds() does.
  void find_sources();

  std::deque<RateMeter> meters_;
  std::vector<std::vector<model::Rates>> samples_;  ///< per meter
  std::vector<bool> host_tiles_;                    ///< per meter: its runs leave tiles to the host
  std::vector<std::size_t> sources_;                ///< meter per rate; empty: not yet chosen
  std::vector<std::optional<std::size_t>> meter_index_;  ///< per run
  std::int64_t number_ = 0;                              ///< of the next sample
};

/// Bytes of copies with which to measure the link beside these runs: those of their largest copy,
/// at least 64 MiB, at most 1 GiB. The baseline, which copies all data at once, counts only if it
/// is alone.
std::int64_t link_bytes(const std::vector<experiment::Case>& cases);

/// Measures the link with copies of `bytes` of page-locked memory on two lanes, one per direction,
/// each with its half of the arrays.
class LinkMeter {
 public:
  /// `ranks`: of this node, which allocate at once. Throws base::Error{precondition} if memory is
  /// short.
  explicit LinkMeter(std::int64_t bytes, int ranks = 1, Executor lanes = Executor(2));

  /// Call before the first sample.
  void warm_up();

  /// Adds a repetition, thinned in a long run: copies to the device, back, and both at once. Then
  /// the slower direction copies less, so that each has the other beside it until the end.
  void add_sample(experiment::DeviceSamples& device, const Hooks& hooks = {});

  /// Copies once in both directions at the same time.
  void copy();

 private:
  /// `copies` in each direction, of these parts of `bytes`.
  schedule::Schedule row(double up, double down, std::int64_t copies) const;
  /// Seconds per lane of copies of all `bytes` at the rates of such rows.
  std::vector<double> seconds(double up, double down, const Hooks& hooks);

  std::int64_t bytes_;
  workload::Workload workload_;
  Executor executor_;
  double up_part_ = 1, down_part_ = 1;  ///< of `bytes`: take both directions the same time
  std::int64_t samples_ = 0;
};

/// The number of hardware queues that the lanes share, with the variable that sets it; empty: the
/// back end has no such variable.
std::optional<experiment::Variable> max_connections();

/// Engines that execute tasks on `lanes` lanes.
timeline::Engines engines_of(const base::DeviceInfo& device, int lanes);

/// Shifts the tasks on the device to the host's clock, which the vendor's records can miss by some
/// microseconds: none of them stops after the host has seen the end of the run.
void align_clocks(const schedule::Schedule& schedule, timeline::Timeline& timeline);

/// Traces a case and keeps the timeline with the median time. If that fails, its run's `untraced`
/// gives the reason. `step` is called before each traced run.
void trace_run(Executor& executor, experiment::Case& traced, const workload::Workload& workload,
               deck::Verify verify, int copy_engines = 2,
               const std::function<void()>& step = base::check_interrupt);

/// Measures H2D copies and kernel of the largest chunk of the schedule alone, and sets
/// `workload.repeats` so that the kernel takes about `balance` times as long as the copies. `step`
/// is called before each run.
experiment::Balance find_balance(Executor& executor, const schedule::Schedule& schedule,
                                 workload::Workload& workload, double balance,
                                 const std::function<void()>& step = base::check_interrupt);

/// Marginal seconds per step, from `time(steps)`.
double seconds_per_step(const std::function<double(std::int64_t steps)>& time);

/// Measures the steps per second of the issuing thread, which its host work is made of.
void calibrate_host_steps(workload::Workload& workload);

/// The same, and `workload.repeats` for kernels that fill the device.
void calibrate_steps(Executor& executor, workload::Workload& workload);

}  // namespace overlap::measure
