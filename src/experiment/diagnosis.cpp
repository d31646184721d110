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
  const Run& run;
  const schedule::Schedule& schedule;
  const Conditions& conditions;
  model::Rates rates = {};
  model::Bounds bounds = {};
  schedule::Traffic traffic;
  std::optional<base::Summary> drift = {};
  bool last = false;      ///< whether it is the last of the runs, to which a pause is attributed
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
  /// What helps if there are too many chunks, or too few of them for this order.
  const char* remedy(bool too_many) const {
    if (listed()) return too_many ? "; list fewer, larger tasks" : "; list another order";
    if (schedule.tiling) {
      return too_many ? "; set larger workload.tile_m and tile_n"
                      : "; set smaller workload.tile_m and tile_n or another order";
    }
    return too_many ? "; set fewer chunks" : "; set more chunks or another order";
  }
  /// With mechanism portable on a host back end, tasks run in the issuing thread.
  bool host_runs_tasks() const { return !gpu() && schedule.mechanism == deck::Mechanism::portable; }
  /// Threads of the host that work at the same time: those that issue, or else workers.
  bool issuers() const { return gpu() || host_runs_tasks(); }
  int threads() const {
    return issuers() ? schedule.threads : std::min(schedule.lanes, chain_count(schedule));
  }
};

Evidence evidence_of(const Run& run, const std::vector<Run>& runs, const Conditions& conditions) {
  Evidence evidence{.run = run,
                    .schedule = run.schedule,
                    .conditions = conditions,
                    .traffic = schedule::traffic(run.schedule),
                    .drift = results::value(deck::Metric::drift, run, runs),
                    .last = &run == &runs.back()};
  const auto efficiency = results::value(deck::Metric::overlap_efficiency, run, runs);
  if (!run.rates || !run.bounds || !efficiency) return evidence;  // the baseline has none
  const model::Rates& rates = *run.rates;
  evidence.rates = rates;
  evidence.bounds = *run.bounds;
  evidence.compared = true;
  evidence.time_s = results::time_s(run).median;
  // Rates are measured after the runs: nothing takes longer than it did.
  evidence.waits_s = std::min(run.bounds->schedule_bound_s, evidence.time_s);
  evidence.copies_s = rates.h2d_s + rates.d2h_s;
  const auto& [workers, copy_engines] = conditions.engines;
  double busiest_s = 0;
  if (workers > 0) {
    busiest_s = (evidence.copies_s + rates.kernel_s) / std::min(workers, run.schedule.lanes);
    evidence.lane_s = std::min(lane_s(run.schedule, rates), evidence.time_s);
  } else {
    const double both_s = copy_engines == 1 ? evidence.copies_s : rates.both_s;
    busiest_s = std::max({rates.kernel_s, both_s, rates.h2d_s, rates.d2h_s});
  }
  // Kernels may share the device; the host may be busier than it.
  evidence.busiest_s = std::max(std::min(busiest_s, evidence.waits_s), run.bounds->bound_s);
  evidence.wanted_lanes =
      std::min(evidence.gpu() ? engine_count(run.schedule) : workers, chain_count(run.schedule));
  const auto potential = results::overlap_potential(run, runs);
  evidence.nothing_to_hide = potential && *potential < results::least_potential;
  evidence.good = efficiency->median >= good_efficiency;
  evidence.beyond_schedule = evidence.time_s > 1.03 * run.bounds->schedule_bound_s;
  return evidence;
}

using Found = std::optional<Finding>;

Found found(std::string text, std::map<std::string, double> evidence = {}) {
  return Finding{.cause = {}, .text = std::move(text), .evidence = std::move(evidence)};
}

/// Others use the cores. More threads than one per lane, and threads that poll, count as work.
Found busy_cores(const Evidence& evidence) {
  constexpr double enough = 0.9;
  const double part = evidence.run.cpu_s / evidence.run.wanted_s;
  if (!(part < enough)) return {};  // NaN: not on a host
  const double cores = std::min<double>(evidence.threads(), evidence.conditions.cores);
  return found(fmt::format("busy cores: the {} got {:.1f} of {}, which others use, too; measure on "
                           "a quiet machine",
                           evidence.issuers() ? "issuing threads" : "workers", part * cores,
                           base::cores_text(cores)),
               {{"got", part * cores}, {"cores", cores}});
}

