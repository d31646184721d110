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

/// Adds a sample to its case; in a soak thinned, so that memory stays bounded.
void add_sample(experiment::Case& scored, const Elapsed& elapsed, const deck::Measure& options) {
  results::Run& run = scored.run;
  const std::int64_t number = run.repetitions++;
  const auto add = [&](std::vector<double>& list, double value) {
    if (options.duration_s) {
      experiment::add_thinned(list, value, number, experiment::most_kept);
    } else {
      list.push_back(value);
    }
  };
  add(run.samples_s, elapsed.complete_s);
  add(scored.issue_s, elapsed.issued_s);
  if (run.host_work) add(run.host_work->samples_s, elapsed.host_work_s);
  run.polls += elapsed.polls;
  scored.cpu_s += elapsed.cpu_s;
  scored.wanted_s += elapsed.wanted_s;
}

void verify(experiment::Case& ended, const workload::Workload& workload, std::uint32_t repetition,
            experiment::Samples& samples) {
  const auto start = lanes::Clock::now();
  const workload::Verification result = workload.verify(repetition, workload.repeats);
  samples.verification_s += lanes::seconds_since(start);
  ++samples.verified_runs;
  results::Run& run = ended.run;
  run.verified = true;
  ended.max_error = std::max(ended.max_error, result.max_error);
  if (result.mismatch && !run.wrong) {
    run.wrong = result.mismatch;
    const std::int64_t unit = run.wrong->index / workload.unit_elements;
    if (run.wrong->chunk < 0) run.wrong->chunk = schedule::chunk_of(ended.schedule, unit);
  }
}

/// What goes on around the runs: progress, profilers, health, other ranks, and when they end.
class Course {
 public:
  Course(std::size_t cases, const deck::Measure& options, const Hooks& hooks,
         const std::vector<deck::Criterion>& criteria, const Monitor& monitor)
      : options_(options),
        hooks_(hooks),
        stopping_(options, criteria),
        health_(monitor, options.duration_s),
        total_((options.warmup + experiment::most_repetitions(options)) * static_cast<int>(cases)) {
  }

  /// Returns the number of the run, from 1.
  std::uint32_t begin_run(const results::Run& run) {
    show(experiment::name(run));
    base::check_interrupt();
    return static_cast<std::uint32_t>(++done_);
  }
  /// Right before and after the timed region.
  void begin_time() {
    if (hooks_.before_sample) hooks_.before_sample();
    if (round_ > 0) health_.begin();
  }
  void end_time(double complete_s) {
    if (round_ > 0) health_.end(complete_s);
    hooks_.after(round_ > 0);
  }

  /// Round 0 and those before it warm up.
  void begin_round(int round) {
    if (round == 1) start_ = lanes::Clock::now();
    round_ = round;
    round_start_s_ = elapsed_s();
    verifies_ =
        round > 0 && (options_.verify == deck::Verify::every || round == 1 || may_be_last());
  }
  bool verifies() const { return verifies_; }  ///< whether the runs of this round are verified
  void end_round() {
    if (round_ < 1) return;
    paused_s_ +=
        experiment::excess_s(rounds_s_[verifies_], elapsed_s() - round_start_s_, round_ - 1);
  }
  bool may_be_last() const { return stopping_.may_end(round_, elapsed_s()); }
  /// Empty: another round follows, on all ranks of a phase.
  std::optional<experiment::Stop> stop(const std::vector<experiment::Case>& cases,
                                       const experiment::DeviceSamples& device) {
    std::optional<experiment::Stop> stop;
    if (verifies_ && may_be_last()) stop = stopping_.stop(cases, round_, elapsed_s(), device);
    return hooks_.stop(stop.has_value()) ? stop : std::nullopt;
  }

  /// Sets what was seen of the device and of pauses.
  void finish(experiment::Samples& samples) {
    show("");
    samples.conditions.paused_s = paused_s_;
    samples.device.health = health_.finish();
    samples.device.health_series = std::move(health_.series());
  }

