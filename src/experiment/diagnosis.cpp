#include "experiment/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
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
  const Case& measured;
  const results::Run& run;
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
  /// With mechanism portable on a host back end, tasks run in the issuing thread.
  bool host_runs_tasks() const { return !gpu() && schedule.mechanism == deck::Mechanism::portable; }
  /// Threads of the host that work at the same time: those that issue, or else workers.
  bool issuers() const { return gpu() || host_runs_tasks(); }
  int threads() const {
    return issuers() ? schedule.threads : std::min(schedule.lanes, chain_count(schedule));
  }
};

Evidence evidence_of(const Case& measured, const std::vector<Case>& cases,
                     const Conditions& conditions) {
  const results::Run& run = measured.run;
  const results::Runs runs = runs_of(cases);
  Evidence evidence{.measured = measured,
                    .run = run,
                    .schedule = measured.schedule,
                    .conditions = conditions,
                    .traffic = schedule::traffic(measured.schedule),
                    .drift = results::value(deck::Metric::drift, run, runs),
                    .last = &measured == &cases.back()};
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
    busiest_s = (evidence.copies_s + rates.kernel_s) / std::min(workers, measured.schedule.lanes);
    evidence.lane_s = std::min(lane_s(measured.schedule, rates), evidence.time_s);
  } else {
    const double both_s = copy_engines == 1 ? evidence.copies_s : rates.both_s;
    busiest_s = std::max({rates.kernel_s, both_s, rates.h2d_s, rates.d2h_s});
  }
  // Kernels may share the device; the host may be busier than it.
  evidence.busiest_s = std::max(std::min(busiest_s, evidence.waits_s), run.bounds->bound_s);
  evidence.wanted_lanes = std::min(evidence.gpu() ? engine_count(measured.schedule) : workers,
                                   chain_count(measured.schedule));
  const auto potential = results::overlap_potential(run, runs);
  evidence.nothing_to_hide = potential && *potential < results::least_potential;
  evidence.good = efficiency->median >= good_efficiency;
  evidence.beyond_schedule = evidence.time_s > 1.03 * run.bounds->schedule_bound_s;
  return evidence;
}

/// A value behind a finding: what its text shows and, if it is evidence, its number.
struct NamedValue {
  std::string_view name;
  std::string text;
  std::optional<double> number = {};
};
using NamedValues = std::vector<NamedValue>;
using Found = std::optional<NamedValues>;

NamedValue seconds(std::string_view name, double value) {
  return {name, base::format_seconds(value), value};
}
NamedValue part(std::string_view name, double value) {
  return {name, fmt::format("{:.0f} %", 100 * value), value};
}
NamedValue number(std::string_view name, std::integral auto value) {
  return {name, std::to_string(value), static_cast<double>(value)};
}

/// A device that idles in short gaps between tasks, as issuing many of them takes its time.
Found short_gaps(const Evidence& evidence) {
  if (!evidence.measured.traced) return {};
  const std::vector<double> busy_s = timeline::busy_s(*evidence.measured.traced);
  const auto busiest = std::max_element(busy_s.begin(), busy_s.end() - 1);  // the host is last
  std::vector<timeline::Span> spans = evidence.measured.traced->spans;
  std::erase_if(spans, [engine = busiest - busy_s.begin()](const timeline::Span& span) {
    return span.engine != engine;
  });
  if (spans.size() < 4) return {};
  const double span_s = std::ranges::max(spans, {}, &timeline::Span::stop_s).stop_s -
                        std::ranges::min(spans, {}, &timeline::Span::start_s).start_s;
  const double gaps_s = span_s - *busiest;
  const std::size_t gaps = spans.size() - 1;
  const double gap_s = gaps_s / static_cast<double>(gaps);
  constexpr double much = 0.1;
  constexpr double short_s = 20e-6;  // typical of the overhead of issuing
  if (gaps_s <= much * span_s || gap_s >= short_s) return {};
  return NamedValues{{"part", fmt::format("{:.0f} %", 100 * gaps_s / span_s)},
                     number("gaps", gaps),
                     {"gap", base::format_seconds(gap_s)},
                     {"gaps_s", "", gaps_s}};
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
  std::string_view text;           ///< with the names of values in braces
  Found (*look)(const Evidence&);  ///< empty: the cause does not apply
};

