#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/units.hpp"
#include "deck/fields.hpp"
#include "deck/words.hpp"

/// What depends on more than one key of a deck.
namespace overlap::deck {
namespace {

using yaml::count;
using yaml::Reader;
using Keys = std::vector<std::string>;

template <class Enum>
Keys names_of(const std::vector<Enum>& values) {
  Keys names;
  for (const Enum value : values) names.emplace_back(to_string(value));
  return names;
}

/// Sizes whose product says how much data there are.
void expect_product(const Reader& reader, const std::string& a, std::int64_t value_a,
                    const std::string& b, std::int64_t value_b) {
  if (value_a <= most_elements / value_b) return;
  reader.latest(a, b).fail(fmt::format("found {} {} times {} {}; allowed: at most {} together",
                                       value_a, a, value_b, b, most_elements));
}

/// The places of the tasks that have to be complete before one starts.
std::vector<int> read_after(const Reader& after, const std::vector<CustomTask>& tasks,
                            const std::map<std::string, int>& numbers, const std::string& self) {
  std::vector<int> places;
  for (const Reader& item : after.items("a list of names of tasks")) {
    const auto found = numbers.find(item.text("the name of a task"));
    if (found == numbers.end()) {
      Keys names;
      for (const CustomTask& task : tasks) names.push_back(task.name);
      item.fail_allowed(names);
    }
    const auto& [name, number] = *found;
    if (name == self) item.fail(fmt::format("found the task itself, '{}'; allowed: others", self));
    if (tasks[static_cast<std::size_t>(number)].stage == Stage::query) {
      item.fail(fmt::format("found '{}', a query, which completes nothing; allowed: others", name));
    }
    if (std::find(places.begin(), places.end(), number) != places.end()) {
      item.fail(fmt::format("found '{}' again; allowed: each task once", name));
    }
    places.push_back(number);
  }
  return places;
}

/// Lanes that a custom workload's tasks name.
int lanes_of(const Workload& workload) {
  std::set<int> lanes;
  for (const CustomTask& task : workload.tasks) {
    if (task.lane > 0) lanes.insert(task.lane);
  }
  return std::max(1, static_cast<int>(lanes.size()));
}

/// A value that another value of the deck excludes.
struct Exclusion {
  bool found;
  std::string key;
  std::string allowed;
  std::string cause;     ///< the other key
  std::string why = {};  ///< follows the message
};

std::vector<Exclusion> exclusions(const Deck& deck) {
  const WorkloadKind kind = deck.workload.kind;
  const bool custom = kind == WorkloadKind::custom;
  const bool whole = custom || kind == WorkloadKind::dgemm;  // no chunks
  const std::string pieces =
      custom ? ", whose tasks say what is copied" : ", which tile_m and tile_n cut";
  const std::string box = deck.workload.box ? "workload.box" : "workload.pitch";
  const bool section = deck.workload.box || deck.workload.pitch;
  const bool ramp = deck.chunks.profile != Profile::uniform;
  const bool zero_copy = deck.memory.transfer == Transfer::zero_copy;
  const bool ring = deck.memory.host == HostMemory::pageable_staged;
  const bool locked = page_locked(deck.memory.host);
  const std::string no_ring = "pinned, pageable, registered";
  const bool graph = deck.issue.mechanism == Mechanism::graph;
  const bool other_streams = deck.issue.streams != Streams::own;
  const bool automatic = deck.issue.has(Order::automatic);
  const std::string listed = ", whose tasks are listed";
  const std::string kinds = "workload.kind";
  return {
      {whole && deck.chunks.bytes, "chunks.bytes", "none", kinds, pieces},
      {whole && deck.chunks.count != 1, "chunks.count", "1", kinds, pieces},
      {whole && !custom && ramp, "chunks.profile", "uniform", kinds, pieces},
      {zero_copy && !locked, "memory.transfer", "staged", "memory.host"},
      {zero_copy && section, "memory.transfer", "staged", box},
      {zero_copy && whole, "memory.transfer", "staged", kinds},
      {ring && section, "memory.host", no_ring, box},
      {ring && whole, "memory.host", no_ring, kinds},
      {custom && deck.memory.device_limit, "memory.device_limit", "none", kinds,
       ", whose data stay on the device"},
      {graph && other_streams, "issue.streams", "own", "issue.mechanism"},
      {graph && !locked, "issue.mechanism", "streams", "memory.host"},
      {custom && deck.host_work, "host_work", "none", kinds, listed},
      {automatic && deck.host_work, "host_work", "none", "issue.orders",
       ": auto chooses the chunks"},
      {custom && deck.disturb, "disturb", "none", kinds, listed},
      {graph && deck.disturb, "disturb", "none", "issue.mechanism", ", issued as a whole"},
  };
}

/// Some metrics compare an order with the baseline.
void check_comparison(const Reader& item, const Criterion& criterion, const Issue& issue,
                      const std::string& orders) {
  const auto fail = [&](std::string_view need) {
    Keys allowed;
    for (const MetricRow& row : metrics) {
      if (row.needs == Needs::nothing) allowed.emplace_back(row.name);
    }
    item.at("metric").fail(
        fmt::format("found '{}', which needs {} among issue.orders ({}); allowed: {}",
                    to_string(criterion.metric), need, orders, fmt::join(allowed, ", ")));
  };
  Keys others = names_of(issue.orders);
  std::erase(others, to_string(Order::sequential));
  if (others.size() == issue.orders.size()) fail("'sequential', to compare with,");
  if (others.empty()) fail("an order besides 'sequential'");
  if (criterion.order == Order::sequential) {
    item.at("order").fail(
        fmt::format("found 'sequential', which would be compared with itself; allowed: {}",
                    fmt::join(others, ", ")));
  }
}

void check_criterion(const Reader& item, const Criterion& criterion, const Deck& deck,
                     const std::string& orders) {
  if (!criterion.min && !criterion.max) {
    item.fail("found neither min nor max; allowed: one of them or both");
  }
  if (criterion.min && criterion.max && *criterion.min > *criterion.max) {
    item.at("min").fail(fmt::format("found {}, above max {}; allowed: at most max",
                                    yaml::quoted(item.at("min").text()),
                                    yaml::quoted(item.at("max").text())));
  }
  const MetricRow& metric = row_of(criterion.metric);
  if (metric.needs == Needs::baseline) check_comparison(item, criterion, deck.issue, orders);
  if (metric.needs == Needs::host_work && !deck.host_work) {
    item.at("metric").fail(
        fmt::format("found '{}' without host_work; allowed: the other metrics", metric.name));
  }
}

}  // namespace

void read_type(const Reader& map, Workload& w) {
  const bool rowsum = w.kind == WorkloadKind::rowsum;
  w.type = rowsum ? Type::int32 : w.kind == WorkloadKind::dgemm ? Type::float64 : Type::float32;
  if (!map.has("type")) return;
  if (!rowsum) map.at("type").one_of(names_of(std::vector{Type::float32, Type::float64}));
  w.type = yaml::word<Type>().read(map.at("type"));
}

void read_box(const Reader& reader, Workload& workload) {
  if (!reader.gives("box")) {
    for (const char* key : {"array", "origin", "pitch"}) {
      if (reader.gives(key)) reader.at(key).fail_allowed("none without workload.box");
    }
    return;
  }
  Box& box = workload.box.emplace();
  std::size_t dimensions = 0;
  // A list of numbers, each in its dimension's range; a 2-D array is one plane.
  const auto read = [&](const char* key, const std::string& allowed, auto& sizes,
                        const auto& range) {
    const std::vector<Reader> items = reader.at(key).items(allowed);
    if (dimensions == 0 && (items.size() == 2 || items.size() == 3)) dimensions = items.size();
    if (items.size() != dimensions) reader.at(key).fail_allowed(allowed);
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::size_t dimension = sizes.size() - dimensions + i;
      const auto [least, most] = range(dimension);
      sizes[dimension] = count(least, most).read(items[i]);
    }
  };
  read("box", "none, [rows, columns] or [planes, rows, columns]", box.extent,
       [](std::size_t) { return std::pair(std::int64_t{1}, most_elements); });
  const std::string allowed =
      fmt::format("none or a list of {} numbers, as workload.box is", dimensions);
  box.array = box.extent;
  if (reader.gives("array")) {
    read("array", allowed, box.array,
         [&](std::size_t i) { return std::pair(box.extent[i], most_elements); });
  }
  if (reader.gives("origin")) {
    read("origin", allowed, box.origin,
         [&](std::size_t i) { return std::pair(std::int64_t{0}, box.array[i] - box.extent[i]); });
  }
  const auto& [planes, rows, columns] = box.array;
  if (planes > most_elements / rows || planes * rows > most_elements / columns) {
    const auto sizes = std::span(box.array).last(dimensions);
    reader.at(reader.gives("array") ? "array" : "box")
        .fail(fmt::format("found {} elements; allowed: at most {}", fmt::join(sizes, " x "),
                          most_elements));
  }
  const std::int64_t elements = box.extent[0] * box.extent[1] * box.extent[2];
  if (reader.has("elements") && workload.elements != elements) {
    reader.at("elements")
        .fail_allowed(fmt::format("{}, those of workload.box, or nothing", elements));
  }
  workload.elements = elements;
}

