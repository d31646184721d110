#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "base/sha256.hpp"
#include "base/units.hpp"
#include "deck/deck.hpp"
#include "deck/document.hpp"
#include "deck/reader.hpp"
#include "deck/sweep.hpp"
#include "deck/words.hpp"

namespace overlap::deck {
namespace {

/// Far beyond any machine, and small enough that bytes never overflow 64 bits.
constexpr std::int64_t most_elements = std::int64_t{1} << 44;
constexpr int most_lanes = 1024;
constexpr std::int64_t most_chunks = std::int64_t{1} << 20;
constexpr std::int64_t most_tiles = 4096;

using Keys = std::vector<std::string>;

/// Where a value came from, for errors at another key.
std::string origin(const Reader& reader, bool given) {
  return given ? base::to_string(reader.place()) : "by default";
}

Intensity read_intensity(const Reader& reader) {
  constexpr std::string_view allowed =
      "a whole number from 0 to 1000000, balanced, or 'Nx balanced' with N from 1 to 1000";
  const std::string found = reader.text(std::string(allowed));
  if (found == "balanced") return {.repeats = 1, .balance = 1};
  constexpr std::string_view suffix = "x balanced";
  if (found.ends_with(suffix)) {
    const auto factor = base::parse_count(found.substr(0, found.size() - suffix.size()));
    if (factor && *factor >= 1 && *factor <= 1000) {
      return {.repeats = 1, .balance = static_cast<double>(*factor)};
    }
  }
  const auto repeats = base::parse_count(found);
  if (!repeats || *repeats < 0 || *repeats > 1000000) {
    reader.fail_allowed(fmt::format("{}{}", allowed, suggestion(found, Keys{"balanced"})));
  }
  return {.repeats = *repeats};
}

/// One of the types that a workload takes.
Type read_type(const Reader& reader, std::initializer_list<Type> allowed) {
  Keys names;
  for (const Type type : allowed) names.emplace_back(to_string(type));
  reader.one_of(names);
  return reader.word<Type>();
}

/// The kind; an error for keys that it does not read, which names the kinds that do.
WorkloadKind read_kind(const Reader& reader) {
  const auto kinds_with = [](const std::string& key) {
    Keys kinds;
    for (const auto& word : words<WorkloadKind>) {
      const Keys keys = keys_of(word.value);
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) kinds.emplace_back(word.name);
    }
    return kinds;
  };
  const Reader kind = reader.at("kind");
  if (!reader.has("kind")) {
    Keys all = {"kind"};
    for (const auto& word : words<WorkloadKind>) {
      for (const std::string& key : keys_of(word.value)) {
        if (std::find(all.begin(), all.end(), key) == all.end()) all.push_back(key);
      }
    }
    reader.expect_keys(all);
  }
  const auto value = kind.word<WorkloadKind>();
  const Keys allowed = keys_of(value);
  for (const std::string& key : reader.keys()) {
    const Keys kinds = kinds_with(key);
    if (kinds.empty() || std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    // Beside the key itself the command line may have changed the kind.
    const std::string why = kind.overridden() ? fmt::format(" ({})", origin(kind, true)) : "";
    reader.at_key(key).fail(fmt::format("found a key of {}, not of {}{}; allowed: {}",
                                        fmt::join(kinds, " and "), to_string(value), why,
                                        fmt::join(allowed, ", ")));
  }
  reader.expect_keys(allowed);
  return value;
}

/// Sizes whose product says how much data there are.
void expect_product(const Reader& reader, const std::string& a, std::int64_t value_a,
                    const std::string& b, std::int64_t value_b) {
  if (value_a <= most_elements / value_b) return;
  reader.latest(a, b).fail(fmt::format("found {} {} times {} {}; allowed: at most {} together",
                                       value_a, a, value_b, b, most_elements));
}

/// 64-bit sums are for whole numbers.
void check_sum_type(const Reader& reader, const Workload& workload) {
  const bool integer = workload.type == Type::int32 || workload.type == Type::int64;
  if (workload.sum_type == SumType::same || integer) return;
  const Reader blamed = reader.latest("type", "sum_type");
  blamed.fail(
      blamed.path().ends_with(".type")
          ? fmt::format("found '{}' with sum_type int64; allowed: int32, int64",
                        to_string(workload.type))
          : fmt::format("found 'int64' with type {}; allowed: same", to_string(workload.type)));
}

double read_duration(const Reader& reader) {
  constexpr double most = 100;
  const std::string allowed =
      "a time above 0 and up to 100 s, such as 0.005 (seconds), 5 ms or 50 us";
  const auto parsed = base::parse_seconds(reader.text(allowed));
  const double seconds = parsed ? *parsed : reader.number(allowed);
  if (!(seconds > 0) || seconds > most) reader.fail_allowed(allowed);
  return seconds;
}

/// Bytes of a copy; verified as 32-bit words.
std::int64_t read_copy_bytes(const Reader& reader) {
  constexpr std::int64_t word = 4;
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const std::int64_t bytes = reader.bytes(word);
  if (bytes % word != 0 || bytes > most) reader.fail_allowed("a multiple of 4 B, up to 1 TiB");
  return bytes;
}

std::string read_name(const Reader& reader) {
  const std::string allowed = "letters, digits, '_', '-' and '.', at most 64";
  const std::string name = reader.text(allowed);
  const bool good =
      !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
      });
  if (!good) reader.fail_allowed(allowed);
  return name;
}

