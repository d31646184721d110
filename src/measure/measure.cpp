#include "measure/measure.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "base/units.hpp"
#include "deck/words.hpp"
#include "experiment/stopping.hpp"
#include "lanes/range.hpp"
#include "measure/bench.hpp"
#include "measure/calibration.hpp"
#include "measure/health.hpp"
#include "measure/session.hpp"

namespace overlap::measure {
namespace {

/// Adds a sample to its run; in a soak thinned, so that memory stays bounded.
void add_sample(experiment::MeasuredRun& run, const Elapsed& elapsed,
                const deck::Measure& options) {
  const std::int64_t number = run.repetitions++;
  const auto add = [&](std::vector<double>& list, double value) {
    if (options.duration_s) {
      experiment::add_thinned(list, value, number, experiment::most_kept);
    } else {
      list.push_back(value);
    }
  };
  add(run.samples_s, elapsed.complete_s);
  add(run.issue_s, elapsed.issued_s);
  if (run.host_work) add(run.host_work->samples_s, elapsed.host_work_s);
  run.polls += elapsed.polls;
  run.cpu_s += elapsed.cpu_s;
  run.wanted_s += elapsed.wanted_s;
}

void verify(experiment::MeasuredRun& run, const workload::Workload& workload,
            std::uint32_t repetition, experiment::Samples& samples) {
  const auto start = lanes::Clock::now();
  const workload::Verification result = workload.verify(repetition, workload.repeats);
  samples.verification_s += lanes::seconds_since(start);
  ++samples.verified_runs;
  run.verified = true;
  run.max_error = std::max(run.max_error, result.max_error);
  if (result.mismatch && !run.wrong) {
    run.wrong = result.mismatch;
    const std::int64_t unit = run.wrong->index / workload.unit_elements;
    if (run.wrong->chunk < 0) run.wrong->chunk = schedule::chunk_of(run.schedule, unit);
  }
}

/// Progress of the loop: by time in a soak, otherwise by runs.
struct Progress {
  const Hooks& hooks;
  std::optional<double> duration_s;
  int total;
  int done = 0;
  std::optional<lanes::Clock::time_point> start = {};  ///< of the first scored run
  double paused_s = 0;                                 ///< since then; does not count

  double elapsed_s() const { return start ? lanes::seconds_since(*start) - paused_s : 0; }
  void show(const std::string& activity) const {
    if (!duration_s) return hooks.show(activity, done, total);
    const auto ms = [](double seconds) { return static_cast<int>(1e3 * seconds); };
    hooks.show(activity, ms(std::min(elapsed_s(), *duration_s)), ms(*duration_s));
  }
};

/// An environment variable with a number; empty: not set.
std::optional<experiment::Variable> variable(const std::string& name) {
  const char* const text = std::getenv(name.c_str());
  const auto value = base::parse_count(text == nullptr ? "" : text);
  return value ? std::optional(experiment::Variable{name, *value}) : std::nullopt;
}

/// Adds conditions of the runs; call right after them, while the device is awake.
void add_conditions(const Session& session, const timeline::Engines& engines,
                    experiment::Conditions& conditions) {
  if (on_gpu()) {
    const auto& describe = session.monitor.describe;
    conditions.device = describe ? describe(session.device) : session.device;
  }
  conditions.engines = engines;
  conditions.cores = base::host_info().usable_cores();
  conditions.launch_blocking = variable(variables().launch_blocking);
  conditions.max_connections = max_connections();
  conditions.tool_loaded = Kokkos::Tools::profileLibraryLoaded();
}

bool judges_link(const deck::Deck& deck) {
  return std::ranges::any_of(deck.acceptance, [](const auto& criterion) {
    return deck::row_of(criterion.metric).needs == deck::Needs::link;
  });
}

bool judges_bounds(const std::vector<deck::Criterion>& criteria) {
  return std::ranges::any_of(criteria, [](const auto& criterion) {
    return deck::row_of(criterion.metric).options.uses_bound;
  });
}

/// What limits any of the runs.
std::vector<model::Rate> limiting_rates(const std::vector<experiment::MeasuredRun>& runs) {
  std::vector<model::Rate> all;
  for (const model::Rate rate : model::all_rates) {
    const auto limits = [&](const experiment::MeasuredRun& run) {
      if (!run.bounds) return false;
      const auto limiting = model::limiting_rates(*run.bounds);
      return std::ranges::find(limiting, rate) != limiting.end();
    };
    if (std::ranges::any_of(runs, limits)) all.push_back(rate);
  }
  return all;
}

/// The workload with page-locked memory, which managed memory is compared with. Empty where memory
/// is short.
std::optional<workload::Workload> pinned_twin(deck::Deck deck, const workload::Workload& workload,
                                              int ranks) {
  deck.memory = {};
  std::int64_t bytes = 0;
  for (const auto& array : workload.arrays) bytes += static_cast<std::int64_t>(array.host_bytes);
  try {
    require_host_memory(bytes, ranks);
    workload::Workload twin = resident_workload(deck);
    twin.repeats = workload.repeats;
    return twin;
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::precondition) throw;
    return std::nullopt;
  }
}

/// Without a criterion only on a GPU, where it is fast; on a host it takes longer than small decks.
/// Empty where the deck leaves too little memory for it.
std::optional<LinkMeter> link_meter(const experiment::Plan& plan,
                                    const std::vector<experiment::MeasuredRun>& runs,
                                    const Hooks& hooks) {
  if (!judges_link(plan.deck) && (!on_gpu() || plan.is_swept())) return std::nullopt;
  try {
    return std::optional<LinkMeter>(std::in_place, link_bytes(runs), hooks);
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::precondition) throw;
    return std::nullopt;
  }
}

