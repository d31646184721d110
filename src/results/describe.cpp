#include "results/describe.hpp"

#include "results/metrics.hpp"

/// Machines and runs as result files spell them.
namespace overlap::base {

using describe::above_zero;
using describe::from_zero;
using describe::Visitor;
using results::Name;
using results::TextOrNull;

void describe(Visitor& v, Summary& s) {
  v("median", s.median, "Median.");
  v("min", s.min, "Least.");
  v("max", s.max, "Largest.");
  v("lo", s.lo, "Lower end of the 95 % interval of the median.");
  v("hi", s.hi, "Upper end of the 95 % interval of the median.");
  v("n", s.n, "Number of samples.", from_zero);
}

void describe(Visitor& v, Estimate& e) {
  v("value", e.value, "Estimate of Hodges and Lehmann: the median of all ratios.", from_zero);
  v("lo", e.lo, "Lower end of its 95 % interval.", from_zero);
  v("hi", e.hi, "Upper end of its 95 % interval.", from_zero);
  v("covers", e.covers, "Whether samples suffice for 95 %; else the interval spans all ratios.");
}

void describe(Visitor& v, BuildInfo& build) {
  v("version", build.version, "Version of the program.");
  v("git_sha", build.git_sha, "Commit that was built; null: built without git.", TextOrNull());
  v("dirty", build.dirty, "Whether tracked files differed from that commit.");
  v("compiler", build.compiler, "Compiler and its version.");
  v("kokkos_version", build.kokkos_version, "Version of Kokkos.");
  v("kokkos_kernels_version", build.kokkos_kernels_version, "Kokkos Kernels; null: none.",
    TextOrNull());
  v("backend", build.backend, "Default execution space.", Name());
  v("cuda_toolkit", build.cuda_toolkit, "CUDA toolkit; null: none.", TextOrNull());
  v("hip_toolkit", build.hip_toolkit, "Version of HIP; null: built without.", TextOrNull());
}

void describe(Visitor& v, HostInfo& host) {
  v("name", host.name, "Host name.", Name());
  v("boot_id", host.boot_id, "Of its kernel, new with each boot; null: unknown.", TextOrNull());
  v("cpu", host.cpu, "Processor.", Name());
  v("cores", host.cores, "Cores that the process may use.", above_zero);
  v("cpuset", host.affinity, "Their numbers, such as 0-7,16.");
  v("cpu_quota", host.cpu_quota, "Cores' worth of time that control groups allow; null: no limit.",
    from_zero);
  v("total_bytes", host.total_bytes, "Memory, bytes; null: unknown.", above_zero);
  v("available_bytes", host.available_bytes, "Memory available at the start; null: unknown.",
    from_zero);
  v("kernel", host.kernel, "Release of the operating system's kernel.");
  v("transparent_huge_pages", host.transparent_huge_pages, "always, madvise or never.");
  v("huge_pages", host.huge_pages, "Huge pages that the system reserves.", from_zero);
}

void describe(Visitor& v, DeviceInfo& device) {
  v("name", device.name, "Name of the device.", Name());
  v("uuid", device.uuid, "What identifies it everywhere; null: it has none.", TextOrNull());
  v("compute_capability", device.compute_capability, "Such as 9.0.", TextOrNull());
  v("copy_engines", device.copy_engines, "Copy engines.", from_zero);
  v("concurrent_kernels", device.concurrent_kernels, "Whether kernels can run at the same time.");
  v("maps_host_memory", device.maps_host_memory, "Whether kernels reach page-locked host memory.");
  v("concurrent_managed_access", device.concurrent_managed_access,
    "Whether host and kernels may use managed memory at the same time.");
  v("pageable_memory_access", device.pageable_memory_access,
    "Whether kernels reach pageable host memory.");
  v("free_bytes", device.free_bytes, "Free memory at the start, bytes.", from_zero);
  v("total_bytes", device.total_bytes, "Memory, bytes.", from_zero);
  v("pci", device.pci_bus_id, "PCI address.");
  v("numa_node", device.numa_node, "NUMA node of the PCI address.");
  v("pcie_gen", device.pcie_gen, "Generation of the link at the start.");
  v("pcie_gen_max", device.pcie_gen_max, "Maximum that device and slot support.");
  v("pcie_width", device.pcie_width, "Lanes of the link at the start.");
  v("pcie_width_max", device.pcie_width_max, "Maximum that device and slot support.");
  v("sm_clock_mhz", device.sm_clock_mhz, "SM clock at the start.");
  v("sm_clock_max_mhz", device.sm_clock_max_mhz, "Highest SM clock.");
  v("memory_clock_mhz", device.memory_clock_mhz, "Memory clock at the start.");
  v("ecc", device.ecc, "Whether ECC is on.");
  v("mig", device.mig, "Whether MIG is on.");
  v("driver", device.driver, "Version of the driver.");
  v("vbios", device.vbios, "Version of the device's firmware.");
  v("serial", device.serial, "Serial number.");
  v("power_limit_w", device.power_limit_w, "Power limit, W.", from_zero);
  v("power_limit_default_w", device.power_limit_default_w, "Its default, W.", from_zero);
}

void describe(Visitor& v, Job& job) {
  v("id", job.id, "Number of the batch job.");
  v("step", job.step, "Its step.");
  v("launch", job.launch,
    "Identifies ranks that were started together: with --fleet, or else job, restart count and "
    "what the launcher adds.");
  v("rank", job.rank, "Rank of this process.", from_zero);
  v("ranks", job.ranks, "Ranks that were started together.", above_zero);
}

void describe(Visitor& v, Placement& placement) {
  v("local_rank", placement.local_rank, "Rank among those of its node.", from_zero);
  v("local_ranks", placement.local_ranks, "Ranks of its node.", above_zero);
  v("nodes", placement.nodes, "Nodes of the fleet.", above_zero);
  v("device", placement.device, "Which of the devices it sees; null on host back ends.", from_zero);
  v("cpus", placement.cpus, "Processors of its threads; null: not bound.", TextOrNull());
  v("memory", placement.memory, "NUMA nodes of its memory; null: not bound.", TextOrNull());
  v("note", placement.note, "Why it is not bound; null: nothing to say.", TextOrNull());
}

void describe(Visitor& v, Health& health) {
  v("pcie_gen", health.pcie_gen, "Generation of the link.");
  v("pcie_width", health.pcie_width, "Lanes of the link.");
  v("replays", health.pcie_replays, "Packets that the link had to resend.", from_zero);
  const auto ecc = [](Visitor& part, Health& h) {
    part("corrected", h.ecc_corrected, "Corrected.", from_zero);
    part("uncorrected", h.ecc_uncorrected, "Not corrected.", from_zero);
  };
  v("ecc", health, "Memory errors since the driver was loaded.", describe::map_of<Health>(ecc));
  v("remapped_rows", health.remapped_rows, "Memory rows remapped to spare rows.", from_zero);
  v("temperature_c", health.temperature_c, "Temperature, degrees Celsius.");
  v("power_w", health.power_w, "Power, W.", from_zero);
  v("sm_clock_mhz", health.sm_clock_mhz, "SM clock.", from_zero);
  v("memory_clock_mhz", health.memory_clock_mhz, "Memory clock.", from_zero);
  v("throttle_reasons", health.throttle_reasons, "What holds the clocks down.");
}

}  // namespace overlap::base