/// The stage; an error for keys that tasks of other stages have.
Stage read_stage(const Reader& reader) {
  const auto stages_with = [](const std::string& key) {
    Keys stages;
    for (const auto& word : words<Stage>) {
      const Keys keys = task_keys(word.value);
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) stages.emplace_back(word.name);
    }
    return stages;
  };
  if (!reader.has("stage")) {
    reader.expect_keys(Keys{"name", "stage", "lane", "bytes", "duration", "sms", "after", "chunk"});
  }
  Keys listed;
  for (const auto& word : words<Stage>) {
    if (word.value != Stage::disturbance) listed.emplace_back(word.name);
  }
  reader.at("stage").one_of(listed);
  const auto stage = reader.at("stage").word<Stage>();
  const Keys allowed = task_keys(stage);
  for (const std::string& key : reader.keys()) {
    const Keys stages = stages_with(key);
    if (stages.empty() || std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    reader.at_key(key).fail(fmt::format("found a key of {}, not of {}; allowed: {}",
                                        fmt::join(stages, " and "), to_string(stage),
                                        fmt::join(allowed, ", ")));
  }
  reader.expect_keys(allowed);
  return stage;
}

/// A task of a custom workload, but for `after`.
CustomTask read_task(const Reader& reader) {
  CustomTask task;
  task.stage = read_stage(reader);
  task.name = read_name(reader.at("name"));
  const Keys keys = task_keys(task.stage);
  const auto reads = [&](const char* key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (reads("lane")) task.lane = static_cast<int>(reader.at("lane").count(1, most_lanes));
  if (reads("bytes") && reader.has("bytes") == reader.has("duration")) {
    const Reader blamed = reader.has("bytes") ? reader.latest("bytes", "duration") : reader;
    blamed.fail(
        fmt::format("found {}; allowed: one of the two",
                    reader.has("bytes") ? "bytes and duration" : "neither bytes nor duration"));
  }
  if (reader.has("bytes")) task.bytes = read_copy_bytes(reader.at("bytes"));
  if (reads("duration") && !reader.has("bytes"))
    task.duration_s = read_duration(reader.at("duration"));
  if (reader.has("sms")) {
    const std::string allowed = "a part of the device, above 0 and up to 1";
    task.sms = reader.at("sms").number(allowed);
    if (task.sms <= 0 || task.sms > 1) reader.at("sms").fail_allowed(allowed);
  }
  if (reads("chunk")) {
    task.chunk = reader.has("chunk") ? static_cast<int>(reader.at("chunk").count(1, most_chunks))
                                     : task.lane;
  }
  return task;
}

std::vector<CustomTask> read_tasks(const Reader& reader) {
  const std::string allowed =
      "a list of tasks, such as [{name: K1, stage: kernel, lane: 1, duration: 1 ms}]";
  if (reader.size() > static_cast<std::size_t>(most_chunks)) {
    reader.fail(fmt::format("found {} tasks; allowed: at most {}", reader.size(), most_chunks));
  }
  const std::vector<Reader> items = reader.items(allowed);
  if (items.empty()) reader.fail(fmt::format("found an empty list; allowed: {}", allowed));
  std::vector<CustomTask> tasks;
  std::map<std::string, int> numbers;
  Keys names;
  for (const Reader& item : items) {
    const CustomTask& task = tasks.emplace_back(read_task(item));
    const auto [first, is_new] = numbers.emplace(task.name, static_cast<int>(names.size()));
    if (!is_new) {
      item.at("name").fail(fmt::format(
          "found '{}' again, first at {}; allowed: a name of its own for each task", task.name,
          base::to_string(items[static_cast<std::size_t>(first->second)].at("name").place())));
    }
    names.push_back(task.name);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].has("after")) continue;
    for (const Reader& item : items[i].at("after").items("a list of names of tasks")) {
      const auto found = numbers.find(item.text("the name of a task"));
      if (found == numbers.end()) item.fail_allowed(names);
      if (found->first == names[i])
        item.fail(fmt::format("found the task itself, '{}'; allowed: other tasks", names[i]));
      const auto place = static_cast<std::size_t>(found->second);
      if (tasks[place].stage == Stage::query) {
        item.fail(fmt::format("found '{}', a query, which completes nothing; allowed: other tasks",
                              found->first));
      }
      std::vector<int>& after = tasks[i].after;
      if (std::find(after.begin(), after.end(), found->second) != after.end()) {
        item.fail(fmt::format("found '{}' again; allowed: each task once", found->first));
      }
      after.push_back(found->second);
    }
  }
  return tasks;
}