/// Most likely first.
constexpr auto diagnoses = std::to_array<Diagnosis>({
    // More threads than one per lane, and threads that poll, count as work.
    {"busy_cores", When::any_run,
     "busy cores: the {threads} got {got} of {cores}, which others use, too; measure on a quiet "
     "machine",
     [](const Evidence& e) -> Found {
       constexpr double enough = 0.9;
       const double part = e.measured.cpu_s / e.measured.wanted_s;
       if (!(part < enough)) return {};  // NaN: not on a host
       const double cores = std::min<double>(e.threads(), e.conditions.cores);
       return NamedValues{{"threads", e.issuers() ? "issuing threads" : "workers"},
                          {"got", fmt::format("{:.1f}", part * cores), part * cores},
                          {"cores", base::cores_text(cores), cores}};
     }},
    {"few_cores", When::always,
     "few cores: {cores} for {threads}; give the process more: taskset, --cpus-per-task, or the "
     "CPU quota of its container",
     [](const Evidence& e) -> Found {
       const double cores = e.conditions.cores;
       const int threads = e.threads();
       if (cores <= 0 || cores >= threads) return {};
       const char* const kind = e.issuers() ? "issuing thread" : "worker";
       return NamedValues{{"cores", base::cores_text(cores), cores},
                          {"threads", base::counted(threads, kind), threads}};
     }},
    // Not a defect: copies no longer matter.
    {"kernel_bound", When::always,
     "kernels alone take {part_of_time} of the time: faster copies would change nothing",
     [](const Evidence& e) -> Found {
       if (e.bounds.limit != "SM" || e.traffic.h2d + e.traffic.d2h == 0) return {};
       if (!e.nothing_to_hide && !e.good) return {};
       // Together kernels may be faster.
       return NamedValues{part("part_of_time", std::min(1.0, e.bounds.bound_s / e.time_s))};
     }},
    // Also relevant if slow copies leave nothing to hide behind them.
    {"pageable_memory", When::not_good,
     "pageable host memory: copies are staged at {gb_per_s} GB/s and block the host; set "
     "memory.host: pinned",
     [](const Evidence& e) -> Found {
       const bool pageable = e.schedule.host_memory == deck::HostMemory::pageable;
       if (!e.gpu() || !pageable || e.copies_s <= 0) return {};
       const auto bytes = static_cast<double>(e.traffic.h2d + e.traffic.d2h);
       const double rate = 1e-9 * bytes / e.copies_s;
       return NamedValues{{"gb_per_s", base::format_number(rate), rate}};
     }},
    {"launch_blocking", When::hides, "{variable}=1: the host waits for every kernel; unset it",
     [](const Evidence& e) -> Found {
       const auto& setting = e.conditions.launch_blocking;
       if (!e.beyond_schedule || !e.gpu() || !setting || setting->value != 1) return {};
       return NamedValues{{"variable", setting->name}};
     }},
    {"tool_loaded", When::hides,
     "a Kokkos tool is loaded, which may fence every kernel; unset KOKKOS_TOOLS_LIBS",
     [](const Evidence& e) {
       return e.beyond_schedule && e.conditions.tool_loaded ? Found(NamedValues()) : Found();
     }},
    {"blocking_tasks", When::hides,
     "issue.mechanism: portable on a host back end: each task blocks the host, and lanes never "
     "overlap; set issue.mechanism: streams",
     [](const Evidence& e) { return e.host_runs_tasks() ? Found(NamedValues()) : Found(); }},
    {"uneven_lanes", When::hides,
     "uneven lanes: the busiest of {lanes} lanes works {lane_s}, an equal share is {share_s}; give "
     "all the same work: chunks.count a multiple of {lanes}, or another order",
     [](const Evidence& e) -> Found {
       if (e.lane_s - e.busiest_s <= e.half_s()) return {};
       if (e.host_runs_tasks()) return {};
       return NamedValues{number("lanes", e.schedule.lanes), seconds("lane_s", e.lane_s),
                          seconds("share_s", e.busiest_s)};
     }},
    {"few_lanes", When::hides,
     "{count} where {wanted} tasks could run at once; use more lanes: issue.lanes, issue.streams: "
     "own or another order",
     [](const Evidence& e) -> Found {
       const int lanes = e.schedule.lanes;
       if (lanes >= e.wanted_lanes || e.host_runs_tasks()) return {};
       return NamedValues{{"count", base::counted(lanes, "lane")},
                          {"lanes", "", lanes},
                          number("wanted", e.wanted_lanes)};
     }},
    {"default_stream", When::hides,
     "{tasks} in the default stream, which waits for all earlier tasks and blocks all later ones; "
     "give each a lane",
     [](const Evidence& e) -> Found {
       const auto tasks = static_cast<double>(
           std::ranges::count(e.schedule.tasks, Stage::default_stream, &schedule::Task::stage));
       if (tasks == 0) return {};
       return NamedValues{{"tasks", base::counted(std::llround(tasks), "task"), tasks}};
     }},
    {"few_connections", When::always,
     "{lanes} lanes share {queues} and block each other; set {variable} to the number of lanes, or "
     "use fewer",
     [](const Evidence& e) -> Found {
       const auto& setting = e.conditions.max_connections;
       const int lanes = e.schedule.lanes;
       if (!e.beyond_schedule || !e.gpu() || !setting || setting->value >= lanes) return {};
       const auto queues = static_cast<double>(setting->value);
       return NamedValues{number("lanes", lanes),
                          {"queues", base::counted(setting->value, "queue"), queues},
                          {"variable", setting->name}};
     }},
    {"small_chunks", When::hides,
     "small chunks: the busiest engine needs {chunks_s} for them, but {whole_s} for all data at "
     "once; cut the data into fewer, larger pieces",
     [](const Evidence& e) -> Found {
       if (e.busiest_s - e.bounds.bound_s <= e.half_s()) return {};
       return {{seconds("chunks_s", e.busiest_s), seconds("whole_s", e.bounds.bound_s)}};
     }},
    {"small_chunks", When::hides,
     "small chunks: the busiest engine idles {part} of its time in {gaps} gaps of {gap} on "
     "average; cut the data into fewer, larger pieces",
     short_gaps},
    {"waits", When::hides,
     "engines wait for each other, at the start and the end, possibly in between: this order of "
     "these chunks takes at least {schedule_bound_s}, the busiest engine only {busiest_s}; use "
     "more, smaller pieces or another order",
     [](const Evidence& e) -> Found {
       const double explained_s = std::max(e.busiest_s, e.lane_s);
       if (e.waits_s - explained_s <= e.half_s()) return {};
       if (e.schedule.lanes < e.wanted_lanes || e.host_runs_tasks()) return {};
       return NamedValues{seconds("schedule_bound_s", e.bounds.schedule_bound_s),
                          seconds("busiest_s", explained_s)};
     }},
    {"one_copy_engine", When::hides,
     "one copy engine: copies of both directions occupy it for {copies_s} of {time_s}",
     [](const Evidence& e) -> Found {
       const bool both_ways = e.traffic.h2d > 0 && e.traffic.d2h > 0;
       if (!e.gpu() || e.conditions.engines.copy_engines != 1 || !both_ways) return {};
       // Copies are measured after the runs.
       return NamedValues{seconds("copies_s", std::min(e.copies_s, e.time_s)),
                          seconds("time_s", e.time_s)};
     }},
    {"narrow_link", When::hides,
     "the PCIe link runs at {now}, but supports {most}: reseat the device or use another slot",
     [](const Evidence& e) -> Found {
       const base::DeviceInfo device = e.conditions.device.value_or(base::DeviceInfo());
       const auto now = base::spell_link(device.pcie_gen, device.pcie_width);
       const auto most = base::spell_link(device.pcie_gen_max, device.pcie_width_max);
       if (!now || !most) return {};
       if (device.pcie_gen >= device.pcie_gen_max && device.pcie_width >= device.pcie_width_max)
         return {};
       return NamedValues{{"now", *now},
                          {"most", *most},
                          {"gen", "", *device.pcie_gen},
                          {"width", "", *device.pcie_width}};
     }},
    // See excess_s().
    {"paused", When::any_run,
     "the process was paused for {paused_s}, which do not count; look for what stopped it: "
     "SIGSTOP, a suspended job or machine",
     [](const Evidence& e) -> Found {
       if (!e.last || e.conditions.paused_s <= 0) return {};
       return NamedValues{seconds("paused_s", e.conditions.paused_s)};
     }},
    // Makes the bounds, and every criterion on them, doubtful. Kernels that share the device, or
    // find their data in a cache, may be faster than alone.
    {"below_bound", When::any_run,
     "faster than its bound of {bound_s}: the rates behind the bounds were measured while the "
     "machine was slower; measure again on a quiet machine",
     [](const Evidence& e) -> Found {
       constexpr double noise = 0.03;
       const auto& bounds = e.run.bounds;
       if (!bounds || bounds->limit == "SM" || bounds->limit == "workers") return {};
       const base::Summary time = results::time_s(e.run);
       if (time.hi >= (1 - noise) * bounds->bound_s) return {};
       return NamedValues{seconds("bound_s", bounds->bound_s), seconds("time_s", time.median)};
     }},
    // The link against its own best moment in the rounds of this run. Other work on the host or
    // behind the same switch takes its share.
    {"link_varies", When::any_run,
     "the link varies: the copies take at least {median_s} in the median round, {best_s} in the "
     "best; other work shares the link: measure again on a quiet host",
     [](const Evidence& e) -> Found {
       constexpr double much = 1.05;
       const results::Run& run = e.run;
       const bool on_host = !run.bounds || run.bounds->limit == "workers";
       if (on_host || run.bounds->limit == "SM" || run.bound_samples_s.empty()) return {};
       std::vector<double> bounds_s = run.bound_samples_s;
       std::ranges::sort(bounds_s);
       const double best_s = bounds_s[bounds_s.size() / 10];  // one sample may be too short
       const double median_s = base::median(bounds_s);
       if (median_s < much * best_s) return {};
       return NamedValues{seconds("median_s", median_s), seconds("best_s", best_s)};
     }},
    {"drifting", When::any_run,
     "the time drifts: {drift} % from the first third of the repetitions to the last ({lo} .. {hi} "
     "%); raise measure.warmup, or look for what heats, throttles or shares the machine",
     [](const Evidence& e) -> Found {
       const auto& drift = e.drift;
       if (!drift || (drift->lo <= least_drift && drift->hi >= -least_drift)) return {};
       const auto text = [](double part) { return fmt::format("{:+.1f}", 100 * part); };
       return NamedValues{{"drift", text(drift->median), drift->median},
                          {"lo", text(drift->lo)},
                          {"hi", text(drift->hi)}};
     }},
    // Single slow repetitions do not count: they hardly change the median.
    {"unsteady", When::any_run,
     "the repetitions differ: the middle half of them spans {width} of the median; measure on a "
     "quiet machine, or raise measure.repetitions",
     [](const Evidence& e) -> Found {
       std::vector<double> times_s = e.run.samples_s;
       if (times_s.size() < 4) return {};
       std::ranges::sort(times_s);
       const std::size_t quarter = times_s.size() / 4;
       const double width =
           (times_s[times_s.size() - 1 - quarter] - times_s[quarter]) / base::median(times_s);
       if (width <= most_steady) return {};
       return NamedValues{part("width", width)};
     }},
});