 private:
  /// Since the first scored run, without pauses.
  double elapsed_s() const { return start_ ? lanes::seconds_since(*start_) - paused_s_ : 0; }

  /// In a soak by time, otherwise by runs.
  void show(const std::string& activity) const {
    if (!options_.duration_s) return hooks_.show(activity, done_, total_);
    const auto ms = [](double seconds) { return static_cast<int>(1e3 * seconds); };
    hooks_.show(activity, ms(std::min(elapsed_s(), *options_.duration_s)),
                ms(*options_.duration_s));
  }

  const deck::Measure& options_;
  const Hooks& hooks_;
  experiment::Stopping stopping_;
  HealthWatch health_;
  int total_, done_ = 0;  ///< runs
  int round_ = 0;
  bool verifies_ = false;
  double round_start_s_ = 0, paused_s_ = 0;
  std::optional<lanes::Clock::time_point> start_;
  std::array<std::vector<double>, 2> rounds_s_;  ///< not verified, verified
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
std::vector<model::Rate> limiting_rates(const std::vector<experiment::Case>& cases) {
  std::vector<model::Rate> all;
  for (const model::Rate rate : model::all_rates) {
    const auto limits = [&](const experiment::Case& one) {
      if (!one.run.bounds) return false;
      const auto limiting = model::limiting_rates(*one.run.bounds);
      return std::ranges::find(limiting, rate) != limiting.end();
    };
    if (std::ranges::any_of(cases, limits)) all.push_back(rate);
  }
  return all;
}

/// make(), or nothing where the deck leaves too little memory for it.
template <class Make>
void make_if_it_fits(const Make& make) {
  try {
    make();
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::precondition) throw;
  }
}

/// Adds the workload with page-locked memory, which managed memory is compared with.
void add_pinned_twin(deck::Deck deck, Bench& bench, int ranks) {
  deck.memory = {};
  std::int64_t bytes = 0;
  for (const auto& array : bench.workload.arrays) {
    bytes += static_cast<std::int64_t>(array.host_bytes);
  }
  make_if_it_fits([&] {
    require_host_memory(bytes, ranks);
    bench.pinned = resident_workload(deck);
    bench.pinned->repeats = bench.workload.repeats;
  });
}

/// Without a criterion only on a GPU, where it is fast; on a host it takes longer than small decks.
void add_link_meter(const experiment::Plan& plan, Bench& bench, int ranks) {
  if (!judges_link(plan.point.deck) && (!on_gpu() || plan.point.is_swept())) return;
  make_if_it_fits([&] { bench.link.emplace(link_bytes(plan.cases), ranks).warm_up(); });
}

void trace(const experiment::Plan& plan, Bench& bench, const Hooks& hooks, int copy_engines,
           std::vector<experiment::Case>& cases) {
  if (plan.point.is_swept()) return;  // too much data for points of a sweep
  const deck::Deck& deck = plan.point.deck;
  for (experiment::Case& one : cases) {
    const auto step = [&] {
      base::check_interrupt();
      hooks.show("tracing " + experiment::name(one.run));
    };
    hooks.call([&] {
      trace_run(*bench.executor, one, bench.workload, deck.measure.verify, copy_engines, step);
    });
  }
}