void trace(const experiment::Plan& plan, Bench& bench, const Hooks& hooks, int copy_engines,
           std::vector<experiment::MeasuredRun>& runs) {
  if (plan.is_swept()) return;  // too much data for points of a sweep
  const deck::Deck& deck = plan.deck;
  for (experiment::MeasuredRun& run : runs) {
    const auto step = [&] {
      base::check_interrupt();
      hooks.show("tracing " + experiment::name(run));
    };
    hooks.call([&] {
      trace_run(*bench.executor, run, bench.workload, deck.measure.verify, copy_engines, step);
    });
  }
}

/// Scores the cases of the plan, measures rates between the rounds and, unless interrupted, traces.
/// An interrupt leaves what was scored.
experiment::Samples score_and_trace(const experiment::Plan& plan, const Session& session,
                                    Bench& bench, const Hooks& hooks) {
  const deck::Deck& deck = plan.deck;
  const workload::Workload& workload = bench.workload;
  Executor& executor = bench.executor.emplace(plan.lanes, deck.issue, deck.memory);
  std::vector<experiment::MeasuredRun> runs;
  for (const experiment::Case& planned : plan.cases) runs.push_back({planned});
  std::vector<deck::Criterion> criteria = deck.acceptance;
  std::erase_if(criteria, [](const auto& criterion) { return !criterion.holds_here(on_gpu()); });
  // On a GPU rates need their own lanes; on a host they use the lanes of the runs, which share the
  // cores.
  if (on_gpu()) bench.meter.emplace(2, deck::Issue(), deck.memory);
  const bool managed = deck.memory.host == deck::HostMemory::managed;
  if (managed) bench.pinned = pinned_twin(deck, workload, hooks.ranks);
  const bool has_rates = !managed || bench.pinned;
  RatesOfRuns rates(on_gpu() ? *bench.meter : executor, bench.pinned ? *bench.pinned : workload,
                    has_rates ? runs : std::vector<experiment::MeasuredRun>());
  std::optional<LinkMeter> link = link_meter(plan, runs, hooks);
  const timeline::Engines engines = engines_of(session.device, plan.lanes);
  const bool by_round = judges_bounds(criteria);
  const std::int64_t most_kept =
      deck.measure.duration_s ? experiment::most_kept : std::numeric_limits<std::int64_t>::max();
  double rates_s = 0;
  const auto after_round = [&, round = 0, stride = 1](experiment::DeviceSamples& device,
                                                      bool may_be_last) mutable {
    const int most_rounds = on_gpu() ? 8 : 4;  // of a long run, as evenly as possible
    while (round / stride >= most_rounds) stride *= 2;
    const bool due = round % stride == 0;
    // Where each round is measured, what does not limit is measured in the first ones alone.
    const bool all_rates = by_round ? round < most_rounds : due;
    // The link first: after 64 MiB of other data, the next run of 16 MiB takes 1 % longer (H200).
    if (link && (due || judges_link(deck))) link->add_sample(device);
    if (by_round) {
      const auto start = lanes::Clock::now();
      const std::vector<model::Rate> limiting = limiting_rates(runs);
      rates.add_sample(all_rates ? std::span<const model::Rate>(model::all_rates) : limiting,
                       most_kept);
      if (all_rates || may_be_last) {
        rates.store(runs, by_round);
        experiment::add_bounds(runs, engines);
      }
      rates_s += lanes::seconds_since(start);
    } else if (all_rates) {
      rates.add_sample();
    }
    ++round;
  };
  experiment::Samples samples = run_rounds(executor, runs, workload, deck.measure, hooks, criteria,
                                           session.monitor, after_round);
  link.reset();
  if (!workload.host.empty()) samples.device.array_node = node_of(workload.host.front().data());
  rates.store(runs, by_round);
  samples.rates_s = rates_s;
  bench.pinned.reset();
  try {
    if (!samples.interrupted) trace(plan, bench, hooks, engines.copy_engines, runs);
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::interrupted) throw;
    samples.interrupted = true;
  }
  add_conditions(session, engines, samples.conditions);
  samples.runs = std::move(runs);
  return samples;
}

}  // namespace

std::optional<experiment::Variable> max_connections() {
  const Variables names = variables();
  auto set = variable(names.max_connections);
  if (!set && names.default_connections) set = {names.max_connections, *names.default_connections};
  return set;
}