Found few_cores(const Evidence& evidence) {
  const double cores = evidence.conditions.cores;
  const int threads = evidence.threads();
  if (cores <= 0 || cores >= threads) return {};
  return found(
      fmt::format("few cores: {} for {}; give the process more: taskset, --cpus-per-task, or the "
                  "CPU quota of its container",
                  base::cores_text(cores),
                  base::counted(threads, evidence.issuers() ? "issuing thread" : "worker")),
      {{"cores", cores}, {"threads", threads}});
}

/// Not a defect: copies no longer matter.
Found kernel_bound(const Evidence& evidence) {
  if (evidence.bounds.limit != "SM" || !(evidence.nothing_to_hide || evidence.good)) return {};
  if (evidence.traffic.h2d + evidence.traffic.d2h == 0) return {};
  const double part =
      std::min(1.0, evidence.bounds.bound_s / evidence.time_s);  // together they are faster
  return found(fmt::format("kernels alone take {:.0f} % of the time: faster copies would change "
                           "nothing",
                           100 * part),
               {{"part_of_time", part}});
}

/// Also relevant if slow copies leave nothing to hide behind them.
Found pageable_memory(const Evidence& evidence) {
  const bool pageable = evidence.schedule.host_memory == deck::HostMemory::pageable;
  if (!evidence.gpu() || !pageable || evidence.copies_s <= 0) return {};
  const double rate =
      static_cast<double>(evidence.traffic.h2d + evidence.traffic.d2h) / evidence.copies_s * 1e-9;
  return found(fmt::format("pageable host memory: copies are staged at {} GB/s and block the "
                           "host; set memory.host: pinned",
                           base::format_number(rate)),
               {{"gb_per_s", rate}});
}

Found launch_blocking(const Evidence& evidence) {
  const auto& setting = evidence.conditions.launch_blocking;
  if (!evidence.beyond_schedule || !evidence.gpu() || !setting || setting->value != 1) return {};
  return found(setting->name + "=1: the host waits for every kernel; unset it");
}

Found tool_loaded(const Evidence& evidence) {
  if (!evidence.beyond_schedule || !evidence.conditions.tool_loaded) return {};
  return found("a Kokkos tool is loaded, which may fence every kernel; unset KOKKOS_TOOLS_LIBS");
}

Found blocking_tasks(const Evidence& evidence) {
  if (!evidence.host_runs_tasks()) return {};
  return found(
      "issue.mechanism: portable on a host back end: each task blocks the host, and lanes never "
      "overlap; set issue.mechanism: streams");
}

Found uneven_lanes(const Evidence& evidence) {
  const bool turns = deck::row_of(evidence.run.order).lanes;  // chunks go to the lanes in turn
  const std::string remedy =
      evidence.listed()                   ? "; spread the tasks evenly"
      : turns && evidence.schedule.tiling ? "; set smaller workload.tile_m and tile_n"
      : turns ? fmt::format("; set chunks.count to a multiple of {}", evidence.schedule.lanes)
              : "; use an order that spreads its work over the lanes evenly";
  if (evidence.host_runs_tasks() || evidence.lane_s - evidence.busiest_s <= evidence.half_s())
    return {};
  return found(fmt::format("uneven lanes: the busiest of {} lanes works {}, an equal share is {}{}",
                           evidence.schedule.lanes, base::format_seconds(evidence.lane_s),
                           base::format_seconds(evidence.busiest_s), remedy),
               {{"lane_s", evidence.lane_s}, {"share_s", evidence.busiest_s}});
}

