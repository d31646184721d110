#include "deck/words.hpp"

#include <sstream>
#include <stdexcept>

namespace overlap::deck {
namespace {

/// "a, b, c" as a list.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream >> std::ws, part, ',');) parts.push_back(part);
  return parts;
}

Value intensity(const Intensity& wanted) {
  if (wanted.balance == 0) return wanted.repeats;
  if (wanted.balance == 1) return "balanced";
  return std::to_string(static_cast<std::int64_t>(wanted.balance)) + "x balanced";
}

/// Planes, rows and columns; of a 2-D array without its one plane.
Value sizes(const std::optional<Box>& box, std::array<std::int64_t, 3> Box::* of) {
  if (!box) return "none";
  const auto& all = (*box).*of;
  return std::vector<std::int64_t>(all.begin() + (box->array[0] == 1 ? 1 : 0), all.end());
}

/// The keys that decks give a task, with those that have a default.
Record record(const Workload& workload, const CustomTask& task) {
  Record record{{{"name", task.name}, {"stage", std::string(to_string(task.stage))}}};
  const auto add = [&](const char* key, Value value) {
    record.fields.emplace_back(key, std::move(value));
  };
  if (task.lane > 0) add("lane", std::int64_t{task.lane});
  if (task.bytes > 0) add("bytes", task.bytes);
  if (task.duration_s > 0) add("duration", task.duration_s);
  if (task.stage == Stage::kernel) add("sms", task.sms);
  if (!task.after.empty()) {
    std::vector<std::string> names;
    for (const int other : task.after) {
      names.push_back(workload.tasks[static_cast<std::size_t>(other)].name);
    }
    add("after", std::move(names));
  }
  if (task.chunk > 0) add("chunk", std::int64_t{task.chunk});
  return record;
}

std::vector<Record> records(const Workload& workload) {
  std::vector<Record> records;
  for (const CustomTask& task : workload.tasks) records.push_back(record(workload, task));
  return records;
}

Value value_of(const Workload& w, const std::string& key) {
  if (key == "elements") return w.elements;
  if (key == "rows") return w.rows;
  if (key == "columns") return w.columns;
  if (key == "iterations") return w.iterations;
  if (key == "intensity") return intensity(w.intensity);
  if (key == "box") return sizes(w.box, &Box::extent);
  if (key == "array") return sizes(w.box, &Box::array);
  if (key == "origin") return sizes(w.box, &Box::origin);
  if (key == "pitch") return w.pitch ? Value(*w.pitch) : Value("none");
  if (key == "type") return std::string(to_string(w.type));
  if (key == "sum_type") return std::string(to_string(w.sum_type));
  if (key == "axis") return std::string(to_string(w.axis));
  if (key == "kernel") return std::string(to_string(w.kernel));
  if (key == "tasks") return records(w);
  if (key == "m") return w.m;
  if (key == "n") return w.n;
  if (key == "k") return w.k;
  if (key == "tile_m") return w.tile_m;
  if (key == "tile_n") return w.tile_n;
  if (key == "alpha") return w.alpha;
  if (key == "beta") return w.beta;
  if (key == "host_share") return w.host_share ? Value(*w.host_share) : Value("auto");
  if (key == "kind") return std::string(to_string(w.kind));
  throw std::logic_error("workload." + key + " has no value");
}

}  // namespace

std::vector<std::string> keys_of(WorkloadKind kind) {
#define OVERLAP_WORKLOAD(name, help, ...) \
  if (kind == WorkloadKind::name) return split("kind, " #__VA_ARGS__);
#include "deck/workloads.def"
#undef OVERLAP_WORKLOAD
  return {};
}

std::vector<std::string> task_keys(Stage stage) {
  switch (stage) {
    case Stage::h2d:
    case Stage::d2h:
      return split("name, stage, lane, bytes, duration, after, chunk");
    case Stage::kernel:
      return split("name, stage, lane, duration, sms, after, chunk");
    case Stage::host:
      return split("name, stage, duration, after");
    case Stage::query:
      return split("name, stage, lane");
    case Stage::default_stream:
      return split("name, stage, duration");
    case Stage::disturbance:
      break;  // a deck's `disturb` puts it in
  }
  return {};
}

std::vector<Order> orders_of(WorkloadKind kind) {
  const Parts parts = kind == WorkloadKind::dgemm    ? Parts::tiles
                      : kind == WorkloadKind::custom ? Parts::listed
                                                     : Parts::chunks;
  std::vector<Order> suitable;
  for (const OrderRow& row : orders) {
    if (row.suits(parts)) suitable.push_back(row.order);
  }
  return suitable;
}

std::vector<std::pair<std::string, Value>> values_of(const Workload& workload) {
  std::vector<std::pair<std::string, Value>> values;
  for (const std::string& key : keys_of(workload.kind)) {
    values.emplace_back(key, value_of(workload, key));
  }
  return values;
}

}  // namespace overlap::deck
