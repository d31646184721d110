#include "report/result_fields.hpp"

#include <fmt/format.h>

#include "base/version.hpp"
#include "deck/fields.hpp"

namespace overlap::report {
namespace {

using experiment::Outcome;
using experiment::Run;
using enum Sign;

/// One task of a timeline.
struct TaskEntry {
  std::size_t task = 0;
  std::optional<std::string> name;
  deck::Stage stage = deck::Stage::kernel;
  int chunk = 0;
  int lane = 0;
  std::string engine;
  double start_s = 0, stop_s = 0;
};

/// The matrix product that a run computed.
struct ProductOf {
  const Run& run = example<Run>();
};

constexpr const char* phase_help = "alone, or together with the other devices of its node.";

/// A number that is 0 where there is none.
std::optional<double> non_zero(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

Json point_of(const Outcome& outcome) {
  Json json = Json::object();
  if (outcome.values.empty()) return json;
  const Json deck = deck::resolved(outcome.deck);
  for (const deck::Point::Value& value : outcome.values) {
    json[value.key] = yaml::value_at(deck, value.key);
  }
  return json;
}

std::optional<std::vector<TaskEntry>> entries(const schedule::Schedule& schedule,
                                              const timeline::Timeline* timeline) {
  if (timeline == nullptr) return std::nullopt;
  std::vector<TaskEntry> entries;
  for (std::size_t id = 0; id < timeline->spans.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const timeline::Span& span = timeline->spans[id];
    entries.push_back(
        {id, schedule.names.empty() ? std::nullopt : std::optional(schedule.names[id]), task.stage,
         task.chunk, task.lane, timeline->engines[static_cast<std::size_t>(span.engine)],
         span.start_s, span.stop_s});
  }
  return entries;
}

}  // namespace

void fields(Record& add, const base::Summary& of) {
  add("median", "Median.", of.median, from_zero);
  add("min", "Least.", of.min, from_zero);
  add("max", "Largest.", of.max, from_zero);
  add("lo", "Lower end of the 95 % interval of the median.", of.lo, from_zero);
  add("hi", "Upper end of the 95 % interval of the median.", of.hi, from_zero);
}

void fields(Record& add, const base::Estimate& of) {
  add("value", "Estimate of Hodges and Lehmann: the median of all ratios.", of.value, above_zero);
  add("lo", "Lower end of its 95 % interval.", of.lo, above_zero);
  add("hi", "Upper end of its 95 % interval.", of.hi, above_zero);
  add("covers", "Whether there are enough samples for 95 %; if not, the interval spans all ratios.",
      of.covers);
}

void fields(Record& add, const base::BuildInfo& of) {
  add("version", "Version of the program.", base::version().version);
  add("git_sha", "Commit that was built; null: built without git.",
      or_null(base::version().git_sha));
  add("dirty", "Whether tracked files differed from that commit.", base::version().dirty);
  add("compiler", "Compiler and its version.", of.compiler);
  add("kokkos_version", "Version of Kokkos.", of.kokkos_version);
  add("kokkos_kernels_version", "Version of Kokkos Kernels; null: built without.",
      or_null(of.kokkos_kernels_version));
  add("backend", "Default execution space.", of.backend);
  add("cuda_toolkit", "Version of the CUDA toolkit; null: built without.",
      or_null(of.cuda_toolkit));
  add("hip_toolkit", "Version of HIP; null: built without.", or_null(of.hip_toolkit));
}

void fields(Record& add, const base::HostInfo& of) {
  add("name", "Host name.", of.name);
  add("cpu", "Processor.", of.cpu);
  add("cores", "Cores that the process may use.", of.cores, above_zero);
  add("cpuset", "Their numbers, such as 0-7,16.", of.affinity);
  add("total_bytes", "Memory, bytes.", of.total_bytes, above_zero);
  add("available_bytes", "Memory available at the start, bytes.", of.available_bytes, from_zero);
  add("kernel", "Release of the operating system's kernel.", of.kernel);
  add("transparent_huge_pages", "always, madvise or never.", of.transparent_huge_pages);
  add("huge_pages", "Huge pages that the system reserves.", of.huge_pages, from_zero);
}

void fields(Record& add, const base::DeviceInfo& of) {
  add("name", "Name of the device.", of.name);
  add("uuid", "UUID.", or_null(of.uuid));
  add("compute_capability", "Such as 9.0.", or_null(of.compute_capability));
  add("copy_engines", "Copy engines.", of.copy_engines, from_zero);
  add("concurrent_kernels", "Whether kernels can run at the same time.", of.concurrent_kernels);
  add("free_bytes", "Free memory at the start, bytes.", of.free_bytes, from_zero);
  add("total_bytes", "Memory, bytes.", of.total_bytes, from_zero);
  add("pci", "PCI address.", of.pci_bus_id);
  add("numa_node", "NUMA node of the PCI address.", of.numa_node);
  add("pcie_gen", "Generation of the link at the start.", of.pcie_gen);
  add("pcie_gen_max", "Maximum that device and slot support.", of.pcie_gen_max);
  add("pcie_width", "Lanes of the link at the start.", of.pcie_width);
  add("pcie_width_max", "Maximum that device and slot support.", of.pcie_width_max);
  add("sm_clock_mhz", "SM clock at the start.", of.sm_clock_mhz);
  add("sm_clock_max_mhz", "Highest SM clock.", of.sm_clock_max_mhz);
  add("memory_clock_mhz", "Memory clock at the start.", of.memory_clock_mhz);
  add("ecc", "Whether ECC is on.", of.ecc);
  add("mig", "Whether MIG is on.", of.mig);
  add("driver", "Version of the driver.", of.driver);
  add("vbios", "Version of the device's firmware.", of.vbios);
  add("serial", "Serial number.", of.serial);
  add("power_limit_w", "Power limit, W.", of.power_limit_w, from_zero);
  add("power_limit_default_w", "Its default, W.", of.power_limit_default_w, from_zero);
}

void fields(Record& add, const base::Job& of) {
  add("id", "Number of the batch job.", of.id);
  add("step", "Its step.", of.step);
  add("rank", "Rank of this process.", of.rank, from_zero);
  add("ranks", "Ranks that were started together.", of.ranks, above_zero);
}

void fields(Record& add, const base::Placement& of) {
  add("launch", "Identifies the ranks that were started together.", of.launch);
  add("local_rank", "Rank among those of its node.", of.local_rank, from_zero);
  add("local_ranks", "Ranks of its node.", of.local_ranks, above_zero);
  add("nodes", "Nodes of the fleet.", of.nodes, above_zero);
  add("device", "Which of the devices it sees; null on host back ends.", of.device, from_zero);
  add("cpus", "Processors that its threads are bound to; null: not bound.", or_null(of.cpus));
  add("memory", "NUMA nodes that its memory is bound to; null: not bound.", or_null(of.memory));
  add("note", "Why it is not bound; null: nothing to say.", or_null(of.note));
}

/// Volatile counters of memory errors.
struct EccErrors {
  std::optional<std::int64_t> corrected, uncorrected;
};

void fields(Record& add, const EccErrors& of) {
  add("corrected", "Corrected.", of.corrected, from_zero);
  add("uncorrected", "Not corrected.", of.uncorrected, from_zero);
}

void fields(Record& add, const base::Health& of) {
  add("pcie_gen", "Generation of the link.", of.pcie_gen);
  add("pcie_width", "Lanes of the link.", of.pcie_width);
  add("replays", "Packets that the link had to resend.", of.pcie_replays, from_zero);
  add("ecc", "Memory errors since the driver was loaded.",
      EccErrors{of.ecc_corrected, of.ecc_uncorrected});
  add("remapped_rows", "Memory rows remapped to spare rows.", of.remapped_rows, from_zero);
  add("temperature_c", "Temperature, degrees Celsius.", of.temperature_c);
  add("power_w", "Power, W.", of.power_w, from_zero);
  add("sm_clock_mhz", "SM clock.", of.sm_clock_mhz, from_zero);
  add("memory_clock_mhz", "Memory clock.", of.memory_clock_mhz, from_zero);
  add("throttle_reasons", "What holds the clocks down.", of.throttle_reasons);
}

void fields(Record& add, const experiment::ThrottledTime& of) {
  for (const base::ThrottleRow& row : base::throttles) {
    add(row.name, fmt::format("Seconds: {}.", row.help),
        of.by_reason_s[static_cast<std::size_t>(row.value)], from_zero);
  }
}

void fields(Record& add, const experiment::WrongData& of) {
  add("chunk", "Chunk of the first wrong element.", of.chunk);
  add("array", "Its array.", of.array);
  add("index", "Its index in that array.", of.index);
  add("expected", "Correct value.", std::optional(of.expected));
  add("found", "Value found; null: not finite.", std::optional(of.found));
}

void fields(Record& add, const experiment::Balance& of) {
  add("repeats", "Repeats of the arithmetic.", of.repeats, above_zero);
  add("copy_s", "One chunk's copies to the device, seconds.", of.copy_s);
  add("kernel_s", "Its kernel with these repeats, seconds.", of.kernel_s);
  add("ratio", "kernel_s / copy_s.", of.ratio(), from_zero);
}

void fields(Record& add, const experiment::Trace& of) {
  add("source", "Source of the times.", of.source);
  add("perturbation", "Traced time / scored time - 1.", of.perturbation);
  add("doubtful", "Whether the scored runs' spread does not explain it.", of.doubtful);
}

void fields(Record& add, const experiment::GraphCosts& of) {
  add("capture_s", "Capturing the graph, once, seconds.", of.capture_s, from_zero);
  add("instantiate_s", "Instantiating it, once, seconds.", of.instantiate_s, from_zero);
}

void fields(Record& add, const experiment::StagingCosts& of) {
  add("fill_s", "Copying into slots of the ring, seconds per repetition.", of.fill_s, from_zero);
  add("drain_s", "Copying out of them, seconds per repetition.", of.drain_s, from_zero);
  add("threads", "Threads that copy.", of.threads, above_zero);
}

void fields(Record& add, const experiment::HostWorkSamples& of) {
  add("threads", "Threads that took part.", of.threads, from_zero);
  add("time_s", "Time of the work, seconds; null: it did not run.",
      base::summary_if_any(of.samples_s));
  add("samples_s", "The same of each repetition, seconds.", of.samples_s, from_zero);
}

void fields(Record& add, const model::Rates& of) {
  add("h2d_s", "All copies to the device, alone, seconds.", of.h2d_s, from_zero);
  add("d2h_s", "All copies back, alone, seconds.", of.d2h_s, from_zero);
  add("both_s", "Both at the same time, seconds; null: no engines.", non_zero(of.both_s));
  add("kernel_s", "All kernels, alone, seconds.", of.kernel_s, from_zero);
  add("kernel_beside_copies", "Time factor of kernels while copies run.", of.kernel_beside_copies);
}

void fields(Record& add, const model::Bounds& of) {
  add("serial_s", "Nothing overlaps, seconds.", of.serial_s, from_zero);
  add("one_engine_s", "Both directions share a copy engine; null: workers.",
      non_zero(of.one_engine_s));
  add("two_engines_s", "Each direction has its own; null: the device has one.",
      non_zero(of.two_engines_s));
  add("limit", "What limits: H2D, D2H, H2D and D2H, copy, SM, host or workers.", of.limit);
}

void fields(Record& add, const TaskEntry& of) {
  add("task", "Place in the issue order, from 0.", of.task, from_zero);
  add("name", "Name in the deck's list.", of.name);
  add("stage", "What the task does.", of.stage);
  add("chunk", "Its chunk.", of.chunk, from_zero);
  add("lane", "Its lane.", of.lane, from_zero);
  add("engine", "What executed it.", of.engine);
  add("start_s", "Seconds from the start of the first issue.", of.start_s, from_zero);
  add("stop_s", "Seconds from the start of the first issue.", of.stop_s, from_zero);
}

void fields(Record& add, const ProductOf& of) {
  const double flops = experiment::product_flops(of.run.schedule);
  const schedule::Traffic traffic = schedule::traffic(of.run.schedule);
  const auto bytes = static_cast<double>(traffic.h2d + traffic.d2h);
  add("flops", "Floating-point operations.", flops, above_zero);
  add("flop_per_byte", "Operations per byte over the link.",
      bytes > 0 ? std::optional(flops / bytes) : std::nullopt);
  add("h2d_bytes", "Bytes to the device.", traffic.h2d, from_zero);
  add("d2h_bytes", "Bytes back.", traffic.d2h, from_zero);
  add("host_tiles", "Tiles that the host computes.", experiment::host_tiles(of.run.schedule),
      from_zero);
  add("flop_per_s", "Rate; null: not run.", experiment::flops_per_s(of.run));
}

void fields(Record& add, const experiment::Stop& of) {
  add("reason", "What ended the repetitions: a key of measure.", of.reason);
  add("repetitions", "Repetitions of each order.", of.repetitions, above_zero);
  add("elapsed_s", "Since the first began, verification included, seconds.", of.elapsed_s,
      from_zero);
  add("width",
      "With precision: widest 95 % interval of what is judged / its median; null: too few "
      "repetitions.",
      of.width, from_zero);
}

void fields(Record& add, const experiment::Stretch& of) {
  add("at_s", "When its first repetition began, seconds since the first of all.", of.at_s,
      from_zero);
  add("repetitions", "Repetitions that began in it.", of.repetitions, above_zero);
  add("median_s", "Median of up to 64 of them, evenly spaced.", base::summarize(of.kept_s).median,
      from_zero);
  add("min_s", "Least time.", of.min_s, from_zero);
  add("max_s", "Largest time.", of.max_s, from_zero);
}

void fields(Record& add, const RunOf& of) {
  add("order", "Issue order.", of.run.order);
  add("disturb", "Call that disturbed it; null: none.", of.run.disturbance);
  add("host_work", "Work of the host while the device works; null: none.",
      of.run.host_work ? std::optional(of.run.host_work_samples) : std::nullopt);
  add("device", "Device that a prediction is for; null: the present one.", or_null(of.run.device));
  add.raw("point", "Swept keys and their values.", point_of(of.outcome), {{"type", "object"}});
  add("phase", phase_help, of.outcome.phase);
  add("tasks", "Tasks.", of.run.schedule.tasks.size(), above_zero);
  add("chunks", "Chunks.", of.run.schedule.chunks, from_zero);
  add("lanes", "Lanes.", of.run.schedule.lanes, above_zero);
  add("slots", "Chunks that the device holds at once.", of.run.schedule.slots, above_zero);
  add("bytes", "Bytes copied, both directions.", copied_bytes(of.run), from_zero);
  add("transfer", "Staged copies or zero copy.", of.run.schedule.transfer);
  add("mechanism", "Streams, a graph, or Kokkos alone.", of.run.schedule.mechanism);
  add("issued", "Issue order of its tasks; differs from `order` for auto.", of.run.schedule.order);
  add("repetitions", "Repetitions that were scored.", of.run.repetitions, from_zero);
  add("stopped", "Why there were no more; null: not run, or interrupted.",
      of.run.samples_s.empty() ? std::nullopt : of.outcome.stopped);
  add("samples_s",
      "Wall-clock time of each repetition, seconds, in the order of time. Of a soak, whose every "
      "repetition is verified, at most 4096 are kept: every second, fourth, ... repetition, the "
      "same of all orders.",
      of.run.samples_s, above_zero);
  add("series", "Of a soak: its repetitions in up to 512 stretches of equal time; null: no soak.",
      of.run.series.empty() ? std::nullopt : std::optional(of.run.series));
  add("issue_s",
      "Until the host had issued all tasks, waits for blocking ones included, seconds; null: not "
      "run.",
      base::summary_if_any(of.run.issue_s));
  add("chunk_issue_s",
      "What issuing two copies and a kernel cost the host between the runs, seconds, derived from "
      "the calls of this run; the prediction uses it. Null: not measured.",
      of.run.chunk_issue_s);
  add("polls", "Queries of lanes by the waiting host, in all; null: not run.",
      of.run.issue_s.empty() ? std::nullopt : std::optional(of.run.polls), from_zero);
  add("graph", "Costs of the graph; null: none.", of.run.graph);
  add("staging", "Work of the staging ring; null: none.", experiment::staging_costs(of.run));
  add("product", "Of a matrix product; null: another workload.",
      experiment::product_flops(of.run.schedule) > 0 ? std::optional(ProductOf{of.run})
                                                     : std::nullopt);
  for (const deck::MetricRow& row : deck::run_metrics) {
    const auto value = experiment::value(row.value, of.run, of.outcome.runs);
    const Sign range = row.value == deck::Metric::throughput  ? above_zero
                       : row.value == deck::Metric::max_error ? from_zero
                                                              : Sign::any;
    if (row.whole) {
      add(row.key(), row.help, value, range);
    } else {
      add(row.key(), row.help, value ? std::optional(value->median) : std::nullopt, range);
    }
  }
  add("bound_s", "Least time that the hardware allows, without fill and drain, seconds.",
      of.run.bounds ? std::optional(of.run.bounds->bound_s) : std::nullopt, from_zero);
  add("schedule_bound_s", "Least time of this schedule on it, seconds.",
      of.run.bounds ? std::optional(of.run.bounds->schedule_bound_s) : std::nullopt, from_zero);
  add("rates", "What bounds are made from; null: not measured.", of.run.rates);
  add("bounds", "All bounds; null: not measured.", of.run.bounds);
  add("predicted_s", "The model's time, seconds.", experiment::predicted_s(of.run), from_zero);
  const auto& expected = of.run.expected;
  add("predicted_lo_s", "Least time that the model expects, seconds; null: unknown.",
      expected ? std::optional(expected->lo_s) : std::nullopt, from_zero);
  add("predicted_hi_s", "Longest time that the model expects, seconds; null: unknown.",
      expected ? std::optional(expected->hi_s) : std::nullopt, from_zero);
  add("verified", "Whether the data were compared and are correct.",
      of.run.verified && !of.run.wrong);
  add("wrong", "First wrong element; null: none.", of.run.wrong);
  add("trace", "How the timeline was measured; null: it was not.", of.run.trace);
  add("timeline", "Every task as measured; null: not traced.",
      entries(of.run.schedule, of.run.trace ? &of.run.trace->timeline : nullptr));
  const bool predicted = of.run.predicted && of.outcome.values.empty();
  add("predicted_timeline", "Every task as predicted; null in sweeps.",
      entries(of.run.schedule, predicted ? &*of.run.predicted : nullptr));
}

void fields(Record& add, const experiment::DeviceSamples& of) {
  add("bytes", "Size of each copy.", of.link_bytes, above_zero);
  for (const deck::MetricRow& row : deck::device_metrics) {
    if (row.needs == deck::Needs::link) add(row.key(), row.help, experiment::value(row.value, of));
  }
  add("h2d_s", "Copies to the device, seconds each.", of.h2d_s, above_zero);
  add("d2h_s", "Copies back, seconds each.", of.d2h_s, above_zero);
  add("duplex_s", "Both at the same time, seconds each: harmonic mean of the directions.",
      of.duplex_s, above_zero);
  add("duplex_h2d_s", "Copies to the device while others go back, seconds each.", of.duplex_h2d_s,
      above_zero);
  add("duplex_d2h_s", "Copies back while others go to the device, seconds each.", of.duplex_d2h_s,
      above_zero);
}

void fields(Record& add, const experiment::LimitSource& of) {
  add("file", "Reference file.", of.file);
  add("value", "Value that it has.", of.value, from_zero);
  add("below", "How much worse a value may be, as a fraction of it.", of.below, from_zero);
}

void fields(Record& add, const experiment::HealthRecord& of) {
  add("before", "Right before the runs.", of.before);
  add("after", "Right after them.", of.after);
  add("throttled", "Scored time with each reason for low clocks, sampled; null: unknown.",
      of.throttled);
  for (const deck::MetricRow& row : deck::device_metrics) {
    if (row.needs != deck::Needs::health) continue;
    const auto value = experiment::value(row.value, experiment::DeviceSamples{.health = of});
    add(row.key(), row.help, value ? std::optional(value->median) : std::nullopt);
  }
}

void fields(Record& add, const experiment::Window& of) {
  add("skew_s", "Between the first and the last start of a repetition, seconds.",
      base::summary_if_any(of.skew_s));
  add("shared_s", "From its last start until the last rank had its sample, seconds.",
      base::summary_if_any(of.shared_s));
}

void fields(Record& add, const Together& of) {
  add.raw("rates", "The link's, while all devices of the node copy; null: not measured.", of.rates,
          schema_of<std::optional<experiment::DeviceSamples>>());
  add.raw("health", "The device before, during and after these runs; null: it cannot be read.",
          of.health, schema_of<std::optional<experiment::HealthRecord>>());
  add.raw("window", "How the node's ranks shared the repetitions.", of.window,
          schema_of<experiment::Window>());
}

void fields(Record& add, const CheckOf& of) {
  add("metric", "Metric.", of.check.metric);
  add("order", "Issue order; null: a metric of the device.", of.check.order);
  add("device", "Device of a prediction; null: the device at hand.", or_null(of.check.device));
  add.raw("point", "Swept keys and their values.", point_of(of.outcome), {{"type", "object"}});
  add("phase", phase_help, of.outcome.phase);
  add("value", "Median of the metric; null: not measured.", std::optional(of.check.value.median));
  add("bound", "min or max.", std::string_view(of.check.at_least ? "min" : "max"));
  add("limit", "Limit; null: the reference has none.", std::optional(of.check.limit), from_zero);
  add("reference", "Where the limit comes from; null: the deck.", of.check.source);
  add("verdict", "Verdict of this limit.", of.check.verdict);
  add("text", "Value, interval and limit in words.", experiment::words(of.check));
  add("reason", "Why the verdict does not follow from the value; null: it does.",
      or_null(of.check.reason));
}

void fields(Record& add, const FindingOf& of) {
  add("order", "Issue order.", of.run.order);
  add("disturb", "Its disturbance; null: none.", of.run.disturbance);
  add("host_work", "Whether it has host work.", of.run.host_work);
  add.raw("point", "Swept keys and their values.", point_of(of.outcome), {{"type", "object"}});
  add("phase", phase_help, of.outcome.phase);
  add("cause", "Name of the diagnosis.", of.finding.cause);
  add("text", "The cause, the number that shows it, and what to change.", of.finding.text);
  Json evidence = Json::object();
  for (const auto& [name, value] : of.finding.evidence) evidence[std::string(name)] = value;
  add.raw("evidence", "Numbers behind it, by name; times in seconds.", evidence,
          {{"type", "object"}});
}

}  // namespace overlap::report