void read_pitch(const Reader& map, Workload& workload) {
  if (!map.gives("pitch")) return;
  std::int64_t lines = workload.rows;
  std::int64_t length = workload.columns;
  if (workload.box) {
    lines = workload.box->array[0] * workload.box->array[1];
    length = workload.box->array[2];
  } else if (workload.axis == SumAxis::columns) {
    std::swap(lines, length);
  }
  const auto element = static_cast<std::int64_t>(size_of(workload.type));
  const std::int64_t least = element * length;
  const std::int64_t most = 8 * most_elements / lines;
  const std::string allowed = fmt::format(
      "none or a multiple of {} B from {} B, the bytes of a line, to {} B", element, least, most);
  workload.pitch = base::parse_bytes(map.at("pitch").text(allowed));
  if (!workload.pitch || *workload.pitch % element != 0 || *workload.pitch < least ||
      *workload.pitch > most) {
    map.at("pitch").fail_allowed(allowed);
  }
}

void read_task_duration(const Reader& task, CustomTask& into) {
  const bool copy = into.stage == Stage::h2d || into.stage == Stage::d2h;
  task.expect_one("bytes", "duration");
  if (copy && task.has("bytes")) return;
  if (copy && !task.has("duration")) {
    task.fail("found neither bytes nor duration; allowed: one of them");
  }
  into.duration_s = duration().read(task.at("duration"));
}