Found few_lanes(const Evidence& evidence) {
  const int lanes = evidence.schedule.lanes;
  if (lanes >= evidence.wanted_lanes || evidence.host_runs_tasks()) return {};
  const std::string pieces =
      evidence.listed() ? "the tasks of a list" : base::counted(evidence.schedule.chunks, "chunk");
  const std::string remedy =
      deck::is_one_stream(evidence.schedule.streams) ? "set issue.streams: own"
      : evidence.listed()
          ? fmt::format("spread the tasks over {} lanes or more", evidence.wanted_lanes)
      : deck::row_of(evidence.run.order).lanes
          ? fmt::format("set issue.lanes: {} or more", evidence.wanted_lanes)
          : "use an order with more lanes";
  return found(fmt::format("{} for {}: at most {} {} at once; {}", base::counted(lanes, "lane"),
                           pieces, lanes, lanes == 1 ? "task runs" : "tasks run", remedy),
               {{"lanes", lanes}, {"wanted", evidence.wanted_lanes}});
}

Found default_stream(const Evidence& evidence) {
  const auto tasks =
      std::count_if(evidence.schedule.tasks.begin(), evidence.schedule.tasks.end(),
                    [](const schedule::Task& task) { return task.stage == Stage::default_stream; });
  if (tasks == 0) return {};
  return found(fmt::format("{} {} in the default stream, which waits for all earlier tasks and "
                           "blocks all later ones; give {} a lane",
                           tasks, tasks == 1 ? "task is" : "tasks are", tasks == 1 ? "it" : "them"),
               {{"tasks", static_cast<double>(tasks)}});
}

Found few_connections(const Evidence& evidence) {
  const auto& setting = evidence.conditions.max_connections;
  if (!evidence.beyond_schedule || !evidence.gpu() || !setting ||
      setting->value >= evidence.schedule.lanes) {
    return {};
  }
  const auto& [name, queues] = *setting;
  constexpr int most = 32;  // that CUDA accepts
  const std::string remedy =
      queues < most ? fmt::format("set {} to {}", name, std::min(evidence.schedule.lanes, most))
                    : fmt::format("use at most {} lanes", most);
  return found(fmt::format("{} lanes share {} and block each other; {}", evidence.schedule.lanes,
                           base::counted(queues, "queue"), remedy),
               {{"queues", static_cast<double>(queues)}, {"lanes", evidence.schedule.lanes}});
}

Found small_chunks(const Evidence& evidence) {
  if (evidence.busiest_s - evidence.bounds.bound_s > evidence.half_s()) {
    return found(fmt::format("small chunks: the busiest engine needs {} for them, but {} for all "
                             "data at once{}",
                             base::format_seconds(evidence.busiest_s),
                             base::format_seconds(evidence.bounds.bound_s), evidence.remedy(true)),
                 {{"chunks_s", evidence.busiest_s}, {"whole_s", evidence.bounds.bound_s}});
  }
  if (!evidence.run.traced) return {};
  const std::vector<double> busy_s = timeline::busy_s(*evidence.run.traced);
  const auto busiest = std::max_element(busy_s.begin(), busy_s.end() - 1);  // the host is last
  std::vector<timeline::Span> spans = evidence.run.traced->spans;
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
                           evidence.remedy(true)),
               {{"gaps", gaps}, {"gaps_s", gaps_s}});
}

Found waits(const Evidence& evidence) {
  const double bound_s = evidence.bounds.schedule_bound_s;
  const double explained_s = std::max(evidence.busiest_s, evidence.lane_s);
  if (evidence.schedule.lanes < evidence.wanted_lanes || evidence.host_runs_tasks()) return {};
  if (evidence.waits_s - explained_s <= evidence.half_s()) return {};
  return found(fmt::format("engines wait for each other, at the start and the end, possibly in "
                           "between: this order of these chunks takes at least {}, the busiest "
                           "engine only {}{}",
                           base::format_seconds(bound_s), base::format_seconds(explained_s),
                           evidence.remedy(false)),
               {{"schedule_bound_s", bound_s}, {"busiest_s", explained_s}});
}