/// The finding of a row of the table.
Finding finding_of(const Diagnosis& row, const NamedValues& values) {
  Finding finding{.cause = std::string(row.cause), .text = std::string(row.text)};
  for (const NamedValue& value : values) {
    finding.text = base::replaced(finding.text, fmt::format("{{{}}}", value.name), value.text);
    if (value.number) finding.evidence.emplace(value.name, *value.number);
  }
  return finding;
}

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

std::vector<Finding> diagnose(const Case& measured, const std::vector<Case>& cases,
                              const Conditions& conditions) {
  std::vector<Finding> findings;
  const Evidence evidence = evidence_of(measured, cases, conditions);
  const auto applies = [&](When when) {
    if (when == When::any_run || !evidence.compared) return when == When::any_run;
    if (when == When::not_good) return evidence.nothing_to_hide || !evidence.good;
    return when == When::always || (!evidence.nothing_to_hide && !evidence.good);
  };
  for (const Diagnosis& diagnosis : diagnoses) {
    if (!applies(diagnosis.when)) continue;
    const bool is_new = findings.empty() || findings.back().cause != diagnosis.cause;
    if (const Found found = diagnosis.look(evidence); found && is_new) {
      findings.push_back(finding_of(diagnosis, *found));
    }
  }
  return findings;
}

}  // namespace overlap::experiment
