#include "experiment/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/units.hpp"

namespace overlap::experiment {
namespace {

using schedule::Stage;

/// Number of engines with tasks on a device with two copy engines.
int engine_count(const schedule::Schedule& schedule) {
  std::set<int> engines;
  for (const schedule::Task& task : schedule.tasks) {
    if (!schedule::on_host(task.stage)) engines.insert(timeline::Engines().index_of(task));
  }
  return static_cast<int>(engines.size());
}

/// The number of groups of tasks that do not need each other: operations of chunks; in a list,
/// which has no chunks, tasks, which alone are numbered.
int chain_count(const schedule::Schedule& schedule) {
  std::set<std::tuple<int, int, int>> chains;
  for (const schedule::Task& task : schedule.tasks) {
    if (!schedule::on_host(task.stage)) chains.insert({task.chunk, task.op, task.number});
  }
  return static_cast<int>(chains.size());
}

/// The work of the busiest lane.
double lane_s(const schedule::Schedule& schedule, const model::Rates& rates) {
  const auto weight = [](const schedule::Task& task) {
    return task.duration_s > 0 ? task.duration_s : static_cast<double>(task.bytes);
  };
  std::map<Stage, double> total;
  for (const schedule::Task& task : schedule.tasks) total[task.stage] += weight(task);
  std::map<int, double> lanes;
  for (const schedule::Task& task : schedule.tasks) {
    const double stage_s = task.stage == Stage::h2d      ? rates.h2d_s
                           : task.stage == Stage::d2h    ? rates.d2h_s
                           : task.stage == Stage::kernel ? rates.kernel_s
                                                         : 0;
    if (total[task.stage] > 0) {
      lanes[task.lane] += stage_s * weight(task) / total[task.stage];
    }
  }
  double most_s = 0;
  for (const auto& [lane, seconds] : lanes) most_s = std::max(most_s, seconds);
  return most_s;
}

/// Input of the diagnoses.
struct Evidence {
  const Run& measured;
  const schedule::Schedule& schedule;
  const Conditions& conditions;
  model::Rates rates = {};
  model::Bounds bounds = {};
  schedule::Traffic traffic;
  std::optional<base::Summary> drift = {};
  bool compared = false;  ///< rates, bounds and efficiency are known; otherwise the rest is unset
  double time_s = 0;
  double copies_s = 0;   ///< sum of both directions
  double busiest_s = 0;  ///< time of the busiest engine for these chunks, without waits
  double lane_s = 0;     ///< hosts: the work of the busiest lane
  double waits_s = 0;    ///< the schedule bound, at most the time
  int wanted_lanes = 0;  ///< lanes that could be busy at the same time
  bool good = false;     ///< efficiency of at least good_efficiency
  bool nothing_to_hide = false;
  bool beyond_schedule = false;  ///< slower than the schedule alone explains