/// Lanes that a custom workload's tasks name.
int lanes_of(const Workload& workload) {
  std::set<int> lanes;
  for (const CustomTask& task : workload.tasks) {
    if (task.lane > 0) lanes.insert(task.lane);
  }
  return std::max(1, static_cast<int>(lanes.size()));
}

/// Whether a key has a value other than the word for having none.
bool gives(const Reader& reader, const char* key) {
  return reader.has(key) && !reader.at(key).is("none");
}

/// The box that an increment works on; empty: a 1-D array.
std::optional<Box> read_box(const Reader& reader) {
  if (!gives(reader, "box")) {
    for (const char* key : {"array", "origin", "pitch"}) {
      if (gives(reader, key)) reader.at(key).fail("found without workload.box; allowed: with it");
    }
    return std::nullopt;
  }
  Box box;
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
      sizes[dimension] = items[i].count(least, most);
    }
  };
  read("box", "none, [rows, columns] or [planes, rows, columns]", box.extent,
       [](std::size_t) { return std::pair(std::int64_t{1}, most_elements); });
  const std::string allowed =
      fmt::format("none or a list of {} numbers, as workload.box is", dimensions);
  box.array = box.extent;
  if (gives(reader, "array")) {
    read("array", allowed, box.array,
         [&](std::size_t i) { return std::pair(box.extent[i], most_elements); });
  }
  if (gives(reader, "origin")) {
    read("origin", allowed, box.origin,
         [&](std::size_t i) { return std::pair(std::int64_t{0}, box.array[i] - box.extent[i]); });
  }
  const auto& [planes, rows, columns] = box.array;
  if (planes > most_elements / rows || planes * rows > most_elements / columns) {
    const auto sizes = std::span(box.array).last(dimensions);
    reader.at(gives(reader, "array") ? "array" : "box")
        .fail(fmt::format("found {} elements; allowed: at most {}", fmt::join(sizes, " x "),
                          most_elements));
  }
  return box;
}

/// Those of the workload's box; the deck need not say it, or must say the same.
std::int64_t read_elements(const Reader& reader, const Box& box) {
  const std::int64_t elements = box.extent[0] * box.extent[1] * box.extent[2];
  if (reader.has("elements") && reader.at("elements").count(1, most_elements) != elements) {
    reader.at("elements")
        .fail_allowed(fmt::format("{}, those of workload.box, or nothing", elements));
  }
  return elements;
}

/// Bytes from a line of the workload's host array to the next.
std::optional<std::int64_t> read_pitch(const Reader& reader, const Workload& workload) {
  if (reader.is("none")) return std::nullopt;
  std::int64_t lines = workload.rows;
  std::int64_t length = workload.columns;
  if (workload.box) {
    lines = workload.box->array[0] * workload.box->array[1];
    length = workload.box->array[2];
  } else if (workload.axis == Axis::columns) {
    std::swap(lines, length);
  }
  const auto element = static_cast<std::int64_t>(size_of(workload.type));
  const std::int64_t least = element * length;
  const std::int64_t most = 8 * most_elements / lines;
  const std::string allowed = fmt::format(
      "none or a multiple of {} B from {} B, the bytes of a line, to {} B", element, least, most);
  const auto pitch = base::parse_bytes(reader.text(allowed));
  if (!pitch || *pitch % element != 0 || *pitch < least || *pitch > most) {
    reader.fail_allowed(allowed);
  }
  return pitch;
}