void reset(const workload::Space& instance, const workload::Workload& workload,
           std::uint32_t repetition) {
  workload.generate(repetition);
  const bool managed =
      !workload.host.empty() && workload.host.front().memory == deck::HostMemory::managed;
  if (managed) return;                 // all pages are on the host
  lanes::wait_for(instance, "reset");  // finds a lost device, on which calls of Kokkos would abort
  const auto transfer = [&](std::size_t array, bool to_device, bool back) {
    for (const schedule::Region& part :
         schedule::regions_of(workload.arrays[array], workload.device[array].size())) {
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
  lanes::wait_for(instance, "reset");
}

void page_lock(workload::Workload& workload, bool mapped) {
  for (workload::HostArray& host : workload.host) {
    host.lock = page_lock(host.data(), host.size(), mapped);
  }
}

void require_host_kind(const schedule::Schedule& schedule, const workload::Workload& workload) {
  if (workload::is_host) return;  // page locking has no effect on a host
  const bool pinned = deck::page_locked(schedule.host_memory);
  for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
    if (page_locked(workload.host[i].data()).value_or(pinned) == pinned) continue;
    throw base::Error(base::ExitCode::runtime_error,
                      "host memory of array " + workload.arrays[i].name + " is " +
                          (pinned ? "pageable, but pinned" : "pinned, but pageable") +
                          " was asked for");
  }
}

experiment::Samples run_rounds(Executor& executor, std::vector<experiment::MeasuredRun>& runs,
                               const workload::Workload& workload, const deck::Measure& options,
                               const Hooks& hooks, const std::vector<deck::Criterion>& criteria,
                               const Monitor& monitor, const AfterRound& after_round) {
  for (const experiment::MeasuredRun& run : runs) require_host_kind(run.schedule, workload);
  workload.generate(0);
  wake(executor, runs.front().schedule, workload);
  HealthWatch watch(monitor, options.duration_s);
  experiment::Samples samples;
  experiment::Stopping stopping(options, criteria);
  const int rounds = options.warmup + experiment::most_repetitions(options);
  Progress progress{hooks, options.duration_s, rounds * static_cast<int>(runs.size())};
  const auto run_once = [&](experiment::MeasuredRun& run, int round, bool verified) {
    progress.show(experiment::name(run));
    base::check_interrupt();
    const auto repetition = static_cast<std::uint32_t>(++progress.done);
    if (verified) reset(executor.lanes().instance(0), workload, repetition);
    const bool scored = round >= options.warmup;
    Elapsed elapsed;
    {
      const lanes::ProfilerRange range(deck::to_string(run.order).data(), round);
      elapsed = executor.run(run.schedule, workload, [&] {
        if (hooks.before_sample) hooks.before_sample();
        if (scored) watch.begin();
      });
      if (scored) watch.end(elapsed.complete_s);
    }
    hooks.after(scored);
    run.graph = executor.lanes().graph_costs();
    if (verified) verify(run, workload, repetition, samples);
    return elapsed;
  };
  try {
    for (int round = 0; round < options.warmup; ++round) {
      for (experiment::MeasuredRun& run : runs) run_once(run, round, false);
    }
    progress.start = lanes::Clock::now();
    std::vector<Elapsed> elapsed(runs.size());
    std::array<std::vector<double>, 2> rounds_s;  // not verified, verified
    for (int round = 1; !samples.stopped; ++round) {
      const bool verified = options.verify == deck::Verify::every || round == 1 ||
                            stopping.may_end(round, progress.elapsed_s());
      const double begin_s = progress.elapsed_s();
      for (std::size_t i = 0; i < runs.size(); ++i) {
        elapsed[i] = run_once(runs[i], options.warmup + round - 1, verified);
      }
      progress.paused_s +=
          experiment::excess_s(rounds_s[verified], progress.elapsed_s() - begin_s, round - 1);
      for (std::size_t i = 0; i < runs.size(); ++i) {
        add_sample(runs[i], elapsed[i], options);
      }
      if (after_round) {
        after_round(samples.device, stopping.may_end(round, progress.elapsed_s()));
      }
      std::optional<experiment::Stop> stop;
      if (verified && stopping.may_end(round, progress.elapsed_s())) {
        stop = stopping.stop(runs, round, progress.elapsed_s(), samples.device);
      }
      if (hooks.stop(stop.has_value())) samples.stopped = stop;
    }
    // Verification of the last run may have let the device fall asleep.
    if (monitor.health) wake(executor, runs.front().schedule, workload);
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::interrupted || runs.back().samples_s.empty()) throw;
    samples.interrupted = true;
  }
  progress.show("");
  samples.conditions.paused_s = progress.paused_s;
  samples.device.health = watch.finish();
  samples.device.health_series = std::move(watch.series());
  return samples;
}

experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks) {
  return session.use([&] { return score_and_trace(plan, session, *session.bench, hooks); });
}

}  // namespace overlap::measure