namespace overlap::model {

using describe::from_zero;

void describe(describe::Visitor& v, Rates& rates) {
  v("h2d_s", rates.h2d_s, "All copies to the device, alone, seconds.", from_zero);
  v("d2h_s", rates.d2h_s, "All copies back, alone, seconds.", from_zero);
  v("both_s", rates.both_s, "Both at the same time, seconds; 0: no engines.", from_zero);
  v("kernel_s", rates.kernel_s, "All kernels, alone, seconds.", from_zero);
  v("kernel_beside_copies", rates.kernel_beside_copies, "Time factor of kernels while copies run.");
}

void describe(describe::Visitor& v, Bounds& bounds) {
  v("serial_s", bounds.serial_s, "Nothing overlaps, seconds.", from_zero);
  v("one_engine_s", bounds.one_engine_s,
    "Both directions share a copy engine, seconds; 0: workers.", from_zero);
  v("two_engines_s", bounds.two_engines_s,
    "Each direction has its own, seconds; 0: the device has one.", from_zero);
  v("bound_s", bounds.bound_s, "The one that holds for this device, seconds.", from_zero);
  v("schedule_bound_s", bounds.schedule_bound_s, "With this schedule's fill and drain, seconds.",
    from_zero);
  v("limit", bounds.limit, "What limits: H2D, D2H, H2D and D2H, copy, SM, host or workers.");
}

}  // namespace overlap::model

