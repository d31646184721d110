#pragma once

#include "base/version.hpp"
#include "deck/fields.hpp"
#include "experiment/judge.hpp"
#include "report/fields.hpp"

/// The fields of a result file: what follows from these tables are the file and its JSON Schema.
namespace overlap::report {

using experiment::Check;
using experiment::Outcome;
using experiment::Run;

inline std::optional<std::string> or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Values of free names.
struct Names {
  Json json;
  static Json schema() { return {{"type", "object"}}; }
};

/// What the program chose: name to words.
struct Chosen {
  Json json;
  static Json schema() {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  }
};

/// Every key of the deck with its value.
struct Resolved {
  Json json;
  static Json schema() { return json_of(deck::resolved_schema()); }
};

/// A run, and the outcome that it belongs to.
struct RunOf {
  const Run& run;
  const Outcome& outcome;
};

struct CheckOf {
  const Check& check;
  const Outcome& outcome;
};

struct FindingOf {
  const experiment::Finding& finding;
  const Run& run;
  const Outcome& outcome;
};

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

struct Product {
  double flops = 0;
  std::optional<double> flop_per_byte;
  std::size_t h2d_bytes = 0, d2h_bytes = 0;
  int host_tiles = 0;
  std::optional<base::Summary> flop_per_s;
};

inline Names point_of(const Outcome& outcome) {
  Json json = Json::object();
  if (outcome.values.empty()) return {json};
  const yaml::Value deck = deck::resolved(outcome.deck);
  for (const deck::Point::Value& value : outcome.values) {
    const yaml::Value* const found = deck.at(value.key);
    json[value.key] = found == nullptr ? Json() : json_of(*found);
  }
  return {json};
}

inline std::optional<std::vector<TaskEntry>> entries(const schedule::Schedule& schedule,
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

/// The matrix product that a run computed; empty: none.
inline std::optional<Product> product(const Run& run) {
  const double flops = experiment::product_flops(run.schedule);
  if (flops == 0) return std::nullopt;
  const schedule::Traffic traffic = schedule::traffic(run.schedule);
  Product product{.flops = flops,
                  .h2d_bytes = traffic.h2d,
                  .d2h_bytes = traffic.d2h,
                  .host_tiles = experiment::host_tiles(run.schedule)};
  const auto bytes = static_cast<double>(traffic.h2d + traffic.d2h);
  if (bytes > 0) product.flop_per_byte = flops / bytes;
  product.flop_per_s = experiment::flops_per_s(run);
  return product;
}

/// A number that is 0 where there is none.
inline std::optional<double> above_zero(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

inline constexpr auto from_zero = Range::from_zero;
inline constexpr auto positive = Range::above_zero;

template <>
inline constexpr auto fields<base::Summary> = std::tuple{
    Field{"median", "Median.", &base::Summary::median, from_zero},
    Field{"min", "Least.", &base::Summary::min, from_zero},
    Field{"max", "Largest.", &base::Summary::max, from_zero},
    Field{"lo", "Lower end of the 95 % interval of the median.", &base::Summary::lo, from_zero},
    Field{"hi", "Upper end of the 95 % interval of the median.", &base::Summary::hi, from_zero}};

template <>
inline constexpr auto fields<base::BuildInfo> =
    std::tuple{Field{"version", "Version of the program.",
                     [](const base::BuildInfo&) { return std::string(base::version().version); }},
               Field{"git_sha", "Commit that was built; null: built without git.",
                     [](const base::BuildInfo&) { return or_null(base::version().git_sha); }},
               Field{"dirty", "Whether tracked files differed from that commit.",
                     [](const base::BuildInfo&) { return base::version().dirty; }},
               Field{"compiler", "Compiler and its version.", &base::BuildInfo::compiler},
               Field{"kokkos_version", "Version of Kokkos.", &base::BuildInfo::kokkos_version},
               Field{"kokkos_kernels_version", "Version of Kokkos Kernels; null: built without.",
                     [](const base::BuildInfo& b) { return or_null(b.kokkos_kernels_version); }},
               Field{"backend", "Default execution space.", &base::BuildInfo::backend},
               Field{"cuda_toolkit", "Version of the CUDA toolkit; null: built without.",
                     [](const base::BuildInfo& b) { return or_null(b.cuda_toolkit); }}};

template <>
inline constexpr auto fields<base::HostInfo> =
    std::tuple{Field{"name", "Host name.", &base::HostInfo::name},
               Field{"cpu", "Processor.", &base::HostInfo::cpu},
               Field{"cores", "Cores that the process may use.", &base::HostInfo::cores, positive},
               Field{"cpuset", "Their numbers, such as 0-7,16.", &base::HostInfo::affinity},
               Field{"total_bytes", "Memory, bytes.", &base::HostInfo::total_bytes, positive},
               Field{"available_bytes", "Memory available at the start, bytes.",
                     &base::HostInfo::available_bytes, from_zero}};

template <>
inline constexpr auto fields<base::DeviceInfo> = std::tuple{
    Field{"name", "Name of the device.", &base::DeviceInfo::name},
    Field{"uuid", "UUID.", [](const base::DeviceInfo& d) { return or_null(d.uuid); }},
    Field{"compute_capability", "Such as 9.0.",
          [](const base::DeviceInfo& d) { return or_null(d.compute_capability); }},
    Field{"copy_engines", "Copy engines.", &base::DeviceInfo::copy_engines, from_zero},
    Field{"concurrent_kernels", "Whether kernels can run at the same time.",
          &base::DeviceInfo::concurrent_kernels},
    Field{"free_bytes", "Free memory at the start, bytes.", &base::DeviceInfo::free_bytes,
          from_zero},
    Field{"total_bytes", "Memory, bytes.", &base::DeviceInfo::total_bytes, from_zero},
    Field{"pci", "PCI address.", &base::DeviceInfo::pci_bus_id},
    Field{"numa_node", "NUMA node of the PCI address.", &base::DeviceInfo::numa_node},
    Field{"pcie_gen", "Generation of the link at the start.", &base::DeviceInfo::pcie_gen},
    Field{"pcie_gen_max", "Most that device and slot can.", &base::DeviceInfo::pcie_gen_max},
    Field{"pcie_width", "Lanes of the link at the start.", &base::DeviceInfo::pcie_width},
    Field{"pcie_width_max", "Most that device and slot can.", &base::DeviceInfo::pcie_width_max},
    Field{"sm_clock_mhz", "SM clock at the start.", &base::DeviceInfo::sm_clock_mhz},
    Field{"sm_clock_max_mhz", "Highest SM clock.", &base::DeviceInfo::sm_clock_max_mhz},
    Field{"memory_clock_mhz", "Memory clock at the start.", &base::DeviceInfo::memory_clock_mhz},
    Field{"ecc", "Whether ECC is on.", &base::DeviceInfo::ecc},
    Field{"mig", "Whether MIG is on.", &base::DeviceInfo::mig}};

template <>
inline constexpr auto fields<experiment::WrongData> =
    std::tuple{Field{"chunk", "Chunk of the first wrong element.", &experiment::WrongData::chunk},
               Field{"array", "Its array.", &experiment::WrongData::array},
               Field{"index", "Its place there.", &experiment::WrongData::index},
               Field{"expected", "Right value.",
                     [](const experiment::WrongData& w) { return std::optional(w.expected); }},
               Field{"found", "Value found; null: not finite.",
                     [](const experiment::WrongData& w) { return std::optional(w.found); }}};

template <>
inline constexpr auto fields<experiment::Balance> = std::tuple{
    Field{"repeats", "Repeats of the arithmetic.", &experiment::Balance::repeats, positive},
    Field{"copy_s", "One chunk's copies to the device, seconds.", &experiment::Balance::copy_s},
    Field{"kernel_s", "Its kernel with these repeats, seconds.", &experiment::Balance::kernel_s},
    Field{"ratio", "kernel_s / copy_s.", &experiment::Balance::ratio, from_zero}};

template <>
inline constexpr auto fields<experiment::Trace> = std::tuple{
    Field{"source", "What took the times.", &experiment::Trace::source},
    Field{"parts", "Parts of the copies back, each timed in runs of its own.",
          &experiment::Trace::parts, positive},
    Field{"perturbation", "Traced time / scored time - 1.", &experiment::Trace::perturbation},
    Field{"doubtful", "Whether the scored runs' spread does not explain it.",
          &experiment::Trace::doubtful}};

template <>
inline constexpr auto fields<experiment::GraphCosts> =
    std::tuple{Field{"capture_s", "Capturing the graph, once, seconds.",
                     &experiment::GraphCosts::capture_s, from_zero},
               Field{"instantiate_s", "Instantiating it, once, seconds.",
                     &experiment::GraphCosts::instantiate_s, from_zero}};

template <>
inline constexpr auto fields<experiment::StagingCosts> = std::tuple{
    Field{"fill_s", "Copying into slots of the ring, seconds per repetition.",
          &experiment::StagingCosts::fill_s, from_zero},
    Field{"drain_s", "Copying out of them, seconds per repetition.",
          &experiment::StagingCosts::drain_s, from_zero},
    Field{"threads", "Threads that copy.", &experiment::StagingCosts::threads, positive}};

template <>
inline constexpr auto fields<experiment::HostWorkSamples> = std::tuple{
    Field{"threads", "Threads that took part.", &experiment::HostWorkSamples::threads, from_zero},
    Field{"time_s", "Time of the work, seconds; null: it did not run.",
          [](const experiment::HostWorkSamples& work) {
            return work.samples_s.empty() ? std::nullopt
                                          : std::optional(base::summarize(work.samples_s));
          }}};

template <>
inline constexpr auto fields<model::Rates> = std::tuple{
    Field{"h2d_s", "All copies to the device, alone, seconds.", &model::Rates::h2d_s, from_zero},
    Field{"d2h_s", "All copies back, alone, seconds.", &model::Rates::d2h_s, from_zero},
    Field{"both_s", "Both at the same time, seconds; null: no engines.",
          [](const model::Rates& rates) { return above_zero(rates.both_s); }},
    Field{"kernel_s", "All kernels, alone, seconds.", &model::Rates::kernel_s, from_zero},
    Field{"kernel_beside_copies", "Time factor of kernels while copies run.",
          &model::Rates::kernel_beside_copies}};

template <>
inline constexpr auto fields<model::Bounds> =
    std::tuple{Field{"serial_s", "Nothing overlaps, seconds.", &model::Bounds::serial_s, from_zero},
               Field{"one_engine_s", "Both directions share a copy engine; null: workers.",
                     [](const model::Bounds& bounds) { return above_zero(bounds.one_engine_s); }},
               Field{"two_engines_s", "Each direction has its own; null: the device has one.",
                     [](const model::Bounds& bounds) { return above_zero(bounds.two_engines_s); }},
               Field{"limit", "What limits: H2D, D2H, H2D and D2H, copy, SM, host or workers.",
                     &model::Bounds::limit}};

template <>
inline constexpr auto fields<TaskEntry> = std::tuple{
    Field{"task", "Place in the issue order, from 0.", &TaskEntry::task, from_zero},
    Field{"name", "Name in the deck's list.", &TaskEntry::name},
    Field{"stage", "What the task does.", &TaskEntry::stage},
    Field{"chunk", "Its chunk.", &TaskEntry::chunk, from_zero},
    Field{"lane", "Its lane.", &TaskEntry::lane, from_zero},
    Field{"engine", "What executed it.", &TaskEntry::engine},
    Field{"start_s", "Seconds from the start of the first issue.", &TaskEntry::start_s, from_zero},
    Field{"stop_s", "Seconds from the start of the first issue.", &TaskEntry::stop_s, from_zero}};

template <>
inline constexpr auto fields<Product> = std::tuple{
    Field{"flops", "Floating-point operations.", &Product::flops, positive},
    Field{"flop_per_byte", "Operations per byte over the link.", &Product::flop_per_byte},
    Field{"h2d_bytes", "Bytes to the device.", &Product::h2d_bytes, from_zero},
    Field{"d2h_bytes", "Bytes back.", &Product::d2h_bytes, from_zero},
    Field{"host_tiles", "Tiles that the host computes.", &Product::host_tiles, from_zero},
    Field{"flop_per_s", "Rate; null: not run.", &Product::flop_per_s}};

/// The fields of a run in front of its metrics, and those behind.
inline constexpr auto run_head = std::tuple{
    Field{"order", "Issue order.", [](const RunOf& r) { return r.run.order; }},
    Field{"disturb", "Call that disturbed it; null: none.",
          [](const RunOf& r) { return r.run.disturbance; }},
    Field{"host_work", "Work of the host while the device works; null: none.",
          [](const RunOf& r) {
            return r.run.host_work ? std::optional(r.run.host_work_samples) : std::nullopt;
          }},
    Field{"device", "Device that a prediction is for; null: the present one.",
          [](const RunOf& r) { return or_null(r.run.device); }},
    Field{"point", "Swept keys and their values.",
          [](const RunOf& r) { return point_of(r.outcome); }},
    Field{"tasks", "Tasks.", [](const RunOf& r) { return r.run.schedule.tasks.size(); }, positive},
    Field{"chunks", "Chunks.", [](const RunOf& r) { return r.run.schedule.chunks; }, from_zero},
    Field{"lanes", "Lanes.", [](const RunOf& r) { return r.run.schedule.lanes; }, positive},
    Field{"slots", "Chunks that the device holds at once.",
          [](const RunOf& r) { return r.run.schedule.slots; }, positive},
    Field{"bytes", "Bytes copied, both directions.",
          [](const RunOf& r) { return copied_bytes(r.run); }, from_zero},
    Field{"transfer", "Staged copies or zero copy.",
          [](const RunOf& r) { return r.run.schedule.transfer; }},
    Field{"mechanism", "Streams or a graph.",
          [](const RunOf& r) { return r.run.schedule.mechanism; }},
    Field{"samples_s", "Wall-clock time of each repetition, seconds, in the order of time.",
          [](const RunOf& r) { return r.run.samples_s; }, positive},
    Field{"issue_s", "How long the host was issuing, seconds; null: not run.",
          [](const RunOf& r) {
            return r.run.issue_s.empty() ? std::nullopt
                                         : std::optional(base::summarize(r.run.issue_s));
          }},
    Field{"polls", "Queries of lanes by the waiting host, in all; null: not run.",
          [](const RunOf& r) {
            return r.run.issue_s.empty() ? std::nullopt : std::optional(r.run.polls);
          },
          from_zero},
    Field{"graph", "Costs of the graph; null: none.", [](const RunOf& r) { return r.run.graph; }},
    Field{"staging", "Work of the staging ring; null: none.",
          [](const RunOf& r) {
            auto costs = r.run.staging;
            const auto repetitions = static_cast<double>(r.run.samples_s.size());
            if (costs && repetitions > 0) {
              costs->fill_s /= repetitions;
              costs->drain_s /= repetitions;
            }
            return repetitions > 0 ? costs : std::nullopt;
          }},
    Field{"product", "Of a matrix product; null: another workload.",
          [](const RunOf& r) { return product(r.run); }}};

inline constexpr auto run_tail = std::tuple{
    Field{"bound_s", "Least time that the hardware allows, without fill and drain, seconds.",
          [](const RunOf& r) {
            return r.run.bounds ? std::optional(r.run.bounds->bound_s) : std::nullopt;
          },
          from_zero},
    Field{"schedule_bound_s", "Least time of this schedule on it, seconds.",
          [](const RunOf& r) {
            return r.run.bounds ? std::optional(r.run.bounds->schedule_bound_s) : std::nullopt;
          },
          from_zero},
    Field{"rates", "What bounds are made from; null: not measured.",
          [](const RunOf& r) { return r.run.rates; }},
    Field{"bounds", "All bounds; null: not measured.", [](const RunOf& r) { return r.run.bounds; }},
    Field{"predicted_s", "The model's time, seconds.",
          [](const RunOf& r) { return experiment::predicted_s(r.run); }, from_zero},
    Field{"verified", "Whether the data were compared, and right.",
          [](const RunOf& r) { return r.run.verified && !r.run.wrong; }},
    Field{"wrong", "First wrong element; null: none.", [](const RunOf& r) { return r.run.wrong; }},
    Field{"trace", "How the timeline was measured; null: it was not.",
          [](const RunOf& r) { return r.run.trace; }},
    Field{"timeline", "Every task as measured; null: not traced.",
          [](const RunOf& r) {
            return entries(r.run.schedule, r.run.trace ? &r.run.trace->timeline : nullptr);
          }},
    Field{"predicted_timeline", "Every task as predicted; null in sweeps.", [](const RunOf& r) {
            const bool shown = r.run.predicted && r.outcome.values.empty();
            return entries(r.run.schedule, shown ? &*r.run.predicted : nullptr);
          }}};

template <>
inline constexpr auto fields<CheckOf> = std::tuple{
    Field{"metric", "Metric.", [](const CheckOf& c) { return c.check.metric; }},
    Field{"order", "Issue order.", [](const CheckOf& c) { return c.check.order; }},
    Field{"point", "Swept keys and their values.",
          [](const CheckOf& c) { return point_of(c.outcome); }},
    Field{"value", "Median of the metric.",
          [](const CheckOf& c) { return std::optional(c.check.value.median); }},
    Field{"bound", "min or max.",
          [](const CheckOf& c) { return std::string(c.check.at_least ? "min" : "max"); }},
    Field{"limit", "Limit.", [](const CheckOf& c) { return c.check.limit; }, from_zero},
    Field{"verdict", "Verdict of this limit.", [](const CheckOf& c) { return c.check.verdict; }},
    Field{"reason", "Why it is not what the value says; null: it is.",
          [](const CheckOf& c) { return or_null(c.check.reason); }}};

template <>
inline constexpr auto fields<FindingOf> = std::tuple{
    Field{"order", "Issue order.", [](const FindingOf& f) { return f.run.order; }},
    Field{"point", "Swept keys and their values.",
          [](const FindingOf& f) { return point_of(f.outcome); }},
    Field{"cause", "Name of the diagnosis.",
          [](const FindingOf& f) { return std::string(f.finding.cause); }},
    Field{"text", "What, the number that shows it, what to change.",
          [](const FindingOf& f) { return f.finding.text; }},
    Field{"evidence", "Numbers behind it, by name; times in seconds.", [](const FindingOf& f) {
            Json json = Json::object();
            for (const auto& [name, value] : f.finding.evidence) json[std::string(name)] = value;
            return Names{json};
          }}};

}  // namespace overlap::report