  bool gpu() const { return conditions.device.has_value(); }
  /// Half of the lost time: a cause that explains more is a main cause.
  double half_s() const { return (time_s - bounds.bound_s) / 2; }
  /// Whether the deck lists the tasks, instead of cutting chunks.
  bool listed() const { return !schedule.names.empty(); }
  bool is_auto() const { return measured.order == deck::Order::automatic; }
  /// What helps if there are too many chunks, or too few of them for this order.
  const char* remedy(bool too_many) const {
    if (is_auto()) return "";  // it chose both
    if (listed()) return too_many ? "; list fewer, larger tasks" : "; list another order";
    if (schedule.tiling) {
      return too_many ? "; set larger workload.tile_m and tile_n"
                      : "; set smaller workload.tile_m and tile_n or another order";
    }
    return too_many ? "; set fewer chunks" : "; set more chunks or another order";
  }
  /// With mechanism portable on a host back end, tasks run in the issuing thread.
  bool host_runs_tasks() const { return !gpu() && schedule.mechanism == deck::Mechanism::portable; }
};

Evidence evidence_of(const Run& measured, const std::vector<Run>& runs,
                     const Conditions& conditions) {
  const results::Runs run_pointers = pointers(runs);
  Evidence run{.measured = measured,
               .schedule = measured.schedule,
               .conditions = conditions,
               .traffic = schedule::traffic(measured.schedule),
               .drift = results::value(deck::Metric::drift, measured, run_pointers)};
  const auto efficiency = results::value(deck::Metric::overlap_efficiency, measured, run_pointers);
  if (!measured.rates || !measured.bounds || !efficiency) return run;  // the baseline has none
  run.compared = true;
  run.rates = *measured.rates;
  run.bounds = *measured.bounds;
  run.time_s = results::time_s(measured).median;
  // Rates are measured after the runs: nothing takes longer than it did.
  run.waits_s = std::min(run.bounds.schedule_bound_s, run.time_s);
  run.copies_s = run.rates.h2d_s + run.rates.d2h_s;
  const auto& [workers, copy_engines] = conditions.engines;
  if (workers > 0) {
    run.busiest_s = (run.copies_s + run.rates.kernel_s) / std::min(workers, run.schedule.lanes);
    run.lane_s = std::min(lane_s(measured.schedule, run.rates), run.time_s);
  } else {
    const double both_s = copy_engines == 1 ? run.copies_s : run.rates.both_s;
    run.busiest_s = std::max({run.rates.kernel_s, both_s, run.rates.h2d_s, run.rates.d2h_s});
  }
  // Kernels may share the device; the host may be busier than it.
  run.busiest_s = std::max(std::min(run.busiest_s, run.waits_s), run.bounds.bound_s);
  run.wanted_lanes = std::min(run.gpu() ? engine_count(measured.schedule) : workers,
                              chain_count(measured.schedule));
  const auto potential = results::overlap_potential(measured, run_pointers);
  run.nothing_to_hide = potential && *potential < results::least_potential;
  run.good = efficiency->median >= good_efficiency;
  run.beyond_schedule = run.time_s > 1.03 * run.bounds.schedule_bound_s;
  return run;
}

using Found = std::optional<Finding>;

Found found(std::string text, std::map<std::string, double> evidence = {}) {
  return Finding{.cause = {}, .text = std::move(text), .evidence = std::move(evidence)};
}

/// Not a defect: copies no longer matter.
Found kernel_bound(const Evidence& run) {
  if (run.bounds.limit != "SM" || !(run.nothing_to_hide || run.good)) return {};
  if (run.traffic.h2d + run.traffic.d2h == 0) return {};
  const double part = std::min(1.0, run.bounds.bound_s / run.time_s);  // together they are faster
  return found(fmt::format("kernels alone take {:.0f} % of the time: faster copies would change "
                           "nothing",
                           100 * part),
               {{"part_of_time", part}});
}

/// Also relevant if slow copies leave nothing to hide behind them.
Found pageable_memory(const Evidence& run) {
  const bool pageable = run.schedule.host_memory == deck::HostMemory::pageable;
  if (!run.gpu() || !pageable || run.copies_s <= 0) return {};
  const double rate = static_cast<double>(run.traffic.h2d + run.traffic.d2h) / run.copies_s * 1e-9;
  return found(fmt::format("pageable host memory: copies are staged at {} GB/s and block the "
                           "host; set memory.host: pinned",
                           base::format_number(rate)),
               {{"gb_per_s", rate}});
}

/// The slots are filled and drained in the order of issue, by threads that memory may slow.
Found staging_ring(const Evidence& run) {
  if (!run.beyond_schedule || !run.measured.staging) return {};
  const auto& [fill_s, drain_s, threads] = *run.measured.staging;
  const double part = std::min(1.0, (fill_s + drain_s) / run.time_s);
  return found(
      fmt::format("staging ring: its {} {} {:.0f} % of the time, and lanes wait until "
                  "their slots are filled; {}set memory.host: pinned if the arrays fit",
                  base::counted(threads, "thread"), threads == 1 ? "copies" : "copy", 100 * part,
                  deck::row_of(run.measured.order).lanes ? "use the order by_engine, or " : ""),
      {{"part_of_time", part}, {"threads", threads}});
}

Found launch_blocking(const Evidence& run) {
  const auto& setting = run.conditions.launch_blocking;
  if (!run.beyond_schedule || !run.gpu() || !setting || setting->value != 1) return {};
  return found(setting->name + "=1: the host waits for every kernel; unset it");
}

Found tool_loaded(const Evidence& run) {
  if (!run.beyond_schedule || !run.conditions.tool_loaded) return {};
  return found("a Kokkos tool is loaded, which may fence every kernel; unset KOKKOS_TOOLS_LIBS");
}

Found blocking_tasks(const Evidence& run) {
  if (!run.host_runs_tasks()) return {};
  return found(
      "issue.mechanism: portable on a host back end: each task blocks the host, and lanes never "
      "overlap; set issue.mechanism: streams");
}

Found uneven_lanes(const Evidence& run) {
  const bool turns = deck::row_of(run.measured.order).lanes;  // chunks go to the lanes in turn
  const std::string remedy =
      run.is_auto()                  ? ""
      : run.listed()                 ? "; spread the tasks evenly"
      : turns && run.schedule.tiling ? "; set smaller workload.tile_m and tile_n"
      : turns ? fmt::format("; set chunks.count to a multiple of {}, all of one size",
                            run.schedule.lanes)
              : "; use an order that spreads its work over the lanes evenly";
  if (run.host_runs_tasks() || run.lane_s - run.busiest_s <= run.half_s()) return {};
  return found(fmt::format("uneven lanes: the busiest of {} lanes works {}, an equal share is {}{}",
                           run.schedule.lanes, base::format_seconds(run.lane_s),
                           base::format_seconds(run.busiest_s), remedy),
               {{"lane_s", run.lane_s}, {"share_s", run.busiest_s}});
}

Found few_lanes(const Evidence& run) {
  const int lanes = run.schedule.lanes;
  if (lanes >= run.wanted_lanes || run.is_auto() || run.host_runs_tasks()) return {};
  const std::string pieces =
      run.listed() ? "the tasks of a list" : base::counted(run.schedule.chunks, "chunk");
  const std::string remedy =
      deck::is_one_stream(run.schedule.streams) ? "set issue.streams: own"
      : run.listed() ? fmt::format("spread the tasks over {} lanes or more", run.wanted_lanes)
      : deck::row_of(run.measured.order).lanes
          ? fmt::format("set issue.lanes: {} or more", run.wanted_lanes)
          : "use an order with more lanes";
  return found(fmt::format("{} for {}: at most {} {} at once; {}", base::counted(lanes, "lane"),
                           pieces, lanes, lanes == 1 ? "task runs" : "tasks run", remedy),
               {{"lanes", lanes}, {"wanted", run.wanted_lanes}});
}

Found default_stream(const Evidence& run) {
  const auto tasks =
      std::count_if(run.schedule.tasks.begin(), run.schedule.tasks.end(),
                    [](const schedule::Task& task) { return task.stage == Stage::default_stream; });
  if (tasks == 0) return {};
  return found(fmt::format("{} {} in the default stream, which waits for all earlier tasks and "
                           "blocks all later ones; give {} a lane",
                           tasks, tasks == 1 ? "task is" : "tasks are", tasks == 1 ? "it" : "them"),
               {{"tasks", static_cast<double>(tasks)}});
}

Found few_connections(const Evidence& run) {
  const auto& setting = run.conditions.max_connections;
  if (!run.beyond_schedule || !run.gpu() || !setting || setting->value >= run.schedule.lanes) {
    return {};
  }
  const auto& [name, queues] = *setting;
  constexpr int most = 32;  // that CUDA accepts
  const std::string remedy =
      queues < most ? fmt::format("set {} to {}", name, std::min(run.schedule.lanes, most))
                    : fmt::format("use at most {} lanes", most);
  return found(fmt::format("{} lanes share {} and block each other; {}", run.schedule.lanes,
                           base::counted(queues, "queue"), remedy),
               {{"queues", static_cast<double>(queues)}, {"lanes", run.schedule.lanes}});
}

Found small_chunks(const Evidence& run) {
  if (run.busiest_s - run.bounds.bound_s > run.half_s()) {
    return found(fmt::format("small chunks: the busiest engine needs {} for them, but {} for all "
                             "data at once{}",
                             base::format_seconds(run.busiest_s),
                             base::format_seconds(run.bounds.bound_s), run.remedy(true)),
                 {{"chunks_s", run.busiest_s}, {"whole_s", run.bounds.bound_s}});
  }
  if (!run.measured.traced) return {};
  const std::vector<double> busy_s = timeline::busy_s(*run.measured.traced);
  const auto busiest = std::max_element(busy_s.begin(), busy_s.end() - 1);  // the host is last
  std::vector<timeline::Span> spans = run.measured.traced->spans;
  std::erase_if(spans, [engine = busiest - busy_s.begin()](const timeline::Span& span) {
    return span.engine != engine;
  });
  if (spans.size() < 4) return {};
  const double span_s = std::ranges::max(spans, {}, &timeline::Span::stop_s).stop_s -
                        std::ranges::min(spans, {}, &timeline::Span::start_s).start_s;
  const double gaps_s = span_s - *busiest;
  const auto gaps = static_cast<double>(spans.size() - 1);
  constexpr double much = 0.1;
  constexpr double short_s = 20e-6;  // typical of the overhead of issuing
  if (gaps_s <= much * span_s || gaps_s >= short_s * gaps) return {};
  return found(fmt::format("small chunks: the busiest engine idles {:.0f} % of its time in {} gaps "
                           "of {} on average{}",
                           100 * gaps_s / span_s, gaps, base::format_seconds(gaps_s / gaps),
                           run.remedy(true)),
               {{"gaps", gaps}, {"gaps_s", gaps_s}});
}

Found waits(const Evidence& run) {
  const double bound_s = run.bounds.schedule_bound_s;
  const double explained_s = std::max(run.busiest_s, run.lane_s);
  if (run.schedule.lanes < run.wanted_lanes || run.host_runs_tasks()) return {};
  if (run.waits_s - explained_s <= run.half_s()) return {};
  return found(fmt::format("engines wait for each other, at the start and the end, possibly in "
                           "between: this order of these chunks takes at least {}, the busiest "
                           "engine only {}{}",
                           base::format_seconds(bound_s), base::format_seconds(explained_s),
                           run.remedy(false)),
               {{"schedule_bound_s", bound_s}, {"busiest_s", explained_s}});
}

Found one_copy_engine(const Evidence& run) {
  const bool both_ways = run.traffic.h2d > 0 && run.traffic.d2h > 0;
  if (!run.gpu() || run.conditions.engines.copy_engines != 1 || !both_ways) return {};
  const double copies_s = std::min(run.copies_s, run.time_s);  // measured after the runs
  return found(fmt::format("one copy engine: copies of both directions occupy it for {} of {}",
                           base::format_seconds(copies_s), base::format_seconds(run.time_s)),
               {{"copies_s", copies_s}, {"time_s", run.time_s}});
}

Found narrow_link(const Evidence& run) {
  if (!run.gpu()) return {};
  const base::DeviceInfo& device = *run.conditions.device;
  const auto below = [](std::optional<int> now, std::optional<int> most) {
    return now && most && *now < *most;
  };
  if (!below(device.pcie_gen, device.pcie_gen_max) &&
      !below(device.pcie_width, device.pcie_width_max)) {
    return {};
  }
  const auto link = [](std::optional<int> gen, std::optional<int> width) {  // one of them is known
    return base::spell_link(gen, width)
        .value_or(gen ? fmt::format("gen{}", *gen) : fmt::format("x{}", *width));
  };
  return found(
      fmt::format(
          "the PCIe link runs at {}, but supports {}: reseat the device or use another slot",
          link(device.pcie_gen, device.pcie_width),
          link(device.pcie_gen_max, device.pcie_width_max)),
      {{"gen", device.pcie_gen.value_or(0)}, {"width", device.pcie_width.value_or(0)}});
}

Found drifting(const Evidence& run) {
  if (!run.drift || (run.drift->lo <= least_drift && run.drift->hi >= -least_drift)) return {};
  return found(fmt::format("the time drifts: {:+.1f} % from the first third of the repetitions to "
                           "the last ({:+.1f} .. {:+.1f} %); raise measure.warmup, or look for "
                           "what heats, throttles or shares the machine",
                           100 * run.drift->median, 100 * run.drift->lo, 100 * run.drift->hi),
               {{"drift", run.drift->median}});
}

/// Single slow repetitions do not count: they hardly change the median.
Found unsteady(const Evidence& run) {
  std::vector<double> times_s = run.measured.samples_s;
  if (times_s.size() < 4) return {};
  std::ranges::sort(times_s);
  const std::size_t quarter = times_s.size() / 4;
  const double width =
      (times_s[times_s.size() - 1 - quarter] - times_s[quarter]) / base::median(times_s);
  if (width <= most_steady) return {};
  return found(fmt::format("the repetitions differ: the middle half of them spans {:.0f} % of the "
                           "median; measure on a quiet machine, or raise measure.repetitions",
                           100 * width),
               {{"width", width}});
}

/// The interval of a prediction covers the spread of the figures behind it.
Found uncertain(const Evidence& run) {
  const auto uncertainty = results::uncertainty(run.measured);
  if (!uncertainty || *uncertainty <= most_uncertain) return {};
  return found(fmt::format("uncertain prediction (±{:.0f} %): the figures behind it varied while "
                           "they were measured; measure again on a quiet machine",
                           100 * *uncertainty),
               {{"uncertainty", *uncertainty}});
}

/// Makes the bounds, and every criterion on them, doubtful. Kernels that share the device, or find
/// their data in a cache, may be faster than alone.
Found below_bound(const Evidence& run) {
  constexpr double noise = 0.03;
  const auto& bounds = run.measured.bounds;
  if (!bounds || bounds->limit == "SM" || bounds->limit == "workers") return {};
  const double bound_s = bounds->bound_s;
  const base::Summary time = results::time_s(run.measured);
  if (time.hi >= (1 - noise) * bound_s) return {};
  return found(fmt::format("faster than its bound of {}: the rates behind the bounds were measured "
                           "while the machine was slower; measure again on a quiet machine",
                           base::format_seconds(bound_s)),
               {{"bound_s", bound_s}, {"time_s", time.median}});
}

/// The runs to which a diagnosis applies.
enum class When {
  any_run,  ///< all runs, also the baseline and runs without rates
  always,
  not_good,  ///< less is hidden than possible, or nothing can be hidden
  hides,     ///< less is hidden than possible
};

struct Diagnosis {
  std::string_view cause;
  When when;
  Found (*look)(const Evidence&);
};

constexpr auto diagnoses = std::to_array<Diagnosis>({
    {"kernel_bound", When::always, kernel_bound},
    {"pageable_memory", When::not_good, pageable_memory},
    {"staging_ring", When::hides, staging_ring},
    {"launch_blocking", When::hides, launch_blocking},
    {"tool_loaded", When::hides, tool_loaded},
    {"blocking_tasks", When::hides, blocking_tasks},
    {"uneven_lanes", When::hides, uneven_lanes},
    {"few_lanes", When::hides, few_lanes},
    {"default_stream", When::hides, default_stream},
    {"few_connections", When::always, few_connections},
    {"small_chunks", When::hides, small_chunks},
    {"waits", When::hides, waits},
    {"one_copy_engine", When::hides, one_copy_engine},
    {"narrow_link", When::hides, narrow_link},
    {"below_bound", When::any_run, below_bound},
    {"drifting", When::any_run, drifting},
    {"unsteady", When::any_run, unsteady},
    {"uncertain", When::any_run, uncertain},
});

constexpr auto cause_names = [] {
  std::array<std::string_view, diagnoses.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = diagnoses[i].cause;
  return names;
}();

}  // namespace

std::span<const std::string_view> causes() { return cause_names; }

bool is_noise(std::string_view cause) {
  const auto row = std::ranges::find(diagnoses, cause, &Diagnosis::cause);
  return row != diagnoses.end() && row->when == When::any_run;
}

std::vector<Finding> diagnose(const Run& run, const std::vector<Run>& runs,
                              const Conditions& conditions) {
  std::vector<Finding> findings;
  const Evidence evidence = evidence_of(run, runs, conditions);
  const auto applies = [&](When when) {
    if (when == When::any_run || !evidence.compared) return when == When::any_run;
    if (when == When::not_good) return evidence.nothing_to_hide || !evidence.good;
    return when == When::always || (!evidence.nothing_to_hide && !evidence.good);
  };
  for (const Diagnosis& diagnosis : diagnoses) {
    if (!applies(diagnosis.when)) continue;
    if (Found finding = diagnosis.look(evidence)) {
      finding->cause = diagnosis.cause;
      findings.push_back(*std::move(finding));
    }
  }
  return findings;
}

}  // namespace overlap::experiment