namespace overlap::results {

using describe::above_zero;
using describe::from_zero;
using describe::Visitor;

void describe(Visitor& v, Task& task) {
  v("task", task.task, "Place in the issue order, from 0.", from_zero);
  v("name", task.name, "Name in the deck's list.");
  v("stage", task.stage, "What the task does.");
  v("chunk", task.chunk, "Its chunk.", from_zero);
  v("lane", task.lane, "Its lane.", from_zero);
  v("engine", task.engine, "What executed it.");
  v("start_s", task.start_s, "Seconds from the start of the first issue.", from_zero);
  v("stop_s", task.stop_s, "Seconds from the start of the first issue.", from_zero);
  v("bytes", task.bytes, "Bytes that it copied.", from_zero);
  v("array", task.array, "Array that it copied.");
  v("after", task.after, "Tasks that it waits for, beside those of its lane.");
  v("blocking", task.blocking, "Whether the host waits for it.");
}

void describe(Visitor& v, WrongData& wrong) {
  v("chunk", wrong.chunk, "Chunk of the first wrong element.");
  v("array", wrong.array, "Its array.");
  v("index", wrong.index, "Its index in that array.");
  v("expected", wrong.expected, "Correct value.", NumberOrNull());
  v("found", wrong.found, "Value found; null: not finite.", NumberOrNull());
}

void describe(Visitor& v, Trace& trace) {
  v("source", trace.source, "Source of the times.");
  v("perturbation", trace.perturbation, "Traced time / scored time - 1.");
  v("doubtful", trace.doubtful, "Whether the scored runs' spread does not explain it.");
}

void describe(Visitor& v, GraphCosts& graph) {
  v("capture_s", graph.capture_s, "Capturing the graph, once, seconds.", from_zero);
  v("instantiate_s", graph.instantiate_s, "Instantiating it, once, seconds.", from_zero);
}

void describe(Visitor& v, HostWorkSamples& work) {
  derived(v, "time_s", base::summary_if_any(work.samples_s),
          "Time of the work, seconds; null: it did not run.");
  v("samples_s", work.samples_s, "The same of each repetition, seconds.", Times());
}

void describe(Visitor& v, Stop& stop) {
  v("reason", stop.reason, "What ended the repetitions: a key of measure.");
  v("repetitions", stop.repetitions, "Repetitions of each order.", above_zero);
  v("elapsed_s", stop.elapsed_s, "Since the first began, with verification.", from_zero);
  v("width", stop.width, "Widest 95 % interval of a judged metric / its median; null: unknown.",
    from_zero);
}

void describe(Visitor& v, Product& product) {
  v("flops", product.flops, "Floating-point operations.", above_zero);
  v("host_tiles", product.host_tiles, "Tiles that the host computes.", from_zero);
  v("flop_per_s", product.flops_per_s, "Rate; null: not run.");
}

namespace {

/// What was measured, beside the metrics.
void describe_samples(Visitor& v, Run& run) {
  v("repetitions", run.repetitions, "Repetitions that were scored.", from_zero);
  v("stopped", run.stopped, "Why there were no more; null: not run, or interrupted.");
  v("samples_s", run.samples_s,
    "Wall-clock time of each repetition, seconds, in the order of time. Of a soak, whose every "
    "repetition is verified, at most 4096 are kept: every second, fourth, ... repetition, the "
    "same of all orders.",
    Times());
  v("issue_s", run.issue,
    "Until all threads of the host had issued their tasks, waits for blocking ones included, "
    "seconds; null: not run.");
  v("polls", run.polls, "Queries of lanes by the waiting host, in all.", from_zero);
  v("graph", run.graph, "Costs of the graph; null: none.");
  v("product", run.product, "Of a matrix product; null: another workload.");
}

void describe_bounds(Visitor& v, Run& run) {
  const auto bound = [&](double model::Bounds::* part) {
    return run.bounds ? std::optional((*run.bounds).*part) : std::nullopt;
  };
  derived(v, "bound_s", bound(&model::Bounds::bound_s),
          "Least time that the hardware allows, without fill and drain, seconds.");
  derived(v, "schedule_bound_s", bound(&model::Bounds::schedule_bound_s),
          "Least time of this schedule on it, seconds.");
  v("bound_samples_s", run.bound_samples_s,
    "bound_s at each of `samples_s`, where a criterion judges a bound; else empty.", Times());
  v("rates", run.rates, "What bounds are made from; null: not measured.");
  v("bounds", run.bounds, "All bounds; null: not measured.");
}

}  // namespace

void describe(Visitor& v, Run& run) {
  v("order", run.order, "Issue order.");
  v("disturb", run.disturbance, "Call that disturbed it; null: none.");
  v("host_work", run.host_work, "Work of the host while the device works; null: none.");
  v("device", run.device, "Device that a prediction is for; null: the present one.", TextOrNull());
  v("tasks", run.tasks, "Tasks.", above_zero);
  v("chunks", run.chunks, "Chunks.", from_zero);
  v("lanes", run.lanes, "Lanes.", above_zero);
  v("slots", run.slots, "Chunks that the device holds at once.", above_zero);
  derived(v, "bytes", run.bytes(), "Bytes copied, both directions.", from_zero);
  v("h2d_bytes", run.h2d_bytes, "Bytes copied to the device.", from_zero);
  v("d2h_bytes", run.d2h_bytes, "Bytes copied back.", from_zero);
  v("transfer", run.transfer,
    "Staged copies, zero copy, prefetched pages, or pages moved on demand.");
  v("mechanism", run.mechanism, "Streams, a graph, or Kokkos alone.");
  describe_samples(v, run);
  for (const deck::MetricRow& row : deck::run_metrics) {
    v(row.key(), run.metrics[static_cast<std::size_t>(row.value)], row.help);
  }
  describe_bounds(v, run);
  v("predicted_s", run.predicted_s, "The model's time, seconds.", from_zero);
  v("verified", run.verified, "Whether the data were compared and are correct.");
  v("wrong", run.wrong, "First wrong element; null: none.");
  v("trace", run.trace, "How the timeline was measured; null: it was not.");
  v("untraced", run.untraced, "Why it was not, where it could have been; null: nothing to say.",
    TextOrNull());
  v("timeline", run.timeline, "Every task as measured; null: not traced.");
  v("predicted_timeline", run.predicted_timeline, "Every task as predicted; null in sweeps.");
}

}  // namespace overlap::results
