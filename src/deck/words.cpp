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

Value value_of(const Workload& w, const std::string& key) {
  if (key == "elements") return w.elements;
  if (key == "rows") return w.rows;
  if (key == "columns") return w.columns;
  if (key == "iterations") return w.iterations;
  if (key == "intensity") return intensity(w.intensity);
  if (key == "type") return std::string(to_string(w.type));
  if (key == "sum_type") return std::string(to_string(w.sum_type));
  if (key == "axis") return std::string(to_string(w.axis));
  if (key == "kernel") return std::string(to_string(w.kernel));
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

std::vector<std::pair<std::string, Value>> values_of(const Workload& workload) {
  std::vector<std::pair<std::string, Value>> values;
  for (const std::string& key : keys_of(workload.kind)) {
    values.emplace_back(key, value_of(workload, key));
  }
  return values;
}

}  // namespace overlap::deck