void read_tasks(const Reader& workload, Workload& into) {
  const Reader list = workload.at("tasks");
  const std::string allowed =
      "a list of tasks, such as [{name: K1, stage: kernel, lane: 1, duration: 1 ms}]";
  if (list.size() > static_cast<std::size_t>(most_chunks)) {
    list.fail(fmt::format("found {} tasks; allowed: at most {}", list.size(), most_chunks));
  }
  const std::vector<Reader> items = list.items(allowed);
  if (items.empty()) list.fail(fmt::format("found an empty list; allowed: {}", allowed));
  std::map<std::string, int> numbers;
  for (const Reader& item : items) {
    CustomTask& task = into.tasks.emplace_back();
    read(table_of(CustomTask{}), item, task);
    const auto [first, is_new] = numbers.emplace(task.name, static_cast<int>(numbers.size()));
    if (!is_new) {
      item.at("name").fail(fmt::format(
          "found '{}' again, first at {}; allowed: a name of its own for each task", task.name,
          base::to_string(items[static_cast<std::size_t>(first->second)].at("name").place())));
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    CustomTask& task = into.tasks[i];
    if (!items[i].has("after")) continue;
    task.after = read_after(items[i].at("after"), into.tasks, numbers, task.name);
  }
}

void check_workload(const Reader& reader, Workload& w) {
  const auto product = [&](const char* a, std::int64_t value_a, const char* b,
                           std::int64_t value_b) {
    expect_product(reader, a, value_a, b, value_b);
  };
  if (w.kind == WorkloadKind::pipeline) {
    product("elements", w.elements, "iterations", w.iterations);
  }
  if (w.kind == WorkloadKind::rowsum) product("rows", w.rows, "columns", w.columns);
  const bool whole = w.type == Type::int32 || w.type == Type::int64;
  if (w.sum_type != SumType::same && !whole) {
    const std::string type(to_string(w.type));
    const bool late = reader.latest("type", "sum_type").path() == reader.at("type").path();
    if (late) {
      reader.at("type").fail_allowed("int32, int64 with sum_type int64");
    } else {
      reader.at("sum_type").fail_allowed("same with type " + type);
    }
  }
  if (w.kind != WorkloadKind::dgemm) return;
  product("m", w.m, "k", w.k);
  product("k", w.k, "n", w.n);
  product("m", w.m, "n", w.n);
  constexpr std::int64_t most_tiles = 4096;
  const std::int64_t rows = (w.m + w.tile_m - 1) / w.tile_m;
  const std::int64_t columns = (w.n + w.tile_n - 1) / w.tile_n;
  if (rows > most_tiles / columns) {
    reader.latest("tile_m", "tile_n")
        .fail(fmt::format("found {} x {} tiles; allowed: at most {}", rows, columns, most_tiles));
  }
  // Of float32 too few bits are left for exact products beyond that.
  constexpr std::int64_t most_k = 1 << 18;
  if (w.type == Type::float32 && w.k > most_k) {
    reader.at("k").fail_allowed(fmt::format("at most {} with float32", most_k));
  }
}

void read_chunks(const Reader& deck, Deck& into) {
  const Reader reader = deck.at("chunks");
  Chunks& chunks = into.chunks;
  read(table_of(Chunks{}), reader, chunks);
  reader.expect_one("count", "bytes",
                    reader.latest("count", "bytes").overridden()
                        ? "; replace both at once, as in --set 'chunks={bytes: 16 MiB}'"
                        : "");
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
    issue.lanes = lanes_of(into.workload);
  }
  if (kind == WorkloadKind::dgemm) {
    issue.orders = {Order::sequential, Order::two_way, Order::three_way};
  }
  const int lanes = issue.lanes;
  if (reader.has("orders")) {
    const Reader given = reader.at("orders");
    const Keys names = names_of(orders_of(kind));
    const std::string allowed = fmt::format("a list of at least one of {}", fmt::join(names, ", "));
    std::set<std::string> seen;
    for (const Reader& item : given.items(allowed)) {
      const std::string order = item.one_of(names);
      if (!seen.insert(order).second) {
        item.fail(fmt::format("found '{}' again; allowed: each order once", order));
      }
    }
    if (seen.empty()) given.fail(fmt::format("found an empty list; allowed: {}", allowed));
  }
  read(table_of(Issue{}), reader, issue);
  if (custom && issue.lanes != lanes) {
    reader.at("lanes").fail_allowed(
        fmt::format("{}, the lanes that workload.tasks names, or nothing", lanes));
  }
}