/// Sizes, tiles and factors of a matrix product.
void read_product(const Reader& reader, Workload& workload) {
  const auto size = [&](const char* key, std::int64_t& value) {
    if (reader.has(key)) value = reader.at(key).count(1, std::numeric_limits<int>::max());
  };
  size("m", workload.m);
  size("n", workload.n);
  size("k", workload.k);
  expect_product(reader, "m", workload.m, "k", workload.k);
  expect_product(reader, "k", workload.k, "n", workload.n);
  expect_product(reader, "m", workload.m, "n", workload.n);
  const auto tile = [&](const char* key, std::int64_t& value, std::int64_t most) {
    value = std::min(value, most);
    if (reader.has(key)) value = reader.at(key).count(1, most);
  };
  tile("tile_m", workload.tile_m, workload.m);
  tile("tile_n", workload.tile_n, workload.n);
  const std::int64_t rows = (workload.m + workload.tile_m - 1) / workload.tile_m;
  const std::int64_t columns = (workload.n + workload.tile_n - 1) / workload.tile_n;
  if (rows > most_tiles / columns) {
    reader.latest("tile_m", "tile_n")
        .fail(fmt::format("found {} x {} tiles; allowed: at most {}", rows, columns, most_tiles));
  }
  const auto factor = [&](const char* key, double& value, bool zero) {
    constexpr double most = 1e6;
    const std::string allowed = fmt::format("{}1e-6 to 1e6 or the same below 0",
                                            zero ? "0, a number from " : "a number from ");
    if (reader.has(key)) value = reader.at(key).number(allowed, -most);
    const double magnitude = std::abs(value);
    if (magnitude > most || (magnitude < 1 / most && !(zero && value == 0))) {
      reader.at(key).fail_allowed(allowed);
    }
  };
  factor("alpha", workload.alpha, false);
  factor("beta", workload.beta, true);
  if (reader.has("host_share") && !reader.at("host_share").is("auto")) {
    const std::string allowed = "auto or a part of the tiles, from 0 to 1";
    workload.host_share = reader.at("host_share").number(allowed);
    if (*workload.host_share > 1) reader.at("host_share").fail_allowed(allowed);
  }
}

