#include "results/describe.hpp"
#include "results/metrics.hpp"

/// Runs as result files spell them.
namespace overlap::model {

using describe::from_zero;

namespace {

/// A time that is null where it is 0.
void describe_time(describe::Visitor& v, const char* key, double& time, const char* help) {
  auto value = time > 0 ? std::optional(time) : std::nullopt;
  v(key, value, help, from_zero);
  if (v.reader() != nullptr) time = value.value_or(0);
}

}  // namespace

void describe(describe::Visitor& v, Rates& rates) {
  v("h2d_s", rates.h2d_s, "All copies to the device, alone, seconds.", from_zero);
  v("d2h_s", rates.d2h_s, "All copies back, alone, seconds.", from_zero);
  describe_time(v, "both_s", rates.both_s, "Both at the same time, seconds; null: no engines.");
  v("kernel_s", rates.kernel_s, "All kernels, alone, seconds.", from_zero);
  v("kernel_beside_copies", rates.kernel_beside_copies, "Time factor of kernels while copies run.");
}

/// Without those that every run has, see describe_bounds().
void describe(describe::Visitor& v, Bounds& bounds) {
  v("serial_s", bounds.serial_s, "Nothing overlaps, seconds.", from_zero);
  describe_time(v, "one_engine_s", bounds.one_engine_s,
                "Both directions share a copy engine; null: workers.");
  describe_time(v, "two_engines_s", bounds.two_engines_s,
                "Each direction has its own; null: the device has one.");
  v("limit", bounds.limit, "What limits: H2D, D2H, H2D and D2H, copy, SM, host or workers.");
}

}  // namespace overlap::model

