#include "deck/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sha256.hpp"
#include "deck/words.hpp"

/// All sections except `workload`, `require` and `acceptance`, and the deck itself.
namespace overlap::deck {

using namespace describe;

void describe(Visitor& v, Chunks& c) {
  v("count", c.count, "Chunks per iteration.", optional(count(1, most_chunks)),
    defaults_to("`4`; pipeline, dgemm, custom: `1`"));
  v("bytes", c.bytes, "Maximum host-to-device bytes per chunk; instead of `count`.",
    optional(bytes(1)), defaults_to("not set"));
}

void describe(Visitor& v, Memory& m) {
  v("host", m.host,
    "Host memory: page-locked at allocation, pageable, page-locked after allocation, or managed.");
  if (v.reader() != nullptr) m.transfer = copying_transfer(m.host);
  v("transfer", m.transfer,
    "Kernels access copies in device memory, or host memory directly; pages of managed memory are "
    "prefetched by chunk, or move when a kernel needs them.",
    defaults_to("`staged`; managed: `prefetch`"));
  v("device_limit", m.device_limit,
    "Maximum device memory to use; if the data need more, chunks share slots.",
    or_word("none", bytes(1)));
}

namespace {

/// Number of lanes that the tasks of a custom workload name.
int lane_count(const std::vector<CustomTask>& tasks) {
  std::set<int> lanes = {0};
  for (const CustomTask& task : tasks) lanes.insert(task.lane);
  return std::max(1, static_cast<int>(lanes.size()) - 1);
}

/// The section `issue` of a deck whose workload is read.
void describe(Visitor& v, Issue& i, const Workload& workload) {
  const Reader* const map = v.reader();
  const Split split = row_of(workload.kind).split;
  OneOf<Order> order;
  if (map != nullptr) {
    if (split == Split::tasks) {
      i.orders = {Order::sequential, Order::custom};
      i.lanes = lane_count(workload.tasks);
    }
    if (split == Split::tiles) i.orders = {Order::sequential, Order::two_way, Order::three_way};
    order.only = orders_of(workload.kind);
  }
  const std::string allowed = "a list of at least one of " + order.values().allowed;
  v("orders", i.orders,
    "Issue orders to run, in this sequence; `workload.kind` determines which are valid.",
    list_of(order, map == nullptr ? "a list of issue orders" : allowed, 1),
    defaults_to("`[sequential, depth_first, breadth_first]`; dgemm: `[sequential, two_way, "
                "three_way]`; custom: `[sequential, custom]`"));
  v("lanes", i.lanes, "Execution-space instances.", count(1, most_lanes),
    defaults_to("`4`; custom: those that its tasks name"));
  v("mechanism", i.mechanism,
    "Tasks are issued one by one in streams, as a graph captured beforehand, or one by one with "
    "Kokkos alone, where the host fences lanes to wait for them.");
  v("sync", i.sync, "How the host waits: for the device, a lane, an event, or by polling.");
  v("streams", i.streams, "Kind of the lanes' streams on a GPU.");
  v("threads", i.threads,
    "Host threads that issue: lane l, from 0, belongs to thread l modulo `threads`. The baseline "
    "is always issued by one.",
    count(1, most_threads));
  if (map == nullptr) return;
  std::set<Order> seen;
  for (std::size_t n = 0; n < i.orders.size(); ++n) {
    if (seen.insert(i.orders[n]).second) continue;
    map->at("orders").item(n).fail(
        fmt::format("found '{}' again; allowed: each order once", to_string(i.orders[n])));
  }
  if (split == Split::tasks && i.lanes != lane_count(workload.tasks)) {
    map->at("lanes").fail_allowed(fmt::format("{}, the lanes that workload.tasks names, or no key",
                                              lane_count(workload.tasks)));
  }
}

}  // namespace

void describe(Visitor& v, HostWork& h) {
  v("per_chunk", h.per_chunk_s, "Work per chunk.", duration(), required);
}

void describe(Visitor& v, Disturb& d) {
  v("operation", d.operation, "The call.", required);
  v("at", d.at, "Fraction of the tasks issued before it.",
    part("a fraction of the tasks, from 0 to 100 %", 0, 1));
  v("times", d.times, "Number of calls, one after the other.", count(1, 10000));
}

namespace {

/// A duration of repetitions; the limit keeps milliseconds within an int.
Real long_time() {
  return seconds("a time above 0 s and up to 240 h, such as 30 s or 30 min", above_0, 864000);
}

}  // namespace

void describe(Visitor& v, Measure& m) {
  v("warmup", m.warmup, "Runs before the samples.", count(0, 1000000));
  v("repetitions", m.repetitions,
    "Samples per order; with `precision` the minimum, and no fewer than 20.",
    unless(m.duration_s.has_value(), count(1, 1000000)));
  v("precision", m.precision,
    "Repeat until the 95 % interval of every judged metric (without criteria: of the time) is this "
    "narrow relative to its median.",
    or_word("none", part("a fraction above 0 and up to 1, such as 1 % or 0.01", above_0, 1)));
  v("at_most", m.at_most, "Maximum samples per order with `precision`.", count(20, 1000000));
  v("budget", m.budget_s, "Maximum time for the repetitions with `precision`.",
    or_word("none", long_time()));
  v("duration", m.duration_s,
    "Soak: repeat until this time has passed; not with repetitions or precision.",
    or_word("none", long_time()));
  v("verify", m.verify, "Samples whose data are verified: each, or the first and the last.");
}

void describe(Visitor& v, FleetRun& f) {
  v("phases", f.phases, "One device of a node at a time, or all of them at once.",
    list_of(OneOf<Phase>(), "a list of alone, together", 1), defaults_to("`[alone, together]`"));
  v("deadline", f.deadline_s, "A rank that gives no sign of life for this long counts as lost.",
    long_time());
  v("devices", f.devices,
    "Number of devices of each node, one per rank; with any other, nothing is timed there (exit "
    "code 4).",
    unless(!f.devices, or_word("any", Number<int>{.least = 1, .most = most_devices})),
    defaults_to("`any`"));
  if (v.reader() == nullptr) return;
  if (f.phases.size() > 2 || (f.phases.size() == 2 && f.phases[0] == f.phases[1])) {
    v.reader()->at("phases").fail_allowed("each of alone, together once");
  }
  std::ranges::sort(f.phases);  // together is compared with alone, which must be first
}

namespace {

/// A value that another value of the deck excludes.
struct Exclusion {
  bool found;
  std::string key;
  std::string allowed;
  std::string cause;     ///< the other key
  std::string why = {};  ///< appended to the message
};

std::vector<Exclusion> exclusions(const Deck& deck) {
  const Split split = row_of(deck.workload.kind).split;
  const bool custom = split == Split::tasks;
  const bool uncut = split != Split::chunks;
  const std::string pieces =
      custom ? ", whose tasks define the copies" : ", which is split by tile_m and tile_n";
  const std::string box = deck.workload.box ? "workload.box" : "workload.pitch";
  const bool section = deck.workload.box || deck.workload.pitch;
  const bool zero_copy = deck.memory.transfer == Transfer::zero_copy;
  const bool managed = deck.memory.host == HostMemory::managed;
  const bool locked = page_locked(deck.memory.host);
  const std::string arrays = "pinned, pageable, registered";
  const bool pages =
      deck.memory.transfer == Transfer::prefetch || deck.memory.transfer == Transfer::on_demand;
  const bool graph = deck.issue.mechanism == Mechanism::graph;
  const bool portable = deck.issue.mechanism == Mechanism::portable;
  const bool other_streams = deck.issue.streams != Streams::own;
  const bool threads = deck.issue.threads > 1;
  const std::string listed = ", whose tasks are listed";
  const std::string kinds = "workload.kind";
  const Measure& measure = deck.measure;
  return {
      {uncut && deck.chunks.bytes, "chunks.bytes", "no such key", kinds, pieces},
      {uncut && deck.chunks.count != 1, "chunks.count", "1", kinds, pieces},
      {pages != managed, "memory.transfer",
       managed  ? "prefetch, on_demand"
       : locked ? "staged, zero_copy"
                : "staged",
       "memory.host"},
      {deck.issue.has(Order::four_way) && !deck.workload.host_share, "workload.host_share",
       "a fraction of the tiles", "issue.orders"},
      {zero_copy && !locked, "memory.transfer", "staged", "memory.host"},
      {zero_copy && section, "memory.transfer", "staged", box},
      {zero_copy && uncut, "memory.transfer", "staged", kinds},
      {managed && section, "memory.host", arrays, box},
      {managed && uncut, "memory.host", arrays, kinds},
      {managed && deck.workload.intensity.balance > 0, "workload.intensity", "a number of repeats",
       "memory.host", ", whose pages move once"},
      {managed && deck.memory.device_limit, "memory.device_limit", "none", "memory.host"},
      {managed && measure.verify == Verify::ends, "measure.verify", "every", "memory.host"},
      {custom && deck.memory.device_limit, "memory.device_limit", "none", kinds,
       ", whose data stay on the device"},
      {(graph || portable) && other_streams, "issue.streams", "own", "issue.mechanism"},
      {portable && deck.issue.sync != Sync::stream, "issue.sync", "stream", "issue.mechanism"},
      {portable && (managed || deck.memory.host == HostMemory::registered), "memory.host",
       "pinned, pageable", "issue.mechanism"},
      {graph && !locked, "issue.mechanism", managed ? "streams" : "streams, portable",
       "memory.host"},
      {threads && uncut, "issue.threads", "1", kinds,
       custom ? listed : ", whose library is called by one thread"},
      {threads && graph, "issue.threads", "1", "issue.mechanism", ", issued as a whole"},
      {threads && deck.issue.streams == Streams::legacy_default, "issue.threads", "1",
       "issue.streams", ", the one stream of all threads"},
      {threads && deck.disturb, "disturb", "none", "issue.threads"},
      {deck.issue.threads > deck.issue.lanes, "issue.threads",
       fmt::format("at most {}", deck.issue.lanes), "issue.lanes"},
      {custom && deck.host_work, "host_work", "none", kinds, listed},
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

void check_exclusions(const Reader& deck, const Deck& d) {
  for (const Exclusion& exclusion : exclusions(d)) {
    if (!exclusion.found) continue;
    deck.at_path(exclusion.key)
        .fail_allowed(fmt::format("{} with {} {} ({}){}", exclusion.allowed, exclusion.cause,
                                  spell(value_at(resolved(d), exclusion.cause)),
                                  deck.at_path(exclusion.cause).origin(), exclusion.why));
  }
}

/// The values of a sweep: dotted keys with lists of values.
Values sweep() {
  const Json value = {{"type", {"integer", "number", "string"}}};
  const Json list = {{"type", "array"}, {"minItems", 1}, {"items", value}};
  return {"a map of dotted keys to lists, such as {chunks.count: [1, 2, 4]}",
          {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", list}}};
}

}  // namespace

void describe(Visitor& v, Deck& d) {
  const Reader* const map = v.reader();
  v("title", d.title, "Title of reports.", line(), defaults_to("the file's name"));
  if (map != nullptr && !map->has("title")) d.title = d.name();
  v("workload", d.workload, "What is computed.");
  v("chunks", d.chunks, "How the data are split into chunks.");
  if (map != nullptr) {
    map->at("chunks").expect_one("count", "bytes");
    if (!d.chunks.count && !d.chunks.bytes) d.chunks.count = row_of(d.workload.kind).chunks;
  }
  v("memory", d.memory, "Where the data reside.");
  v("issue", d.issue, "How tasks are issued.",
    map_of<Issue>([&](Visitor& part, Issue& i) { describe(part, i, d.workload); }));
  v("host_work", d.host_work,
    "Computation by the host while the device works; each order also runs with it.",
    or_word("none", Map<HostWork>()));
  v("disturb", d.disturb, "A call between tasks; each order except the baseline also runs with it.",
    or_word("none", Map<Disturb>()));
  v("measure", d.measure, "How often everything runs.");
  if (map != nullptr && d.measure.duration_s) {
    map->at("measure").expect_one("repetitions", "duration");
  }
  v("require", d.require, "Required state of the machine, checked before anything runs.");
  v("fleet", d.fleet, "Settings for --fleet: all devices of a node, all nodes of a machine.");
  const auto criterion =
      map_of<Criterion>([&](Visitor& part, Criterion& c) { describe(part, c, d); });
  v("acceptance", d.acceptance,
    "Criteria of the verdict; without criteria it is PASS if the data are correct.",
    list_of(criterion, "a list of criteria, such as [{metric: speedup, min: 1.3}]"));
  v("sweep", d,
    "Dotted keys with lists of values; each combination is an experiment. Of the other keys, "
    "result files list those that are valid at every point.",
    written<Deck>([](const Deck&) { return Json(); }, sweep()), defaults_to("none"));
  if (map != nullptr) check_exclusions(*map, d);
}

Json resolved(const Deck& deck) { return write(deck); }

std::string identity(const Deck& deck) {
  Deck plain;
  plain.workload.kind = deck.workload.kind;
  const Json sections = resolved(deck), defaults = resolved(plain);
  nlohmann::json runs;  // sorts keys: the order of rows does not matter
  runs["kind"] = sections.at("workload").at("kind");
  for (const char* section : {"workload", "chunks", "memory", "issue", "host_work", "disturb"}) {
    if (!sections.at(section).is_object()) continue;  // none
    const Json usual = defaults.at(section).is_object() ? defaults.at(section) : Json::object();
    for (const auto& [key, value] : sections.at(section).items()) {
      if (!usual.contains(key) || usual.at(key) != value) runs[section][key] = value;
    }
  }
  return base::sha256(runs.dump());
}

namespace {

/// Refuses further keys in all maps of a schema.
void close(Json& schema) {
  if (!schema.is_structured()) return;
  if (schema.is_object() && schema.contains("properties") && schema.contains("required")) {
    schema["additionalProperties"] = false;
  }
  for (Json& part : schema) close(part);
}

/// JSON Schema: one of these keys is present.
Json requires_one(std::initializer_list<const char*> keys) {
  Json list = Json::array();
  for (const char* const key : keys) list.push_back({{"required", {key}}});
  return list;
}

/// Part of docs/decks.md about the keys of a map.
std::string key_table(const Body& map, const std::string& title, const std::string& intro) {
  return fmt::format("\n## {}\n\n{}\n\n{}", title, intro, map_reference(map));
}
template <class S>
std::string key_table(const std::string& title, const std::string& intro) {
  S section;
  return key_table(Map<S>().body(section), title, intro);
}

/// Part of docs/decks.md about words, with their help texts.
template <class Enum>
std::string word_table(const std::string& title) {
  std::string text = fmt::format("\n## {}\n\n| word | meaning |\n| --- | --- |\n", title);
  for (const auto& word : words<Enum>) {
    text += fmt::format("| `{}` | {} |\n", word.name, word.help);
  }
  return text;
}

std::string metric_table() {
  std::string text = "\n## Metrics\n\n| word | unit | meaning |\n| --- | --- | --- |\n";
  for (const MetricRow& row : metrics) {
    text += fmt::format("| `{}` | {} | {} |\n", row.name, row.unit, row.help);
  }
  return text;
}

}  // namespace

Json resolved_schema() {
  Json schema = describe::schema<Deck>();
  close(schema);
  Json& sections = schema["properties"];
  sections["chunks"]["oneOf"] = requires_one({"count", "bytes"});
  sections["measure"]["if"] = {{"properties", {{"duration", {{"const", "none"}}}}}};
  sections["measure"]["then"] = requires_one({"repetitions"})[0];
  sections["acceptance"]["items"]["anyOf"] = requires_one({"min", "max", "reference"});
  return schema;
}

std::string reference_markdown() {
  const Deck deck;
  Issue issue;
  CustomTask task;
  Criterion criterion;
  return key_table<Deck>("Top level", "The sections, each a map unless the table says otherwise.") +
         key_table<Workload>("workload",
                             "What is computed. `kind` determines which keys are valid.") +
         key_table([&](Visitor& v) { describe(v, task, {}); }, "workload.tasks",
                   "The tasks of a custom workload. `stage` determines which keys are valid.") +
         key_table<Chunks>("chunks",
                           "How the data are split into chunks: by `count` or by `bytes`.") +
         key_table<Memory>("memory", "Where the data reside.") +
         key_table([&](Visitor& v) { describe(v, issue, deck.workload); }, "issue",
                   "How tasks are issued.") +
         key_table<HostWork>("host_work", "Computation by the host; none without this section.") +
         key_table<Disturb>("disturb",
                            "A call that may break concurrency; none without this section.") +
         key_table<Measure>("measure", "How often everything runs.") +
         key_table<Require>(
             "require",
             "Required state of the machine. If a requirement is not met or cannot be "
             "checked, miniapp names it and exits with code 4 before anything is "
             "timed.") +
         key_table<FleetRun>("fleet",
                             "Settings for --fleet; without that option they have no effect.") +
         key_table([&](Visitor& v) { describe(v, criterion, deck); }, "acceptance",
                   "A list of criteria, each a map with these keys.") +
         word_table<WorkloadKind>("Workloads") + word_table<Order>("Issue orders") + metric_table();
}

}  // namespace overlap::deck