Workload read_workload(const Reader& reader) {
  Workload workload;
  workload.kind = read_kind(reader);
  const Keys keys = keys_of(workload.kind);
  const auto reads = [&](const char* key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  const auto count = [&](const char* key, std::int64_t& value, std::int64_t most) {
    if (reader.has(key)) value = reader.at(key).count(1, most);
  };
  count("elements", workload.elements, most_elements);
  count("iterations", workload.iterations, most_chunks);
  count("rows", workload.rows, most_elements);
  count("columns", workload.columns, most_elements);
  if (reads("tasks")) workload.tasks = read_tasks(reader.at("tasks"));
  if (reads("tile_m")) read_product(reader, workload);
  if (reads("iterations")) {
    expect_product(reader, "elements", workload.elements, "iterations", workload.iterations);
  }
  if (reads("columns")) {
    expect_product(reader, "rows", workload.rows, "columns", workload.columns);
  }
  if (reader.has("intensity")) workload.intensity = read_intensity(reader.at("intensity"));
  if (reader.has("axis")) workload.axis = reader.at("axis").word<Axis>();
  if (reader.has("kernel")) workload.kernel = reader.at("kernel").word<RowsumKernel>();
  if (workload.kind == WorkloadKind::dgemm) workload.type = Type::float64;
  if (workload.kind == WorkloadKind::rowsum) {
    workload.type = Type::int32;
    if (reader.has("type")) workload.type = reader.at("type").word<Type>();
  } else if (reader.has("type")) {
    workload.type = read_type(reader.at("type"), {Type::float32, Type::float64});
  }
  // Of float32 too few bits are left for exact products beyond that.
  constexpr std::int64_t most_k = 1 << 18;
  if (reads("k") && workload.type == Type::float32 && workload.k > most_k) {
    reader.at("k").fail_allowed(fmt::format("at most {} with float32", most_k));
  }
  if (reader.has("sum_type")) workload.sum_type = reader.at("sum_type").word<SumType>();
  check_sum_type(reader, workload);
  if (reads("box")) workload.box = read_box(reader);
  if (workload.box) workload.elements = read_elements(reader, *workload.box);
  if (reader.has("pitch")) workload.pitch = read_pitch(reader.at("pitch"), workload);
  return workload;
}

Chunks read_chunks(const Reader& reader, const Workload& workload) {
  reader.expect_keys(Keys{"count", "bytes", "profile", "growth", "spread"});
  Chunks chunks;
  if (reader.has("count") && reader.has("bytes")) {
    const Reader blamed = reader.latest("count", "bytes");
    const Reader other = reader.at(blamed.path().ends_with("count") ? "bytes" : "count");
    blamed.fail(fmt::format(
        "found beside {} ({}); allowed: one of the two{}", other.path(), origin(other, true),
        blamed.overridden() ? ", or both replaced at once, as in --set 'chunks={bytes: 16 MiB}'"
                            : ""));
  }
  if (reader.has("bytes")) {
    chunks.bytes = reader.at("bytes").bytes(1);
  } else if (reader.has("count")) {
    chunks.count = reader.at("count").count(1, most_chunks);
  } else {
    const bool cut =
        workload.kind == WorkloadKind::increment || workload.kind == WorkloadKind::rowsum;
    chunks.count = cut ? 4 : 1;
  }
  if (workload.kind == WorkloadKind::custom && chunks.count != 1) {
    reader.at(chunks.bytes ? "bytes" : "count")
        .fail_allowed("count: 1 with a custom workload, whose tasks say what is copied");
  }
  if (reader.has("profile")) chunks.profile = reader.at("profile").word<Profile>();
  if (workload.kind == WorkloadKind::dgemm &&
      (chunks.count != 1 || chunks.profile != Profile::uniform)) {
    reader.at(chunks.bytes        ? "bytes"
              : chunks.count != 1 ? "count"
                                  : "profile")
        .fail("found with a matrix product; allowed: its tiles, workload.tile_m and tile_n");
  }
  const auto ramp_number = [&](const char* key, double& value, double least, double most) {
    if (!reader.has(key)) return;
    const Reader number = reader.at(key);
    if (chunks.profile != Profile::ramp) {
      const Reader profile = reader.at("profile");
      number.fail(fmt::format("found with profile uniform ({}); allowed: with profile ramp",
                              origin(profile, reader.has("profile"))));
    }
    const std::string allowed = fmt::format("a number from {} to {}", least, most);
    value = number.number(allowed);
    if (value < least || value > most) number.fail_allowed(allowed);
  };
  ramp_number("growth", chunks.growth, 1.01, 100);
  ramp_number("spread", chunks.spread, 1, 1e6);
  return chunks;
}

Memory read_memory(const Reader& reader, const Workload& workload) {
  reader.expect_keys(Keys{"host", "transfer", "device_limit", "ring_slots", "ring_bytes"});
  Memory memory;
  if (reader.has("host")) memory.host = reader.at("host").word<HostMemory>();
  if (reader.has("transfer")) memory.transfer = reader.at("transfer").word<Transfer>();
  if (memory.transfer == Transfer::zero_copy && !page_locked(memory.host)) {
    reader.latest("host", "transfer")
        .fail(fmt::format("found transfer zero_copy with host {}; allowed: with host pinned, "
                          "registered",
                          to_string(memory.host)));
  }
  for (const char* key : {"ring_slots", "ring_bytes"}) {
    if (reader.has(key) && memory.host != HostMemory::pageable_staged) {
      reader.at(key).fail(fmt::format("found with host {} ({}); allowed: with host pageable_staged",
                                      to_string(memory.host),
                                      origin(reader.at("host"), reader.has("host"))));
    }
  }
  if (reader.has("ring_slots")) memory.ring_slots = reader.at("ring_slots").count(2, 1024);
  if (reader.has("ring_bytes")) memory.ring_bytes = reader.at("ring_bytes").bytes(4096);
  const bool section = workload.box || workload.pitch;
  if (section && memory.transfer == Transfer::zero_copy) {
    reader.at("transfer").fail_allowed("staged with workload.box or workload.pitch");
  }
  if (section && memory.host == HostMemory::pageable_staged) {
    reader.at("host").fail_allowed(
        "pinned, pageable, registered with workload.box or "
        "workload.pitch");
  }
  if (workload.kind == WorkloadKind::dgemm && memory.transfer == Transfer::zero_copy) {
    reader.at("transfer").fail_allowed("staged with a matrix product");
  }
  if (workload.kind == WorkloadKind::dgemm && memory.host == HostMemory::pageable_staged) {
    reader.at("host").fail_allowed("pinned, pageable, registered with a matrix product");
  }
  if (workload.kind == WorkloadKind::custom && memory.transfer != Transfer::staged) {
    reader.at("transfer")
        .fail_allowed(
            "staged with a custom workload, whose tasks say what is "
            "copied");
  }
  if (workload.kind == WorkloadKind::custom && memory.host == HostMemory::pageable_staged) {
    reader.at("host").fail_allowed("pinned, pageable, registered with a custom workload");
  }
  if (reader.has("device_limit") && !reader.at("device_limit").is("none")) {
    memory.device_limit = reader.at("device_limit").bytes(1, "none");
    if (workload.kind == WorkloadKind::custom) {
      reader.at("device_limit").fail_allowed("none with a custom workload, whose data stay whole");
    }
  }
  return memory;
}

/// One of the orders that the workload can be issued in.
Order read_order(const Reader& reader, WorkloadKind kind) {
  Keys allowed;
  for (const Order order : orders_of(kind)) allowed.emplace_back(to_string(order));
  reader.one_of(allowed);
  return reader.word<Order>();
}

Issue read_issue(const Reader& reader, const Workload& workload) {
  reader.expect_keys(Keys{"orders", "lanes", "mechanism", "sync", "streams"});
  Issue issue;
  if (workload.kind == WorkloadKind::custom) {
    issue.orders = {Order::sequential, Order::custom};
    issue.lanes = lanes_of(workload);
  }
  if (workload.kind == WorkloadKind::dgemm) {
    issue.orders = {Order::sequential, Order::two_way, Order::three_way};
  }
  if (reader.has("orders")) {
    issue.orders.clear();
    Keys orders;
    for (const Order order : orders_of(workload.kind)) orders.emplace_back(to_string(order));
    const std::string allowed =
        fmt::format("a list of at least one of {}", fmt::join(orders, ", "));
    for (const Reader& item : reader.at("orders").items(allowed)) {
      const Order order = read_order(item, workload.kind);
      if (std::find(issue.orders.begin(), issue.orders.end(), order) != issue.orders.end()) {
        item.fail(fmt::format("found '{}' again; allowed: each order once", to_string(order)));
      }
      issue.orders.push_back(order);
    }
    if (issue.orders.empty()) {
      reader.at("orders").fail(fmt::format("found an empty list; allowed: {}", allowed));
    }
  }
  if (reader.has("lanes")) {
    const int lanes = static_cast<int>(reader.at("lanes").count(1, most_lanes));
    if (workload.kind == WorkloadKind::custom && lanes != issue.lanes) {
      reader.at("lanes").fail_allowed(
          fmt::format("{}, the lanes that workload.tasks names, or nothing", issue.lanes));
    }
    issue.lanes = lanes;
  }
  if (reader.has("mechanism")) issue.mechanism = reader.at("mechanism").word<Mechanism>();
  if (reader.has("sync")) issue.sync = reader.at("sync").word<Sync>();
  if (reader.has("streams")) issue.streams = reader.at("streams").word<Streams>();
  if (issue.mechanism == Mechanism::graph && issue.streams != Streams::own) {
    reader.latest("mechanism", "streams")
        .fail(fmt::format("found mechanism graph with streams {}; allowed: with streams own",
                          to_string(issue.streams)));
  }
  return issue;
}

HostWork read_host_work(const Reader& reader, const Workload& workload, const Issue& issue) {
  reader.expect_keys(Keys{"per_chunk"});
  if (!reader.has("per_chunk")) {
    reader.fail("found no per_chunk; allowed: the time of the work for a chunk, such as 50 us");
  }
  if (workload.kind == WorkloadKind::custom) {
    reader.fail("found with a custom workload; allowed: with the others, as its tasks are listed");
  }
  if (std::find(issue.orders.begin(), issue.orders.end(), Order::automatic) != issue.orders.end()) {
    reader.fail("found with order auto, which chooses the chunks; allowed: with the others");
  }
  return {.per_chunk_s = read_duration(reader.at("per_chunk"))};
}

std::optional<Disturb> read_disturb(const Reader& reader, const Workload& workload,
                                    const Issue& issue) {
  reader.expect_keys(Keys{"operation", "at", "times"});
  if (!reader.has("operation")) {
    reader.fail(
        fmt::format("found no operation; allowed: {}", fmt::join(spellings<Disturbance>(), ", ")));
  }
  if (workload.kind == WorkloadKind::custom) {
    reader.fail("found with a custom workload; allowed: with the others, as its tasks are listed");
  }
  if (issue.mechanism == Mechanism::graph) {
    reader.fail(
        "found with issue.mechanism graph; allowed: with streams, whose tasks the host "
        "issues one by one");
  }
  Disturb disturb;
  disturb.operation = reader.at("operation").word<Disturbance>();
  if (reader.has("at")) {
    const std::string allowed = "a part of the tasks, from 0 to 1";
    disturb.at = reader.at("at").number(allowed);
    if (disturb.at > 1) reader.at("at").fail_allowed(allowed);
  }
  if (reader.has("times")) disturb.times = static_cast<int>(reader.at("times").count(1, 10000));
  return disturb;
}

Measure read_measure(const Reader& reader) {
  reader.expect_keys(Keys{"warmup", "repetitions", "verify"});
  Measure measure;
  constexpr std::int64_t most = 1000000;
  if (reader.has("warmup")) measure.warmup = static_cast<int>(reader.at("warmup").count(0, most));
  if (reader.has("repetitions")) {
    measure.repetitions = static_cast<int>(reader.at("repetitions").count(1, most));
  }
  if (reader.has("verify")) measure.verify = reader.at("verify").word<Verify>();
  return measure;
}

std::optional<double> read_limit(const Reader& reader, const std::string& key, Metric metric) {
  if (!reader.has(key)) return std::nullopt;
  const Reader limit = reader.at(key);
  if (metric == Metric::throughput) return limit.number("a number of GB/s from 0 on");
  if (metric != Metric::time) return limit.number("a number from 0 on");
  const std::string allowed = "a time from 0 on, such as 0.005 (seconds), 5 ms or 50 us";
  return limit.seconds(allowed);
}

/// Speed-up and efficiency compare an order with the baseline.
void check_comparison(const Reader& item, const Criterion& criterion, const Issue& issue,
                      const std::string& orders) {
  const auto fail = [&](std::string_view need) {
    item.at("metric").fail(
        fmt::format("found '{}', which needs {} among issue.orders ({}); allowed: time, "
                    "throughput, max_error, bound_fraction, schedule_bound_fraction",
                    to_string(criterion.metric), need, orders));
  };
  Keys others;
  for (const Order order : issue.orders) {
    if (order != Order::sequential) others.emplace_back(to_string(order));
  }
  if (others.size() == issue.orders.size()) fail("'sequential', to compare with,");
  if (others.empty()) fail("an order besides 'sequential'");
  if (criterion.order == Order::sequential) {
    item.at("order").fail(
        fmt::format("found 'sequential', which would be compared with itself; allowed: {}",
                    fmt::join(others, ", ")));
  }
}

/// `orders` tells where issue.orders came from.
std::vector<Criterion> read_acceptance(const Reader& reader, WorkloadKind kind, const Issue& issue,
                                       bool host_work, const std::string& orders) {
  std::vector<Criterion> criteria;
  for (const Reader& item :
       reader.items("a list of criteria, such as [{metric: speedup, min: 1.3}]")) {
    item.expect_keys(Keys{"metric", "order", "min", "max"});
    Criterion criterion;
    criterion.metric = item.at("metric").word<Metric>();
    criterion.min = read_limit(item, "min", criterion.metric);
    criterion.max = read_limit(item, "max", criterion.metric);
    if (!criterion.min && !criterion.max) {
      item.fail("found neither min nor max; allowed: one of them or both");
    }
    if (criterion.min && criterion.max && *criterion.min > *criterion.max) {
      item.at("min").fail(fmt::format("found {}, above max {}; allowed: at most max",
                                      quoted(item.at("min").text()),
                                      quoted(item.at("max").text())));
    }
    if (item.has("order")) {
      criterion.order = read_order(item.at("order"), kind);
      if (std::find(issue.orders.begin(), issue.orders.end(), *criterion.order) ==
          issue.orders.end()) {
        Keys names;
        for (const Order order : issue.orders) names.emplace_back(to_string(order));
        item.at("order").fail_allowed(
            fmt::format("{}, those in issue.orders ({})", fmt::join(names, ", "), orders));
      }
    }
    if (criterion.metric == Metric::speedup || criterion.metric == Metric::overlap_efficiency) {
      check_comparison(item, criterion, issue, orders);
    }
    if (criterion.metric == Metric::host_work_hidden && !host_work) {
      item.at("metric").fail("found 'host_work_hidden' in a deck without host_work; allowed: with");
    }
    criteria.push_back(criterion);
  }
  return criteria;
}

/// The experiment that a deck asks for, whatever its name.
Deck read_deck(Document& document) {
  const Reader reader = document.reader();
  reader.expect_keys(Keys{"title", "workload", "chunks", "memory", "issue", "host_work", "disturb",
                          "measure", "acceptance", "sweep"});
  Deck deck;
  deck.workload = read_workload(reader.at("workload"));
  deck.chunks = read_chunks(reader.at("chunks"), deck.workload);
  deck.memory = read_memory(reader.at("memory"), deck.workload);
  deck.issue = read_issue(reader.at("issue"), deck.workload);
  if (deck.issue.mechanism == Mechanism::graph && !page_locked(deck.memory.host)) {
    reader.at("issue")
        .at("mechanism")
        .fail(
            fmt::format("found 'graph' with memory.host {} ({}); allowed: with pinned, registered",
                        to_string(deck.memory.host), origin(reader.at("memory").at("host"), true)));
  }
  if (reader.has("host_work") && !reader.at("host_work").is("none")) {
    deck.host_work = read_host_work(reader.at("host_work"), deck.workload, deck.issue);
  }
  if (reader.has("disturb") && !reader.at("disturb").is("none")) {
    deck.disturb = read_disturb(reader.at("disturb"), deck.workload, deck.issue);
  }
  deck.measure = read_measure(reader.at("measure"));
  if (reader.has("acceptance")) {
    const Reader issue = reader.at("issue");
    deck.acceptance = read_acceptance(reader.at("acceptance"), deck.workload.kind, deck.issue,
                                      deck.host_work.has_value(),
                                      origin(issue.at("orders"), issue.has("orders")));
  }
  deck.places = document.source.places;
  return deck;
}

}  // namespace