std::optional<double> read_limit(const Reader& map, const std::string& key, Metric metric) {
  if (!map.has(key)) return std::nullopt;
  constexpr double most = std::numeric_limits<double>::max();
  const Reader limit = map.at(key);
  const std::string_view unit = row_of(metric).unit;
  if (unit == "s") {
    constexpr const char* time = "a non-negative time, such as 0.005 (seconds), 5 ms or 50 us";
    return yaml::seconds(time, 0, most).read(limit);
  }
  const std::string of = unit == "1" ? "" : fmt::format(" of {}", unit);
  return yaml::number("a non-negative number" + of, 0, most).read(limit);
}

void read_acceptance(const Reader& deck, Deck& into) {
  if (!deck.has("acceptance")) return;
  const std::string origin = deck.at("issue").at("orders").origin();
  const Keys names = names_of(into.issue.orders);
  for (const Reader& item :
       deck.at("acceptance").items("a list of criteria, such as [{metric: speedup, min: 1.3}]")) {
    const Reader order = item.at("order");
    if (item.has("order") && std::find(names.begin(), names.end(), order.text()) == names.end()) {
      order.fail_allowed(fmt::format("{}, those in issue.orders ({}){}", fmt::join(names, ", "),
                                     origin, yaml::suggestion(order.text(), names)));
    }
    Criterion& criterion = into.acceptance.emplace_back();
    read(table_of(Criterion{}), item, criterion);
    check_criterion(item, criterion, into, origin);
  }
}

void check_deck(const Reader& reader, const Deck& deck) {
  const auto at = [&](const std::string& key) {
    Reader here = reader;
    for (const std::string& part : yaml::parts_of(key)) here = here.at(part);
    return here;
  };
  for (const Exclusion& exclusion : exclusions(deck)) {
    if (!exclusion.found) continue;
    const yaml::Value values = resolved(deck);
    at(exclusion.key)
        .fail_allowed(fmt::format("{} with {} {} ({}){}", exclusion.allowed, exclusion.cause,
                                  spell(*values.at(exclusion.cause)), at(exclusion.cause).origin(),
                                  exclusion.why));
  }
}

}  // namespace overlap::deck