/// Scores the cases of the plan, measures rates between the rounds and, unless interrupted, traces.
/// An interrupt leaves what was scored.
experiment::Samples score_and_trace(const experiment::Plan& plan, Session& session,
                                    const Hooks& hooks) {
  const deck::Deck& deck = plan.point.deck;
  Bench& bench = *session.bench;
  const workload::Workload& workload = bench.workload;
  Executor& executor = bench.executor.emplace(plan.lanes, deck.issue, deck.memory);
  std::vector<experiment::Case> cases = plan.cases;
  std::vector<deck::Criterion> criteria = deck.acceptance;
  std::erase_if(criteria, [](const auto& criterion) { return !criterion.holds_here(on_gpu()); });
  // On a GPU rates need their own lanes; on a host they use the lanes of the runs, which share the
  // cores.
  if (on_gpu()) bench.meter.emplace(2, deck::Issue(), deck.memory);
  const bool managed = deck.memory.host == deck::HostMemory::managed;
  if (managed) add_pinned_twin(deck, bench, hooks.ranks);
  const bool has_rates = !managed || bench.pinned;
  RatesOfRuns rates(on_gpu() ? *bench.meter : executor, bench.pinned ? *bench.pinned : workload,
                    has_rates ? cases : std::vector<experiment::Case>());
  add_link_meter(plan, bench, hooks.ranks);
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
    if (bench.link && (due || judges_link(deck))) bench.link->add_sample(device, hooks);
    if (by_round) {
      const auto start = lanes::Clock::now();
      const std::vector<model::Rate> limiting = limiting_rates(cases);
      rates.add_sample(all_rates ? std::span<const model::Rate>(model::all_rates) : limiting,
                       most_kept);
      if (all_rates || may_be_last) {
        rates.store(cases, by_round);
        experiment::add_bounds(cases, engines);
      }
      rates_s += lanes::seconds_since(start);
    } else if (all_rates) {
      rates.add_sample();
    }
    ++round;
  };
  experiment::Samples samples = run_rounds(executor, cases, workload, deck.measure, hooks, criteria,
                                           session.monitor, after_round);
  bench.link.reset();
  if (!workload.host.empty()) samples.device.array_node = node_of(workload.host.front().data());
  rates.store(cases, by_round);
  samples.rates_s = rates_s;
  bench.pinned.reset();
  try {
    if (!samples.interrupted) trace(plan, bench, hooks, engines.copy_engines, cases);
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::interrupted) throw;
    samples.interrupted = true;
  }
  add_conditions(session, engines, samples.conditions);
  samples.cases = std::move(cases);
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
  // Managed memory is one array for both sides: all of its pages are on the host now.
  if (!workload.host.empty() && workload.host[0].data() == workload.device[0].data()) return;
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

experiment::Samples run_rounds(Executor& executor, std::vector<experiment::Case>& cases,
                               const workload::Workload& workload, const deck::Measure& options,
                               const Hooks& hooks, const std::vector<deck::Criterion>& criteria,
                               const Monitor& monitor, const AfterRound& after_round) {
  for (const experiment::Case& one : cases) require_host_kind(one.schedule, workload);
  workload.generate(0);
  wake(executor, cases.front().schedule, workload);
  Course course(cases.size(), options, hooks, criteria, monitor);
  experiment::Samples samples;
  std::vector<Elapsed> elapsed(cases.size());
  const auto run_round = [&](int round) {
    course.begin_round(round);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      experiment::Case& one = cases[i];
      const std::uint32_t number = course.begin_run(one.run);
      if (course.verifies()) reset(executor.lanes().instance(0), workload, number);
      {
        const lanes::ProfilerRange range(deck::to_string(one.run.order).data(), number);
        elapsed[i] = executor.run(one.schedule, workload, [&] { course.begin_time(); });
      }
      course.end_time(elapsed[i].complete_s);
      if (course.verifies()) verify(one, workload, number, samples);
      one.run.graph = executor.lanes().graph_costs();
    }
    course.end_round();
  };
  try {
    for (int round = 1 - options.warmup; round < 1; ++round) run_round(round);
    for (int round = 1; !samples.stopped; ++round) {
      run_round(round);
      for (std::size_t i = 0; i < cases.size(); ++i) add_sample(cases[i], elapsed[i], options);
      if (after_round) after_round(samples.device, course.may_be_last());
      samples.stopped = course.stop(cases, samples.device);
    }
    // Verification of the last run may have let the device fall asleep.
    if (monitor.health) wake(executor, cases.front().schedule, workload);
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::interrupted || cases.back().run.samples_s.empty()) throw;
    samples.interrupted = true;
  }
  course.finish(samples);
  return samples;
}

experiment::Samples measure(const experiment::Plan& plan, Session& session, const Hooks& hooks) {
  return session.use([&] { return score_and_trace(plan, session, hooks); });
}

}  // namespace overlap::measure