std::string Deck::name() const { return name_of(path); }

std::vector<Point> load_points(const std::string& path, const std::vector<std::string>& overrides) {
  Document document = read_document(path, "deck");
  if (document.root.IsMap()) {
    for (const std::string& option : overrides) {
      apply_override(document.root, option, document.source);
      pin(document.root, option);
    }
  }
  const Reader reader = document.reader();
  const std::vector<SweptKey> sweep = read_sweep(reader.at("sweep"));
  std::size_t count = 1;
  for (const SweptKey& swept : sweep) count *= swept.values.size();
  const std::string sha256 = base::sha256(document.text);
  std::vector<Point> points;
  for (std::size_t number = 0; number < count; ++number) {
    Point& point = points.emplace_back();
    std::size_t rest = number;
    std::size_t block = count;
    for (const SweptKey& swept : sweep) {
      block /= swept.values.size();
      const SweptKey::Value& value = swept.values[rest / block];
      rest %= block;
      put(document.root, swept.key, value, document.source);
      point.values.push_back({swept.key, value.text});
    }
    point.deck = read_deck(document);
    point.deck.path = path;
    point.deck.sha256 = sha256;
    point.deck.title = reader.has("title") ? reader.at("title").line() : point.deck.name();
  }
  return points;
}

Deck load(const std::string& path, const std::vector<std::string>& overrides) {
  std::vector<Point> points = load_points(path, overrides);
  if (!points.front().values.empty()) {
    throw error_at(points.front().deck, base::ExitCode::usage, "sweep",
                   "found a sweep; allowed: a deck of one experiment");
  }
  return std::move(points.front().deck);
}

base::Place place_of(const Deck& deck, std::string key) {
  while (true) {
    if (const auto found = deck.places.find(key); found != deck.places.end()) return found->second;
    const auto end = key.find_last_of(".[");
    if (end == std::string::npos) return {deck.path};
    key.resize(end);
  }
}

base::Error error_at(const Deck& deck, base::ExitCode code, const std::string& key,
                     const std::string& message) {
  return base::Error(code,
                     fmt::format("{}: {}: {}", base::to_string(place_of(deck, key)), key, message));
}

}  // namespace overlap::deck
