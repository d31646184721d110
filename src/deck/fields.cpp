#include "deck/fields.hpp"

#include <algorithm>
#include <set>

#include "base/sha256.hpp"
#include "deck/words.hpp"

/// All sections except `workload`, `require` and `acceptance`.
namespace overlap::deck {
namespace {

using namespace yaml;
using Keys = std::vector<std::string>;

// Rows of the sections.

const Table<Chunks> chunks_table = {
    {field("profile", &Chunks::profile, word<Profile>(), "How chunk sizes vary.")
         .decides(&Chunks::profile),
     field("count", &Chunks::count, optional(count(1, most_chunks)), "Chunks per iteration.")
         .defaults_to("`4`; pipeline, dgemm, custom: `1`"),
     field("bytes", &Chunks::bytes, optional(bytes(1)),
           "Maximum host-to-device bytes per chunk; instead of `count`.")
         .defaults_to("not set"),
     field("growth", &Chunks::growth, number("a number from 1.01 to 100", 1.01, 100),
           "Size ratio of neighbouring chunks: they grow from both ends to the middle.")
         .with({Profile::ramp}),
     field("spread", &Chunks::spread, number("a number from 1 to 1000000", 1, 1e6),
           "Maximum ratio of the largest chunk to the smallest.")
         .with({Profile::ramp})},
    {{"oneOf", {given("count"), given("bytes")}}}};

const Table<Memory> memory_table = {{
    field("host", &Memory::host, word<HostMemory>(),
          "Host memory: page-locked at allocation, pageable, page-locked after allocation, or "
          "pageable with copies through a ring of page-locked slots.")
        .decides(&Memory::host),
    field("transfer", &Memory::transfer, word<Transfer>(),
          "Kernels access copies in device memory, or host memory directly."),
    field("device_limit", &Memory::device_limit, or_word("none", bytes(1)),
          "Maximum device memory to use; if the data need more, chunks share slots."),
    field("ring_slots", &Memory::ring_slots, count(2, 1024), "Slots per direction.")
        .with({HostMemory::pageable_staged}),
    field("ring_bytes", &Memory::ring_bytes, bytes(4096, std::int64_t{64} << 30), "Size of a slot.")
        .with({HostMemory::pageable_staged}),
}};

const Table<Issue> issue_table = {{
    field("orders", &Issue::orders, list_of(word<Order>(), "a list of issue orders", 1),
          "Issue orders to run, in this sequence; `workload.kind` determines which are valid.")
        .defaults_to("`[sequential, depth_first, breadth_first]`; dgemm: `[sequential, two_way, "
                     "three_way]`; custom: `[sequential, custom]`"),
    field("lanes", &Issue::lanes, count(1, most_lanes), "Execution-space instances.")
        .defaults_to("`4`; custom: those that its tasks name"),
    field("mechanism", &Issue::mechanism, word<Mechanism>(),
          "Tasks are issued one by one in streams, as a graph captured beforehand, or one by one "
          "with Kokkos alone, where the host fences lanes to wait for them."),
    field("sync", &Issue::sync, word<Sync>(),
          "How the host waits: for the device, a lane, an event, or by polling."),
    field("streams", &Issue::streams, word<Streams>(), "Kind of the lanes' streams on a GPU."),
}};

const Table<HostWork> host_work_table = {
    {field("per_chunk", &HostWork::per_chunk_s, duration(), "Work per chunk.").required()}};

const Table<Disturb> disturb_table = {{
    field("operation", &Disturb::operation, word<Disturbance>(), "The call.").required(),
    field("at", &Disturb::at, part("a fraction of the tasks, from 0 to 100 %", 0, 1),
          "Fraction of the tasks issued before it."),
    field("times", &Disturb::times, count(1, 10000), "Number of calls, one after the other."),
}};

/// A duration of repetitions; the limit keeps milliseconds within an int.
Kind<double> long_time() {
  return seconds("a time above 0 s and up to 240 h, such as 30 s or 30 min", above_0, 864000);
}

/// Not written for a soak, which has no fixed number of repetitions.
Field<Measure> repetitions_field() {
  auto row = field("repetitions", &Measure::repetitions, count(1, 1000000),
                   "Samples per order; with `precision` the minimum, and no fewer than 20.");
  row.write = [](const Measure& m) { return m.duration_s ? Json() : Json(m.repetitions); };
  row.key.values.may_miss = true;
  return row;
}

const Table<Measure> measure_table = {
    {field("warmup", &Measure::warmup, count(0, 1000000), "Runs before the samples."),
     repetitions_field(),
     field(
         "precision", &Measure::precision,
         or_word("none", part("a fraction above 0 and up to 1, such as 1 % or 0.01", above_0, 1)),
         "Repeat until the 95 % interval of every judged metric (without criteria: of the time) is "
         "this narrow relative to its median."),
     field("at_most", &Measure::at_most, count(20, 1000000),
           "Maximum samples per order with `precision`."),
     field("budget", &Measure::budget_s, or_word("none", long_time()),
           "Maximum time for the repetitions with `precision`."),
     field("duration", &Measure::duration_s, or_word("none", long_time()),
           "Soak: repeat until this time has passed; not with repetitions or precision."),
     field("verify", &Measure::verify, word<Verify>(),
           "Samples whose data are verified: each, or the first and the last.")},
    {{"if", {{"properties", {{"duration", {{"const", "none"}}}}}}},
     {"then", given("repetitions")}}};

const Table<FleetRun> fleet_table = {
    {field("phases", &FleetRun::phases, list_of(word<Phase>(), "a list of alone, together", 1),
           "One device of a node at a time, or all of them at once.")
         .defaults_to("`[alone, together]`"),
     field("deadline", &FleetRun::deadline_s, long_time(),
           "A rank that gives no sign of life for this long counts as lost."),
     field("devices", &FleetRun::devices, or_word("any", count(1, most_devices)),
           "Number of devices of each node, one per rank; with any other, nothing is timed there "
           "(exit code 4).")
         .unless_default()}};

// Keys that depend on other sections.

/// Rejects two mutually exclusive keys of a section; an option may replace both by the second.
void expect_one(const Reader& deck, const std::string& section, const std::string& a,
                const std::string& b, const char* value) {
  const Reader map = deck.at(section);
  const bool swept = deck.at("sweep").has(section + "." + a);
  map.expect_one(a, b,
                 map.latest(a, b).overridden()
                     ? fmt::format("; replace both at once, as in {}--set '{}={{{}: {}}}'",
                                   swept ? "--set 'sweep={}' " : "", section, b, value)
                     : "");
}

void read_measure(const Reader& deck, Deck& into) {
  const Reader reader = deck.at("measure");
  read(measure_table, reader, into.measure);
  if (into.measure.duration_s) expect_one(deck, "measure", "repetitions", "duration", "30 min");
}

void read_fleet(const Reader& deck, Deck& into) {
  const Reader reader = deck.at("fleet");
  read(fleet_table, reader, into.fleet);
  auto& phases = into.fleet.phases;
  if (phases.size() > 2 || (phases.size() == 2 && phases[0] == phases[1])) {
    reader.at("phases").fail_allowed("each of alone, together once");
  }
  std::ranges::sort(phases);  // together is compared with alone, which must be first
}

void read_chunks(const Reader& deck, Deck& into) {
  const Reader reader = deck.at("chunks");
  Chunks& chunks = into.chunks;
  read(chunks_table, reader, chunks);
  expect_one(deck, "chunks", "count", "bytes", "16 MiB");
  const WorkloadKind kind = into.workload.kind;
  const bool cut = kind == WorkloadKind::increment || kind == WorkloadKind::rowsum;
  if (!chunks.count && !chunks.bytes) chunks.count = cut ? 4 : 1;
}

void read_issue(const Reader& deck, Deck& into) {
  const Reader reader = deck.at("issue");
  const WorkloadKind kind = into.workload.kind;
  const bool custom = kind == WorkloadKind::custom;
  Issue& issue = into.issue;
  if (custom) {
    issue.orders = {Order::sequential, Order::custom};
    std::set<int> lanes;
    for (const CustomTask& task : into.workload.tasks) {
      if (task.lane > 0) lanes.insert(task.lane);
    }
    issue.lanes = std::max(1, static_cast<int>(lanes.size()));
  }
  if (kind == WorkloadKind::dgemm) {
    issue.orders = {Order::sequential, Order::two_way, Order::three_way};
  }
  const int lanes = issue.lanes;
  if (reader.has("orders")) {
    const Keys names = names_of(orders_of(kind));
    std::set<std::string> seen;
    for (const Reader& item : reader.at("orders").items(
             fmt::format("a list of at least one of {}", fmt::join(names, ", ")), 1)) {
      const std::string order = item.one_of(names);
      if (!seen.insert(order).second) {
        item.fail(fmt::format("found '{}' again; allowed: each order once", order));
      }
    }
  }
  read(issue_table, reader, issue);
  if (custom && issue.lanes != lanes) {
    reader.at("lanes").fail_allowed(
        fmt::format("{}, the lanes that workload.tasks names, or no key", lanes));
  }
}

/// A value that another value of the deck excludes.
struct Exclusion {
  bool found;
  std::string key;
  std::string allowed;
  std::string cause;     ///< the other key
  std::string why = {};  ///< appended to the message
};

std::vector<Exclusion> exclusions(const Deck& deck) {
  const WorkloadKind kind = deck.workload.kind;
  const bool custom = kind == WorkloadKind::custom;
  const bool whole = custom || kind == WorkloadKind::dgemm;  // not cut into chunks
  const std::string pieces =
      custom ? ", whose tasks define the copies" : ", which is split by tile_m and tile_n";
  const std::string box = deck.workload.box ? "workload.box" : "workload.pitch";
  const bool section = deck.workload.box || deck.workload.pitch;
  const bool ramp = deck.chunks.profile != Profile::uniform;
  const bool zero_copy = deck.memory.transfer == Transfer::zero_copy;
  const bool ring = deck.memory.host == HostMemory::pageable_staged;
  const bool locked = page_locked(deck.memory.host);
  const std::string no_ring = "pinned, pageable, registered";
  const bool graph = deck.issue.mechanism == Mechanism::graph;
  const bool portable = deck.issue.mechanism == Mechanism::portable;
  const bool other_streams = deck.issue.streams != Streams::own;
  const bool automatic = deck.issue.has(Order::automatic);
  const std::string listed = ", whose tasks are listed";
  const std::string kinds = "workload.kind";
  const Measure& measure = deck.measure;
  return {
      {whole && deck.chunks.bytes, "chunks.bytes", "no such key", kinds, pieces},
      {whole && deck.chunks.count != 1, "chunks.count", "1", kinds, pieces},
      {whole && ramp, "chunks.profile", "uniform", kinds, pieces},
      {zero_copy && !locked, "memory.transfer", "staged", "memory.host"},
      {zero_copy && section, "memory.transfer", "staged", box},
      {zero_copy && whole, "memory.transfer", "staged", kinds},
      {ring && section, "memory.host", no_ring, box},
      {ring && whole, "memory.host", no_ring, kinds},
      {custom && deck.memory.device_limit, "memory.device_limit", "none", kinds,
       ", whose data stay on the device"},
      {(graph || portable) && other_streams, "issue.streams", "own", "issue.mechanism"},
      {portable && deck.issue.sync != Sync::stream, "issue.sync", "stream", "issue.mechanism"},
      {portable && (ring || deck.memory.host == HostMemory::registered), "memory.host",
       "pinned, pageable", "issue.mechanism"},
      {graph && !locked, "issue.mechanism", ring ? "streams" : "streams, portable", "memory.host"},
      {custom && deck.host_work, "host_work", "none", kinds, listed},
      {automatic && deck.host_work, "host_work", "none", "issue.orders",
       ": auto chooses the chunks"},
      {custom && deck.disturb, "disturb", "none", kinds, listed},
      {graph && deck.disturb, "disturb", "none", "issue.mechanism", ", issued as a whole"},
      {portable && deck.disturb, "disturb", "none", "issue.mechanism",
       ", which makes no native calls"},
      {measure.precision && measure.repetitions > measure.at_most, "measure.repetitions",
       fmt::format("at most {}", measure.at_most), "measure.at_most"},
      {!measure.precision && measure.at_most != Measure().at_most, "measure.at_most",
       fmt::format("{}", Measure().at_most), "measure.precision"},
      {measure.budget_s && !measure.precision, "measure.budget", "none", "measure.precision"},
      {measure.duration_s && measure.precision, "measure.precision", "none", "measure.duration"},
      {measure.duration_s && measure.verify == Verify::ends, "measure.verify", "every",
       "measure.duration"},
  };
}

// The deck.

/// The schema of a sweep: dotted keys with lists of values.
Json sweep_schema() {
  const Json value = {{"type", {"integer", "number", "string"}}};
  const Json list = {{"type", "array"}, {"minItems", 1}, {"items", value}};
  return {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", list}};
}

const Table<Deck> deck_table = {{
    field("title", &Deck::title, line(), "Title of reports.")
        .reads([](const Reader& deck, Deck& d) {
          d.title = deck.has("title") ? line().read(deck.at("title")) : d.name();
        })
        .defaults_to("the file's name"),
    section<Deck>("workload", &Deck::workload, workload_table(), "What is computed.")
        .reads([](const Reader& deck, Deck& d) { read(deck.at("workload"), d.workload); }),
    section<Deck>("chunks", &Deck::chunks, chunks_table, "How the data are split into chunks.")
        .reads(read_chunks),
    section<Deck>("memory", &Deck::memory, memory_table, "Where the data reside."),
    section<Deck>("issue", &Deck::issue, issue_table, "How tasks are issued.").reads(read_issue),
    field("host_work", &Deck::host_work, or_word("none", map_of(host_work_table)),
          "Computation by the host while the device works; each order also runs with it."),
    field("disturb", &Deck::disturb, or_word("none", map_of(disturb_table)),
          "A call between tasks; each order except the baseline also runs with it."),
    section<Deck>("measure", &Deck::measure, measure_table, "How often everything runs.")
        .reads(read_measure),
    section<Deck>("require", &Deck::require, require_table(),
                  "Required state of the machine, checked before anything runs."),
    section<Deck>("fleet", &Deck::fleet, fleet_table,
                  "Settings for --fleet: all devices of a node, all nodes of a machine.")
        .reads(read_fleet),
    field("acceptance", &Deck::acceptance, list_of(map_of(criterion_table()), criteria),
          "Criteria of the verdict; without criteria it is PASS if the data are correct.")
        .reads(read_acceptance),
    {.key = {.name = "sweep",
             .help = "Dotted keys with lists of values; each combination is an experiment. Of the "
                     "other keys, result files list those that are valid at every point.",
             .values = {.allowed =
                            "a map of dotted keys to lists, such as {chunks.count: [1, 2, 4]}",
                        .schema = sweep_schema(),
                        .may_miss = true},
             .fallback = "none"}},
}};

/// Part of docs/decks.md about the keys of a map.
template <class S>
std::string keys_of(const Table<S>& table, const std::string& title, const std::string& intro) {
  return fmt::format("\n## {}\n\n{}\n\n{}", title, intro, reference(table));
}

/// Part of docs/decks.md about words, with their help texts.
template <class Enum>
std::string words_with_help(const std::string& title) {
  std::string text = fmt::format("\n## {}\n\n| word | meaning |\n| --- | --- |\n", title);
  for (const auto& word : words<Enum>) {
    text += fmt::format("| `{}` | {} |\n", word.name, word.help);
  }
  return text;
}

std::string metrics_with_help() {
  std::string text = "\n## Metrics\n\n| word | unit | meaning |\n| --- | --- | --- |\n";
  for (const MetricRow& row : metrics) {
    text += fmt::format("| `{}` | {} | {} |\n", row.name, row.unit, row.help);
  }
  return text;
}

}  // namespace

void read(const Reader& reader, Deck& deck) {
  read(deck_table, reader, deck);
  for (const Exclusion& exclusion : exclusions(deck)) {
    if (!exclusion.found) continue;
    reader.at_path(exclusion.key)
        .fail_allowed(fmt::format("{} with {} {} ({}){}", exclusion.allowed, exclusion.cause,
                                  spell(value_at(resolved(deck), exclusion.cause)),
                                  reader.at_path(exclusion.cause).origin(), exclusion.why));
  }
}

Json resolved(const Deck& deck) { return write(deck_table, deck); }

std::string identity(const Deck& deck) {
  const Json all = resolved(deck);
  nlohmann::json runs;  // sorts keys: the order of rows does not matter
  for (const char* key : {"workload", "chunks", "memory", "issue", "host_work", "disturb"}) {
    runs[key] = all.at(key);
  }
  return base::sha256(runs.dump());
}

Json resolved_schema() { return schema(deck_table); }

std::string reference_markdown() {
  return keys_of(deck_table, "Top level",
                 "The sections, each a map unless the table says otherwise.") +
         keys_of(workload_table(), "workload",
                 "What is computed. `kind` determines which keys are valid.") +
         keys_of(task_table(), "workload.tasks",
                 "The tasks of a custom workload. `stage` determines which keys are valid.") +
         keys_of(chunks_table, "chunks",
                 "How the data are split into chunks: by `count` or by `bytes`.") +
         keys_of(memory_table, "memory", "Where the data reside.") +
         keys_of(issue_table, "issue", "How tasks are issued.") +
         keys_of(host_work_table, "host_work",
                 "Computation by the host; none without this section.") +
         keys_of(disturb_table, "disturb",
                 "A call that may break concurrency; none without this section.") +
         keys_of(measure_table, "measure", "How often everything runs.") +
         keys_of(require_table(), "require",
                 "Required state of the machine. If a requirement is not met or cannot be checked, "
                 "miniapp names it and exits with code 4 before anything is timed.") +
         keys_of(fleet_table, "fleet",
                 "Settings for --fleet; without that option they have no effect.") +
         keys_of(criterion_table(), "acceptance",
                 "A list of criteria, each a map with these keys.") +
         words_with_help<WorkloadKind>("Workloads") + words_with_help<Order>("Issue orders") +
         metrics_with_help();
}

}  // namespace overlap::deck