namespace overlap::results {

using describe::above_zero;
using describe::added;
using describe::from_zero;
using describe::Visitor;

/// Where a run, finding or check belongs.
void describe_place(Visitor& v, Json& point, deck::Phase& phase) {
  v("point", point, "Swept keys and their values.", Values());
  v("phase", phase, phase_help);
}

void describe(Visitor& v, Task& task) {
  v("task", task.task, "Place in the issue order, from 0.", from_zero);
  v("name", task.name, "Name in the deck's list.");
  v("stage", task.stage, "What the task does.");
  v("chunk", task.chunk, "Its chunk.", from_zero);
  v("lane", task.lane, "Its lane.", from_zero);
  v("engine", task.engine, "What executed it.");
  v("start_s", task.start_s, "Seconds from the start of the first issue.", from_zero);
  v("stop_s", task.stop_s, "Seconds from the start of the first issue.", from_zero);
  v("bytes", task.bytes, "Bytes that it copied.", from_zero, added);
  v("array", task.array, "Array that it copied.", added);
  v("after", task.after, "Tasks that it waits for, beside those of its lane.", added);
  v("blocking", task.blocking, "Whether the host waits for it.", added);
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

void describe(Visitor& v, StagingCosts& staging) {
  v("fill_s", staging.fill_s, "Copying into slots of the ring, seconds per repetition.", from_zero);
  v("drain_s", staging.drain_s, "Copying out of them, seconds per repetition.", from_zero);
  v("threads", staging.threads, "Threads that copy.", above_zero);
}

void describe(Visitor& v, HostWorkSamples& work) {
  v("threads", work.threads, "Threads that took part.", from_zero);
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

void describe(Visitor& v, Stretch& stretch) {
  v("at_s", stretch.at_s, "Start of its first repetition, since the first of all.", from_zero);
  v("repetitions", stretch.repetitions, "Repetitions that began in it.", above_zero);
  v("median_s", stretch.median_s, "Median of up to 64 of them, evenly spaced.", from_zero);
  v("min_s", stretch.min_s, "Least time.", from_zero);
  v("max_s", stretch.max_s, "Largest time.", from_zero);
}

namespace {

void describe_product(Visitor& v, Product& product, Run& run) {
  v("flops", product.flops, "Floating-point operations.", above_zero);
  const auto bytes = static_cast<double>(run.bytes());
  derived(v, "flop_per_byte", bytes > 0 ? std::optional(product.flops / bytes) : std::nullopt,
          "Operations per byte over the link.");
  v("h2d_bytes", run.h2d_bytes, "Bytes to the device.", from_zero);
  v("d2h_bytes", run.d2h_bytes, "Bytes back.", from_zero);
  v("host_tiles", product.host_tiles, "Tiles that the host computes.", from_zero);
  v("flop_per_s", product.flops_per_s, "Rate; null: not run.");
}

/// The metrics: some with their interval, of the others the median.
void describe_metrics(Visitor& v, Run& run) {
  using deck::Metric;
  for (std::size_t i = 0; i < deck::run_metrics.size(); ++i) {
    const deck::MetricRow& row = deck::run_metrics[i];
    std::optional<base::Summary>& value = run.metrics[i];
    if (row.whole) {
      v(row.key(), value, row.help);
      continue;
    }
    auto median = value ? std::optional(value->median) : std::nullopt;
    v(row.key(), median, row.help,
      row.value == Metric::throughput  ? above_zero
      : row.value == Metric::max_error ? from_zero
                                       : describe::Range());
    if (v.reader() == nullptr) continue;
    value.reset();
    if (median) value = base::Summary{1, *median, *median, *median, *median, *median};
    if (row.value == deck::Metric::max_error) run.max_error = median.value_or(0);
  }
}

void describe_bounds(Visitor& v, Run& run) {
  std::optional<double> bound_s, schedule_bound_s;
  if (run.bounds) {
    bound_s = run.bounds->bound_s;
    schedule_bound_s = run.bounds->schedule_bound_s;
  }
  v("bound_s", bound_s, "Least time that the hardware allows, without fill and drain.", from_zero);
  v("schedule_bound_s", schedule_bound_s, "Least time of this schedule on it, seconds.", from_zero);
  v("rates", run.rates, "What bounds are made from; null: not measured.");
  v("bounds", run.bounds, "All bounds; null: not measured.");
  if (v.reader() == nullptr) return;
  if (!run.bounds && bound_s) run.bounds.emplace();
  if (!run.bounds) return;
  run.bounds->bound_s = bound_s.value_or(0);
  run.bounds->schedule_bound_s = schedule_bound_s.value_or(0);
}

/// What was measured, beside the metrics.
void describe_samples(Visitor& v, Run& run) {
  v("repetitions", run.repetitions, "Repetitions that were scored.", from_zero);
  v("stopped", run.stopped, "Why there were no more; null: not run, or interrupted.");
  v("samples_s", run.samples_s,
    "Wall-clock time of each repetition, seconds, in the order of time. Of a soak, whose every "
    "repetition is verified, at most 4096 are kept: every second, fourth, ... repetition, the "
    "same of all orders.",
    Times());
  auto series = run.stretches.empty() ? std::nullopt : std::optional(run.stretches);
  v("series", series, "Up to 512 stretches of equal time; null: no soak.");
  if (v.reader() != nullptr && series) run.stretches = *series;
  v("issue_s", run.issue,
    "Until all threads of the host had issued their tasks, waits for blocking ones included, "
    "seconds; null: not run.");
  v("chunk_issue_s", run.chunk_issue_s,
    "What issuing two copies and a kernel cost their thread between the runs, seconds, derived "
    "from the calls of this run; the prediction uses it. Null: not measured.");
  auto polls = run.issue ? std::optional(run.polls) : std::nullopt;
  v("polls", polls, "Queries of lanes by the waiting host, in all; null: not run.", from_zero);
  if (v.reader() != nullptr) run.polls = polls.value_or(0);
  v("graph", run.graph, "Costs of the graph; null: none.");
  v("staging", run.staging, "Work of the staging ring; null: none.");
  v("product", run.product, "Of a matrix product; null: another workload.",
    describe::nullable(describe::map_of<Product>(
        [&](Visitor& part, Product& product) { describe_product(part, product, run); })));
}

}  // namespace

void describe(Visitor& v, Run& run) {
  v("order", run.order, "Issue order.");
  v("disturb", run.disturbance, "Call that disturbed it; null: none.");
  auto work = run.host_work ? std::optional(run.host_work_samples) : std::nullopt;
  v("host_work", work, "Work of the host while the device works; null: none.");
  if (v.reader() != nullptr) {
    run.host_work = work.has_value();
    run.host_work_samples = work.value_or(HostWorkSamples());
  }
  v("device", run.device, "Device that a prediction is for; null: the present one.", TextOrNull());
  describe_place(v, run.point, run.phase);
  v("tasks", run.tasks, "Tasks.", above_zero);
  v("chunks", run.chunks, "Chunks.", from_zero);
  v("lanes", run.lanes, "Lanes.", above_zero);
  v("slots", run.slots, "Chunks that the device holds at once.", above_zero);
  std::int64_t bytes = run.bytes();
  v("bytes", bytes, "Bytes copied, both directions.", from_zero);
  if (v.reader() != nullptr) run.h2d_bytes = bytes;  // all that files of earlier versions tell
  v("h2d_bytes", run.h2d_bytes, "Bytes copied to the device.", from_zero, added);
  v("d2h_bytes", run.d2h_bytes, "Bytes copied back.", from_zero, added);
  v("transfer", run.transfer,
    "Staged copies, zero copy, prefetched pages, or pages moved on demand.");
  v("mechanism", run.mechanism, "Streams, a graph, or Kokkos alone.");
  v("issued", run.issued, "Issue order of its tasks; differs from `order` for auto.");
  describe_samples(v, run);
  describe_metrics(v, run);
  describe_bounds(v, run);
  v("predicted_s", run.predicted_s, "The model's time, seconds.", from_zero);
  v("predicted_lo_s", run.predicted_lo_s, "The least that it expects; null: unknown.", from_zero);
  v("predicted_hi_s", run.predicted_hi_s, "The most that it expects; null: unknown.", from_zero);
  v("verified", run.verified, "Whether the data were compared and are correct.");
  v("wrong", run.wrong, "First wrong element; null: none.");
  v("trace", run.trace, "How the timeline was measured; null: it was not.");
  v("untraced", run.untraced, "Why it was not, where it could have been; null: nothing to say.",
    TextOrNull(), added);
  v("timeline", run.timeline, "Every task as measured; null: not traced.");
  v("predicted_timeline", run.predicted_timeline, "Every task as predicted; null in sweeps.");
}

}  // namespace overlap::results
