#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/sha256.hpp"
#include "base/units.hpp"
#include "deck/deck.hpp"
#include "deck/reader.hpp"
#include "deck/words.hpp"

namespace overlap::deck {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
/// Far beyond any machine, and small enough that bytes never overflow 64 bits.
constexpr std::int64_t most_elements = std::int64_t{1} << 44;
constexpr int most_lanes = 1024;
constexpr std::int64_t most_chunks = std::int64_t{1} << 20;

using Keys = std::vector<std::string>;

Intensity read_intensity(const Reader& reader) {
  const std::string found = reader.text();
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
    reader.fail(fmt::format(
        "found '{}'; allowed: a whole number from 0 to 1000000, balanced, or '4x balanced'", found));
  }
  return {.repeats = *repeats};
}

Type read_type(const Reader& reader, std::initializer_list<Type> allowed) {
  const Type type = reader.word<Type>();
  Keys names;
  for (const Type t : allowed) {
    if (t == type) return type;
    names.emplace_back(to_string(t));
  }
  reader.fail_allowed(std::string(to_string(type)), names);
}

Workload read_workload(const Reader& reader) {
  Workload workload;
  if (!reader.has("kind")) {
    reader.fail(fmt::format("the key 'kind' is missing; allowed: {}",
                            fmt::join(spellings<WorkloadKind>(), ", ")));
  }
  workload.kind = reader.at("kind").word<WorkloadKind>();
  reader.expect_keys(keys_of(workload.kind));

  const auto count = [&](const char* key, std::int64_t& value, std::int64_t most) {
    if (reader.has(key)) value = reader.at(key).count(1, most);
  };
  count("elements", workload.elements, most_elements);
  count("rows", workload.rows, most_elements);
  count("columns", workload.columns, most_elements);
  count("iterations", workload.iterations, most_chunks);
  if (workload.rows > most_elements / workload.columns) {
    reader.fail("rows times columns exceed 2^44 elements");
  }
  if (workload.elements > most_elements / workload.iterations) {
    reader.fail("elements times iterations exceed 2^44");
  }
  if (reader.has("intensity")) workload.intensity = read_intensity(reader.at("intensity"));
  if (reader.has("axis")) workload.axis = reader.at("axis").word<Axis>();
  if (reader.has("kernel")) workload.kernel = reader.at("kernel").word<RowsumKernel>();
  if (workload.kind == WorkloadKind::rowsum) {
    workload.type = Type::int32;
    if (reader.has("type")) workload.type = reader.at("type").word<Type>();
  } else if (reader.has("type")) {
    workload.type = read_type(reader.at("type"), {Type::float32, Type::float64});
  }
  if (reader.has("sum_type")) {
    workload.sum_type = reader.at("sum_type").word<SumType>();
    const bool integer = workload.type == Type::int32 || workload.type == Type::int64;
    if (workload.sum_type == SumType::int64 && !integer) {
      reader.at("sum_type").fail_allowed("int64", Keys{"same"});
    }
  }
  return workload;
}

Chunks read_chunks(const Reader& reader, const Workload& workload) {
  reader.expect_keys(Keys{"count", "bytes", "profile"});
  Chunks chunks;
  if (reader.has("count") && reader.has("bytes")) {
    reader.fail("count and bytes exclude each other; to override one with the other on the "
                "command line, set the whole map: --set 'chunks={bytes: 16 MiB}'");
  }
  if (reader.has("bytes")) {
    chunks.bytes = reader.at("bytes").bytes(1);
  } else if (reader.has("count")) {
    chunks.count = reader.at("count").count(1, most_chunks);
  } else {
    chunks.count = workload.kind == WorkloadKind::pipeline ? 1 : 4;
  }
  if (reader.has("profile")) chunks.profile = reader.at("profile").word<Profile>();
  return chunks;
}

Memory read_memory(const Reader& reader) {
  reader.expect_keys(Keys{"host", "device_limit"});
  Memory memory;
  if (reader.has("host")) memory.host = reader.at("host").word<HostMemory>();
  if (reader.has("device_limit") && reader.at("device_limit").text() != "none") {
    memory.device_limit = reader.at("device_limit").bytes(1);
  }
  return memory;
}

Issue read_issue(const Reader& reader) {
  reader.expect_keys(Keys{"orders", "lanes"});
  Issue issue;
  if (reader.has("orders")) {
    issue.orders.clear();
    for (const Reader& item : reader.at("orders").items()) {
      const Order order = item.word<Order>();
      for (const Order other : issue.orders) {
        if (other == order) item.fail(fmt::format("'{}' is listed twice", to_string(order)));
      }
      issue.orders.push_back(order);
    }
    if (issue.orders.empty()) {
      reader.at("orders").fail(fmt::format("found an empty list; allowed: at least one of {}",
                                           fmt::join(spellings<Order>(), ", ")));
    }
  }
  if (reader.has("lanes")) issue.lanes = static_cast<int>(reader.at("lanes").count(1, most_lanes));
  return issue;
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
  const double value = metric == Metric::time ? [&] {
    const auto seconds = base::parse_seconds(limit.text());
    if (!seconds) {
      limit.fail(fmt::format("found '{}'; allowed: a time such as 0.005, 5 ms or 50 us",
                             limit.text()));
    }
    return *seconds;
  }()
                                               : limit.number();
  if (value < 0) limit.fail(fmt::format("found '{}'; allowed: no negative limit", limit.text()));
  return value;
}