Found one_copy_engine(const Evidence& evidence) {
  const bool both_ways = evidence.traffic.h2d > 0 && evidence.traffic.d2h > 0;
  if (!evidence.gpu() || evidence.conditions.engines.copy_engines != 1 || !both_ways) return {};
  const double copies_s = std::min(evidence.copies_s, evidence.time_s);  // measured after the runs
  return found(fmt::format("one copy engine: copies of both directions occupy it for {} of {}",
                           base::format_seconds(copies_s), base::format_seconds(evidence.time_s)),
               {{"copies_s", copies_s}, {"time_s", evidence.time_s}});
}

Found narrow_link(const Evidence& evidence) {
  if (!evidence.gpu()) return {};
  const base::DeviceInfo& device = *evidence.conditions.device;
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

/// See excess_s().
Found paused(const Evidence& evidence) {
  const double paused_s = evidence.conditions.paused_s;
  if (!evidence.last || paused_s <= 0) return {};
  return found(fmt::format("the process was paused for {}, which do not count; look for what "
                           "stopped it: SIGSTOP, a suspended job or machine",
                           base::format_seconds(paused_s)),
               {{"paused_s", paused_s}});
}

Found drifting(const Evidence& evidence) {
  if (!evidence.drift || (evidence.drift->lo <= least_drift && evidence.drift->hi >= -least_drift))
    return {};
  return found(
      fmt::format("the time drifts: {:+.1f} % from the first third of the repetitions to "
                  "the last ({:+.1f} .. {:+.1f} %); raise measure.warmup, or look for "
                  "what heats, throttles or shares the machine",
                  100 * evidence.drift->median, 100 * evidence.drift->lo, 100 * evidence.drift->hi),
      {{"drift", evidence.drift->median}});
}

/// Single slow repetitions do not count: they hardly change the median.
Found unsteady(const Evidence& evidence) {
  std::vector<double> times_s = evidence.run.samples_s;
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

/// Makes the bounds, and every criterion on them, doubtful. Kernels that share the device, or find
/// their data in a cache, may be faster than alone.
Found below_bound(const Evidence& evidence) {
  constexpr double noise = 0.03;
  const auto& bounds = evidence.run.bounds;
  if (!bounds || bounds->limit == "SM" || bounds->limit == "workers") return {};
  const double bound_s = bounds->bound_s;
  const base::Summary time = results::time_s(evidence.run);
  if (time.hi >= (1 - noise) * bound_s) return {};
  return found(fmt::format("faster than its bound of {}: the rates behind the bounds were measured "
                           "while the machine was slower; measure again on a quiet machine",
                           base::format_seconds(bound_s)),
               {{"bound_s", bound_s}, {"time_s", time.median}});
}

/// The link against its own best moment in the rounds of this run. Other work on the host or behind
/// the same switch takes its share.
Found link_varies(const Evidence& evidence) {
  constexpr double much = 1.05;
  const Run& run = evidence.run;
  const bool on_host = !run.bounds || run.bounds->limit == "workers";
  if (on_host || run.bounds->limit == "SM" || run.bound_samples_s.empty()) return {};
  std::vector<double> bounds_s = run.bound_samples_s;
  std::ranges::sort(bounds_s);
  const double best_s = bounds_s[bounds_s.size() / 10];  // one sample may be too short
  const double median_s = base::median(bounds_s);
  if (median_s < much * best_s) return {};
  return found(
      fmt::format("the link varies: the copies take at least {} in the median round, {} in "
                  "the best; other work shares the link: measure again on a quiet host",
                  base::format_seconds(median_s), base::format_seconds(best_s)),
      {{"median_s", median_s}, {"best_s", best_s}});
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
    {"busy_cores", When::any_run, busy_cores},
    {"few_cores", When::always, few_cores},
    {"kernel_bound", When::always, kernel_bound},
    {"pageable_memory", When::not_good, pageable_memory},
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
    {"paused", When::any_run, paused},
    {"below_bound", When::any_run, below_bound},
    {"link_varies", When::any_run, link_varies},
    {"drifting", When::any_run, drifting},
    {"unsteady", When::any_run, unsteady},
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