std::vector<Criterion> read_acceptance(const Reader& reader, const Issue& issue) {
  std::vector<Criterion> criteria;
  for (const Reader& item : reader.items()) {
    item.expect_keys(Keys{"metric", "order", "min", "max"});
    if (!item.has("metric")) {
      item.fail(fmt::format("the key 'metric' is missing; allowed: {}",
                            fmt::join(spellings<Metric>(), ", ")));
    }
    Criterion criterion;
    criterion.metric = item.at("metric").word<Metric>();
    criterion.min = read_limit(item, "min", criterion.metric);
    criterion.max = read_limit(item, "max", criterion.metric);
    if (!criterion.min && !criterion.max) item.fail("a criterion needs min, max or both");
    if (criterion.min && criterion.max && *criterion.min > *criterion.max) {
      item.fail(fmt::format("min {} exceeds max {}", *criterion.min, *criterion.max));
    }
    const auto runs = [&](Order order) {
      return std::find(issue.orders.begin(), issue.orders.end(), order) != issue.orders.end();
    };
    if (item.has("order")) {
      criterion.order = item.at("order").word<Order>();
      if (!runs(*criterion.order)) {
        Keys names;
        for (const Order order : issue.orders) names.emplace_back(to_string(order));
        item.at("order").fail(fmt::format("'{}' is not among issue.orders; allowed: {}",
                                          to_string(*criterion.order), fmt::join(names, ", ")));
      }
    }
    if (criterion.metric == Metric::speedup && !runs(Order::sequential)) {
      item.at("metric").fail("speedup needs 'sequential' among issue.orders to compare with");
    }
    if (criterion.metric == Metric::speedup && criterion.order == Order::sequential) {
      item.at("order").fail("speedup of 'sequential' over itself is always 1");
    }
    criteria.push_back(criterion);
  }
  return criteria;
}

std::string read_file(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    throw base::Error(base::ExitCode::usage, fmt::format("{}: {}", path, why));
  };
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) fail("no such deck");
  if (std::filesystem::is_directory(status)) fail("is a folder, not a deck");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) fail("cannot be read");
  return text.str();
}

}  // namespace

std::string Deck::name() const { return std::filesystem::path(path).stem().string(); }

Deck load(const std::string& path, const std::vector<std::string>& overrides) {
  const std::string text = read_file(path);
  Reader::Source source{.file = path, .overrides = {}, .places = {}};
  YAML::Node root;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      throw base::Error(base::ExitCode::usage,
                        fmt::format("{}: found {} YAML documents; allowed: one", path,
                                    documents.size()));
    }
    if (!documents.empty()) root = documents.front();
  } catch (const YAML::Exception& error) {
    throw base::Error(base::ExitCode::usage,
                      fmt::format("{}: not YAML: {}",
                                  base::to_string({path, error.mark.line + 1,
                                                   error.mark.column + 1}),
                                  error.msg));
  }
  if (root.IsNull()) root = YAML::Node(YAML::NodeType::Map);
  if (root.IsMap()) {
    for (const std::string& option : overrides) apply_override(root, option, source);
  }

  const Reader reader(root, "", source);
  reader.expect_keys(
      Keys{"title", "workload", "chunks", "memory", "issue", "measure", "acceptance"});
  Deck deck;
  deck.path = path;
  deck.sha256 = base::sha256(text);
  deck.title = reader.has("title") ? reader.at("title").text() : deck.name();
  deck.workload = read_workload(reader.at("workload"));
  deck.chunks = read_chunks(reader.at("chunks"), deck.workload);
  deck.memory = read_memory(reader.at("memory"));
  deck.issue = read_issue(reader.at("issue"));
  deck.measure = read_measure(reader.at("measure"));
  if (reader.has("acceptance")) {
    deck.acceptance = read_acceptance(reader.at("acceptance"), deck.issue);
  }
  deck.places = source.places;
  return deck;
}

base::Place place_of(const Deck& deck, std::string key) {
  while (true) {
    if (const auto found = deck.places.find(key); found != deck.places.end()) return found->second;
    const auto dot = key.rfind('.');
    if (dot == std::string::npos) return {deck.path};
    key.resize(dot);
  }
}

base::Error error_at(const Deck& deck, base::ExitCode code, const std::string& key,
                     const std::string& message) {
  return base::Error(
      code, fmt::format("{}: {}: {}", base::to_string(place_of(deck, key)), key, message));
}

}  // namespace overlap::deck
